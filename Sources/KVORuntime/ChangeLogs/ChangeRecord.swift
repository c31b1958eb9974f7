internal import CKVORuntime

// A change as a value, and what undoes it.

/// A place where changes happen: a recorded key of a recorded object.
struct RecordedPlace {
  let object: RecordedObject
  let index: Int

  var key: RecordedKey { object.recorded.keys[index] }

  struct ID: Hashable {
    let object: ObjectIdentifier
    let index: Int
  }

  /// While somebody has the place, it is no other's.
  var id: ID { ID(object: ObjectIdentifier(object), index: index) }

  func isSame(as other: RecordedPlace) -> Bool { object === other.object && index == other.index }
}

/// One recorded change. Only the last one of a log is ever changed, before anybody has read it, under the log's lock.
final class RecordedChange: @unchecked Sendable {
  let place: RecordedPlace
  let kind: KeyValueChange
  let ranges: [Range<Int>]?
  private(set) var oldValue: Any?
  private(set) var newValue: Any?
  /// What has joined the graph by it.
  let joined: [JoinedObject]
  /// Set when it comes into the log.
  var group: ChangeGroup!
  /// The thread that has made it, and how many changes had begun before; 0 of what is done once more.
  var thread: UnsafeRawPointer?
  var order = 0

  init(
    _ place: RecordedPlace, _ kind: KeyValueChange, _ ranges: [Range<Int>]?, old: Any?, new: Any?,
    joined: [JoinedObject]
  ) {
    self.place = place
    self.kind = kind
    self.ranges = ranges
    oldValue = old
    newValue = new
    self.joined = joined
  }

  /// Takes what came after it, of the same key. Returns the value between.
  func merge(_ next: RecordedChange) -> Any? {
    defer { newValue = next.newValue }
    return newValue
  }

  /// Begins where another one did, within which it came. That one has what is to be let go of.
  func takeOld(of outer: RecordedChange) {
    (oldValue, outer.oldValue) = (outer.oldValue, oldValue)
  }

  /// Whether a later change of its key may be made one with it.
  func merges(_ next: RecordedChange) -> Bool {
    kind == .setting && next.kind == .setting && place.isSame(as: next.place)
      && place.key.relation == .none
  }
}

/// What is undone at once.
final class ChangeGroup: @unchecked Sendable {
  let id: Int
  let cause: ChangeLog.Cause
  // The rest under the log's lock.
  /// Who has made it, where it is not the program's: changes outside of all groups.
  private(set) var thread: UnsafeRawPointer?
  /// When it was made, or last joined by a set that repeats another (`kvo_binding_stamp`).
  private(set) var stamp: UInt64
  var name: String?
  var changes: [RecordedChange] = []
  /// Whether it can be undone or redone, or is open.
  private(set) var isWanted = true

  init(id: Int, cause: ChangeLog.Cause, thread: UnsafeRawPointer?, name: String?) {
    self.id = id
    self.cause = cause
    self.thread = thread
    self.name = name
    stamp = thread == nil ? 0 : kvo_binding_stamp()
  }

  var isSingle: Bool { thread != nil }

  /// What the set leads to that has just been merged with one of the group's is in the group, too.
  func goOn(on thread: UnsafeRawPointer) {
    if isSingle { (self.thread, stamp) = (thread, kvo_binding_stamp()) }
  }

  /// It is wanted no more. Returns its changes: nothing may die under the lock.
  func forget() -> [RecordedChange] {
    defer { (isWanted, changes) = (false, []) }
    return changes
  }
}

/// The state of an object when it joined the graph: the values of its recorded keys.
struct JoinedObject {
  let object: RecordedObject
  let values: [Any?]
}

extension ChangeLog {
  /// What made a change.
  public enum Cause: String, Codable, Sendable {
    /// The program.
    case change
    /// `undo()`.
    case undo
    /// `redo()`.
    case redo
    /// `apply(_:)`.
    case transcript
  }

  /// One change of a recorded key. It keeps its values and, where it still lives, has its object.
  public struct Record {
    let change: RecordedChange

    /// Whose key it is; nil if it has died.
    public var object: KVOObject? { change.place.object.object }
    /// The key, as it is recorded.
    public var key: String { change.place.key.key }
    /// What happened.
    public var kind: KeyValueChange { change.kind }
    /// Where, for changes of ordered to-many properties.
    public var indexes: RangeSet<Int>? { change.ranges.map { RangeSet($0) } }
    /// What there was; of elements or members those that went. Nil where there was nothing.
    public var oldValue: Any? { change.oldValue }
    /// What there is; of elements or members those that came. Nil where there is nothing.
    public var newValue: Any? { change.newValue }
    /// What has made it.
    public var cause: Cause { change.group.cause }
    /// The same number for all records that are undone at once, and for no others.
    public var group: Int { change.group.id }
  }
}

extension ChangeLog.Record: CustomStringConvertible {
  /// `Employee#3.salary: setting 1000.0 -> 1200.0`. The object's number is the one that it has in transcripts; an object
  /// that was in a set when the log began has none.
  public var description: String {
    let object = change.place.object
    let owner = className(of: object.recorded.type) + (object.number.map { "#\($0)" } ?? "")
    let places = change.ranges.map { " at " + $0.map { "\($0)" }.joined(separator: ", ") } ?? ""
    let values = [oldValue, newValue].map { $0.map { String(reflecting: $0) } ?? "nil" }
    return "\(owner).\(key): \(kind)\(places) \(values[0]) -> \(values[1])"
  }
}
