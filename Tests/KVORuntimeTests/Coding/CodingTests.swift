import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// B2: reading and setting properties by key.
@Suite(.leakFree) struct CodingTests {
  static let readings: [(key: String, value: String)] = [
    ("firstName", "Ada"), ("lastName", "Lovelace"), ("age", "36"), ("height", "1.7"),
    ("place", "(1.0, 2.0)"), ("diary", "hidden"), ("rank", "1"), ("shoeSize", "38"),
    ("motto", "nil"), ("home", "(3.0, 4.0)"), ("pin", "1234"), ("birthYear", "1815"),
    ("account", "nil"), ("salary", "1000.0"), ("desk", "window"),
  ]

  @Test(
    "B2: every stored property is read by its key: observable, plain, constant, private, inherited",
    arguments: readings)
  func reading(_ key: String, _ value: String) throws {
    let employee = Employee()
    let log = Recorder()
    expectEqual(shown(try employee.value(forKey: key)), value)
    try employee.addObserver(log.watcher(), forKeyPath: key)
    expectEqual(shown(try employee.value(forKey: key)), value)
  }

  @Test("B2: a value that is read has the property's type, without an optional around it")
  func types() throws {
    let person = Person()
    expect(try person.value(forKey: "age") is Int)
    expect(type(of: try #require(try person.value(forKey: "lastName"))) == String.self)
    expect(type(of: try #require(try person.value(forKey: "height"))) == Double.self)
    expect(try person.value(forKey: "home") as? Place == Place(latitude: 3, longitude: 4))
    person.lastName = nil
    expect(try person.value(forKey: "lastName") == nil)
    expect(try person.value(forKey: "motto") == nil)
  }

  @Test("B2: nested optionals are read as the innermost value")
  func nestedOptionals() throws {
    let box = Box<Int??>(.some(.some(3)))
    expect(try box.value(forKey: "value") as? Int == 3)
    box.value = .some(nil)
    expect(try box.value(forKey: "value") == nil)
    try box.setValue(4, forKey: "value")
    expectEqual(box.value, .some(.some(4)))
    try box.setValue(nil, forKey: "value")
    expectEqual(shown(box.value), "nil")
  }

  /// A value for a key, and the property's value afterwards.
  struct Setting: Sendable, CustomTestStringConvertible {
    let key: String
    let value: any Sendable
    let stored: String

    init(_ key: String, _ value: some Sendable, _ stored: String) {
      self.key = key
      self.value = value
      self.stored = stored
    }

    var testDescription: String { "\(key) = \(value)" }
  }

  static let settings = [
    Setting("firstName", "Grace", "Grace"), Setting("lastName", "Hopper", "Hopper"),
    Setting("lastName", String?.none, "nil"), Setting("lastName", Optional("King"), "King"),
    Setting("age", 85, "85"), Setting("height", 1.5, "1.5"), Setting("height", Double?.none, "nil"),
    Setting("place", Place(latitude: 5, longitude: 6), "(5.0, 6.0)"),
    Setting("diary", "open", "open"),
    Setting("rank", 2, "2"), Setting("shoeSize", 40, "40"), Setting("motto", "onward", "onward"),
    Setting("motto", String?.none, "nil"),
    Setting("home", Place(latitude: 7, longitude: 8), "(7.0, 8.0)"),
    Setting("pin", 4321, "4321"), Setting("salary", 5.5, "5.5"), Setting("desk", "door", "door"),
  ]

  @Test(
    "B2: every stored variable is set by key, observed or not, whatever its access",
    arguments: settings, [true, false])
  func setting(_ setting: Setting, _ observed: Bool) throws {
    let employee = Employee()
    let log = Recorder()
    if observed { try employee.addObserver(log.watcher(), forKeyPath: setting.key, options: .new) }
    try employee.setValue(setting.value, forKey: setting.key)
    expectEqual(shown(try employee.value(forKey: setting.key)), setting.stored)
    expectEqual(log.take(), (observed ? ["w: \(setting.key) new \(setting.stored)"] : []))
  }

  @Test("B2: a value set by key is the property's value")
  func sameStorage() throws {
    let person = Person()
    let account = Account()
    try person.setValue("Grace", forKey: "firstName")
    try person.setValue(account, forKey: "account")
    try person.setValue(44, forKey: "shoeSize")
    expect(person.firstName == "Grace" && person.account === account && person.shoeSize == 44)
    person.firstName = "Ada"
    person.shoeSize = 38
    expect(try person.value(forKey: "firstName") as? String == "Ada")
    expect(try person.value(forKey: "shoeSize") as? Int == 38)
    expect(try person.value(forKey: "account") as? Account === account)
  }

  @Test("B2: an object of a subclass is taken for a property of its superclass's type")
  func subclasses() throws {
    let person = Person()
    let savings = SavingsAccount()
    try person.setValue(savings, forKey: "account")
    expect(person.account === savings)
    expectEqual(
      keyValueError { try person.setValue(Person(), forKey: "account") },
      .typeMismatch(
        key: "account", className: "Person", expected: "Account?", found: "Person"))
    expect(person.account === savings)
  }

  @Test("B2: collections, enumerations and tuples are set unconverted")
  func otherTypes() throws {
    let ledger = Ledger()
    try ledger.setValue([7, 8], forKey: "entries")
    try ledger.setValue(["z": 26], forKey: "index")
    try ledger.setValue(Set(["x"]), forKey: "tags")
    try ledger.setValue(Colour.mixed(1, 2, 3), forKey: "colour")
    try ledger.setValue((5, "e"), forKey: "pair")
    expect(ledger.entries == [7, 8] && ledger.index == ["z": 26] && ledger.tags == ["x"])
    expect(ledger.colour == .mixed(1, 2, 3) && ledger.pair == (5, "e"))
  }

  static let readOnly = ["birthYear", "constant", "computed"]

  @Test(
    "B2: a constant and an accessor without setter are read-only, and unchanged",
    arguments: readOnly)
  func readOnlyKeys(_ key: String) throws {
    let object = Limited()
    let before = shown(try object.value(forKey: key))
    let error = keyValueError { try object.setValue(1, forKey: key) }
    expectEqual(error, .readOnly(key: key, className: "Limited"))
    expectEqual(keyValueError { try object.setValue(nil, forKey: key) }, error)
    expectEqual(shown(try object.value(forKey: key)), before)
  }

  static let mismatches: [(key: String, value: any Sendable, expected: String, found: String)] = [
    ("firstName", 3, "String", "Int"), ("age", [2.5], "Int", "[Double]"),
    ("age", Place(latitude: 1, longitude: 2), "Int", "Place"), ("home", 3, "Place", "Int"),
    ("shoeSize", [1], "Int", "[Int]"), ("height", [1], "Double?", "[Int]"),
    ("motto", 1, "String?", "Int"), ("firstName", ["A"], "String", "[String]"),
    ("age", [1], "Int", "[Int]"),
  ]

  @Test(
    "B2: any other mismatch is an error naming both types; nothing is stored or notified",
    arguments: mismatches)
  func mismatch(_ key: String, _ value: any Sendable, _ expected: String, _ found: String) throws {
    let person = Person()
    let log = Recorder()
    try person.addObserver(log.watcher(), forKeyPath: key, options: .prior)
    let before = shown(try person.value(forKey: key))
    expectEqual(
      keyValueError { try person.setValue(value, forKey: key) },
      .typeMismatch(key: key, className: "Person", expected: expected, found: found))
    expectEqual(shown(try person.value(forKey: key)), before)
    expectEqual(log.take(), [])
  }

  @Test(
    "B2: undeclared computed properties are not keys", arguments: ["fullName", "hash"])
  func undeclaredGetters(_ key: String) {
    let person = Person()
    expectEqual(
      keyValueError { _ = try person.value(forKey: key) },
      .undefinedKey(key: key, className: "Person"))
    expectEqual(
      keyValueError { try person.setValue("x", forKey: key) },
      .undefinedKey(key: key, className: "Person"))
  }

  @Test("B2: plain storage is found under its name with an underscore, as an instance variable is")
  func underscored() throws {
    let object = Limited()
    expect(try object.value(forKey: "hidden") as? String == "underscored")
    expect(try object.value(forKey: "open") as? Bool == true)
    try object.setValue("found", forKey: "hidden")
    expect(try object.value(forKey: "_hidden") as? String == "found")
  }

  @Test("B2: keys may be of any script")
  func anyScript() throws {
    let object = Worldly()
    let log = Recorder()
    for key in ["größe", "名前"] {
      try object.addObserver(log.watcher(), forKeyPath: key, options: [.old, .new])
    }
    object.größe = 2
    try object.setValue("Ada", forKey: "名前")
    expect(try object.value(forKey: "größe") as? Int == 2)
    expectEqual(log.take(), ["w: größe old 1 new 2", "w: 名前 old  new Ada"])
  }

  @Test(
    "A5: two keys of one property stay two: a set notifies observers of both, each under its key")
  func twoKeys() throws {
    let object = Worldly()
    let log = Recorder()
    let watcher = log.watcher()
    for key in ["open", "isOpen"] {
      expect(try object.value(forKey: key) as? Bool == false)
      try object.addObserver(watcher, forKeyPath: key, options: .new)
    }
    log.observe(object, \.isOpen, .new, as: "typed")
    object.isOpen = true
    try object.setValue(false, forKey: "open")
    expectEqual(object.isOpen, false)
    expectEqual(
      log.take(),
      [
        "w: open new true", "w: isOpen new true", "typed new true", "w: open new false",
        "w: isOpen new false", "typed new false",
      ])
    try object.removeObserver(watcher, forKeyPath: "open")
    object.isOpen = true
    expectEqual(log.take(), ["w: isOpen new true", "typed new true"])
  }

  @Test("B2: a class may hide its plain storage; observable properties still answer")
  func sealed() throws {
    let object = SealedStorage()
    expectEqual(
      keyValueError { _ = try object.value(forKey: "plain") },
      .undefinedKey(key: "plain", className: "SealedStorage"))
    expectEqual(
      keyValueError { try object.setValue(1, forKey: "plain") },
      .undefinedKey(key: "plain", className: "SealedStorage"))
    try object.setValue(2, forKey: "open")
    expect(object.open == 2 && object.plain == 0)
  }

  @Test("B2: the keys of generic classes have the types of their specialisation")
  func generic() throws {
    let number = Box(1)
    let pair = PairBox("a", 2.5)
    try number.setValue(2.9, forKey: "value")
    try pair.setValue("b", forKey: "value")
    try pair.setValue(3, forKey: "second")
    expect(number.value == 2 && pair.value == "b" && pair.second == 3)
    expect(keyValueError { try pair.setValue(1, forKey: "value") } != nil)
  }

  @Test("B2: overrides of value(forKey:) and setValue(_:forKey:) serve all callers")
  func overriddenCoding() throws {
    let object = Echo()
    expect(try object.value(forKey: "anything") as? String == "anything")
    try object.setValue(7, forKey: "whatever")
    expectEqual(object.heard, ["whatever"])
  }
}

private final class Limited: Tracked {
  let birthYear = 1815
  let constant: String? = "fixed"
  private var _hidden = "underscored"
  private var isOpen = true

  override class func registerKeys() {
    Limited.declareKeys { $0.accessors("computed", get: { "\($0.birthYear)" }) }
  }
}

private final class Worldly: Tracked {
  // swift-format-ignore: IdentifiersMustBeASCII
  @Observed var größe = 1
  // swift-format-ignore: IdentifiersMustBeASCII
  @Observed var 名前 = ""
  @Observed var isOpen = false
}

private final class SealedStorage: Tracked {
  var plain = 0
  @Observed var open = 0
  override class var accessInstanceVariablesDirectly: Bool { false }
}

private final class Echo: KVOObject {
  var heard: [String] = []
  override func value(forKey key: String) throws -> Any? { key }
  override func setValue(_ value: Any?, forKey key: String) throws { heard.append(key) }
}
