internal import CKVORuntime
internal import KVORuntime

// The state of a log. All functions are called under the log's lock, so no value may be destroyed and no
// other code called in them.

/// A change that has begun and is not recorded yet.
struct BegunChange {
  let change: CallingChange
  let place: RecordedPlace
  /// The log's end at the start of the change or, on a thread that is replaying, the number of its performed
  /// changes. Later records were made within this change.
  let position: Int
  /// The number of changes that had begun before it.
  let order: Int
  /// Whether another change of the same place has been recorded since.
  var hasOverlapped = false
}

/// A running undo, redo or application of a transcript.
struct Performance {
  let thread: UnsafeRawPointer
  let group: ChangeGroup
  /// The changes since the current step began.
  var changes: [RecordedChange] = []
  /// The places that other threads have changed since it began. Performed changes are recorded after each
  /// step, so the last record of such a place may not have its last value.
  var disturbed: [RecordedPlace.ID: RecordedPlace] = [:]
}

struct ChangeHistory {
  private var kept: TrimmedArray<RecordedChange> = []
  /// The position of the first record.
  private(set) var first = 0
  /// The position up to which records have been read.
  private var read = 0
  private var begun: [BegunChange] = []
  private var beginnings = 0
  private var lastGroup = 0

  private(set) var undo: TrimmedArray<ChangeGroup> = []
  private(set) var redo: TrimmedArray<ChangeGroup> = []
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

  /// Returns the changes to release.
  mutating func begin(
    _ place: RecordedPlace, by change: CallingChange, on thread: UnsafeRawPointer
  ) -> [BegunChange] {
    var garbage: [BegunChange] = []
    // Bounds the list: manual changes may never be closed.
    if begun.count >= 1_000 {
      garbage = Array(begun.prefix(500))
      begun.removeFirst(500)
    }
    let performed = performance.flatMap { $0.thread == thread ? $0.changes.count : nil }
    begun.append(
      BegunChange(change: change, place: place, position: performed ?? count, order: beginnings))
    beginnings += 1
    return garbage
  }

  // Of several changes that overlap, each that ends after another has overlapped it, so the last one always has.
  private mutating func end(_ place: RecordedPlace, by change: CallingChange) -> BegunChange? {
    let index = begun.lastIndex { $0.change.isSame(as: change) && $0.place.isSame(as: place) }
    let ended = index.map { begun.remove(at: $0) }
    for other in begun.indices where begun[other].place.isSame(as: place) {
      begun[other].hasOverlapped = true
    }
    return ended
  }

  /// Adds a change. Returns the values to release, and whether another change may have stored a later value of the key
  /// that has been recorded before this one. That holds for a change whose beginning was not noted, too.
  mutating func add(
    _ change: RecordedChange, by calling: CallingChange, on thread: UnsafeRawPointer
  ) -> (garbage: [RecordedChange], isUnsettled: Bool) {
    let begun = end(change.place, by: calling)
    // The change's value was stored after the reads in progress began.
    change.place.object.reads[change.place.index].dropOpenReads()
    if let performed = performance?.changes.count, performance?.thread == thread {
      performance?.changes.insert(change, at: min(begun?.position ?? performed, performed))
      return ([], false)
    }
    performance?.disturbed[change.place.id] = change.place
    return (add(change, begun, by: calling, on: thread), begun?.hasOverlapped ?? true)
  }

  private mutating func add(
    _ change: RecordedChange, _ begun: BegunChange?, by calling: CallingChange,
    on thread: UnsafeRawPointer
  ) -> [RecordedChange] {
    var garbage: [RecordedChange] = []
    forgetRedo(&garbage)
    change.thread = thread
    change.order = begun?.order ?? beginnings
    change.began = calling.began
    // An observer that was notified before the log has changed the same key again, or another thread has.
    if let begun, change.place.object.lastPositions[change.place.index] >= begun.position,
      let later = firstRecord(of: change.place, from: begun.position, begunAfter: begun.order)
    {
      insert(change, before: later, whichIsWithin: isWithin(self[later], calling, on: thread))
      trim(&garbage)
      return garbage
    }
    let group = open ?? action(on: thread)
    if let last = mergeable(with: change, in: group) {
      last.group.goOn(on: thread)
      garbage.append(replaceNew(of: last, by: change))
      return garbage
    }
    append(change, to: group ?? single(on: thread))
    if open == nil { trim(&garbage) }
    return garbage
  }

  /// Makes a value the last one recorded of a place, unless a value that was read later has been recorded.
  /// Returns the values to release.
  mutating func settle(
    _ place: RecordedPlace, _ read: Int, _ value: Any?, on thread: UnsafeRawPointer
  ) -> [RecordedChange] {
    let position = place.object.lastPositions[place.index]
    guard place.object.reads[place.index].end(read), position >= first,
      self[position].kind == .setting
    else { return [] }
    let last = self[position]
    let change = RecordedChange(place, .setting, nil, old: last.newValue, new: value, joined: [])
    if position >= self.read { return [replaceNew(of: last, by: change)] }
    append(change, to: open ?? action(on: thread) ?? single(on: thread))
    return []
  }

  // Returns a change that holds the value in between, so that it is destroyed outside the lock.
  private func replaceNew(of last: RecordedChange, by change: RecordedChange) -> RecordedChange {
    let between = last.merge(change)
    return RecordedChange(change.place, .setting, nil, old: between, new: nil, joined: [])
  }

  /// The group to which this thread's current change, bracket or batch belongs: the last one, if this thread
  /// made it within that action and no other thread has recorded a change since.
  private func action(on thread: UnsafeRawPointer) -> ChangeGroup? {
    guard let last = undo.last, last.thread == thread, kvo_binding_began_before(last.stamp) else {
      return nil
    }
    return last
  }

  private func mergeable(with change: RecordedChange, in group: ChangeGroup?) -> RecordedChange? {
    guard read < count, let last = kept.last, last.merges(change) else { return nil }
    if let group { return last.group === group ? last : nil }
    return mergesSingles && last.group.isSingle && undo.last === last.group ? last : nil
  }

  private mutating func single(
    on thread: UnsafeRawPointer, before later: ChangeGroup? = nil
  ) -> ChangeGroup {
    let group = makeGroup(.change, on: thread)
    if let later, let place = undo.lastIndex(where: { $0 === later }) {
      undo.insert(group, at: place)
    } else {
      undo.append(group)
    }
    return group
  }

  /// - Parameter thread: The thread of a group that is implicit, to which the thread's further changes within
  ///   the same action belong; nil for a group of the program's.
  private mutating func makeGroup(
    _ cause: ChangeLog.Cause, on thread: UnsafeRawPointer? = nil, name: String? = nil
  ) -> ChangeGroup {
    lastGroup += 1
    return ChangeGroup(id: lastGroup, cause: cause, thread: thread, name: name)
  }

  private mutating func append(_ change: RecordedChange, to group: ChangeGroup) {
    change.group = group
    if group.isWanted { group.changes.append(change) }
    change.place.object.lastPositions[change.place.index] = count
    kept.append(change)
  }

  private func firstRecord(
    of place: RecordedPlace, from position: Int, begunAfter order: Int
  ) -> Int? {
    (max(position, read, first)..<count).first {
      self[$0].place.isSame(as: place) && self[$0].order > order
    }
  }

  // Whether a recorded change began later than the change that this thread delivers, and within it.
  private func isWithin(
    _ later: RecordedChange, _ calling: CallingChange, on thread: UnsafeRawPointer
  ) -> Bool {
    later.thread == thread && later.began >= calling.taken
  }

  // Inserts a change before a record that was made within it, or begun later by another thread. If the record
  // was made within it and is a set, it becomes part of the change instead.
  private mutating func insert(
    _ change: RecordedChange, before position: Int, whichIsWithin isOwn: Bool
  ) {
    let later = self[position]
    if isOwn, change.merges(later) { return later.takeOld(of: change) }
    let group =
      isOwn || later.group === open
      ? later.group! : single(on: change.thread!, before: later.group)
    change.group = group
    group.changes.insert(change, at: group.changes.firstIndex { $0 === later } ?? 0)
    kept.insert(change, at: position - first)
    for moved in position..<count {
      let place = self[moved].place
      place.object.lastPositions[place.index] = moved
    }
  }
}

// MARK: Groups

extension ChangeHistory {
  /// Whether a new record leaves `canUndo`, `canRedo`, `undoName` and `redoName` unchanged.
  var staysSame: Bool { redo.isEmpty && (open != nil || undo.last.map { $0.name == nil } ?? false) }

  mutating func openGroup(_ name: String?) {
    openDepth += 1
    let group = open ?? makeGroup(.change)
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
    if !group.changes.isEmpty { undo.append(group) }
  }

  private mutating func forgetRedo(_ garbage: inout [RecordedChange]) {
    guard !redo.isEmpty else { return }
    for group in redo { group.forget() }
    redo = []
    trim(&garbage)
  }

  /// Drops groups beyond the limit, and the records before all groups that can still be undone or redone.
  /// - Parameter garbage: Gets the values to release.
  mutating func trim(_ garbage: inout [RecordedChange]) {
    guard let undoLimit else { return }
    let surplus = undo.count - max(undoLimit, 0)
    if surplus > 0 {
      for group in undo.prefix(surplus) { group.forget() }
      undo.removeFirst(surplus)
    }
    var unwanted = 0
    while unwanted < kept.count, !kept[unwanted].group.isWanted { unwanted += 1 }
    if unwanted > 0 { drop(unwanted, &garbage) }
  }

  private mutating func drop(_ dropped: Int, _ garbage: inout [RecordedChange]) {
    for place in 0..<dropped { garbage.append(kept[place]) }
    kept.removeFirst(dropped)
    first += dropped
  }

  /// Returns the values to release.
  mutating func removeAll() -> (records: [RecordedChange], begun: [BegunChange]) {
    let left = begun
    var garbage: [RecordedChange] = []
    for group in undo { group.forget() }
    for group in redo { group.forget() }
    (undo, redo, begun) = ([], [], [])
    // The changes that are being undone can't be redone.
    performance?.group.forget()
    open?.changes = []
    drop(kept.count, &garbage)
    return (garbage, left)
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
    let group = makeGroup(cause, name: name)
    performance = Performance(thread: thread, group: group)
    return group
  }

  // Whether this thread is within a change that is not recorded yet. A manual pair does not count between its calls:
  // it may have been left open.
  private var isChanging: Bool { begun.contains { $0.change.isCurrent } }

  /// The changes since the last call.
  mutating func takePerformed() -> [RecordedChange] {
    defer { performance?.changes = [] }
    return performance?.changes ?? []
  }

  /// The recorded changes of the running undo, redo or application.
  var performed: [RecordedChange] { performance.map { Array($0.group.changes) } ?? [] }

  mutating func record(_ change: RecordedChange) {
    guard let group = performance?.group else { return }
    append(change, to: group)
  }

  /// Returns the values to release, and the places to settle.
  mutating func endPerformance() -> (garbage: [RecordedChange], disturbed: [RecordedPlace]) {
    defer { performance = nil }
    return (performance?.changes ?? [], performance.map { Array($0.disturbed.values) } ?? [])
  }

  /// Makes a failed and reverted group one that can't be undone. Its records stay, because its changes were
  /// made. Returns its changes.
  func abandon(_ group: ChangeGroup) -> [RecordedChange] {
    let changes = Array(group.changes)
    group.forget()
    return changes
  }

  /// Replaces a group that was reversed by the group that reversed it, which can itself be reversed.
  mutating func exchange(
    _ group: ChangeGroup, for made: ChangeGroup, _ cause: ChangeLog.Cause
  ) -> [RecordedChange] {
    var garbage: [RecordedChange] = []
    group.forget()
    if cause == .undo {
      Self.remove(group, from: &undo)
      Self.keep(made, in: &redo)
    } else {
      Self.remove(group, from: &redo)
      Self.keep(made, in: &undo)
    }
    trim(&garbage)
    return garbage
  }

  /// Adds a group to those that can be undone.
  mutating func keepApplied(_ group: ChangeGroup) -> [RecordedChange] {
    Self.keep(group, in: &undo)
    var garbage: [RecordedChange] = []
    forgetRedo(&garbage)
    trim(&garbage)
    return garbage
  }

  private static func remove(_ group: ChangeGroup, from groups: inout TrimmedArray<ChangeGroup>) {
    groups.lastIndex { $0 === group }.map { groups.remove(at: $0) }
  }

  // Static, because a method of the history would need exclusive access to it, and so copy the groups.
  private static func keep(_ group: ChangeGroup, in groups: inout TrimmedArray<ChangeGroup>) {
    if !group.changes.isEmpty { groups.append(group) }
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
