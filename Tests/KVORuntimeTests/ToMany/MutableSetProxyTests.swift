import Expectations
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// B9, H4: mutable proxies of sets and ordered sets.
@Suite(.leakFree) struct MutableSetProxyTests {
  static let keys = ["pickedSet", "perhapsSet", "plainSet", "accessedSet", "sown", "kept"]

  typealias Step = ProxyStep<MutableSetProxy, Set<Int>>

  static let steps: [Step] = [
    Step("add", ["prior insertion", "insertion new {9}"], left: [1, 2, 3, 9]) { try $0.add(9) },
    Step("add what is there", ["prior insertion", "insertion new {}"], left: [1, 2, 3]) {
      try $0.add(1)
    },
    Step("remove", ["prior removal old {1}", "removal old {1}"], left: [2, 3]) {
      try $0.remove(1)
    },
    Step("remove what is not there", ["prior removal old {}", "removal old {}"], left: [1, 2, 3]) {
      try $0.remove(9)
    },
    Step("formUnion", ["prior insertion", "insertion new {8, 9}"], left: [1, 2, 3, 8, 9]) {
      try $0.formUnion([1, 8, 9])
    },
    Step("formUnion of nothing new", ["prior insertion", "insertion new {}"], left: [1, 2, 3]) {
      try $0.formUnion([1])
    },
    Step("subtract", ["prior removal old {1, 2}", "removal old {1, 2}"], left: [3]) {
      try $0.subtract([1, 2, 9, "x"])
    },
    Step("formIntersection", ["prior removal old {2, 3}", "removal old {2, 3}"], left: [1]) {
      try $0.formIntersection([1, 9, "x"])
    },
    Step(
      "set", ["prior replacement old {1, 2}", "replacement old {1, 2} new {9}"],
      left: [3, 9]
    ) { try $0.set([3, 9]) },
  ]

  @Test(
    "H4, B9: each mutation is one change, whatever stores the key",
    arguments: keys, steps)
  func mutations(_ key: String, _ step: Step) throws {
    let orchard = Orchard()
    orchard.garden = [1, 2, 3]
    if !["sown", "kept"].contains(key) { try orchard.setValue(Set([1, 2, 3]), forKey: key) }
    let log = Recorder()
    let options: KeyValueObservingOptions = [.prior, .old, .new]
    try log.observe(orchard, key, options)
    let watcher = log.watcher()
    try orchard.addObserver(watcher, forKeyPath: key, options: options)
    let proxy = try orchard.mutableSetValue(forKey: key)
    try step.run(proxy)
    expectEqual(log.take(), step.lines.flatMap { ["a \($0)", "w: \(key) \($0)"] })
    expectEqual(Set(proxy), Set<AnyHashable>(step.left))
    expectEqual(proxy.count, step.left.count)
  }

  @Test(
    "B9: which accessors a mutation calls",
    arguments: [
      ("sown", ["add(1)", "remove(1)", "add(2)", "remove(1)", "remove(2)", "remove(1) add(2)"]),
      ("kept", ["add(1)", "remove(1)", "add(2)", "remove(1)", "intersect", "set"]),
    ])
  func calls(_ key: String, _ expected: [String]) throws {
    let orchard = Orchard()
    orchard.garden = [1, 2]
    let proxy = try orchard.mutableSetValue(forKey: key)
    let attempts: [() throws -> Void] = [
      { try proxy.add(3) }, { try proxy.remove(3) }, { try proxy.formUnion([3, 4]) },
      { try proxy.subtract([4]) }, { try proxy.formIntersection([1]) },
      { try proxy.set([8, 9]) },
    ]
    for (attempt, calls) in zip(attempts, expected) {
      _ = orchard.takeCalls()
      try attempt()
      let changing = orchard.takeCalls().filter { $0 != "elements" && !$0.hasPrefix("con") }
      expectEqual(changing.joined(separator: " "), calls)
    }
  }

  @Test("B9: a non-member, or a key that can't be mutated, is an error and changes nothing")
  func failures() throws {
    let orchard = Orchard()
    orchard.garden = [1]
    orchard.pickedSet = [1]
    let log = Recorder()
    for key in ["herbs", "pickedSet", "sown"] { try log.observe(orchard, key) }
    let readOnly = try orchard.mutableSetValue(forKey: "herbs")
    let expected = KeyValueError.readOnly(key: "herbs", className: "Orchard")
    expectEqual(keyValueError { try readOnly.add(1) }, expected)
    expectEqual(keyValueError { try readOnly.remove(7) }, expected)
    expectEqual(keyValueError { try readOnly.set([]) }, expected)
    for key in ["pickedSet", "sown"] {
      let proxy = try orchard.mutableSetValue(forKey: key)
      let mismatch = KeyValueError.typeMismatch(
        key: key, className: "Orchard", expected: "Int", found: "[Int]")
      expectEqual(keyValueError { try proxy.add([1]) }, mismatch)
      expectEqual(keyValueError { try proxy.formUnion([2, [1]]) }, mismatch)
      expectEqual(keyValueError { try proxy.set([[1]]) }, mismatch)
      expectEqual(Set(proxy), [1])
    }
    let noSet = try orchard.mutableSetValue(forKey: "observed")
    expectEqual(noSet.count, 0)
    expectEqual(
      keyValueError { try noSet.add(1) },
      .typeMismatch(
        key: "observed", className: "Orchard", expected: "[Int]", found: "Set<AnyHashable>"))
    expectEqual(log.take(), [])
  }

  @Test("B9: a nil set is created at the first insertion")
  func springsIntoBeing() throws {
    let orchard = Orchard()
    let proxy = try orchard.mutableSetValue(forKey: "perhapsSet")
    try proxy.subtract([1])
    expect(orchard.perhapsSet == nil)
    try proxy.add(1)
    expectEqual(orchard.perhapsSet, [1])
  }

  @Test("B9: an accessor that ignores a change is believed: nothing was added")
  func stubborn() throws {
    let orchard = Orchard()
    orchard.isStubborn = true
    let log = Recorder()
    try log.observe(orchard, "sown", [.old, .new])
    try orchard.mutableSetValue(forKey: "sown").add(1)
    expectEqual(log.take(), ["a insertion new {}"])
  }

  // MARK: Ordered sets

  typealias OrderedStep = ProxyStep<MutableOrderedSetProxy, [Int]>

  static let orderedSteps: [OrderedStep] = [
    OrderedStep("add", ["insertion at 3 new [9]"], left: [1, 2, 3, 9]) { try $0.add(9) },
    OrderedStep("add what is there", [], left: [1, 2, 3]) { try $0.add(2) },
    OrderedStep("insert", ["insertion at 0 new [9]"], left: [9, 1, 2, 3]) {
      try $0.insert(9, at: 0)
    },
    OrderedStep(
      "insert several, of which some are there", ["insertion at 0 2 new [8, 9]"],
      left: [8, 1, 9, 2, 3]
    ) {
      try $0.insert([8, 2, 9, 8], at: RangeSet([0..<2, 3..<4, 5..<6]))
    },
    OrderedStep("remove(at:)", ["removal at 1 old [2]"], left: [1, 3]) { try $0.remove(at: 1) },
    OrderedStep("remove a member", ["removal at 2 old [3]"], left: [1, 2]) { try $0.remove(3) },
    OrderedStep("remove what is not there", [], left: [1, 2, 3]) { try $0.remove(9) },
    OrderedStep("remove several", ["removal at 0 2 old [1, 3]"], left: [2]) {
      try $0.remove(at: RangeSet([0..<1, 2..<3]))
    },
    OrderedStep("replace", ["replacement at 0 old [1] new [9]"], left: [9, 2, 3]) {
      try $0.replace(at: 0, with: 9)
    },
    OrderedStep("replace by itself", ["replacement at 0 old [1] new [1]"], left: [1, 2, 3]) {
      try $0.replace(at: 0, with: 1)
    },
    OrderedStep("removeAll", ["removal at 0...2 old [1, 2, 3]"], left: []) {
      try $0.removeAll()
    },
  ]

  @Test(
    "B9, H2: an ordered set has each element once", arguments: ["row", "observed"], orderedSteps)
  func orderedSets(_ key: String, _ step: OrderedStep) throws {
    let orchard = Orchard()
    orchard.stock = [1, 2, 3]
    orchard.observed = [1, 2, 3]
    let log = Recorder()
    try log.observe(orchard, key, [.old, .new])
    let proxy = try orchard.mutableOrderedSetValue(forKey: key)
    try step.run(proxy)
    expectEqual(log.take(), step.lines.map { "a \($0)" })
    expectEqual(Array(proxy), step.left.map { AnyHashable($0) })
    expectEqual(proxy.contains(2), step.left.contains(2))
  }

  @Test("B9, H6: errors of ordered sets", arguments: ["row", "observed"])
  func orderedFailures(_ key: String) throws {
    let orchard = Orchard()
    orchard.stock = [1, 2]
    orchard.observed = [1, 2]
    let proxy = try orchard.mutableOrderedSetValue(forKey: key)
    expectEqual(
      keyValueError { try proxy.replace(at: 0, with: 2) },
      .validationFailed(
        key: key, className: "Orchard",
        reason: "it is an ordered set and would have 2 twice."))
    expectEqual(
      keyValueError { try proxy.insert(9, at: 3) },
      .indexOutOfBounds(key: key, className: "Orchard", index: 3, count: 2))
    expectEqual(
      keyValueError { try proxy.add([1]) },
      .typeMismatch(key: key, className: "Orchard", expected: "Int", found: "[Int]"))
    expectEqual(
      keyValueError { try proxy.insert([9], at: RangeSet(0..<2)) },
      .validationFailed(
        key: key, className: "Orchard", reason: "1 elements were given for 2 indexes."))
    expectEqual(Array(proxy), [1, 2])
    _ = orchard.takeCalls()
    if key == "row" {
      expect(proxy.contains(2))
      expectEqual(orchard.takeCalls(), ["index(2)"])
    }
  }
}
