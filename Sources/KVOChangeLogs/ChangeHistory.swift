internal import CKVORuntime
internal import KVORuntime

// The state of a log. All functions are called under the log's lock, so no value may be destroyed and no
// other code called in them.

/// A change that has begun and is not recorded yet.
private struct BegunChange {
  let change: CallingChange
  /// Not retained. If the object is gone, another one may have its address.
  let place: RecordedPlace.ID
  /// The log's end at the start of the change or, on a thread that is replaying, the number of its performed
  /// changes. Later records were made within this change.
  let position: Int
  /// The number of changes that had begun before it.
  let order: Int
  /// Whether it changes elements of a collection that was nil.
  let isFromNil: Bool
  /// Whether another change of the same place has been recorded since.
  var hasOverlapped = false
}

/// How a recorded change came about: the thread that made it, `CallingChange.began` of it, and the number of changes that
/// had begun before. The number is 0 for undone, redone and applied changes.
private struct Origin {
  var thread: UnsafeRawPointer?
  var began: UInt64 = 0
  var order = 0
}

/// A running undo, redo or application of a transcript.
struct Performance {
  let thread: UnsafeRawPointer
  let group: ChangeGroup
  /// The changes since the current step began.
  var changes = ChangeList()
  /// The places that other threads have changed since it began. Performed changes are recorded after each
  /// step, so the last record of such a place may not have its last value.
  var disturbed: [RecordedPlace.ID: RecordedPlace] = [:]
}

/// The state of a log, behind its lock.
// Not a `LockedValue`, because functions with closures are not specialised across modules.
final class LockedHistory: @unchecked Sendable {
  private let lock = Lock()
  // The lock is not recursive, so it ensures that accesses are exclusive.
  @exclusivity(unchecked) private var history = ChangeHistory()

  func withLock<R>(_ body: (inout ChangeHistory) throws -> R) rethrows -> R {
    lock.acquire()
    defer { lock.release() }
    return try body(&history)
  }
}

struct ChangeHistory {
  private var kept: TrimmedArray<RecordedChange> = []
  /// The position of the first record.
  private(set) var first = 0
  /// The position up to which records have been read.
  private var read = 0
  private var begun: [BegunChange] = []
  private var beginnings = 0
  /// The origins of the records from a position on, of which a change that has begun may have to be recorded before some.
  private var origins: TrimmedArray<Origin> = []
  private var firstOrigin = 0
  private var lastGroup = 0

  /// A change of each group that can be undone or redone.
  private(set) var undo: TrimmedArray<RecordedChange> = []
  private(set) var redo: TrimmedArray<RecordedChange> = []
  /// The number of the last group that a thread's action has made, and when it was made or extended
  /// (`kvo_binding_stamp`).
  private var action: (number: Int, thread: UnsafeRawPointer, stamp: UInt64)?
  private var open: ChangeGroup?
  private var openDepth = 0
  private var performance: Performance?
  var mergesSingles = false
  var undoLimit: Int?

  // The objects with and without numbers. Dead ones are removed from time to time.
  private var numbered: [Int: WeakReference<RecordedObject>] = [:]
  private var unnumbered: [WeakReference<RecordedObject>] = []
  private var objectsWhenCleaned = 0
  private(set) var lastNumber = 0

  var count: Int { first + kept.count }
}

// MARK: Records

extension ChangeHistory {
  private subscript(position: Int) -> RecordedChange { kept[position - first] }

  /// Nil if some of the records are gone, or do not exist yet.
  mutating func changes(from start: Int, to end: Int) -> [RecordedChange]? {
    guard start >= first, start <= end, end <= count else { return nil }
    read = max(read, end)
    return (start..<end).map { self[$0] }
  }

  /// Notes that a change begins.
  mutating func begin(
    _ place: RecordedPlace, by change: CallingChange, on thread: UnsafeRawPointer,
    _ registration: RecordedRegistration, isFromNil: Bool
  ) {
    guard place.object.registration === registration else { return }
    // Bounds the list: manual changes may never be closed.
    if begun.count >= 1_000 { begun.removeFirst(500) }
    let performed = performance?.thread == thread ? performance?.changes.count : nil
    begun.append(
      BegunChange(
        change: change, place: place.id, position: performed ?? count, order: beginnings,
        isFromNil: isFromNil))
    beginnings += 1
  }

  // Of several changes that overlap, each that ends after another has overlapped it, so the last one always has.
  private mutating func end(_ place: RecordedPlace, by change: CallingChange) -> BegunChange? {
    let id = place.id
    let index = begun.lastIndex { $0.change.isSame(as: change) && $0.place == id }
    let ended = index.map { begun.remove(at: $0) }
    for other in begun.indices where begun[other].place == id { begun[other].hasOverlapped = true }
    return ended
  }

  /// Adds a change. Returns the values to release, and whether another change may have stored a later value of the key
  /// that has been recorded before this one. That holds for a change whose beginning was not noted, too.
  mutating func add(
    _ change: RecordedChange, by calling: CallingChange, on thread: UnsafeRawPointer,
    _ registration: RecordedRegistration
  ) -> (garbage: ChangeList, isUnsettled: Bool) {
    guard change.place.object.registration === registration else { return ([change], false) }
    let found = end(change.place, by: calling)
    if found?.isFromNil == true { change.noteOldNil() }
    // A change that began before the registration may have stored its value before the prior call; or that was of an
    // earlier object at this address.
    let begun = calling.began < registration.stamp ? nil : found
    // The change's value was stored after the reads in progress began.
    change.place.state.pointee.reads.dropOpenReads()
    if performance != nil {
      if performance?.thread == thread {
        let performed = performance?.changes.count ?? 0
        performance?.changes.insert(change, at: min(begun?.position ?? performed, performed))
        return (ChangeList(), false)
      }
      performance?.disturbed[change.place.id] = change.place
    }
    return (add(change, begun, by: calling, on: thread), begun?.hasOverlapped ?? true)
  }

  private mutating func add(
    _ change: RecordedChange, _ begun: BegunChange?, by calling: CallingChange,
    on thread: UnsafeRawPointer
  ) -> ChangeList {
    var garbage = ChangeList()
    forgetRedo(&garbage)
    let origin = Origin(thread: thread, began: calling.began, order: begun?.order ?? beginnings)
    // An observer that was notified before the log has changed the same key again, or another thread has.
    if let begun, change.place.state.pointee.lastPosition >= begun.position,
      let later = firstRecord(of: change.place, from: begun.position, begunAfter: begun.order)
    {
      let isOwn = isWithin(origins[later - firstOrigin], calling, on: thread)
      insert(change, origin, before: later, whichIsWithin: isOwn)
      trim(&garbage)
      return garbage
    }
    let companion = companion(on: thread)
    if merge(change, with: companion, on: thread) {
      garbage.append(change)
    } else {
      append(change, with: companion, on: thread, origin)
      if open == nil { trim(&garbage) }
    }
    return garbage
  }

  /// Makes a value the last one recorded of a place, unless a value that was read later has been recorded.
  /// Returns the values to release.
  mutating func settle(
    _ place: RecordedPlace, _ read: Int, _ value: Any?, on thread: UnsafeRawPointer
  ) -> ChangeList {
    let position = place.state.pointee.lastPosition
    guard place.state.pointee.reads.end(read), position >= first,
      self[position].kind == .setting
    else { return [] }
    let last = self[position]
    let change = RecordedChange(place, old: last.newValue, new: value)
    if position >= self.read {
      last.swapNew(with: change)
      return [change]
    }
    append(change, with: companion(on: thread), on: thread, Origin())
    return []
  }

  /// A change that this thread's next change is undone with, outside of `withGroup`: one of what its current change,
  /// bracket or batch has made last, if no other thread has recorded a change since.
  private func companion(on thread: UnsafeRawPointer) -> RecordedChange? {
    guard open == nil, let action, action.thread == thread, kvo_binding_began_before(action.stamp),
      let last = undo.last, last.number == action.number
    else { return nil }
    return last
  }

  // Fails if the change needs a record of its own. Mutating, because it would copy the history otherwise.
  private mutating func merge(
    _ change: RecordedChange, with companion: RecordedChange?, on thread: UnsafeRawPointer
  ) -> Bool {
    let single = mergesSingles ? undo.last.flatMap { $0.isImplicit ? $0 : nil } : nil
    guard let number = open?.number ?? companion?.number ?? single?.number, read < count,
      let last = kept.last, last.number == number, last.merges(change)
    else { return false }
    if open == nil { action = (last.number, thread, kvo_binding_stamp()) }
    last.swapNew(with: change)
    return true
  }

  /// Appends a change to the open group or to its companion's; without them, it is undone alone.
  private mutating func append(
    _ change: RecordedChange, with companion: RecordedChange?, on thread: UnsafeRawPointer,
    _ origin: Origin
  ) {
    if let group = open ?? companion?.makeGroup() { return append(change, to: group, origin) }
    change.add(as: nextGroup(), .change)
    action = (change.number, thread, kvo_binding_stamp())
    undo.append(change)
    append(change, origin)
  }

  private mutating func append(_ change: RecordedChange, to group: ChangeGroup, _ origin: Origin) {
    change.add(as: group.number, group.cause)
    change.group = group
    if group.isWanted { group.changes.append(change) }
    append(change, origin)
  }

  private mutating func append(_ change: RecordedChange, _ origin: Origin) {
    change.place.state.pointee.lastPosition = count
    kept.append(change)
    if begun.isEmpty {
      forgetOrigins()
    } else {
      origins.append(origin)
    }
  }

  private mutating func forgetOrigins() {
    if !origins.isEmpty { origins = [] }
    firstOrigin = count
  }

  private mutating func nextGroup() -> Int {
    lastGroup += 1
    return lastGroup
  }

  private func firstRecord(
    of place: RecordedPlace, from position: Int, begunAfter order: Int
  ) -> Int? {
    (max(position, read, first, firstOrigin)..<count).first {
      self[$0].isOf(place) && origins[$0 - firstOrigin].order > order
    }
  }

  // Whether a recorded change began later than the change that this thread delivers, and within it.
  private func isWithin(
    _ later: Origin, _ calling: CallingChange, on thread: UnsafeRawPointer
  ) -> Bool {
    later.thread == thread && later.began >= calling.taken
  }

  // Inserts a change before a record that was made within it, or begun later by another thread. If the record
  // was made within it and is a set, it becomes part of the change instead.
  private mutating func insert(
    _ change: RecordedChange, _ origin: Origin, before position: Int, whichIsWithin isOwn: Bool
  ) {
    let later = self[position]
    if isOwn, change.merges(later) { return later.takeOld(of: change) }
    if isOwn || open.map({ $0 === later.group }) ?? false {
      let group = later.makeGroup()
      change.add(as: group.number, group.cause)
      change.group = group
      if group.isWanted {
        group.changes.insert(change, at: group.changes.firstIndex { $0 === later } ?? 0)
      }
    } else {
      change.add(as: nextGroup(), .change)
      let place = undo.lastIndex { $0.number == later.number }
      undo.insert(change, at: place ?? undo.endIndex)
    }
    kept.insert(change, at: position - first)
    origins.insert(origin, at: position - firstOrigin)
    for moved in position..<count {
      self[moved].place.state.pointee.lastPosition = moved
    }
  }
}

// MARK: Groups

extension ChangeHistory {
  /// Whether a new record leaves `canUndo`, `canRedo`, `undoName` and `redoName` unchanged.
  var staysSame: Bool {
    redo.isEmpty && (open != nil || undo.last.map { $0.group?.name == nil } ?? false)
  }

  mutating func openGroup(_ name: String?) {
    openDepth += 1
    let group = open ?? ChangeGroup(nextGroup(), .change, name: nil)
    if group.name == nil { group.name = name }
    open = group
  }

  /// Closes a group that is part of another one. Returns false for the outermost group.
  mutating func closeInnerGroup() -> Bool {
    guard openDepth > 1 else { return false }
    openDepth -= 1
    return true
  }

  mutating func closeGroup() {
    openDepth -= 1
    guard openDepth == 0, let group = open else { return }
    open = nil
    Self.keep(group, in: &undo)
  }

  private mutating func forgetRedo(_ garbage: inout ChangeList) {
    guard !redo.isEmpty else { return }
    for change in redo { change.forget() }
    redo = []
    trim(&garbage)
  }

  /// Drops groups beyond the limit, and the records before all groups that can still be undone or redone.
  /// - Parameter garbage: Gets the values to release.
  mutating func trim(_ garbage: inout ChangeList) {
    guard let undoLimit else { return }
    while undo.count > max(undoLimit, 0) { undo.removeFirst().forget() }
    while kept.first?.isWanted == false {
      garbage.append(kept.removeFirst())
      if firstOrigin == first {
        origins.removeFirst()
        firstOrigin += 1
      }
      first += 1
    }
  }

  /// Returns the values to release.
  mutating func removeAll() -> TrimmedArray<RecordedChange> {
    for change in undo { change.forget() }
    for change in redo { change.forget() }
    (undo, redo, begun) = ([], [], [])
    // The changes that are being undone can't be redone.
    performance?.group.forget()
    open?.changes = ChangeList()
    let removed = kept
    (first, kept) = (count, [])
    forgetOrigins()
    return removed
  }
}

// MARK: Undoing

extension ChangeHistory {
  /// Begins an undo, redo or application. It fails if one is running, inside a group or batch, or inside a
  /// change on this thread that is not recorded yet.
  mutating func beginPerformance(
    _ cause: ChangeLog.Cause, name: String?, on thread: UnsafeRawPointer
  ) -> ChangeGroup? {
    guard performance == nil, openDepth == 0, !kvo_binding_is_collecting(), !isChanging
    else { return nil }
    // The steps to undo are read without the lock, so no record of them may be changed.
    read = count
    let group = ChangeGroup(nextGroup(), cause, name: name)
    performance = Performance(thread: thread, group: group)
    return group
  }

  // Whether this thread is within a change that is not recorded yet. A manual pair does not count between its calls:
  // it may have been left open.
  private var isChanging: Bool { begun.contains { $0.change.isCurrent } }

  /// The changes since the last call.
  mutating func takePerformed() -> ChangeList {
    defer { performance?.changes = ChangeList() }
    return performance?.changes ?? ChangeList()
  }

  /// The recorded changes of the running undo, redo or application.
  var performed: [RecordedChange] { performance.map { Array($0.group.changes) } ?? [] }

  mutating func record(_ change: RecordedChange) {
    guard let group = performance?.group else { return }
    append(change, to: group, Origin())
  }

  /// Returns the values to release, and the places to settle.
  mutating func endPerformance() -> (garbage: ChangeList, disturbed: [RecordedPlace]) {
    defer { performance = nil }
    return (
      performance?.changes ?? ChangeList(), performance.map { Array($0.disturbed.values) } ?? []
    )
  }

  /// Makes a failed and reverted group one that can't be undone. Its records stay, because its changes were
  /// made. Returns its changes.
  func abandon(_ group: ChangeGroup) -> [RecordedChange] {
    let changes = Array(group.changes)
    group.forget()
    return changes
  }

  /// Replaces what was reversed by the group that reversed it, which can itself be reversed.
  mutating func exchange(
    _ reversed: RecordedChange, for made: ChangeGroup, _ cause: ChangeLog.Cause
  ) -> ChangeList {
    var garbage = ChangeList()
    if cause == .undo {
      Self.remove(reversed, from: &undo)
      Self.keep(made, in: &redo)
    } else {
      Self.remove(reversed, from: &redo)
      Self.keep(made, in: &undo)
    }
    trim(&garbage)
    return garbage
  }

  /// Adds a group to those that can be undone.
  mutating func keepApplied(_ group: ChangeGroup) -> ChangeList {
    Self.keep(group, in: &undo)
    var garbage = ChangeList()
    forgetRedo(&garbage)
    trim(&garbage)
    return garbage
  }

  private static func remove(
    _ reversed: RecordedChange, from list: inout TrimmedArray<RecordedChange>
  ) {
    reversed.forget()
    if let place = list.lastIndex(where: { $0 === reversed }) { list.remove(at: place) }
  }

  // Static, because a method of the history would need exclusive access to it, and so copy the list.
  private static func keep(_ group: ChangeGroup, in list: inout TrimmedArray<RecordedChange>) {
    if let first = group.changes.first { list.append(first) }
  }
}

// MARK: Objects

extension ChangeHistory {
  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Returns the objects to release: their last other references may be dropped during the call.
  mutating func keep(_ object: RecordedObject) -> [RecordedObject] {
    if let number = object.number {
      numbered[number] = WeakReference(object)
      lastNumber = max(lastNumber, number)
    } else {
      unnumbered.append(WeakReference(object))
    }
    return clean()
  }

  // The condition bounds how often an object is visited.
  private mutating func clean() -> [RecordedObject] {
    guard numbered.count + unnumbered.count > 2 * objectsWhenCleaned + 16 else { return [] }
    var live: [RecordedObject] = []
    func lives(_ entry: WeakReference<RecordedObject>) -> Bool {
      guard let object = entry.object else { return false }
      live.append(object)
      return true
    }
    numbered = numbered.filter { lives($0.value) }
    unnumbered = unnumbered.filter(lives)
    objectsWhenCleaned = live.count
    return live
  }

  func object(_ number: Int) -> RecordedObject? { numbered[number]?.object }

  /// Removes an object that joined during a failed application, and frees its number.
  mutating func forget(_ object: RecordedObject, lastNumber: Int) {
    if let number = object.number { numbered[number] = nil }
    self.lastNumber = max(lastNumber, numbered.keys.max() ?? 0)
  }

  mutating func takeObjects() -> [RecordedObject] {
    defer { (numbered, unnumbered) = ([:], []) }
    return (Array(numbered.values) + unnumbered).compactMap(\.object)
  }
}
