internal import CKVORuntime
public import KVORuntime

// A recorded change as a value, and groups of them.

/// A recorded key of a recorded object.
struct RecordedPlace {
  let object: RecordedObject
  let index: Int

  var key: RecordedKey { object.recorded.keys[index] }

  struct ID: Hashable {
    let object: ObjectIdentifier
    let index: Int
  }

  /// Unique as long as the place's object is retained.
  var id: ID { ID(object: ObjectIdentifier(object), index: index) }

  func isSame(as other: RecordedPlace) -> Bool { object === other.object && index == other.index }
}

/// One recorded change. Only the last change of a log is modified, before it has been read, under the log's
/// lock.
// The lock ensures that accesses are exclusive, so Swift need not check it, here and below.
final class RecordedChange: @unchecked Sendable {
  let place: RecordedPlace
  let kind: KeyValueChange
  let ranges: [Range<Int>]?
  // Written out, `Optional` is not initialised with nil first.
  @exclusivity(unchecked) private(set) var oldValue: Optional<Any>
  @exclusivity(unchecked) private(set) var newValue: Optional<Any>
  /// The objects that have joined the graph by this change.
  let joined: [JoinedObject]
  /// Set when the change is added to the log.
  @exclusivity(unchecked) var group: ChangeGroup!
  /// The thread that made the change, and the number of changes that had begun before. The number is 0 for
  /// undone, redone and applied changes.
  @exclusivity(unchecked) var thread: UnsafeRawPointer?
  @exclusivity(unchecked) var order = 0
  /// `CallingChange.began` of the change.
  @exclusivity(unchecked) var began: UInt64 = 0

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

  /// Adds the next change of the same key to this one. Returns the value in between.
  func merge(_ next: RecordedChange) -> Any? {
    defer { newValue = next.newValue }
    return newValue
  }

  /// Takes the old value of the change within which this one was made. That change gets the value to release.
  func takeOld(of outer: RecordedChange) {
    (oldValue, outer.oldValue) = (outer.oldValue, oldValue)
  }

  /// Whether a later change of the key may be merged with this one.
  func merges(_ next: RecordedChange) -> Bool {
    kind == .setting && next.kind == .setting && place.isSame(as: next.place)
      && place.key.relation == .none
  }
}

/// A change that calls the log, before or after it. A change that one thread has begun may call it on another: the
/// mutation of a property in place goes on wherever its task is resumed.
struct CallingChange {
  private let change: kvo_calling_change

  /// The change that calls the log on this thread.
  init(isPrior: Bool) { change = kvo_binding_calling_change(isPrior) }

  /// The last stamp (`kvo_binding_stamp`) when it began, and when this thread took it over or began it.
  var began: UInt64 { change.began }
  var taken: UInt64 { change.taken }

  /// Whether it is open on this thread or delivered by it.
  var isCurrent: Bool { kvo_binding_is_within(change) }

  /// For calls about the same key of an object.
  func isSame(as other: CallingChange) -> Bool {
    change.thread == other.change.thread && began == other.began
  }
}

/// The changes that are undone as a whole.
final class ChangeGroup: @unchecked Sendable {
  let id: Int
  let cause: ChangeLog.Cause
  // The rest is protected by the log's lock.
  /// The thread that made the group, for a change outside of the program's groups; otherwise nil.
  @exclusivity(unchecked) private(set) var thread: UnsafeRawPointer?
  /// The time when it was made, or when a repeated set was last merged (`kvo_binding_stamp`).
  @exclusivity(unchecked) private(set) var stamp: UInt64
  @exclusivity(unchecked) var name: String?
  @exclusivity(unchecked) var changes: GroupChanges = []
  /// Whether it can be undone or redone, or is open.
  @exclusivity(unchecked) private(set) var isWanted = true

  init(id: Int, cause: ChangeLog.Cause, thread: UnsafeRawPointer?, name: String?) {
    self.id = id
    self.cause = cause
    self.thread = thread
    self.name = name
    stamp = thread == nil ? 0 : kvo_binding_stamp()
  }

  var isSingle: Bool { thread != nil }

  /// Extends the group's action after a merge, so that the changes that the merged set causes belong to the
  /// group.
  func goOn(on thread: UnsafeRawPointer) {
    if isSingle { (self.thread, stamp) = (thread, kvo_binding_stamp()) }
  }

  /// Marks the group as unneeded. This destroys no change: the log still has them all.
  func forget() { (isWanted, changes) = (false, []) }
}

/// The changes of a group. Most groups have one, for which no array is allocated.
struct GroupChanges: RandomAccessCollection, ExpressibleByArrayLiteral {
  private var only: RecordedChange?
  private var several: [RecordedChange] = []

  init(arrayLiteral elements: RecordedChange...) {
    for element in elements { append(element) }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { only == nil ? several.count : 1 }

  subscript(index: Int) -> RecordedChange { only ?? several[index] }

  mutating func append(_ change: RecordedChange) { insert(change, at: count) }

  mutating func insert(_ change: RecordedChange, at index: Int) {
    if isEmpty {
      only = change
      return
    }
    if let first = only { (only, several) = (nil, [first]) }
    several.insert(change, at: index)
  }
}

/// An object that joined the graph, with the values of its recorded keys at that time.
struct JoinedObject {
  let object: RecordedObject
  let values: [Any?]
}

extension ChangeLog {
  /// The origin of a change.
  public enum Cause: String, Codable, Sendable {
    /// The program made the change.
    case change
    /// `undo()` made the change.
    case undo
    /// `redo()` made the change.
    case redo
    /// `apply(_:)` made the change.
    case transcript
  }

  /// One change of a recorded key. A record retains its values, but not its object.
  public struct Record {
    let change: RecordedChange

    /// The object whose key was changed; nil if it has died.
    public var object: KVOObject? { change.place.object.object }
    /// The key that was changed. For a recorded key path, this is the key of its property.
    public var key: String { change.place.key.key }
    /// Whether the property was set, or elements were inserted, removed or replaced.
    public var kind: KeyValueChange { change.kind }
    /// The indexes of the changed elements, for an ordered to-many property; otherwise nil.
    public var indexes: RangeSet<Int>? { change.ranges.map { RangeSet($0) } }
    /// The value before the change; for a change of elements, the removed elements. Nil if there was no
    /// value.
    public var oldValue: Any? { change.oldValue }
    /// The value after the change; for a change of elements, the added elements. Nil if there is no value.
    public var newValue: Any? { change.newValue }
    /// The origin of the change: the program, an undo, a redo or a transcript.
    public var cause: Cause { change.group.cause }
    /// The number of the change's group. Exactly the records that are undone as a whole share it.
    public var group: Int { change.group.id }
  }
}

extension ChangeLog.Record: CustomStringConvertible {
  /// The record as text: `Employee#3.salary: setting 1000.0 -> 1200.0`. The number after `#` is the object's
  /// number in transcripts; an object that was in a set when the log began has none.
  public var description: String {
    let object = change.place.object
    let owner = className(of: object.recorded.type) + (object.number.map { "#\($0)" } ?? "")
    let places = change.ranges.map { " at " + $0.map { "\($0)" }.joined(separator: ", ") } ?? ""
    let values = [oldValue, newValue].map { $0.map { String(reflecting: $0) } ?? "nil" }
    return "\(owner).\(key): \(kind)\(places) \(values[0]) -> \(values[1])"
  }
}
