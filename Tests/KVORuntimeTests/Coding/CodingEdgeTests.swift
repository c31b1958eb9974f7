import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// Rare cases of key-value coding: B2, B5, B6, B7, B10, B11.
@Suite(.leakFree) struct CodingEdgeTests {
  // MARK: Setting by key path

  @Test("B5: dictionaries in a collection are set by changed copies, with one notification")
  func dictionariesInCollections() throws {
    let drawer = Drawer()
    let log = Recorder()
    log.observe(drawer, \.cards, [.old, .new], as: "cards")
    try drawer.setValue(9, forKeyPath: "cards.a")
    expectEqual(drawer.cards, [["a": 9], ["a": 9, "b": 2]])
    expectEqual(log.take().count, 1)
    try drawer.setValue(nil, forKeyPath: "cards.b")
    expectEqual(drawer.cards, [["a": 9], ["a": 9]])
    drawer.boxes = ["first": [["n": 1], ["n": 2]], "second": []]
    try drawer.setValue(5, forKeyPath: "boxes.first.n")
    expectEqual(drawer.boxes, ["first": [["n": 5], ["n": 5]], "second": []])
  }

  @Test("B5: dictionaries of the objects in a collection are set each in its object")
  func dictionariesBehindObjects() throws {
    let drawer = Drawer()
    drawer.inner = [Drawer(), Drawer()]
    drawer.inner[1].cards = [["a": 4]]
    try drawer.setValue(7, forKeyPath: "inner.cards.a")
    expectEqual(drawer.inner[0].cards, [["a": 7], ["a": 7, "b": 2]])
    expectEqual(drawer.inner[1].cards, [["a": 7]])
  }

  @Test(
    "B5: a value without keys can't be set by one, also inside collections and dictionaries",
    arguments: ["numbers.size", "cards.a.size", "anything.size"])
  func noKeys(_ path: String) {
    let drawer = Drawer()
    #expect(
      throws: KeyValueError.invalidKeyPath(keyPath: path, component: "size", className: "Drawer")
    ) { try drawer.setValue(1, forKeyPath: path) }
    expect(drawer.numbers == [1, 2] && drawer.cards == [["a": 1], ["a": 1, "b": 2]])
  }

  @Test("B5: a value that a dictionary can't hold leaves everything unchanged")
  func mismatchInDictionary() {
    let drawer = Drawer()
    #expect(
      throws: KeyValueError.typeMismatch(
        key: "a", className: "[String: Int]", expected: "Int", found: "[Int]")
    ) { try drawer.setValue([1], forKeyPath: "cards.a") }
    expectEqual(drawer.cards, [["a": 1], ["a": 1, "b": 2]])
  }

  // MARK: self and operators

  @Test("B6 B7: `self` is a key of objects, and of elements of any collection")
  func selfAsKey() throws {
    let drawer = Drawer()
    expect(try drawer.value(forKey: "self") as? Drawer === drawer)
    expect(try [1, 2].value(forKey: "self") as? [Int] == [1, 2])
    expect(try Set(["a"]).value(forKey: "self") as? Set<String> == ["a"])
    let array = try drawer.mutableArrayValue(forKey: "numbers").value(forKey: "self")
    expect(array as? [Int] == [1, 2])
    // A dictionary's own keys come first.
    expect(try ["self": 3].value(forKey: "self") as? Int == 3)
    expect(try ["a": 3].value(forKey: "self") == nil)
    #expect(throws: KeyValueError.undefinedKey(key: "self", className: "Drawer")) {
      try drawer.setValue(1, forKey: "self")
    }
  }

  @Test("B7: operators work on a dictionary's values")
  func dictionaryOperators() throws {
    let ages = ["Ada": 36, "Grace": 85]
    expect(try ages.value(forKeyPath: "@count") as? Int == 2)
    expect(try ages.value(forKey: "@count") as? Int == 2)
    expect(try ages.value(forKeyPath: "@sum.self") as? Int == 121)
    expect(try ages.value(forKeyPath: "@max.self") as? Int == 85)
    let drawer = Drawer()
    drawer.boxes = ["x": [["n": 1], ["n": 2]], "y": [["n": 3]]]
    expect(try drawer.value(forKeyPath: "boxes.@count") as? Int == 2)
    expect(try drawer.value(forKeyPath: "boxes.@sum.@max.n") as? Int == 5)
    expect(try ["@id": 7].value(forKey: "@id") as? Int == 7)
    #expect(throws: KeyValueError.invalidOperator("@id", keyPath: "@id")) {
      try ["a": 7].value(forKey: "@id")
    }
  }

  // MARK: Conversions

  @Test("B2: a wide integer takes the fraction that fits in it")
  func wideIntegers() throws {
    let drawer = Drawer()
    try drawer.setValue(1e30, forKey: "wide")
    expectEqual(drawer.wide, Int128(1e30))
    try drawer.setValue(-1e30, forKey: "wide")
    expectEqual(drawer.wide, Int128(-1e30))
    try drawer.setValue(Double.infinity, forKey: "wide")
    expectEqual(drawer.wide, Int128(Int64.max))
    for text in ["10000000000000000000000000", "-10000000000000000000000000"] {
      try drawer.setValue(text, forKey: "wide")
      expectEqual(drawer.wide, Int128(text))
    }
  }

  // MARK: Validation and several keys

  @Test("B10: C calls a Swift object's declared validator, and its override")
  func validatedByC() {
    let drawer = Drawer()
    coreClassIsKnown(drawer)
    var value = kvo_value_int(7)
    expectEqual(kvo_validate_value(header(of: drawer), "size", &value, nil), .KVO_OK)
    expectEqual(kvo_value_get_int(&value), 7)
    value = kvo_value_int(500)
    expectEqual(kvo_validate_value(header(of: drawer), "self.size", &value, nil), .KVO_OK)
    expectEqual(kvo_value_get_int(&value), 100)
    value = kvo_value_int(-1)
    var error = kvo_error()
    expectEqual(kvo_validate_value(header(of: drawer), "size", &value, &error), .KVO_REFUSED)
    expectEqual(kvo_value_get_int(&value), -1)
    expectEqual(kvo_validate_value(header(of: drawer), "numbers", &value, &error), .KVO_OK)
    withExtendedLifetime(drawer) {}
  }

  private func coreClassIsKnown(_ object: KVOObject) { _ = coreClass(of: object) }

  static let refusals: [(values: [String: (any Sendable)?], error: KeyValueError)] = [
    (["size": 2, "label": 3], mismatch("label", "String?", "Int")),
    (["size": 2, "label": "x", "numbers": "y"], mismatch("numbers", "[Int]", "String")),
    (["size": 2, "fixed": 3, "label": "x"], .readOnly(key: "fixed", className: "Drawer")),
    (["size": nil, "label": "x"], .nilValue(key: "size", className: "Drawer")),
    (["size": 2, "hat": 1, "label": "x"], .undefinedKey(key: "hat", className: "Drawer")),
  ]

  private static func mismatch(
    _ key: String, _ expected: String, _ found: String
  ) -> KeyValueError {
    .typeMismatch(key: key, className: "Drawer", expected: expected, found: found)
  }

  @Test("B11: if one of several keys can't be set, none is", arguments: refusals)
  func allOrNone(_ values: [String: (any Sendable)?], _ error: KeyValueError) throws {
    let drawer = Drawer()
    let log = Recorder()
    for key in ["size", "label", "numbers"] { try log.observe(drawer, key) }
    #expect(throws: error) { try drawer.setValuesForKeys(values.mapValues { $0 }) }
    expect(drawer.size == 1 && drawer.label == nil && drawer.numbers == [1, 2])
    expectEqual(log.take(), [])
  }

  @Test("B11: hooks for other keys are asked before any key is set")
  func hooks() throws {
    let drawer = Forgiving()
    try drawer.setValuesForKeys(["size": nil, "hat": 1, "label": "x"])
    expectEqual(drawer.log, ["hat", "nil size"])
    expectEqual(drawer.label, "x")
  }

  // MARK: didSet

  @Test(
    "B2 E2 H2: a key declared as stored is set through the property, with didSet, once")
  func didSet() throws {
    let drawer = Drawer()
    let log = Recorder()
    for key in ["watched", "rows"] { try log.observe(drawer, key, [.old, .new]) }
    try drawer.setValue(3, forKey: "watched")
    try drawer.mutableArrayValue(forKey: "rows").append(1)
    drawer.mutableArray(\.rows).append(2)
    expectEqual(drawer.sets, ["watched 3", "rows [1]", "rows [1, 2]"])
    expectEqual(
      log.take(),
      [
        "a old 0 new 3", "a insertion at 0 new [1]", "a insertion at 1 new [2]",
      ])
  }
}

private struct Refusal: Error {}

private class Drawer: KVOObject {
  @Observed var cards: [[String: Int]] = [["a": 1], ["a": 1, "b": 2]]
  @Observed var boxes: [String: [[String: Int]]] = [:]
  @Observed var inner: [Drawer] = []
  @Observed var numbers = [1, 2]
  @Observed var anything: Any = ["x", "y"]
  @Observed var wide: Int128 = 0
  @Observed var size = 1
  @Observed var label: String?
  let fixed = 0
  @Observed var watched = 0 { didSet { sets.append("watched \(watched)") } }
  @Observed var rows: [Int] = [] { didSet { sets.append("rows \(rows)") } }
  var sets: [String] = []

  override class func registerKeys() {
    declareKeys { keys in
      keys.stored("watched", \.watched)
      keys.stored("rows", \.rows)
      keys.validator("size") { (_, size: inout Int?) in
        guard let proposed = size, proposed >= 0 else { throw Refusal() }
        size = min(proposed, 100)
      }
    }
  }
}

private final class Forgiving: Drawer {
  var log: [String] = []
  override func setNilValueForKey(_ key: String) throws { note("nil \(key)") }
  override func setValue(_ value: Any?, forUndefinedKey key: String) throws { note(key) }

  private func note(_ line: String) {
    expect(label == nil)
    log = (log + [line]).sorted()
  }
}
