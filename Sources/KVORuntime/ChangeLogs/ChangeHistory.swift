internal import CKVORuntime

// What a log remembers. Everything here is called under its lock: nothing may die, and nobody is called.

/// A change that has begun and is still to be recorded.
struct BegunChange {
  let thread: UnsafeRawPointer
  let place: RecordedPlace
  /// Where the log was, or what the thread performs: what has come since came within it.
  let position: Int
  /// How many changes had begun before it.
  let order: Int
  /// Whether another thread's change of the place has ended since.
  var hasOverlapped = false
}

/// What a thread undoes, redoes or applies.
struct Performance {
  let thread: UnsafeRawPointer
  let group: ChangeGroup
  /// What has been changed since the step began.
  var changes: [RecordedChange] = []
  /// The places that other threads have changed since it began. What is performed is recorded after each step, so the
  /// last record of such a place need not have its last value.
  var disturbed: [RecordedPlace.ID: RecordedPlace] = [:]
}

struct ChangeHistory {
  private var kept: [RecordedChange] = []
  private var firstKept = 0
  /// The position of the first record.
  private(set) var first = 0
  /// Up to where records have been read.
  private var read = 0
  private var begun: [BegunChange] = []
  private var beginnings = 0
  private var lastGroup = 0

  private(set) var undo: [ChangeGroup] = []
  private(set) var redo: [ChangeGroup] = []
  private var open: ChangeGroup?
  private(set) var openDepth = 0
  private var performance: Performance?
  var mergesSingles = false
  var undoLimit: Int?

  // The objects by number, and those without. Gone ones are left out from time to time.
  private var numbered: [Int: WeakObject] = [:]
  private var unnumbered: [WeakObject] = []
  private var objectsWhenCleaned = 0
  private(set) var lastNumber = 0

  var count: Int { first + kept.count - firstKept }
}

private struct WeakObject {
  weak var object: RecordedObject?
}

// MARK: Records

extension ChangeHistory {
  private subscript(position: Int) -> RecordedChange { kept[firstKept + position - first] }

  /// Nil where some are not there any more, or not yet.
  mutating func changes(from start: Int, to end: Int) -> ArraySlice<RecordedChange>? {
    guard start >= first, start <= end, end <= count else { return nil }
    read = max(read, end)
    return kept[firstKept + start - first..<firstKept + end - first]
  }

  mutating func begin(_ place: RecordedPlace, on thread: UnsafeRawPointer) {
    // Those that will never end: somebody who opened them by hand did not close them.
    if begun.count >= 1_000 { begun.removeFirst(500) }
    let performed = performance.flatMap { $0.thread == thread ? $0.changes.count : nil }
    begun.append(
      BegunChange(thread: thread, place: place, position: performed ?? count, order: beginnings))
    beginnings += 1
  }

  private mutating func end(_ place: RecordedPlace, on thread: UnsafeRawPointer) -> BegunChange? {
    let index = begun.lastIndex { $0.thread == thread && $0.place.isSame(as: place) }
    guard let index else { return nil }
    var ended = begun.remove(at: index)
    for other in begun.indices where begun[other].thread != thread {
      guard begun[other].place.isSame(as: place) else { continue }
      begun[other].hasOverlapped = true
      ended.hasOverlapped = true
    }
    return ended
  }

  /// Takes a change in. Returns what is to be let go of, and whether other threads have changed the key meanwhile.
  mutating func add(
    _ change: RecordedChange, on thread: UnsafeRawPointer
  ) -> (garbage: [RecordedChange], hasOverlapped: Bool) {
    let begun = end(change.place, on: thread)
    // Its value was stored after the reads under way began.
    change.place.object.reads[change.place.index].dropOpenReads()
    if let performed = performance?.changes.count, performance?.thread == thread {
      performance?.changes.insert(change, at: min(begun?.position ?? performed, performed))
      return ([], false)
    }
    performance?.disturbed[change.place.id] = change.place
    return (add(change, begun, on: thread), begun?.hasOverlapped ?? false)
  }

  private mutating func add(
    _ change: RecordedChange, _ begun: BegunChange?, on thread: UnsafeRawPointer
  ) -> [RecordedChange] {
    var garbage = forgetRedo()
    change.thread = thread
    change.order = begun?.order ?? beginnings
    // An observer that is told before the log has changed the same key, or another thread has.
    if let begun, change.place.object.lastPositions[change.place.index] >= begun.position,
      let later = firstRecord(of: change.place, from: begun.position, begunAfter: begun.order)
    {
      insert(change, before: later)
      garbage += trim()
      return garbage
    }
    let group = open ?? action(on: thread)
    if let last = mergeable(with: change, in: group) {
      last.group.goOn(on: thread)
      return garbage + [replaceNew(of: last, by: change)]
    }
    append(change, to: group ?? single(on: thread))
    if open == nil { garbage += trim() }
    return garbage
  }

  /// Has the last record of a place end with a value, unless one that was read later has been taken. Returns what is to be
  /// let go of.
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

  // What held the value between is made to die elsewhere.
  private func replaceNew(of last: RecordedChange, by change: RecordedChange) -> RecordedChange {
    let between = last.merge(change)
    return RecordedChange(change.place, .setting, nil, old: between, new: nil, joined: [])
  }

  /// The group of what this thread is still at: the change, bracket or batch within which it has last recorded
  /// something, if nobody else has since.
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
    undo.insert(group, at: undo.lastIndex { $0 === later } ?? undo.count)
    return group
  }

  /// - Parameter thread: of a group that is not the program's: what it does now is in it.
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

  // Before what came within it, of which a set by itself becomes a part of the change, or what another thread began later.
  private mutating func insert(_ change: RecordedChange, before position: Int) {
    let later = self[position]
    let isOwn = later.thread == change.thread
    if isOwn, change.merges(later) { return later.takeOld(of: change) }
    let group =
      isOwn || later.group === open
      ? later.group! : single(on: change.thread!, before: later.group)
    change.group = group
    group.changes.insert(change, at: group.changes.firstIndex { $0 === later } ?? 0)
    kept.insert(change, at: firstKept + position - first)
    for moved in position..<count {
      let place = self[moved].place
      place.object.lastPositions[place.index] = moved
    }
  }
}

// MARK: Groups

extension ChangeHistory {
  /// Whether a record leaves what can be undone, and is called so, as it is.
  var staysSame: Bool { redo.isEmpty && (open != nil || undo.last.map { $0.name == nil } ?? false) }

  mutating func openGroup(_ name: String?) {
    openDepth += 1
    let group = open ?? makeGroup(.change)
    if group.name == nil { group.name = name }
    open = group
  }

  mutating func closeGroup() {
    openDepth -= 1
    guard openDepth == 0, let group = open else { return }
    open = nil
    if !group.changes.isEmpty { undo.append(group) }
  }

  private mutating func forgetRedo() -> [RecordedChange] {
    guard !redo.isEmpty else { return [] }
    var garbage: [RecordedChange] = []
    for group in redo { garbage += group.forget() }
    redo = []
    garbage += trim()
    return garbage
  }

  /// Lets go of groups beyond the limit, and of the records before all that are wanted.
  mutating func trim() -> [RecordedChange] {
    guard let undoLimit else { return [] }
    var garbage: [RecordedChange] = []
    let surplus = undo.count - max(undoLimit, 0)
    if surplus > 0 {
      for group in undo.prefix(surplus) { garbage += group.forget() }
      undo.removeFirst(surplus)
    }
    var unwanted = firstKept
    while unwanted < kept.count, !kept[unwanted].group.isWanted { unwanted += 1 }
    return garbage + drop(unwanted - firstKept)
  }

  // The places do not stay for ever, and each record is moved a few times at most.
  private mutating func drop(_ dropped: Int) -> [RecordedChange] {
    let garbage = Array(kept[firstKept..<firstKept + dropped])
    firstKept += dropped
    first += dropped
    if firstKept * 2 >= kept.count {
      kept.removeFirst(firstKept)
      firstKept = 0
    }
    return garbage
  }

  mutating func removeAll() -> [RecordedChange] {
    var garbage: [RecordedChange] = []
    for group in undo + redo { garbage += group.forget() }
    (undo, redo, begun) = ([], [], [])
    // What is being undone can't be redone.
    if let group = performance?.group { garbage += group.forget() }
    if let open {
      garbage += open.changes
      open.changes = []
    }
    return garbage + drop(kept.count - firstKept)
  }
}

// MARK: Undoing

extension ChangeHistory {
  /// Begins what only one thread does at a time; nil while one does, inside a group, or inside a change that this
  /// thread is still to tell of.
  mutating func beginPerformance(
    _ cause: ChangeLog.Cause, name: String?, on thread: UnsafeRawPointer
  ) -> ChangeGroup? {
    guard performance == nil, openDepth == 0, !kvo_binding_is_collecting(), !isChanging(thread)
    else { return nil }
    let group = makeGroup(cause, name: name)
    performance = Performance(thread: thread, group: group)
    return group
  }

  // What a thread has left open that is at nothing will never end.
  private func isChanging(_ thread: UnsafeRawPointer) -> Bool {
    kvo_binding_began_before(.max) && begun.contains { $0.thread == thread }
  }

  /// What has been changed since this was asked last.
  mutating func takePerformed() -> [RecordedChange] {
    defer { performance?.changes = [] }
    return performance?.changes ?? []
  }

  /// What has been recorded of it.
  var performed: [RecordedChange] { performance?.group.changes ?? [] }

  mutating func record(_ change: RecordedChange) {
    guard let group = performance?.group else { return }
    append(change, to: group)
  }

  /// Returns what is to be let go of, and the places that are to be settled.
  mutating func endPerformance() -> (garbage: [RecordedChange], disturbed: [RecordedPlace]) {
    defer { performance = nil }
    return (performance?.changes ?? [], performance.map { Array($0.disturbed.values) } ?? [])
  }

  /// Of one that has failed, and been taken back, nothing can be undone. Its records stay: that it was so is true.
  /// Returns its changes.
  func abandon(_ group: ChangeGroup) -> [RecordedChange] { group.forget() }

  /// Moves a group that has been made backwards to where what did so can be made backwards again.
  mutating func exchange(
    _ group: ChangeGroup, for made: ChangeGroup, _ cause: ChangeLog.Cause
  ) -> [RecordedChange] {
    let garbage = group.forget()
    if cause == .undo {
      Self.remove(group, from: &undo)
      Self.keep(made, in: &redo)
    } else {
      Self.remove(group, from: &redo)
      Self.keep(made, in: &undo)
    }
    return garbage + trim()
  }

  /// Makes a group one that can be undone.
  mutating func keepApplied(_ group: ChangeGroup) -> [RecordedChange] {
    Self.keep(group, in: &undo)
    return forgetRedo() + trim()
  }

  // Mostly the last.
  private static func remove(_ group: ChangeGroup, from groups: inout [ChangeGroup]) {
    if groups.last === group { groups.removeLast() } else { groups.removeAll { $0 === group } }
  }

  // Static: a method of the history would have the groups copied, which it holds as well.
  private static func keep(_ group: ChangeGroup, in groups: inout [ChangeGroup]) {
    if !group.changes.isEmpty { groups.append(group) }
  }
}

// MARK: Objects

extension ChangeHistory {
  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  mutating func keep(_ object: RecordedObject) {
    if let number = object.number {
      numbered[number] = WeakObject(object: object)
      lastNumber = max(lastNumber, number)
    } else {
      unnumbered.append(WeakObject(object: object))
    }
    clean()
  }

  // Each object is looked at a few times at most.
  private mutating func clean() {
    guard numbered.count + unnumbered.count > 2 * objectsWhenCleaned + 16 else { return }
    numbered = numbered.filter { $0.value.object != nil }
    unnumbered = unnumbered.filter { $0.object != nil }
    objectsWhenCleaned = numbered.count + unnumbered.count
  }

  func object(_ number: Int) -> RecordedObject? { numbered[number]?.object }

  /// An object that is not to have joined, nor to have taken a number from who joins later.
  mutating func forget(_ object: RecordedObject, lastNumber: Int) {
    if let number = object.number { numbered[number] = nil }
    self.lastNumber = max(lastNumber, numbered.keys.max() ?? 0)
  }

  mutating func takeObjects() -> [RecordedObject] {
    defer { (numbered, unnumbered) = ([:], []) }
    return (Array(numbered.values) + unnumbered).compactMap(\.object)
  }
}
