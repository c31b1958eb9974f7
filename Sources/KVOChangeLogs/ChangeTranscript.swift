internal import CKVORuntime
internal import KVORuntime

// Transcripts: records as values and object numbers, to be sent to another process (N4).

extension ChangeLog {
  /// The key under which a decoder's `userInfo` contains the log that decodes a transcript. The log's classes
  /// supply the types of the values.
  public static let userInfoKey = CodingUserInfoKey(rawValue: "KVORuntime.ChangeLog")!

  /// Records as values that can be encoded and applied to an equal graph. The other graph must have equal
  /// roots and recorded keys, and the same recorded changes so far.
  ///
  /// ```swift
  /// let sent = log.count
  /// …
  /// let data = try JSONEncoder().encode(log.transcript(from: sent))
  ///
  /// decoder.userInfo[ChangeLog.userInfoKey] = otherLog
  /// try otherLog.apply(decoder.decode(ChangeLog.Transcript.self, from: data))
  /// ```
  public struct Transcript {
    let lines: [TranscriptLine]

    /// The number of records in the transcript.
    public var count: Int { lines.count }
  }

  /// Returns a transcript of the records from a position on.
  ///
  /// - Throws: `ChangeLogError.noRecord` if some of the records are gone; `ChangeLogError.notCodable` for a
  ///   value that can't be encoded.
  /// - Complexity: O(*n*) in the number of records.
  public func transcript(from position: Int = 0) throws -> Transcript {
    let changes = history.withLock { $0.changes(from: position, to: $0.count) }
    guard let changes else { throw noRecord(position) }
    return Transcript(lines: try changes.map { try TranscriptLine($0, in: self) })
  }

  /// Makes the changes of a transcript as one group, so that the graph becomes equal to the transcript's.
  ///
  /// Observers are notified. If they change recorded keys, those changes are reverted at once, as in
  /// `undo()`, because the transcript contains what the other graph's observers have changed.
  ///
  /// - Throws: `ChangeLogError` if the graph is not equal to the transcript's, or inside a group, undo or
  ///   redo; the errors of key-value coding. On an error the changes made so far are reverted.
  /// - Complexity: O(*n*) in the length of the transcript.
  public func apply(_ transcript: Transcript) throws {
    let thread = UnsafeRawPointer(kvo_binding_thread())
    let begun = history.withLock { history in
      (
        history.beginPerformance(.transcript, name: nil, on: thread), lastNumber: history.lastNumber
      )
    }
    guard let made = begun.0 else { throw ChangeLogError.isBusy }
    var arriving: [Int: KVOObject] = [:]
    defer { arrivals.removeAll() }
    do {
      try perform(made) {
        try makeArriving(transcript, &arriving)
        return try transcript.lines.map { try $0.step(in: self, arriving) }
      } finish: {
        history.withLock { $0.keepApplied(made) }
      }
    } catch {
      for object in arriving.values { leave(object, lastNumber: begun.lastNumber) }
      throw error
    }
  }

  // Undoes the joining of an object.
  private func leave(_ object: KVOObject, lastNumber: Int) {
    guard let member = object[membership]?.member else { return }
    history.withLock { $0.forget(member, lastNumber: lastNumber) }
    object[membership] = nil
  }

  // Creates all objects before their values, because the values may refer to each other.
  private func makeArriving(_ transcript: Transcript, _ made: inout [Int: KVOObject]) throws {
    let joined = transcript.lines.flatMap(\.joined)
    for joined in joined {
      guard object(joined.number) == nil, made[joined.number] == nil else {
        throw ChangeLogError.knownObject(number: joined.number)
      }
      let object = try selection.make(joined.className)
      made[joined.number] = object
      arrivals.add(object, joined.number)
    }
    for joined in joined { try set(joined.values, of: made[joined.number]!, made) }
  }

  private func set(
    _ values: [NamedValue], of object: KVOObject, _ arriving: [Int: KVOObject]
  ) throws {
    let recorded = selection.recordedClass(of: object)
    for named in values {
      guard let key = recorded.keys.first(where: { $0.key == named.key }) else {
        throw ChangeLogError.unknownKey(key: named.key, className: className(of: recorded.type))
      }
      try key.set(try named.value.resolved(key, in: self, arriving), of: object)
    }
  }

  func object(_ number: Int) -> KVOObject? { history.withLock { $0.object(number) }?.object }
}

/// One record of a transcript.
struct TranscriptLine {
  struct Joined {
    let number: Int
    let className: String
    let values: [NamedValue]
  }

  let number: Int
  let className: String
  let key: String
  let kind: KeyValueChange
  let ranges: [Range<Int>]?
  let old, new: TranscriptValue
  let joined: [Joined]
  let cause: ChangeLog.Cause
  let group: Int

  init(_ change: RecordedChange, in log: ChangeLog) throws {
    let place = change.place
    number = try place.object.numberInTranscripts(place.key)
    className = place.object.className
    key = place.key.key
    kind = change.kind
    ranges = change.ranges
    old = try TranscriptValue(change.oldValue, place, log)
    new = try TranscriptValue(change.newValue, place, log)
    joined = try change.joined.map { try Joined($0, in: log) }
    cause = change.cause
    group = change.number
  }

  /// The step that makes this change to the corresponding object of another graph.
  func step(in log: ChangeLog, _ arriving: [Int: KVOObject]) throws -> ChangeStep {
    guard let object = log.object(number) ?? arriving[number] else {
      throw ChangeLogError.unknownObject(number: number)
    }
    let recorded = log.selection.recordedClass(of: object)
    guard KVORuntime.className(of: recorded.type) == className,
      let key = recorded.keys.first(where: { $0.key == key })
    else { throw ChangeLogError.unknownKey(key: key, className: className) }
    return ChangeStep(
      object, key, kind, ranges, old: try old.resolved(key, in: log, arriving),
      new: try new.resolved(key, in: log, arriving))
  }
}

extension TranscriptLine.Joined {
  init(_ joined: JoinedObject, in log: ChangeLog) throws {
    let object = joined.object
    className = object.className
    number = try object.numberInTranscripts(object.recorded.keys[0])
    values = try joined.values.indices.map { index in
      let place = RecordedPlace(object: object, index: index)
      return NamedValue(
        key: place.key.key, value: try TranscriptValue(joined.values[index], place, log))
    }
  }
}

extension RecordedObject {
  fileprivate var className: String { KVORuntime.className(of: recorded.type) }

  fileprivate func numberInTranscripts(_ key: RecordedKey) throws -> Int {
    if let number { return number }
    throw ChangeLogError.notCodable(
      key: key.key, className: className,
      found:
        "its object was a member of a set when the log began, of which two processes have no order")
  }
}

/// A value of an object that has joined.
struct NamedValue {
  let key: String
  let value: TranscriptValue
}

/// The form of a value in a transcript.
enum TranscriptValue {
  case nothing
  case value(any Encodable)
  case object(Int)
  case objects([Int])

  init(_ value: Any?, _ place: RecordedPlace, _ log: ChangeLog) throws {
    guard let value else {
      self = .nothing
      return
    }
    guard place.key.relation == .none else {
      self = try Self.reference(value, place, log)
      return
    }
    guard let encodable = value as? any Encodable, place.key.decodedType != nil else {
      let type = value is any Encodable ? place.key.valueType : type(of: value)
      throw Self.notCodable(place, "\(KVORuntime.className(of: type)) is not Codable")
    }
    self = .value(encodable)
  }

  private static func reference(
    _ value: Any, _ place: RecordedPlace, _ log: ChangeLog
  ) throws -> TranscriptValue {
    func number(of object: KVOObject) throws -> Int {
      guard let number = object[log.membership]?.member.number else {
        throw notCodable(
          place,
          "nothing is recorded of the \(KVORuntime.className(of: type(of: object))) that it holds")
      }
      return number
    }
    if let object = objectCast(value, to: KVOObject.self) {
      return .object(try number(of: object))
    }
    let objects = place.key.references(in: value)
    // A value of a type that may hold anything is known to be a list only by its elements.
    let isList = place.key.relation != .anything || value is [KVOObject] && !objects.isEmpty
    guard isList, let elements = value as? any Collection, elements.count == objects.count else {
      let type = KVORuntime.className(of: place.key.valueType)
      throw notCodable(
        place,
        objects.isEmpty
          ? "\(type) is not Codable" : "it contains something that is not an object of the log")
    }
    return .objects(try objects.map(number))
  }

  private static func notCodable(_ place: RecordedPlace, _ found: String) -> ChangeLogError {
    .notCodable(
      key: place.key.key, className: KVORuntime.className(of: place.object.recorded.type),
      found: found)
  }

  /// The value in another log's graph.
  func resolved(
    _ key: RecordedKey, in log: ChangeLog, _ arriving: [Int: KVOObject]
  ) throws -> Any? {
    func object(_ number: Int) throws -> KVOObject {
      guard let object = arriving[number] ?? log.object(number) else {
        throw ChangeLogError.unknownObject(number: number)
      }
      return object
    }
    switch self {
    case .nothing: return nil
    case .value(let value): return value
    case .object(let number): return try object(number)
    case .objects(let numbers):
      let objects = try numbers.map(object)
      return key.relation == .unordered ? Set(objects) : objects
    }
  }
}
