// How the steps of a group are made while setters and observers change recorded keys in their turn: that is none of the
// log's doing, and taken back when all steps have been made. Such a key gets its value as a whole, the one that the
// steps alone would have led to, which the observers have seen before and let be.

/// The making of some changes.
final class GroupReplay {
  private let log: ChangeLog
  private var steps: [ChangeStep] = []
  /// What has happened to any key, in order.
  private var happened: [RecordedChange] = []
  private var disturbed: [RecordedPlace.ID: DisturbedKey] = [:]
  /// Those that are not what they should be, in the order in which they were disturbed.
  private var wrong: [DisturbedKey] = []
  // By key, from when the first is set right.
  private var happenedByPlace: [RecordedPlace.ID: [RecordedChange]] = [:]
  private var stepsByPlace: [RecordedPlace.ID: [ChangeStep]] = [:]
  private var isSettling = false
  /// After an error: each key is to be what it was before all.
  private var isTakingBack = false

  init(_ log: ChangeLog) { self.log = log }

  /// - Parameters:
  ///   - make: tells the steps. What it changes by that is taken back, too.
  ///   - failed: what takes back what was done before a step threw.
  /// - Throws: what the step has thrown.
  func run(_ make: () throws -> [ChangeStep], _ failed: () -> [ChangeStep]) throws {
    do {
      _ = try attempt {
        steps = try make()
      } isOwn: { _ in
        false
      }
      for step in steps { try perform(step) }
      try settle { try setRight($0) }
    } catch {
      let back = GroupReplay(log)
      // Of these keys what they were is what comes of all, backwards.
      back.happened = happened
      for key in disturbed.values.sorted(by: { $0.order < $1.order }) { back.disturb(key.place) }
      back.takeBack(failed())
      throw error
    }
  }

  // What can't be done is left.
  private func takeBack(_ steps: [ChangeStep]) {
    isTakingBack = true
    do { for step in steps { try perform(step) } } catch {}
    settle { try? setRight($0) }
  }

  private func perform(_ step: ChangeStep) throws {
    // Its indexes may be meant for other elements, and its value comes as a whole.
    if !disturbed.isEmpty, let key = step.place(in: log).flatMap({ disturbed[$0] }) {
      key.isSkipped = true
      return
    }
    let own = try attempt {
      try step.perform()
    } isOwn: {
      step.isDone(by: $0)
    }
    if let own { log.history.withLock { $0.record(own) } }
  }

  /// Returns the change that was to be made, and takes note of all others.
  private func attempt(
    _ body: () throws -> Void, isOwn: (RecordedChange) -> Bool
  ) throws -> RecordedChange? {
    var failure: (any Error)?
    do { try body() } catch { failure = error }
    let changes = log.history.withLock { $0.takePerformed() }
    let own = changes.first(where: isOwn)
    happened += changes
    if isSettling {
      for change in changes { happenedByPlace[change.place.id, default: []].append(change) }
    }
    for change in changes where change !== own { disturb(change.place) }
    if let failure { throw failure }
    return own
  }

  private func disturb(_ place: RecordedPlace) {
    let key = disturbed[place.id] ?? DisturbedKey(place, order: disturbed.count)
    disturbed[place.id] = key
    if key.isRight { wrong.append(key) }
    key.isRight = false
  }

  // MARK: Taking back

  private static let mostRounds = 8

  private func settle(_ setRight: (DisturbedKey) throws -> Void) rethrows {
    isSettling = true
    happenedByPlace = Dictionary(grouping: happened, by: \.place.id)
    if !disturbed.isEmpty, !isTakingBack {
      stepsByPlace = Dictionary(grouping: steps.filter { $0.place(in: log) != nil }) {
        $0.place(in: log)!
      }
    }
    for _ in 0..<Self.mostRounds where !wrong.isEmpty {
      let next = wrong
      wrong = []
      for key in next { try setRight(key) }
    }
    if let obstinate = wrong.first { tellOf(obstinate.place) }
    record()
  }

  private func setRight(_ key: DisturbedKey) throws {
    key.isRight = true
    guard let object = key.place.object.object else { return }
    if key.target == nil { try find(key, in: object) }
    let target = key.target?.value
    _ = try attempt {
      try key.place.key.set(target, of: object)
    } isOwn: {
      $0.place.isSame(as: key.place)
    }
  }

  // From what it is now back to where all began, and from there on by the steps alone.
  private func find(_ key: DisturbedKey, in object: KVOObject) throws {
    let place = key.place
    let now = (try? object.value(forKey: place.key.key)) ?? nil
    let back = (happenedByPlace[place.id] ?? []).reversed()
    let start = try back.reduce(FoldedValue(now)) { try $0.after(ChangeStep(undoing: $1)) }
    key.target = try (stepsByPlace[place.id] ?? []).reduce(start) { try $0.after($1) }
    key.start = start  // elements are of any type in it
  }

  // The log has what it was, and what it has become. Of steps that were made it has records already.
  private func record() {
    let skipped = disturbed.values.filter(\.isSkipped)
    guard !skipped.isEmpty else { return }
    let made = Dictionary(grouping: log.history.withLock { $0.performed }, by: \.place.id)
    for key in skipped.sorted(by: { $0.order < $1.order }) {
      guard let start = key.start, let target = key.target else { continue }
      let steps = made[key.place.id] ?? []
      let known =
        (try? steps.reduce(start) { try $0.after(ChangeStep(repeating: $1)) }) ?? start
      let (old, new) = (key.place.key.typed(known.value), key.place.key.typed(target.value))
      let change = RecordedChange(key.place, .setting, nil, old: old, new: new, joined: [])
      log.history.withLock { $0.record(change) }
    }
  }

  private func tellOf(_ place: RecordedPlace) {
    KVODiagnostics.report(
      misuse: """
        A change log can't undo what was done: each time that it takes back what an observer has changed of \
        \(quoted(place.key.key)) of \(className(of: place.object.recorded.type)), it is changed again.
        """)
  }
}

/// A key that others have changed meanwhile.
private final class DisturbedKey {
  let place: RecordedPlace
  /// In which they were disturbed.
  let order: Int
  var isRight = true
  /// Whether steps of it were left out.
  var isSkipped = false
  /// What it was, and is to be; nil until it is known.
  var start, target: FoldedValue?

  init(_ place: RecordedPlace, order: Int) {
    self.place = place
    self.order = order
  }
}

/// A value that changes are made of without an object.
struct FoldedValue {
  let value: Any?

  init(_ value: Any?) { self.value = value }

  /// - Throws: `ChangeLogError.otherElements` where the step does not fit.
  func after(_ step: ChangeStep) throws -> FoldedValue {
    if step.kind == .setting { return FoldedValue(step.newValue) }
    guard let indexes = step.indexes else { return FoldedValue(members(step)) }
    guard let elements = elements(step, indexes) else { throw step.misfit }
    return FoldedValue(elements)
  }

  // Nil where it has not as many elements, or as many do not come.
  private func elements(_ step: ChangeStep, _ indexes: RangeSet<Int>) -> [Any]? {
    var elements = value.flatMap(anyArray) ?? []
    let new = step.newValue.flatMap(anyArray) ?? []
    let places = indexes.ranges.joined()
    let count = elements.count + (step.kind == .insertion ? new.count : 0)
    guard (places.last ?? -1) < count, step.kind == .removal || places.count == new.count else {
      return nil
    }
    switch step.kind {
    case .insertion:
      for (index, element) in zip(places, new) { elements.insert(element, at: index) }
    case .removal: elements.removeSubranges(indexes)
    case .replacement: for (index, element) in zip(places, new) { elements[index] = element }
    case .setting: break
    }
    return elements
  }

  private func members(_ step: ChangeStep) -> Set<AnyHashable> {
    let gone = step.oldValue.flatMap(anySet) ?? []
    return (value.flatMap(anySet) ?? []).subtracting(gone)
      .union(step.newValue.flatMap(anySet) ?? [])
  }
}
