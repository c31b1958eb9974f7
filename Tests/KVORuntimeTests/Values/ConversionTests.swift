import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// B2's second half and B3: converting numbers to properties of other types, and nil.
@Suite(.leakFree) struct ConversionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let key: String
    let value: any Sendable
    let stored: String

    init(_ key: String, _ value: some Sendable, _ stored: String) {
      self.key = key
      self.value = value
      self.stored = stored
    }

    var testDescription: String { "\(key) = \(type(of: value))(\(value))" }
  }

  static let integers = [
    Case("int8", 127, "127"), Case("int8", 128, "-128"), Case("int8", 300, "44"),
    Case("int8", -3.9, "-3"), Case("int8", true, "1"), Case("uint8", -1, "255"),
    Case("uint8", 300, "44"), Case("uint8", 3.99, "3"), Case("int16", 40_000, "-25536"),
    Case("uint16", 70_000, "4464"), Case("uint16", 65_535.5, "65535"),
    Case("int32", 3_000_000_000, "-1294967296"), Case("int32", -2.5, "-2"),
    Case("uint32", -1, "4294967295"), Case("uint32", 5_000_000_000, "705032704"),
    Case("int64", Int.min, "\(Int.min)"), Case("int64", 1e30, "\(Int.max)"),
    Case("int64", -1e30, "\(Int.min)"), Case("int64", Double.infinity, "\(Int.max)"),
    Case("int64", Double.nan, "0"), Case("int64", UInt64.max, "-1"),
    Case("uint64", -1, "\(UInt64.max)"), Case("uint64", 1e19, "10000000000000000000"),
    Case("uint64", 1e30, "\(UInt64.max)"), Case("int", Int8(-5), "-5"),
    Case("int", UInt16(9), "9"), Case("int", Float(2.5), "2"), Case("int", true, "1"),
    Case("uint", Int8(-1), "\(UInt.max)"), Case("uint", false, "0"),
  ]

  static let others = [
    Case("flag", 0, "false"), Case("flag", 256, "true"), Case("flag", 0.5, "true"),
    Case("flag", 0.0, "false"), Case("flag", UInt8(1), "true"), Case("float", 0.1, "0.1"),
    Case("float", 16_777_217, "16777216.0"), Case("float", 1e300, "inf"),
    Case("float", true, "1.0"),
    Case("double", 3, "3.0"), Case("double", false, "0.0"), Case("double", Float(0.5), "0.5"),
    Case("double", UInt64.max, "1.8446744073709552e+19"), Case("double", -Double.infinity, "-inf"),
    Case("double", Double.nan, "nan"), Case("maybeInt", 2.9, "2"), Case("maybeInt", true, "1"),
    Case("maybeInt", Int?.none, "nil"), Case("maybeInt", Optional(UInt8(3)), "3"),
    Case("maybeDouble", 4, "4.0"), Case("maybeDouble", Int?.none, "nil"),
    Case("maybeDouble", String?.none, "nil"), Case("text", "grüße", "grüße"),
  ]

  @Test(
    "B2: numbers convert as NSNumber's accessors do, into an observable property and a plain one",
    arguments: integers + others)
  func conversion(_ sample: Case) throws {
    for object in [ObservedNumbers(), PlainNumbers()] {
      try object.setValue(sample.value, forKey: sample.key)
      expectEqual(shown(try object.value(forKey: sample.key)), sample.stored)
    }
  }

  @Test("B2: observers get a converted value")
  func notified() throws {
    let numbers = ObservedNumbers()
    let log = Recorder()
    log.observe(numbers, \.int8, [.old, .new], as: "int8")
    log.observe(numbers, \.maybeDouble, [.old, .new], as: "maybeDouble")
    try numbers.setValue(300.7, forKey: "int8")
    try numbers.setValue(2, forKey: "maybeDouble")
    try numbers.setValue(nil, forKey: "maybeDouble")
    expectEqual(
      log.take(),
      [
        "int8 old 0 new 44", "maybeDouble old nil new 2.0", "maybeDouble old 2.0 new nil",
      ])
  }

  @Test("B2: a value read from one key can be set for the same key of another object")
  func roundTrip() throws {
    let source = ObservedNumbers()
    let copy = PlainNumbers()
    source.int8 = -7
    source.uint64 = .max
    source.float = 0.1
    source.double = .pi
    source.maybeInt = 5
    source.text = "text"
    let keys = [
      "flag", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "int",
      "uint", "float", "double", "maybeInt", "maybeDouble", "text",
    ]
    for key in keys { try copy.setValue(try source.value(forKey: key), forKey: key) }
    for key in keys {
      expectEqual(shown(try copy.value(forKey: key)), shown(try source.value(forKey: key)))
    }
  }

  static let mismatched: [(key: String, value: any Sendable)] = [
    ("float", Place(latitude: 1, longitude: 2)), ("text", 3), ("text", true), ("int", ["1"]),
    ("maybeDouble", Colour.red),
  ]

  @Test("B2: a non-number does not become a number, nor a number a text", arguments: mismatched)
  func mismatch(_ key: String, _ value: any Sendable) throws {
    for object in [ObservedNumbers(), PlainNumbers()] {
      let before = shown(try object.value(forKey: key))
      guard
        case .typeMismatch(key, "\(type(of: object))", _, let found)? = keyValueError({
          try object.setValue(value, forKey: key)
        })
      else {
        Issue.record("no mismatch for \(key)")
        continue
      }
      expectEqual(found, value is [String] ? "[String]" : "\(type(of: value))")
      expectEqual(shown(try object.value(forKey: key)), before)
    }
  }

  // MARK: Texts and elements

  static let texts = [
    Case("int", "12", "12"), Case("int", " -12.9x", "-12"), Case("int", "", "0"),
    Case("int8", "300", "127"), Case("uint8", "-1", "0"),
    Case("int32", "99999999999", "2147483647"),
    Case("uint64", "18446744073709551615", "18446744073709551615"), Case("double", "1e3", "1000.0"),
    Case("double", "2.5.1", "2.5"), Case("float", ".5", "0.5"), Case("flag", "true", "true"),
    Case("flag", "-01", "true"), Case("flag", "no", "false"), Case("maybeInt", "7"[...], "7"),
    Case("maybeDouble", "x", "0.0"), Case("text", Character("c"), "c"),
    Case("text", "ab"[...], "ab"),
  ]

  @Test("B12: a text becomes the number at its beginning, another text itself", arguments: texts)
  func text(_ sample: Case) throws { try conversion(sample) }

  @Test("B12: an error names the element, or the key, that can't be converted")
  func elements() throws {
    let object = Shelves()
    try object.setValue(["1", 2.5, true] as [Any], forKey: "numbers")
    try object.setValue(["a": "1"] as [AnyHashable: Any], forKey: "byName")
    expect(object.numbers == [1, 2, 1] && object.byName == ["a": 1])
    for (key, value, found) in [
      ("numbers", [1, [2]] as [Any], "[Any], whose element 1 is [Int]"),
      ("byName", ["a": [1]], "[String: [Int]], whose key \"a\" is [Int]"),
      ("numbers", Set([1]), "Set<Int>"),
    ] as [(String, Any, String)] {
      let expected = key == "numbers" ? "[Int]" : "[String: Int]"
      expectEqual(
        keyValueError { try object.setValue(value, forKey: key) },
        .typeMismatch(key: key, className: "Shelves", expected: expected, found: found))
    }
  }

  // MARK: Nil

  static let scalars = [
    "flag", "int8", "uint64", "int", "float", "double", "text",
  ]

  @Test(
    "B3: nil for a non-optional is an error by default; nothing is stored or notified",
    arguments: scalars)
  func nilForScalar(_ key: String) throws {
    for object in [ObservedNumbers(), PlainNumbers()] {
      let log = Recorder()
      try object.addObserver(log.watcher(), forKeyPath: key, options: .prior)
      let expected = KeyValueError.nilValue(key: key, className: "\(type(of: object))")
      expectEqual(keyValueError { try object.setValue(nil, forKey: key) }, expected)
      expectEqual(keyValueError { try object.setValue(Int?.none, forKey: key) }, expected)
      expectEqual(log.take(), [])
    }
  }

  @Test(
    "B3: structs, enumerations and collections can't be nil either",
    arguments: ["place", "colour", "entries", "pair"])
  func nilForStruct(_ key: String) {
    let ledger = Ledger()
    expectEqual(
      keyValueError { try ledger.setValue(nil, forKey: key) },
      .nilValue(key: key, className: "Ledger"))
  }

  @Test("B3: setNilValueForKey may set something instead, and passes other keys to super")
  func nilHook() throws {
    let object = NilTaking()
    let log = Recorder()
    log.observe(object, \.level, [.old, .new])
    object.level = 5
    try object.setValue(nil, forKey: "level")
    try object.setValue(nil, forKey: "plain")
    expect(object.level == -1 && object.plain == -2)
    expectEqual(
      keyValueError { try object.setValue(nil, forKey: "other") },
      .nilValue(key: "other", className: "NilTaking"))
    expectEqual(log.take(), ["a old 0.0 new 5.0", "a old 5.0 new -1.0"])
  }

  @Test("B3: nil for an optional is stored without calling the hook")
  func nilForOptional() throws {
    let object = NilTaking()
    object.optional = "there"
    try object.setValue(nil, forKey: "optional")
    expect(object.optional == nil)
    expectEqual(object.asked, [])
  }

  @Test("B3: an error that the hook throws reaches the caller unchanged")
  func hookThrows() {
    struct Refusal: Error {}
    final class Refusing: Tracked {
      @Observed var number = 0
      override func setNilValueForKey(_ key: String) throws { throw Refusal() }
    }
    #expect(throws: Refusal.self) { try Refusing().setValue(nil, forKey: "number") }
  }

  // MARK: Unknown keys

  @Test("B2: an unknown key is by default an error that names key and class")
  func undefined() {
    let expected = KeyValueError.undefinedKey(key: "hat", className: "Employee")
    expectEqual(keyValueError { _ = try Employee().value(forKey: "hat") }, expected)
    expectEqual(keyValueError { try Employee().setValue(1, forKey: "hat") }, expected)
    expectEqual(keyValueError { try Employee().setValue(nil, forKey: "hat") }, expected)
  }

  @Test("B2: the hooks for unknown keys read and set them, and pass others to super")
  func undefinedHooks() throws {
    let object = Forgiving()
    expect(try object.value(forKey: "ghost") as? Int == 0)
    try object.setValue(3, forKey: "ghost")
    expect(try object.value(forKey: "ghost") as? Int == 3)
    try object.setValue(nil, forKey: "ghost")
    expectEqual(object.taken, ["ghost 3", "ghost nil"])
    let expected = KeyValueError.undefinedKey(key: "hat", className: "Forgiving")
    expectEqual(keyValueError { _ = try object.value(forKey: "hat") }, expected)
    expectEqual(keyValueError { try object.setValue(1, forKey: "hat") }, expected)
  }
}

private final class Shelves: Tracked {
  @Observed var numbers: [Int] = []
  @Observed var byName: [String: Int] = [:]
}

private final class NilTaking: Tracked {
  @Observed var level = 0.0
  @Observed var other = 0
  @Observed var optional: String?
  var plain = 0
  private(set) var asked: [String] = []

  override func setNilValueForKey(_ key: String) throws {
    asked.append(key)
    switch key {
    case "level": level = -1
    case "plain": plain = -2
    default: try super.setNilValueForKey(key)
    }
  }
}

private final class Forgiving: Tracked {
  private(set) var taken: [String] = []
  private var ghostly = 0

  override func value(forUndefinedKey key: String) throws -> Any? {
    key == "ghost" ? ghostly : try super.value(forUndefinedKey: key)
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) throws {
    guard key == "ghost" else { return try super.setValue(value, forUndefinedKey: key) }
    taken.append("ghost \(shown(value))")
    ghostly = value as? Int ?? 0
  }
}
