import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// B2, B9, D7, H6: impossible mutations by proxies.
@Suite(.leakFree) struct MutableProxyErrorTests {
  struct Failure: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: @Sendable (String) -> KeyValueError
    let run: @Sendable (MutableArrayProxy) throws -> Void

    init(
      _ name: String, _ error: @escaping @Sendable (String) -> KeyValueError,
      run: @escaping @Sendable (MutableArrayProxy) throws -> Void
    ) {
      testDescription = name
      self.error = error
      self.run = run
    }

    static func index(_ index: Int) -> @Sendable (String) -> KeyValueError {
      { .indexOutOfBounds(key: $0, className: "Secret", index: index, count: 4) }
    }
    static func invalid(_ reason: String) -> @Sendable (String) -> KeyValueError {
      { .validationFailed(key: $0, className: "Secret", reason: reason) }
    }
  }

  static let impossible: [Failure] = [
    Failure("insert too far", Failure.index(5)) { try $0.insert(9, at: 5) },
    Failure("insert before the first", Failure.index(-1)) { try $0.insert(9, at: -1) },
    Failure("insert several too far", Failure.index(7)) {
      try $0.insert([7, 8], at: RangeSet([4..<5, 7..<8]))
    },
    Failure("remove too far", Failure.index(4)) { try $0.remove(at: 4) },
    Failure("remove before the first", Failure.index(-3)) { try $0.remove(at: -3) },
    Failure("remove several too far", Failure.index(4)) {
      try $0.remove(at: RangeSet([0..<1, 2..<9]))
    },
    Failure("replace too far", Failure.index(4)) { try $0.replace(at: 4, with: 9) },
    Failure("replace at the last number", Failure.index(.max)) {
      try $0.replace(at: .max, with: 9)
    },
    Failure("too few elements", Failure.invalid("1 elements were given for 2 indexes.")) {
      try $0.insert([9], at: RangeSet(0..<2))
    },
    Failure("too many elements", Failure.invalid("2 elements were given for 1 indexes.")) {
      try $0.replace(at: RangeSet(0..<1), with: [8, 9])
    },
  ]

  @Test(
    "H6: an impossible mutation is an error, notifies no observer and changes nothing",
    arguments: Secret.keys, impossible)
  func failures(_ key: String, _ failure: Failure) throws {
    let orchard = try Secret.filled(key)
    let log = Recorder()
    try log.observe(orchard, key, MutableProxyTests.all)
    let proxy = try orchard.mutableArrayValue(forKey: key)
    expectEqual(keyValueError { try failure.run(proxy) }, failure.error(key))
    expectEqual(log.take(), [])
    expectEqual(proxy.map { $0 as? Int }, [0, 1, 2, 3])
  }

  @Test(
    "H6, D7: removing elements in a prior call that the mutation needs makes it an error",
    arguments: ["observed", "perhaps", "plainSecret", "accessed"])
  func tooLateToChange(_ key: String) throws {
    let orchard = try Secret.filled(key)
    let log = Recorder()
    var shortens = true
    try log.observe(orchard, key, [.prior, .old, .new]) { orchard, change in
      if change.isPrior && shortens { try? orchard.setValue([0], forKey: key) }
    }
    let proxy = try orchard.mutableArrayValue(forKey: key)
    for mutation in [
      { try proxy.remove(at: RangeSet(1..<3)) }, { try proxy.replace(at: 3, with: 9) },
      { try proxy.insert(9, at: 4) },
    ] {
      try orchard.setValue([0, 1, 2, 3], forKey: key)
      let error = keyValueError(mutation)
      guard case .indexOutOfBounds(key, _, _, count: 1) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      expect(Array(proxy) as? [Int] == [0])
    }
    shortens = false
    _ = log.take()
    try proxy.append(1)
    expectEqual(log.take(), ["a prior insertion at 1", "a insertion at 1 new [1]"])
  }

  @Test(
    "B2, H6: an element of another type is an error and changes nothing",
    arguments: Secret.keys.filter { $0 != "anything" && $0 != "loose" })
  func mismatch(_ key: String) throws {
    let orchard = try Secret.filled(key)
    let log = Recorder()
    try log.observe(orchard, key)
    let proxy = try orchard.mutableArrayValue(forKey: key)
    for element in [[1], Optional<Int>.none as Any] {
      let found = element is [Int] ? "[Int]" : "nil"
      let expected = KeyValueError.typeMismatch(
        key: key, className: "Secret", expected: "Int", found: found)
      expectEqual(keyValueError { try proxy.append(element) }, expected)
      expectEqual(keyValueError { try proxy.replace(at: 0, with: element) }, expected)
    }
    expectEqual(log.take(), [])
    expectEqual(proxy.map { $0 as? Int }, [0, 1, 2, 3])
    // Numbers convert to the element's type.
    try proxy.append(UInt8(7))
    expect(proxy.last as? Int == 7)
  }

  @Test(
    "B9: a key that can't be mutated is an error at the first mutation",
    arguments: [
      "trees", "bulk", "half", "fixed", "readable",
    ])
  func readOnly(_ key: String) throws {
    let orchard = Orchard()
    orchard.stock = [1, 2, 3]
    let proxy = try orchard.mutableArrayValue(forKey: key)
    let expected = KeyValueError.readOnly(key: key, className: "Orchard")
    let attempts: [() throws -> Void] = [
      { try proxy.append(1) }, { try proxy.insert(1, at: 0) }, { try proxy.remove(at: 0) },
      { try proxy.replace(at: 0, with: 1) }, { try proxy.removeAll() },
    ]
    for attempt in attempts { expectEqual(keyValueError(attempt), expected) }
    expectEqual(proxy.map { $0 as? Int }, [1, 2, 3])
  }

  @Test("H6: an accessor's own error is thrown unchanged, and no observer is notified")
  func refusal() throws {
    let orchard = Orchard()
    orchard.stock = [1]
    orchard.refusal = Orchard.Refusal()
    let log = Recorder()
    for key in ["tended", "grown"] { try log.observe(orchard, key, [.old, .new]) }
    for key in ["tended", "grown"] {
      let proxy = try orchard.mutableArrayValue(forKey: key)
      #expect(throws: Orchard.Refusal()) { try proxy.append(2) }
      #expect(throws: Orchard.Refusal()) { try proxy.remove(at: 0) }
      #expect(throws: Orchard.Refusal()) { try proxy.replace(at: 0, with: 1) }
    }
    expectEqual(log.take(), [])
    orchard.refusal = nil
    try orchard.mutableArrayValue(forKey: "tended").append(3)
    expectEqual(log.take(), ["a insertion at 1 new [3]"])
  }

  @Test("B9: an unknown key is an error at once; one without an array, at the first mutation")
  func noArray() throws {
    let orchard = Orchard()
    expectEqual(
      keyValueError { _ = try orchard.mutableArrayValue(forKey: "nothing") },
      .undefinedKey(key: "nothing", className: "Orchard"))
    let proxy = try orchard.mutableArrayValue(forKey: "name")
    expect(proxy.isEmpty)
    expectEqual(
      keyValueError { try proxy.append("x") },
      .typeMismatch(
        key: "name", className: "Orchard", expected: "String", found: "[Any]"))
    expectEqual(orchard.name, "orchard")
  }

  @Test(
    "H6: the error for an element of an empty array says so in words", arguments: Secret.keys)
  func noLast(_ key: String) throws {
    let orchard = try Secret.filled(key)
    let proxy = try orchard.mutableArrayValue(forKey: key)
    try proxy.removeAll()
    let error = keyValueError { try proxy.remove(at: 0) }
    expectEqual(error, .indexOutOfBounds(key: key, className: "Secret", index: 0, count: 0))
    expectEqual(error?.description, "\"\(key)\" of Secret has no elements, and none at index 0.")
  }

  @Test("B9: an accessor that refuses new elements for the whole key keeps the old ones")
  func refusedSetting() throws {
    let picky = PickyOrchard()
    picky.stock = [1, 2]
    let proxy = try picky.mutableArrayValue(forKey: "picked")
    #expect(throws: Orchard.Refusal.self) { try proxy.contents.mutable().set([12, 13]) }
    expectEqual(picky.stock, [1, 2])
  }
}
