internal import CKVORuntime
internal import KVORuntime

// Recording: one registration for all recorded keys of an object. Its prior calls record the order in which
// changes of a key began, in case an observer that is notified before the log changes the key again.

extension ChangeLog {
  private static var thread: UnsafeRawPointer { UnsafeRawPointer(kvo_binding_thread()) }

  /// Called for each change of a recorded key, before and after it.
  private func changed(
    _ place: RecordedPlace, _ change: OpaquePointer, _ registration: RecordedRegistration
  ) {
    let isPrior = kvo_change_is_prior(change)
    let calling = CallingChange(isPrior: isPrior)
    let thread = Self.thread
    if isPrior {
      let isFromNil = KeyValueChange(change) != .setting && isNil(place)
      history.withLock {
        $0.begin(place, by: calling, on: thread, registration, isFromNil: isFromNil)
      }
    } else {
      guard let joined = join(place, change, registration) else { return }
      let recorded = RecordedChange(place, change, joined: joined)
      let (garbage, isUnsettled) = announceRecord {
        $0.add(recorded, by: calling, on: thread, registration)
      }
      release(garbage)
      if isUnsettled { settle(place) }
    }
  }

  // Whether a collection is nil, and can be set to nil again.
  private func isNil(_ place: RecordedPlace) -> Bool {
    let key = place.key
    guard key.isWritable, key.valueType is any OptionalType.Type, let object = place.object.object
    else { return false }
    return value(of: key, of: object).flatMap(flattened) == nil
  }

  /// Records the objects that a change brings into the graph. Nil if the change itself is not recorded.
  private func join(
    _ place: RecordedPlace, _ change: OpaquePointer, _ registration: RecordedRegistration
  ) -> [JoinedObject]? {
    guard place.state.pointee.wordType == nil, place.key.relation != .none else {
      return []
    }
    guard history.withLock({ _ in place.object.registration === registration }) else { return nil }
    let new = kvo_change_get_new(change).flatMap { ValueType.any(of: $0) }
    return join(place.key.objects(in: new), isNumbered: true)
  }

  // If changes overlap each other or a registration, the last recorded value may not be the last stored one. So each of
  // their threads reads the value now; the read that begins last gets the last stored value.
  func settle(_ place: RecordedPlace) {
    let thread = Self.thread
    let read = history.withLock { _ in place.state.pointee.reads.begin() }
    guard let object = place.object.object else { return }
    let value = value(of: place.key, of: object)
    let garbage = announceRecord { $0.settle(place, read, value, on: thread) }
    release(garbage)
  }

  /// Records objects, and the objects that they lead to, from now on. Returns those that were not recorded
  /// before, with their values at that time.
  @discardableResult
  func join(_ objects: [KVOObject], isNumbered: Bool) -> [JoinedObject] {
    guard !objects.isEmpty else { return [] }
    var joined: [JoinedObject] = []
    var next = objects.map { ($0, isNumbered) }
    var index = 0
    while index < next.count {
      let (object, isNumbered) = next[index]
      index += 1
      guard let member = enter(object, isNumbered: isNumbered) else { continue }
      let values = values(of: object, member)
      for (key, value) in zip(member.recorded.keys, values) {
        let isOrdered = key.relation != .unordered
        next += key.objects(in: value).map { ($0, isNumbered && isOrdered) }
      }
      joined.append(JoinedObject(object: member, values: values))
    }
    return joined
  }

  // Returns nil if the object is recorded already, or if nothing is recorded of it.
  private func enter(_ object: KVOObject, isNumbered: Bool) -> RecordedObject? {
    guard let (member, isNew) = member(for: object, isNumbered: isNumbered) else { return nil }
    // Another thread may have added the object without having registered yet.
    if isNew || history.withLock({ _ in member.registration == nil }) { observe(object, member) }
    return isNew ? member : nil
  }

  private func member(
    for object: KVOObject, isNumbered: Bool
  ) -> (member: RecordedObject, isNew: Bool)? {
    if let known = object[membership]?.member { return (known, false) }
    let recorded = selection.recordedClass(of: object)
    if let error = recorded.error { reportOnce(error, of: recorded.type) }
    guard !recorded.keys.isEmpty else { return nil }
    var live: [RecordedObject] = []
    defer { withExtendedLifetime(live) {} }
    return joining.withLock {
      if let known = object[membership]?.member { return (known, false) }
      let number =
        arrivals.take(object) ?? (isNumbered ? history.withLock { $0.nextNumber() } : nil)
      let member = RecordedObject(object, recorded, number: number)
      object[membership] = RecordedLife(member)
      live = history.withLock { $0.keep(member) }
      return (member, true)
    }
  }

  // If two threads register at once, the changes of the first registration are recorded.
  private func observe(_ object: KVOObject, _ member: RecordedObject) {
    let keys = member.recorded.keys.map(\.name.interned)
    let registration = RecordedRegistration()
    let token = object.register(keys, [.old, .new, .prior], nil) {
      [reference = reference!] _, index, change in
      reference.object?.changed(RecordedPlace(object: member, index: index), change, registration)
    }
    let isFirst = history.withLock { _ in
      guard member.registration == nil else { return false }
      registration.stamp = kvo_binding_stamp()
      member.registration = registration
      return true
    }
    if isFirst { member.keep(token) } else { token.invalidate() }
  }

  private func values(of object: KVOObject, _ member: RecordedObject) -> [Any?] {
    member.recorded.keys.map { value(of: $0, of: object) }
  }

  private func value(of key: RecordedKey, of object: KVOObject) -> Any? {
    (try? object.value(forKey: key.key)) ?? nil
  }

  private func reportOnce(_ error: KeyValueError, of type: KVOObject.Type) {
    let (name, text) = (className(of: type), error.description)
    guard reported.withLock({ $0.insert(text).inserted }) else { return }
    KVODiagnostics.report(misuse: "A change log records no change of \(name) objects: \(text)")
  }
}

/// Objects that a transcript has created, with their numbers, until they join.
final class ArrivingObjects: Sendable {
  private let numbers = LockedValue<[ObjectIdentifier: Int]>([:])

  func add(_ object: KVOObject, _ number: Int) {
    numbers.withLock { $0[ObjectIdentifier(object)] = number }
  }

  func take(_ object: KVOObject) -> Int? {
    numbers.withLock { $0.removeValue(forKey: ObjectIdentifier(object)) }
  }

  func removeAll() { numbers.withLock { $0 = [:] } }
}
