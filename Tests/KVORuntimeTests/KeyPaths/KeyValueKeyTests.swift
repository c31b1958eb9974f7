import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C12: keys that are data, looked up once.
@Suite(.leakFree) struct KeyValueKeyTests {
  @Test("C12: a key is found for every kind of property, and works as its string does")
  func everySort() throws {
    let sheet = Sheet()
    func check<Value: Equatable>(_ name: String, _ first: Value, _ second: Value) throws {
      let key = try KeyValueKey<Sheet, Value>(name)
      expect(key.name == name && "\(key)" == name)
      expectEqual(try sheet.value(for: key), first)
      try sheet.setValue(second, for: key)
      expectEqual(try sheet.value(for: key), second)
      expect(try sheet.value(forKey: name) as? Value == second)
    }
    try check("k1", 0.0, 1.5)
    try check("observed", 1, 2)
    try check("plain", "a", "b")
    try check("stored", [1], [1, 2])
    try check("optional", Int?.none, 3)
    try check("optional", Int?.some(3), nil)
    try check("größe", 0, 4)
  }

  @Test("C12: a missing key is an error that says why")
  func errors() {
    func error<Value>(_ key: String, _ type: Value.Type) -> KeyValueError? {
      do {
        _ = try KeyValueKey<Sheet, Value>(key)
        return nil
      } catch { return error as? KeyValueError }
    }
    for key in ["k2", "", "k1.k1", "k1\0", "below"] {
      expectEqual(error(key, Double.self), .undefinedKey(key: key, className: "Sheet"))
    }
    let mismatches: [(String, KeyValueError?, String, String)] = [
      ("k1", error("k1", Int.self), "Double", "Int"),
      ("k1", error("k1", Double?.self), "Double", "Double?"),
      ("k1", error("k1", Any.self), "Double", "Any"),
      ("observed", error("observed", Int8.self), "Int", "Int8"),
    ]
    for (key, error, expected, found) in mismatches {
      expectEqual(
        error, .typeMismatch(key: key, className: "Sheet", expected: expected, found: found))
    }
  }

  @Test("C12: setting a read-only key is an error")
  func readOnly() throws {
    let key = try KeyValueKey<Sheet, Int>("constant")
    #expect(throws: KeyValueError.readOnly(key: "constant", className: "Sheet")) {
      try Sheet().setValue(2, for: key)
    }
  }

  @Test("C12: keys of one name are equal, however spelled")
  func equality() throws {
    let composed = try KeyValueKey<Sheet, Int>("gr\u{F6}\u{DF}e")
    let decomposed = try KeyValueKey<Sheet, Int>("gro\u{308}\u{DF}e")
    expect(composed == decomposed && Set([composed, decomposed]).count == 1)
    expect(try composed != KeyValueKey<Sheet, Int>("observed"))
  }

  @Test("C12: observers by key get old and new in the key's type, for every kind of property")
  func observing() throws {
    let sheet = Sheet()
    let log = Recorder()
    func observe<Value>(_ name: String, _ type: Value.Type, _ options: KeyValueObservingOptions)
      throws
    {
      let key = try KeyValueKey<Sheet, Value>(name)
      log.keep(
        sheet.observe(key: key, options: options) { [log] _, change in
          log.note(([name] + change.words).joined(separator: " "))
        })
    }
    try observe("k1", Double.self, [.initial, .old, .new])
    try observe("observed", Int.self, [.prior, .old])
    try observe("plain", String.self, .new)
    try observe("optional", Int?.self, [.old, .new])
    expectEqual(log.take(), ["k1 new 0.0"])
    sheet.withChange(forKey: try KeyValueKey<Sheet, Double>("k1")) { sheet.cells["k1"] = 1 }
    sheet.observed = 2
    try sheet.setValue("b", forKey: "plain")
    sheet.optional = 1
    sheet.optional = nil
    expectEqual(
      log.take(),
      [
        "k1 old 0.0 new 1.0", "observed prior old 1", "observed old 1", "plain new b",
        "optional old nil new 1", "optional old 1 new nil",
      ])
  }

  @Test("C12: dropping the token ends the registration")
  func token() throws {
    let sheet = Sheet()
    let key = try KeyValueKey<Sheet, Double>("k1")
    var notified = 0
    var token: KeyValueObservation? = sheet.observe(key: key) { _, _ in notified += 1 }
    sheet.withChange(forKey: key) {}
    token = nil
    sheet.withChange(forKey: key) {}
    expect(notified == 1 && token == nil)
    expect(!sheet.isObserved(forKey: "k1"))
  }

  @Test("C12: one token for many keys says which of them changed, and ends all of them")
  func oneToken() throws {
    let sheet = Sheet()
    let names = ["k1", "k3", "k1"]
    let keys = try names.map { try KeyValueKey<Sheet, Double>($0) }
    let log = Recorder()
    let token = sheet.observe(keys: keys, options: [.old, .new]) { [log] _, index, change in
      log.note(([("\(index) \(keys[index])")] + change.words).joined(separator: " "))
    }
    sheet.withChange(forKey: keys[0]) { sheet.cells["k1"] = 1 }
    sheet.withChange(forKey: keys[1]) { sheet.cells["k3"] = 2 }
    expectEqual(
      log.take(),
      [
        "0 k1 old 0.0 new 1.0", "2 k1 old 0.0 new 1.0", "1 k3 old 0.0 new 2.0",
      ])
    token.invalidate()
    for key in keys { sheet.withChange(forKey: key) {} }
    expectEqual(log.take(), [])
    expect(!sheet.observe(keys: [KeyValueKey<Sheet, Double>]()) { _, _, _ in }.isValid)
  }

  @Test("C12: one token retains its handler until it ends, and no longer")
  func oneTokenLeaks() throws {
    let sheet = Sheet()
    let keys = try ["k1", "k3"].map { try KeyValueKey<Sheet, Double>($0) }
    weak var held: Tracked?
    do {
      let captured = Tracked()
      held = captured
      let token = sheet.observe(keys: keys) { _, _, _ in withExtendedLifetime(captured) {} }
      expect(held != nil)
      token.invalidate()
    }
    expect(held == nil)
  }

  @Test("C12: a superclass's key reaches the subclass's override")
  func subclass() throws {
    let sheet = Subsheet()
    let key = try KeyValueKey<Sheet, Double>("k1")
    let log = Recorder()
    log.keep(
      (sheet as Sheet).observe(key: key, options: [.old, .new]) { [log] _, change in
        log.note(change.words.joined(separator: " "))
      })
    sheet.k1 = 5
    (sheet as Sheet).withChange(forKey: key) {}
    expectEqual(log.take(), ["old 0.0 new 5.0", "old 5.0 new 5.0"])
    try (sheet as Sheet).setValue(6, for: key)
    expect(sheet.k1 == 6 && sheet.cells["k1"] == nil)
    expectEqual(log.take(), ["old 5.0 new 6.0"])
    expectEqual(try (sheet as Sheet).value(for: key), 6)
  }

  @Test(
    "C12: observing a key that a subclass redeclares with another type stops, naming both types")
  func subclassOfAnotherType() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let key = try KeyValueKey<Sheet, Double>("k1")
      _ = (Othersheet() as Sheet).observe(key: key) { _, _ in }
    }
    let text = try require(result).errors
    for word in ["Othersheet", "k1", "String", "Double"] { expect(text.contains(word)) }
    let key = try KeyValueKey<Sheet, Double>("k1")
    #expect(
      throws: KeyValueError.typeMismatch(
        key: "k1", className: "Othersheet", expected: "Double", found: "String")
    ) {
      _ = try (Othersheet() as Sheet).value(for: key)
    }
  }

  /// Its keys are data with dots. One of them is a key path as well.
  final class Dotted: KeyValueRecord {
    final class Owner: KVOObject {
      @Observed var k1 = 1.0
    }
    override class func registerKeys() {
      declareKeys { keys in
        keys.value("owner", Owner())
        for key in ["owner.k1", "audio.volume", "@count", "ada@home"] {
          keys.value(key, "a string")
        }
      }
    }
  }

  @Test("C12: a key whose string is a key path is read and set as any other")
  func dotted() throws {
    let dotted = Dotted()
    for name in ["owner.k1", "audio.volume", "@count"] {
      let key = try KeyValueKey<Dotted, String>(name)
      dotted[key] = "x"
      try dotted.setValue(dotted.value(for: key) + "y", for: key)
      dotted.withChange(forKey: key) {}
      expectEqual(dotted[key], "xy")
    }
  }

  /// Its getter reads one of them.
  final class DottedReader: KVOObject {
    let dotted = Dotted()
    let key: KeyValueKey<Dotted, String>

    init(_ name: String) throws {
      key = try KeyValueKey(name)
      super.init()
    }

    var read: String { dotted[key] }
  }

  @Test(
    "C12 F5: a computed property that reads such a key notifies of its changes",
    arguments: ["owner.k1", "audio.volume", "@count", "ada@home"])
  func dottedRead(_ name: String) throws {
    let reader = try DottedReader(name)
    let log = Recorder()
    log.observe(reader, \.read, .new)
    reader.dotted[reader.key] = "x"
    try reader.dotted[KeyValueKey<Dotted, Dotted.Owner>("owner")].k1 = 2
    expectEqual(log.take(), ["a new x"])
    #expect(throws: KeyValueError.self) {
      _ = try reader.dotted.observe(keyPath: "audio.volume") { _, _ in }
    }
  }

  @Test("C12: a key with an inner @ is observed as any other, alone and with others")
  func mail() throws {
    let dotted = Dotted()
    let key = try KeyValueKey<Dotted, String>("ada@home")
    let log = Recorder()
    log.keep(
      dotted.observe(key: key, options: .new) { [log] _, change in log.note(change.newValue!) })
    log.keep(dotted.observe(keys: [key, key]) { [log] _, index, _ in log.note("\(index)") })
    dotted[key] = "x"
    expectEqual(log.take(), ["x", "0", "1"])
  }

  @Test(
    "C12: one is observed as any other, by itself and among others, and not what the path leads to",
    arguments: ["owner.k1", "audio.volume", "@count"])
  func dottedObserved(_ name: String) throws {
    let key = try KeyValueKey<Dotted, String>(name)
    let (dotted, log) = (Dotted(), Recorder())
    for options: KeyValueObservingOptions in [[.old, .new], [.old, .new, .prior]] {
      log.keep(
        dotted.observe(key: key, options: options) { [log] _, change in
          log.note(change.words.joined(separator: " "))
        })
    }
    log.keep(
      dotted.observe(keys: [key, try KeyValueKey("ada@home")], options: .new) {
        [log] _, index, change in
        log.note("\(index) \(change.newValue!)")
      })
    dotted[key] = "x"
    try dotted[KeyValueKey<Dotted, Dotted.Owner>("owner")].k1 = 2
    try dotted.setValue("y", for: key)
    let first = ["prior old a string", "old a string new x", "old a string new x", "0 x"]
    let second = ["prior old x", "old x new y", "old x new y", "0 y"]
    expectEqual(log.take(), first + second)
  }

  /// Its key path and its key, which has dots, name the same property.
  final class DottedName: KVOObject {
    @Observed var number = 1
    var half: Int { number / 2 }

    override class func registerKeys() { declareKeys { $0.computed("number.half", \.half) } }
  }

  @Test("D2 C12: observers of a key with dots, by key path and by key, are called in their order")
  func dottedOrder() throws {
    let (object, log) = (DottedName(), Recorder())
    let key = try KeyValueKey<DottedName, Int>("number.half")
    log.observe(object, \.half, [.old, .new], as: "1 path")
    log.keep(object.observe(key: key) { [log] _, _ in log.note("2 key") })
    log.observe(object, \.half, as: "3 path")
    log.keep(object.observe(key: key) { [log] _, _ in log.note("4 key") })
    object.number = 4
    expectEqual(log.take(), ["1 path old 0 new 2", "2 key", "3 path", "4 key"])
    object.withChange(of: \.half) {}
    expectEqual(log.take(), ["1 path old 2 new 2", "2 key", "3 path", "4 key"])
    object.withChange(forKey: key) {}
    expectEqual(log.take(), ["1 path old 2 new 2", "2 key", "3 path", "4 key"])
  }

  @Test("C12: as a string one that is no key path says so", arguments: ["audio.volume"])
  func dottedAsString(_ name: String) throws {
    let dotted = Dotted()
    let expected = KeyValueError.invalidKeyPath(
      keyPath: name, component: name, className: "Dotted")
    expectEqual(keyValueError { _ = try dotted.value(forKeyPath: name) }, expected)
    expectEqual(keyValueError { try dotted.setValue("x", forKeyPath: name) }, expected)
    expectEqual(keyValueError { _ = try dotted.observe(keyPath: name) { _, _ in } }, expected)
    expect("\(expected)".contains("is one key, with dots"))
    expect(try dotted.value(forKeyPath: "owner.k1") is Double)
  }

  @Test("C12: a key found before its property is redeclared reaches the new declaration")
  func declaredLater() throws {
    let sheet = Latesheet()
    let key = try KeyValueKey<Latesheet, Double>("late")
    try sheet.setValue(1, for: key)
    Latesheet.declareKeys { keys in
      keys.accessors("late", get: { $0.another }, set: { $0.another = $1 })
    }
    try sheet.setValue(2, for: key)
    expect(sheet.another == 2 && sheet.late == 1)
    let log = Recorder()
    log.keep(
      sheet.observe(key: key, options: .new) { [log] _, change in
        log.note(change.words.joined(separator: " "))
      })
    sheet.withChange(forKey: key) { sheet.another = 3 }
    expectEqual(log.take(), ["new 3.0"])
  }

  @Test("C12: an object's own overrides for reading and setting keys are called")
  func overridden() throws {
    let sheet = Owner()
    let key = try KeyValueKey<Owner, Int>("a")
    try sheet.setValue(2, for: key)
    expectEqual(sheet.a, 20)
    expectEqual(try sheet.value(for: key), 21)
  }

  @Test("C12: keys may be made and used on any threads")
  func threads() throws {
    let sheets = (0..<4).map { _ in Shared(Sheet()) }
    let notified = Locked(0)
    onThreads(4) { thread in
      let sheet = sheets[thread].value
      for _ in 0..<100 {
        guard let key = try? KeyValueKey<Sheet, Double>("k1") else { return }
        let token = sheet.observe(key: key) { _, _ in notified.withLock { $0 += 1 } }
        sheet.withChange(forKey: key) { sheet.cells["k1"] = 1 }
        token.invalidate()
      }
    }
    expectEqual(notified.withLock { $0 }, 400)
  }
}

private class Sheet: Tracked {
  var cells: [String: Double] = [:]
  @Observed var observed = 1
  @Observed var optional: Int?
  var plain = "a"
  var stored = [1]
  let constant = 1
  private var size = 0

  override class func registerKeys() {
    Sheet.declareKeys { keys in
      for key in ["k1", "k3"] {
        keys.accessors(key, get: { $0.cells[key] ?? 0 }, set: { $0.cells[key] = $1 })
      }
      keys.stored("stored", \.stored)
      keys.accessors("größe", get: { $0.size }, set: { $0.size = $1 })
    }
  }
}

/// Stores properties for which its superclass has accessors.
private final class Subsheet: Sheet {
  @Observed var k1 = 0.0
  var below = 0.0

  override class func registerKeys() {
    Subsheet.declareKeys { $0.stored("k1", \.k1) }
  }
}

private final class Othersheet: Sheet {
  override class func registerKeys() {
    Othersheet.declareKeys { $0.accessors("k1", get: { _ in "text" }) }
  }
}

private final class Latesheet: Tracked {
  @Observed var late = 0.0
  var another = 0.0
}

private final class Owner: Tracked {
  @Observed var a = 0

  override func value(forKey key: String) throws -> Any? {
    try (super.value(forKey: key) as? Int).map { $0 + 1 }
  }

  override func setValue(_ value: Any?, forKey key: String) throws {
    try super.setValue((value as? Int).map { $0 * 10 }, forKey: key)
  }
}
