internal import KVORuntime

// Makes the steps of a group while setters and observers may change recorded keys as well. The log reverts
// those changes after all steps have been made. Such a key is set as a whole, to the value that the steps
// alone lead to. Its observers are usually content with that value, because they have seen it before.

/// Makes the steps of a group and reverts all other changes.
final class GroupReplay {
  private let log: ChangeLog
  private var steps: [ChangeStep] = []
  /// All changes of any key, in order.
  private var happened: [RecordedChange] = []
  private var disturbed: [RecordedPlace.ID: DisturbedKey] = [:]
  /// The keys with a wrong value, in the order in which they were disturbed.
  private var wrong: [DisturbedKey] = []
  // By key; filled when the first key is corrected.
  private var happenedByPlace: [RecordedPlace.ID: [RecordedChange]] = [:]
  private var stepsByPlace: [RecordedPlace.ID: [ChangeStep]] = [:]
  private var isSettling = false
  /// Whether an error is being reverted: then each key gets the value that it had at first.
  private var isTakingBack = false

  init(_ log: ChangeLog) { self.log = log }

  /// - Parameters:
  ///   - make: Returns the steps. Other changes that it causes are reverted.
  ///   - failed: Returns the steps that revert those made before a step threw.
  /// - Throws: The error of the step.
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
      // Reversing all changes of these keys gives the values that they had at first.
      back.happened = happened
      for key in disturbed.values.sorted(by: { $0.order < $1.order }) { back.disturb(key.place) }
      back.takeBack(failed())
      throw error
    }
  }

  // Stops at a step that fails. Keys that setters or observers changed are still corrected.
  private func takeBack(_ steps: [ChangeStep]) {
    isTakingBack = true
    do { for step in steps { try perform(step) } } catch {}
    settle { try? setRight($0) }
  }

  private func perform(_ step: ChangeStep) throws {
    // The step's indexes may refer to other elements now. The key gets its value as a whole later.
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

  /// Calls the body. Returns the change that it was to make, and marks the keys of all other changes as
  /// disturbed.
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

  // MARK: Reverting

  private static let mostRounds = 8

  private func settle(_ setRight: (DisturbedKey) throws -> Void) rethrows {
    guard !disturbed.isEmpty else { return }
    isSettling = true
    happenedByPlace = Dictionary(grouping: happened, by: \.place.id)
    if !isTakingBack {
      stepsByPlace = Dictionary(grouping: steps.filter { $0.place(in: log) != nil }) {
        $0.place(in: log)!
      }
    }
    for _ in 0..<Self.mostRounds where !wrong.isEmpty {
      let next = wrong
      wrong = []
      for key in next { try setRight(key) }
    }
    if let obstinate = wrong.first { report(obstinate.place) }
    record()
  }

  private func setRight(_ key: DisturbedKey) throws {
    key.isRight = true
    guard let object = key.place.object.object else { return }
    if key.target == nil { try find(key, in: object) }
    if hasTarget(key, object) { return }
    let target = key.target?.value
    key.isSet = true
    _ = try attempt {
      try key.place.key.set(target, of: object)
    } isOwn: {
      $0.isOf(key.place)
    }
  }

  // A key that has its value is not set again: two keys that set each other would disturb each other without end. Once
  // it has been set, an equal value without objects will do, since not all values that are the same are known to be.
  private func hasTarget(_ key: DisturbedKey, _ object: KVOObject) -> Bool {
    let (value, target) = (value(of: key, object), key.target?.value)
    if areSame(value, target) { return true }
    return key.isSet && !hasObjects(target) && areEqual(value as Any, target as Any)
  }

  private func hasObjects(_ value: Any?) -> Bool {
    guard let value = value.flatMap(flattened) else { return false }
    if let elements = AnyElements(value) { return elements.all.contains(where: hasObjects) }
    if let pairs = AnyPairs(value) { return pairs.all.contains { hasObjects($0.value) } }
    return value is KVOObject
  }

  private func value(of key: DisturbedKey, _ object: KVOObject) -> Any? {
    (try? object.value(forKey: key.place.key.key)).flatMap { $0.flatMap(flattened) }
  }

  // Reverses the changes from the current value to the first one, and applies only the steps to that.
  private func find(_ key: DisturbedKey, in object: KVOObject) throws {
    let place = key.place
    let back = (happenedByPlace[place.id] ?? []).reversed()
    let start = try back.reduce(FoldedValue(value(of: key, object))) {
      try $0.after(ChangeStep(undoing: $1))
    }
    key.target = try (stepsByPlace[place.id] ?? []).reduce(start) { try $0.after($1) }
    key.start = start  // its elements have lost their type
  }

  // Records one setting, from the last recorded value to the final one, for each key whose steps were
  // skipped.
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
      let change = RecordedChange(key.place, old: old, new: new)
      log.history.withLock { $0.record(change) }
    }
  }

  private func report(_ place: RecordedPlace) {
    KVODiagnostics.report(
      misuse: """
        A change log can't undo what was done: each time that it takes back what an observer has changed of \
        \(quoted(place.key.key)) of \(className(of: place.object.recorded.type)), it is changed again.
        """)
  }
}

/// A key that setters or observers have changed as well.
private final class DisturbedKey {
  let place: RecordedPlace
  /// The position in the order in which keys were disturbed.
  let order: Int
  var isRight = true
  /// Whether it has been set to its final value.
  var isSet = false
  /// Whether steps for it were skipped.
  var isSkipped = false
  /// The value at first, and the final one; nil until they are computed.
  var start, target: FoldedValue?

  init(_ place: RecordedPlace, order: Int) {
    self.place = place
    self.order = order
  }
}

/// A value to which changes are applied without an object.
struct FoldedValue {
  let value: Any?

  init(_ value: Any?) { self.value = value }

  /// - Throws: `ChangeLogError.otherElements` if the step does not fit the value.
  func after(_ step: ChangeStep) throws -> FoldedValue {
    if step.kind == .setting { return FoldedValue(step.newValue) }
    guard let indexes = step.indexes else { return FoldedValue(members(step)) }
    guard let elements = elements(step, indexes) else { throw step.misfit }
    return FoldedValue(elements)
  }

  // Returns nil if the value has too few elements, or if the step has another number of them than of indexes.
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

/// Whether two values are surely the same, even if their type's `==` takes others for equal: one object, the same bytes,
/// or the same elements.
private func areSame(_ first: Any?, _ second: Any?) -> Bool {
  guard let first = first.flatMap(flattened), let second = second.flatMap(flattened) else {
    return first.flatMap(flattened) == nil && second.flatMap(flattened) == nil
  }
  if type(of: first) is AnyClass || type(of: second) is AnyClass {
    return first as AnyObject === second as AnyObject
  }
  if let first = first as? [Any], let second = second as? [Any] {
    return first.count == second.count && zip(first, second).allSatisfy { areSame($0, $1) }
  }
  if let first = first as? Set<AnyHashable>, let second = second as? Set<AnyHashable> {
    return first.count == second.count
      && first.allSatisfy { member in
        second.firstIndex(of: member).map { areSame(member.base, second[$0].base) } ?? false
      }
  }
  if let first = first as? String, let second = second as? String {
    return first.utf8.elementsEqual(second.utf8)
  }
  func haveSameBytes<Value>(_ first: Value) -> Bool {
    guard _isPOD(Value.self), type(of: second) == Value.self, let second = second as? Value else {
      return false
    }
    return withUnsafeBytes(of: first) { first in
      withUnsafeBytes(of: second) { first.elementsEqual($0) }
    }
  }
  return haveSameBytes(first)
}
