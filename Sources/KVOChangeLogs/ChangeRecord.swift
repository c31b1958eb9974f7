internal import CKVORuntime
public import KVORuntime

// A recorded change as a value, and groups of them.

/// A recorded key of a recorded object.
struct RecordedPlace {
  let object: RecordedObject
  // So small that a record has room for it.
  private let shortIndex: UInt32

  init(object: RecordedObject, index: Int) { (self.object, shortIndex) = (object, UInt32(index)) }

  var index: Int { Int(shortIndex) }
  var key: RecordedKey { object.recorded.keys[index] }
  /// The key's state of the object.
  var state: UnsafeMutablePointer<KeyState> { object.states + index }

  struct ID: Hashable {
    let object: ObjectIdentifier
    let index: Int
  }

  /// Unique as long as the place's object is retained.
  var id: ID { ID(object: ObjectIdentifier(object), index: index) }

  func isSame(as other: RecordedPlace) -> Bool { object === other.object && index == other.index }
}

/// One recorded change. It is modified only before it has been read, under the log's lock, which also protects `group`
/// and `isWanted`.
///
/// A set of a number is one allocation of 72 bytes.
// The lock ensures that accesses are exclusive, so Swift need not check it, here and below.
final class RecordedChange: @unchecked Sendable {
  // The values, if there are no details: they are of the key's word type.
  @exclusivity(unchecked) private var oldWord: UInt64 = 0
  @exclusivity(unchecked) private var newWord: UInt64 = 0
  @exclusivity(unchecked) private var details: ChangeDetails?
  /// The changes that are undone with this one; nil if it is undone alone.
  @exclusivity(unchecked) var group: ChangeGroup?
  /// The number of its group, which it also has if it is undone alone. Set when it is added to the log.
  @exclusivity(unchecked) private(set) var number = 0
  // The smaller fields are last, so that they share words.
  let place: RecordedPlace
  let kind: KeyValueChange
  @exclusivity(unchecked) private(set) var cause = ChangeLog.Cause.change
  @exclusivity(unchecked) private var isWantedAlone = true

  /// Creates a record of the change that calls the log.
  init(_ place: RecordedPlace, _ change: OpaquePointer, joined: [JoinedObject]) {
    self.place = place
    kind = KeyValueChange(change)
    let (old, new) = (kvo_change_get_old(change), kvo_change_get_new(change))
    let indexes = kvo_change_get_indexes(change)
    if let type = place.state.pointee.wordType, let old, let new, indexes == nil,
      old.pointee.type == type, new.pointee.type == type,
      let oldBytes = kvo_value_bytes(old), let newBytes = kvo_value_bytes(new)
    {
      // A core value has room for three words.
      oldWord = oldBytes.load(as: UInt64.self)
      newWord = newBytes.load(as: UInt64.self)
    } else {
      details = ChangeDetails(
        old: old.flatMap { ValueType.any(of: $0) }, new: new.flatMap { ValueType.any(of: $0) },
        ranges: indexes.map { KVORuntime.ranges(of: $0) }, joined: joined)
    }
  }

  /// Creates a record of a set.
  init(_ place: RecordedPlace, old: Any?, new: Any?) {
    (self.place, kind) = (place, .setting)
    details = ChangeDetails(old: old, new: new, ranges: nil, joined: [])
  }

  /// The value before the change; the removed elements, for a change of elements.
  var oldValue: Any? { details.map(\.old) ?? value(of: oldWord) }
  /// The value after the change; the added elements, for a change of elements.
  var newValue: Any? { details.map(\.new) ?? value(of: newWord) }
  var ranges: [Range<Int>]? { details?.ranges }
  /// Whether it is a change of elements of a collection that was nil before.
  var isFromNil: Bool { details?.isFromNil ?? false }
  /// The objects that have joined the graph by this change.
  var joined: [JoinedObject] { details?.joined ?? [] }

  private func value(of word: UInt64) -> Any? { place.key.wordType?.any(ofWord: word) }

  private func makeDetails() -> ChangeDetails {
    if let details { return details }
    let made = ChangeDetails(old: oldValue, new: newValue, ranges: nil, joined: [])
    details = made
    return made
  }

  /// Notes, before the change is added to the log, that the collection was nil.
  func noteOldNil() { if kind != .setting { details?.isFromNil = true } }

  /// Exchanges the new values of two changes. The second one is next of the same key, and is merged with this.
  func swapNew(with next: RecordedChange) {
    guard details != nil || next.details != nil else { return swap(&newWord, &next.newWord) }
    swap(&makeDetails().new, &next.makeDetails().new)
  }

  /// Takes the old value of the change within which this one was made. That change gets the value to release.
  func takeOld(of outer: RecordedChange) {
    guard details != nil || outer.details != nil else { return swap(&oldWord, &outer.oldWord) }
    swap(&makeDetails().old, &outer.makeDetails().old)
  }

  /// Whether a later change of the key may be merged with this one.
  func merges(_ next: RecordedChange) -> Bool {
    kind == .setting && next.kind == .setting && isOf(next.place) && place.key.relation == .none
  }

  func isOf(_ place: RecordedPlace) -> Bool { self.place.isSame(as: place) }

  /// Numbers the change when it is added to the log.
  func add(as number: Int, _ cause: ChangeLog.Cause) { (self.number, self.cause) = (number, cause) }

  /// The changes that are undone as a whole with this one, in order.
  var undoneChanges: ChangeList { group?.changes ?? [self] }

  /// Whether they were made by one change and by what that caused, outside of the program's groups.
  var isImplicit: Bool { group?.isImplicit ?? true }

  /// Whether they can be undone or redone, or are of the open group.
  var isWanted: Bool { group?.isWanted ?? isWantedAlone }

  /// Marks them as unneeded. This destroys no change: the log still has them all.
  func forget() { if let group { group.forget() } else { isWantedAlone = false } }

  /// The change's group, which it begins if it was undone alone.
  func makeGroup() -> ChangeGroup {
    if let group { return group }
    let made = ChangeGroup(number, cause, name: nil, isImplicit: true)
    if isWanted { made.changes = [self] } else { made.forget() }
    group = made
    return made
  }
}

/// The values, indexes and joined objects of a record that does not fit into words.
final class ChangeDetails: @unchecked Sendable {
  // Written out, `Optional` is not initialised with nil first.
  @exclusivity(unchecked) fileprivate(set) var old: Optional<Any>
  @exclusivity(unchecked) fileprivate(set) var new: Optional<Any>
  let ranges: [Range<Int>]?
  let joined: [JoinedObject]
  @exclusivity(unchecked) fileprivate(set) var isFromNil = false

  init(old: Any?, new: Any?, ranges: [Range<Int>]?, joined: [JoinedObject]) {
    self.old = old
    self.new = new
    self.ranges = ranges
    self.joined = joined
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

/// Several changes that are undone as a whole. Protected by the log's lock.
final class ChangeGroup: @unchecked Sendable {
  let number: Int
  let cause: ChangeLog.Cause
  let isImplicit: Bool
  @exclusivity(unchecked) var name: String?
  @exclusivity(unchecked) var changes = ChangeList()
  /// Whether it can be undone or redone, or is open.
  @exclusivity(unchecked) private(set) var isWanted = true

  init(_ number: Int, _ cause: ChangeLog.Cause, name: String?, isImplicit: Bool = false) {
    self.number = number
    self.cause = cause
    self.name = name
    self.isImplicit = isImplicit
  }

  /// Marks the group as unneeded. This destroys no change: the log still has them all.
  func forget() { (isWanted, changes) = (false, ChangeList()) }
}

/// A list of changes, which allocates no array for a single one.
struct ChangeList: RandomAccessCollection, ExpressibleByArrayLiteral {
  private var only: RecordedChange?
  private var several: [RecordedChange] = []

  init() {}

  init(arrayLiteral elements: RecordedChange...) {
    for element in elements { append(element) }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { only == nil ? several.count : 1 }

  subscript(index: Int) -> RecordedChange { only ?? several[index] }

  mutating func append(_ change: RecordedChange) {
    guard !isEmpty else {
      only = change
      return
    }
    spread()
    several.append(change)
  }

  mutating func insert(_ change: RecordedChange, at index: Int) {
    guard !isEmpty else {
      only = change
      return
    }
    spread()
    several.insert(change, at: index)
  }

  private mutating func spread() {
    if let first = only { (only, several) = (nil, [first]) }
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
    public var cause: Cause { change.cause }
    /// The number of the change's group. Exactly the records that are undone as a whole share it.
    public var group: Int { change.number }
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
