import Expectations
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// B9, H2, H5, H6, E1: mutable proxies of arrays, however the key is stored.
@Suite(.leakFree) struct MutableProxyTests {
  static let all: KeyValueObservingOptions = [.prior, .old, .new]

  typealias Step = ProxyStep<MutableArrayProxy, [Int]>

  static let steps: [Step] = [
    Step("append", ["prior insertion at 4", "insertion at 4 new [9]"], left: [0, 1, 2, 3, 9]) {
      try $0.append(9)
    },
    Step("insert", ["prior insertion at 0", "insertion at 0 new [9]"], left: [9, 0, 1, 2, 3]) {
      try $0.insert(9, at: 0)
    },
    Step(
      "insert several", ["prior insertion at 1 3...4", "insertion at 1 3...4 new [7, 8, 9]"],
      left: [0, 7, 1, 8, 9, 2, 3]
    ) {
      try $0.insert([7, 8, 9], at: RangeSet([1..<2, 3..<5]))
    },
    Step("insert none", [], left: [0, 1, 2, 3]) { try $0.insert([], at: RangeSet()) },
    Step("remove", ["prior removal at 1 old [1]", "removal at 1 old [1]"], left: [0, 2, 3]) {
      let removed = try $0.remove(at: 1)
      expect(removed as? Int == 1)
    },
    Step(
      "remove several",
      [
        "prior removal at 0 2...3 old [0, 2, 3]",
        "removal at 0 2...3 old [0, 2, 3]",
      ], left: [1]
    ) {
      try $0.remove(at: RangeSet([0..<1, 2..<4]))
    },
    Step("remove none", [], left: [0, 1, 2, 3]) { try $0.remove(at: RangeSet()) },
    Step(
      "replace", ["prior replacement at 2 old [2]", "replacement at 2 old [2] new [9]"],
      left: [0, 1, 9, 3]
    ) { try $0.replace(at: 2, with: 9) },
    Step(
      "replace several",
      [
        "prior replacement at 0 3 old [0, 3]",
        "replacement at 0 3 old [0, 3] new [8, 9]",
      ], left: [8, 1, 2, 9]
    ) {
      try $0.replace(at: RangeSet([0..<1, 3..<4]), with: [8, 9])
    },
    Step(
      "removeAll",
      [
        "prior removal at 0...3 old [0, 1, 2, 3]",
        "removal at 0...3 old [0, 1, 2, 3]",
      ], left: []
    ) { try $0.removeAll() },
  ]

  @Test(
    "B9, H2, H5: each mutation is one change, whatever stores the key",
    arguments: Secret.keys, steps)
  func mutations(_ key: String, _ step: Step) throws {
    let orchard = try Secret.filled(key)
    let log = Recorder()
    try log.observe(orchard, key, Self.all)
    let watcher = log.watcher()
    try orchard.addObserver(watcher, forKeyPath: key, options: Self.all)
    let proxy = try orchard.mutableArrayValue(forKey: key)
    expectEqual(proxy.map { $0 as? Int }, [0, 1, 2, 3])
    try step.run(proxy)
    expectEqual(log.take(), step.lines.flatMap { ["a \($0)", "w: \(key) \($0)"] })
    expectEqual(proxy.map { $0 as? Int }, step.left)
    expectEqual(try orchard.mutableArrayValue(forKey: key).map { $0 as? Int }, step.left)
  }

  @Test("H5: new elements for a whole key are a setting", arguments: Secret.keys)
  func setting(_ key: String) throws {
    let orchard = try Secret.filled(key)
    let log = Recorder()
    try log.observe(orchard, key, [.old, .new])
    try orchard.mutableArrayValue(forKey: key).contents.mutable().set([9])
    expectEqual(log.take(), ["a old [0, 1, 2, 3] new [9]"])
  }

  @Test("B9: also of unobserved objects", arguments: Secret.keys, steps)
  func unobserved(_ key: String, _ step: Step) throws {
    let orchard = try Secret.filled(key)
    let proxy = try orchard.mutableArrayValue(forKey: key)
    try step.run(proxy)
    expectEqual(proxy.map { $0 as? Int }, step.left)
    expect(!isSwapped(orchard))
  }

  @Test("B9: an incomplete pair is ignored: the storage of the key is changed")
  func halfAPair() throws {
    let orchard = Orchard()
    let log = Recorder()
    try log.observe(orchard, "plain")
    let proxy = try orchard.mutableArrayValue(forKey: "plain")
    try proxy.append(4)
    expectEqual(log.take(), ["a insertion at 0"])
    expect(orchard.takeCalls().allSatisfy { $0 == "count" })
    // The proxy shows what the accessors return.
    expect(proxy.isEmpty)
  }

  @Test(
    "B9: which accessors a mutation calls",
    arguments: [
      ("grown", ["insert(1)", "insert(2)", "remove insert(1)", "remove", "remove"]),
      ("tended", ["insert(1)", "insert(2)", "replace(1)", "remove", "remove"]),
    ])
  func calls(_ key: String, _ expected: [String]) throws {
    let orchard = Orchard()
    orchard.stock = [1, 2]
    let proxy = try orchard.mutableArrayValue(forKey: key)
    let attempts: [() throws -> Void] = [
      { try proxy.append(1) }, { try proxy.insert([8, 9], at: RangeSet([0..<1, 2..<3])) },
      { try proxy.replace(at: 0, with: 1) }, { try proxy.remove(at: 0) }, { try proxy.removeAll() },
    ]
    for (attempt, calls) in zip(attempts, expected) {
      _ = orchard.takeCalls()
      try attempt()
      let changing = orchard.takeCalls().filter { $0 != "count" && !$0.hasPrefix("element") }
      expectEqual(changing.joined(separator: " "), calls)
    }
  }

  @Test("H1, H2: a change of a few elements reads those, not all")
  func readsFew() throws {
    let orchard = Orchard()
    orchard.stock = Array(0..<100)
    let log = Recorder()
    try log.observe(orchard, "tended", [.old, .new])
    let proxy = try orchard.mutableArrayValue(forKey: "tended")
    _ = orchard.takeCalls()
    try proxy.replace(at: 50, with: 7)
    expectEqual(log.take(), ["a replacement at 50 old [50] new [7]"])
    expectEqual(
      orchard.takeCalls().filter { $0 != "count" }, ["element(50)", "replace(1)", "element(50)"])
  }

  @Test("B9: accessors that ignore a change are believed")
  func stubborn() throws {
    let orchard = Orchard()
    orchard.stock = [1]
    orchard.isStubborn = true
    let log = Recorder()
    try log.observe(orchard, "tended", [.old, .new])
    let proxy = try orchard.mutableArrayValue(forKey: "tended")
    try proxy.append(2)
    expectEqual(proxy.map { $0 as? Int }, [1])
    expectEqual(log.take(), ["a insertion at 1 new []"])
  }

  @Test("B9: a proxy stays valid when the property is replaced, and nil becomes a collection")
  func replaced() throws {
    let orchard = Orchard()
    let observed = try orchard.mutableArrayValue(forKey: "observed")
    let perhaps = try orchard.mutableArrayValue(forKey: "perhaps")
    orchard.observed = [5, 6]
    expectEqual(observed.map { $0 as? Int }, [5, 6])
    try perhaps.removeAll()
    expect(orchard.perhaps == nil)
    expect(perhaps.isEmpty)
    try perhaps.append(1)
    expectEqual(orchard.perhaps, [1])
  }

  @Test("E1: automatic notification off silences proxies")
  func manual() throws {
    class Silent: Orchard {
      override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }
    }
    for key in ["observed", "tended", "accessed", "anything"] {
      let orchard = Silent()
      let log = Recorder()
      try log.observe(orchard, key, Self.all)
      let proxy = try orchard.mutableArrayValue(forKey: key)
      try proxy.append(1)
      expectEqual(proxy.count, 1)
      expectEqual(log.take(), [])
    }
  }

  @Test("B5: the last key of a path is mutated in the object that the rest leads to")
  func keyPaths() throws {
    let orchard = Orchard()
    orchard.next = Orchard()
    let log = Recorder()
    try log.observe(orchard.next!, "observed", .new)
    try log.observe(orchard.next!, "pickedSet", .new)
    try orchard.mutableArrayValue(forKeyPath: "next.observed").append(1)
    try orchard.mutableSetValue(forKeyPath: "next.pickedSet").add(2)
    try orchard.mutableOrderedSetValue(forKeyPath: "next.observed").add(3)
    try orchard.mutableArrayValue(forKeyPath: "observed").append(5)
    expectEqual(orchard.observed, [5])
    expectEqual(
      log.take(), ["a insertion at 0 new [1]", "a insertion new {2}", "a insertion at 1 new [3]"])
    orchard.next = nil
    let broken = KeyValueError.invalidKeyPath(
      keyPath: "next.observed", component: "observed", className: "Orchard")
    expectEqual(
      keyValueError { _ = try orchard.mutableArrayValue(forKeyPath: "next.observed") }, broken)
    expect(keyValueError { _ = try orchard.mutableArrayValue(forKeyPath: "name.observed") } != nil)
  }

  @Test("B9: a key that only the object answers is changed by setting it")
  func undefinedKey() throws {
    final class Answering: Tracked {
      var answers: [String: Any] = ["list": [1, 2]]
      override func value(forUndefinedKey key: String) throws -> Any? { answers[key] }
      override func setValue(_ value: Any?, forUndefinedKey key: String) throws {
        answers[key] = value
      }
    }
    let object = Answering()
    let proxy = try object.mutableArrayValue(forKey: "list")
    try proxy.append(3)
    try proxy.remove(at: 0)
    expect(object.answers["list"] as? [Int] == [2, 3])
  }

  @Test("H3, G1: the count over the key notifies once per mutation")
  func count() throws {
    let orchard = Orchard()
    let log = Recorder()
    try log.observe(orchard, "tended.@count", [.old, .new])
    let proxy = try orchard.mutableArrayValue(forKey: "tended")
    try proxy.insert([1, 2], at: RangeSet(0..<2))
    try proxy.removeAll()
    expectEqual(log.take(), ["a old 0 new 2", "a old 2 new 0"])
  }

  @Test("E4: an observed array is changed in place")
  func inPlace() throws {
    let orchard = Orchard()
    orchard.observed.reserveCapacity(1000)
    let address = orchard.observed.withUnsafeBufferPointer { $0.baseAddress }
    let log = Recorder()
    try log.observe(orchard, "observed", .new)
    let proxy = try orchard.mutableArrayValue(forKey: "observed")
    for number in 0..<100 { try proxy.append(number) }
    expectEqual(orchard.observed.withUnsafeBufferPointer { $0.baseAddress }, address)
    expectEqual(log.take().count, 100)
  }
}
