import Expectations
import KVORuntime
import TestSupport
import Testing

/// Messages say only what is known, and the remedy.
@Suite struct MessageTests {
  private struct Money {
    var amount = 1
  }
  private enum Category: String {
    case food, rent
  }
  private final class Holder: KVOObject {
    @Observed var anything: Any = 1
  }

  private class Account: KVOObject {
    @Observed var limit = Money()
    @Observed var entries: [Account] = []
    @Observed var category: Category? = .food
    var count = 1
    var number = 1
    lazy var late = 3
    var total: Int { count }
    var best: Int? { nil }
    var parts = [Money()]
    final var place = Money()
    let birth = 1
    var action: () -> Void = {}
    @Observed var names: [String] = []
    @Observed var tags: Set<String> = []
    @Observed var limits: [String: [Int]] = [:]
    @Observed var extras: [String: Any] = [:]
    @Observed var byNumber = [1: "one"]
    @Observed var parent: Account?
    var none: Int?
    @Observed var label = ""
    let model = Model()
    var other = Model()
    var maybe: Model? = Model()
    var index: Int {
      get { model.index }
      set { model.index = newValue }
    }
  }
  /// Not observable.
  private final class Model {
    var index = 1
  }

  private static let computed = """
    mark that @Observed; if with a computed one, what its getter reads. Or give the class @KVO, or declare the key in \
    registerKeys(), declareKeys { $0.stored("<key>", \\.<key>) } or $0.computed, and change it in \
    withChange(of: \\.<key>) { … }.
    """

  @Test(
    "F6: the message names a plain property that can't be overridden, and how to mark or declare it"
  )
  func plain() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Account().observe(\.place.amount) { _, _ in }
    }
    expect(
      try #require(result).errors.contains(
        """
        The key path \\Account.place.amount of type Int can't be observed: it reads no @Observed property and \
        is not a declared key of Account. "place" is a plain property. Mark it @Observed. Or declare it in registerKeys(), to \
        notify by key-value coding and manually: declareKeys { $0.stored("place", \\.place) }.
        """))
  }

  @Test(
    "F6: the message lists the plain properties that may be meant, and says how computed ones become keys",
    arguments: ["number", "best", "late"])
  func unnamed(_ which: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [which] in
      switch which {
      case "number": _ = Account().observe(\.number) { _, _ in }
      case "late": _ = Account().observe(\.late) { _, _ in }
      default: _ = Account().observe(\.best) { _, _ in }
      }
    }
    let text = try require(result).errors
    let list = which == "best" ? " (none)" : " (count, number, late)"
    expect(
      text.contains(
        "is not a declared key of Account. If it begins with a plain property\(list), \(Self.computed)"
      ),
      "\(text)")
  }

  @Test(
    "F6: the message names the class of an object on the path that is no KVOObject, and the remedy",
    arguments: ["model", "other", "maybe"])
  func keyless(_ link: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [link] in
      let account = Account()
      switch link {
      case "model": _ = account.observe(\.model.index) { _, _ in }
      case "other": _ = account.observe(\.other.index) { _, _ in }
      default: _ = account.observe(\.maybe!.index) { _, _ in }
      }
    }
    let text = try require(result).errors
    expect(text.contains("is not a declared key of Account. " + throughModel("Account")), "\(text)")
  }

  @Test("F6: the message about a longer key path says what is known of its beginning")
  func beginning() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Account().observe(\.parts.count) { _, _ in }
    }
    let text = try require(result).errors
    expect(text.contains("If it begins with a plain property (parts), mark that @Observed"))
    expect(!text.contains("number") && !text.contains("<computed"))
  }

  @Test("F6: the message says that a constant needs no observing")
  func constant() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Account().observe(\.birth) { _, _ in }
    }
    expect(try require(result).errors.contains("\"birth\" is a constant, which never changes."))
  }

  @Test("B1 C8: an unknown key's error says how to declare a stored property")
  func undeclared() {
    let stored = """
      Account has no key "action". The property is declared in registerKeys(): declareKeys \
      { $0.stored("action", \\.action) }.
      """
    expectEqual("\(error { _ = try Account().value(forKey: "action") })", stored)
    let nowhere = "\(error { _ = try Account().value(forKey: "totals") })"
    expectEqual(nowhere, "Account has no key \"totals\".")
    let foreign = KeyValueError.undefinedKey(key: "total", className: "CAccount")
    expectEqual("\(foreign)", "CAccount has no key \"total\".")
  }

  @Test(
    "B1 B2: no declaration is suggested for runtime members or @Observed storage"
  )
  func underlying() {
    let storage = "\(error { _ = try Account().value(forKey: "_label") })"
    expectEqual(storage, "Account has no key \"_label\". The property's key is \"label\".")
    let header = "\(error { _ = try Account().value(forKey: "headerStorage") })"
    expectEqual(header, "Account has no key \"headerStorage\".")
  }

  @Test("B1 C8: an unknown key's error names the key that is probably meant")
  func nearKeys() throws {
    for (key, meant) in [
      ("lable", "label"), ("Label", "label"), ("labl", "label"), ("entires", "entries"),
      ("catgeori", "category"), ("nubmer", "number"), ("entriesss", "entries"),
    ] {
      let text = "Account has no key \"\(key)\". Did you mean \"\(meant)\"?"
      expectEqual("\(error { _ = try Account().value(forKey: key) })", text)
      expectEqual("\(error { try Account().setValue(1, forKey: key) })", text)
      expectEqual("\(error { _ = try Account().observe(keyPath: key) { _, _ in } })", text)
    }
    for key in ["la", "lebal2", "zzzzzz", "x", "", String(repeating: "label", count: 20)] {
      expectEqual(
        "\(error { _ = try Account().value(forKey: key) })", "Account has no key \"\(key)\".")
    }
  }

  @Test(
    "B9: a proxy of a property that is not a collection says so",
    arguments: ["label", "count", "none"])
  func noCollection(_ key: String) throws {
    let type = ["label": "String", "count": "Int", "none": "Int?"][key]!
    let beginning = "\"\(key)\" of Account is not a collection: it takes \(type), not "
    for text in [
      "\(error { try Account().mutableArrayValue(forKey: key).append(1) })",
      "\(error { try Account().mutableOrderedSetValue(forKey: key).add(1) })",
    ] {
      expectEqual(text, beginning + "[Any].")
    }
    let set = "\(error { try Account().mutableSetValue(forKey: key).add(1) })"
    expectEqual(set, beginning + "Set<AnyHashable>.")
  }

  @Test("B9: a proxy of another kind of collection, or of other elements, names the actual type")
  func otherCollection() {
    let array = "\(error { try Account().mutableSetValue(forKey: "names").add("a") })"
    expectEqual(
      array,
      "\"names\" of Account is an array, and no set: it takes [String], not Set<AnyHashable>."
    )
    let element = "\(error { try Account().mutableArrayValue(forKey: "names").append(1) })"
    expectEqual(element, "\"names\" of Account takes elements of type String, not Int.")
    let none = "\(error { try Holder().mutableArrayValue(forKey: "anything").append(1) })"
    expectEqual(none, "\"anything\" of Holder holds Int, which is no array.")
    let set = "\(error { try Account().setValue([1], forKey: "tags") })"
    expectEqual(
      set, "\"tags\" of Account takes Set<String>, not [Int], whose element 0 is Int.")
  }

  @Test("B6: the error for a bad operand names the operator, the class and what it needs")
  func operands() {
    let account = Account()
    account.entries = [Account()]
    func text(_ path: String) -> String { "\(error { _ = try account.value(forKeyPath: path) })" }
    expectEqual(
      text("entries.@sum.label"),
      """
      The operator "@sum" in the key path "entries.@sum.label" of Account needs numbers, but an element \
      gives a value of type String.
      """)
    expectEqual(
      text("entries.@max.self"),
      """
      The operator "@max" in the key path "entries.@max.self" of Account needs values of one type that has an \
      order, but an element gives an object of Account.
      """)
    expectEqual(
      text("entries.@unionOfObjects.none"),
      """
      The operator "@unionOfObjects" in the key path "entries.@unionOfObjects.none" of Account needs values, \
      but an element gives nil.
      """)
    expectEqual(
      text("entries.@sum.entries.@unionOfObjects.label"),
      """
      An operator in the key path "entries.@sum.entries.@unionOfObjects.label" of Account needs numbers, but an element \
      gives a value of type Array or Set.
      """)
  }

  @Test("B1 B6: a key that is an operator, and a misspelt operator, get a suggestion")
  func operatorsAsKeys() {
    let account = Account()
    let count = "\(error { _ = try account.value(forKey: "@count") })"
    expectEqual(
      count,
      """
      Account has no key "@count". An operator belongs in a key path, after the key of a collection: \
      "<key>.@count".
      """)
    let sum = "\(error { _ = try account.value(forKey: "@summ") })"
    expect(sum.hasSuffix(" after the key of a collection: \"<key>.@sum.<key>\"."))
    for (name, meant) in [("@summ", "@sum"), ("@unionOfObject", "@unionOfObjects")] {
      let text = "\(error { _ = try account.value(forKeyPath: "entries.\(name).count") })"
      expect(text.hasSuffix("@distinctUnionOfSets. Did you mean \"\(meant)\"?"))
    }
  }

  @Test("B5 C8: a string key path through a plain object names it, and the remedy")
  func keylessByString() {
    let account = Account()
    for link in ["model", "other", "maybe"] {
      let expected =
        "The key path \"\(link).index\" of Account leads nowhere at \"index\". "
        + throughModel("Account")
      expectEqual("\(error { _ = try account.value(forKeyPath: "\(link).index") })", expected)
      expectEqual(
        "\(error { _ = try account.observe(keyPath: "\(link).index") { _, _ in } })", expected)
    }
  }

  @Test("B6: an operator's error names the class, and the operators that there are")
  func operators() {
    let account = Account()
    let known =
      "@count, @sum, @avg, @min, @max, @unionOfObjects, @distinctUnionOfObjects, "
      + "@unionOfArrays, @distinctUnionOfArrays, @unionOfSets, @distinctUnionOfSets."
    for text in [
      "\(error { _ = try account.value(forKeyPath: "entries.@middle.count") })",
      "\(error { _ = try account.observe(keyPath: "entries.@middle.count") { _, _ in } })",
    ] {
      expectEqual(
        text,
        "The key path \"entries.@middle.count\" of Account has the unknown operator "
          + "\"@middle\". There are " + known)
    }
    let short = "\(error { _ = try account.value(forKeyPath: "entries.@sum") })"
    expect(short.contains("\"@sum\"") && short.contains("of Account needs a key path behind it"))
    let none = "\(error { _ = try account.value(forKeyPath: "label.@count") })"
    expect(none.contains("\"@count\"") && none.contains("of Account needs a collection"))
    // A path of that name in another class: the message can't name either.
    _ = error { _ = try [1].value(forKeyPath: "label.@count.x") }
    let made = KeyValueError.invalidOperator("@median", keyPath: "made.@median.by.hand")
    expect("\(made)".hasSuffix("is not an operator that can be used there."))
  }

  @Test("B6: a message for one path of two classes names neither")
  func sameFault() {
    func fault(_ object: KVOObject) -> String {
      "\(error { _ = try object.value(forKeyPath: "label.@fault.x") })"
    }
    expect(fault(Account()).contains(" of Account "))
    let other = fault(Other())
    expect(
      !other.contains("Account") && other.contains("\"@fault\" in the key path \"label.@fault.x\""))
  }
  private final class Other: KVOObject {
    @Observed var label = ""
  }

  @Test("D4: a change's description lists its parts that are present")
  func description() {
    typealias Change = KeyValueObservedChange<[Int]>
    let whole = Change(newValue: [1], oldValue: [])
    expectEqual("\(whole)", "KeyValueObservedChange(kind: setting, oldValue: [], newValue: [1])")
    let part = Change(
      kind: .removal, indexes: RangeSet([0..<2, 4..<5]), isPrior: true)
    expectEqual(
      "\(part)", "KeyValueObservedChange(kind: removal, indexes: 0..<2, 4..<5, isPrior: true)")
    expect(String(reflecting: KeyValueObservedChange(newValue: "a")).contains("newValue: \"a\""))
  }

  @Test("B1 C8: a key's control characters are escaped in messages")
  func escaped() {
    let account = Account()
    for (key, text) in [("a\0b", #""a\0b""#), ("a\n\u{1b}b", #""a\n\u{1B}b""#), ("Œuf", "\"Œuf\"")]
    {
      expectEqual("\(error { _ = try account.value(forKey: key) })", "Account has no key \(text).")
      let path = "\(error { _ = try account.value(forKeyPath: "label." + key) })"
      expect(path.contains(text.dropFirst()) && path.unicodeScalars.allSatisfy { $0.value >= 32 })
      for message in [
        "\(error { try account.setValue(1, forKey: key) })",
        "\(error { _ = try account.observe(keyPath: key) { _, _ in } })",
        "\(error { _ = try account.mutableArrayValue(forKey: key) })",
      ] { expect(message.contains(text)) }
    }
  }

  @Test("B5 C6 C8: a path's error says where it ends, and how to observe elements")
  func paths() {
    let account = Account()
    let part = "\(error { _ = try account.value(forKeyPath: "limit.amount") })"
    expect(part.hasPrefix("The key path \"limit.amount\" of Account leads nowhere at \"amount\""))
    let elements = "\(error { _ = try account.observe(keyPath: "entries.count") { _, _ in } })"
    expect(elements.contains("\"entries.@unionOfObjects.count\""))
    let inner = "entries.@unionOfArrays.entries"
    account.entries = [Account()]
    account.entries[0].entries = [Account()]
    let nested = "\(error { _ = try account.observe(keyPath: inner + ".label") { _, _ in } })"
    expect(
      nested.hasSuffix("an operator reads and observes: \"\(inner).@unionOfObjects.label\"."),
      nested)
    for (path, meant) in [
      ("entries.@sum.entries", "@sum"), ("entries.@max.parent.entries", "@max"),
      ("entries.@distinctUnionOfSets.tags", "@distinctUnionOfObjects"),
      ("entries.@unionOfSets.tags", "@distinctUnionOfObjects"),
    ] {
      account.entries[0].parent = account
      let text = "\(error { _ = try account.observe(keyPath: path + ".label") { _, _ in } })"
      expect(text.hasSuffix("an operator reads and observes: \"\(path).\(meant).label\"."), text)
    }
    account.entries[0].parent = nil
    account.entries = []
    for path in ["label.length", "names.length", "limit.amount"] {
      let text = "\(error { _ = try account.observe(keyPath: path) { _, _ in } })"
      expect(text.hasPrefix("The key path \"\(path)\" of Account leads nowhere"))
      expect(!text.contains("@unionOfObjects"))
    }
    expectEqual(
      "\(error { _ = try account.observe(keyPath: "names.count") { _, _ in } })",
      """
      The key path "names.count" of Account leads nowhere at "count": what comes before it has no keys. Did you mean \
      "@count"?
      """)
    expectEqual(
      "\(error { _ = try account.mutableArrayValue(forKeyPath: "limits.day") })",
      """
      The key path "limits.day" of Account leads nowhere at "day": the dictionary "limits" has no mutable \
      proxies. To change what it contains, set a changed value for the key path.
      """)
    expectEqual(
      "\(error { _ = try account.mutableArrayValue(forKeyPath: "parent.parent.names") })",
      "The key path \"parent.parent.names\" of Account leads nowhere at \"names\": \"parent.parent\" is nil."
    )
    expectEqual(
      "\(error { _ = try account.mutableArrayValue(forKeyPath: "parent.names") })",
      "The key path \"parent.names\" of Account leads nowhere at \"names\": \"parent\" is nil.")
    let deeper = error { _ = try account.mutableSetValue(forKeyPath: "limits.day.all.list") }
    expect("\(deeper)".contains("at \"list\": the value before it, in the dictionary \"limits\""))
    account.extras["inner"] = ["list": [1]]
    expectEqual(
      "\(error { _ = try account.mutableArrayValue(forKeyPath: "extras.inner.list") })",
      """
      The key path "extras.inner.list" of Account leads nowhere at "list": the value before it, in the dictionary \
      "extras", is no object with keys.
      """)
    account.limits["day"] = [1]
    for (path, text) in [
      (
        "limits.day.count",
        "at \"count\": the value before it, in the dictionary \"limits\", is no object with keys. "
          + "Did you mean \"@count\"?"
      ),
      (
        "limits.day.first",
        "at \"first\": the value before it, in the dictionary \"limits\", is no object with keys."
      ),
      ("byNumber.1", "at \"1\": the keys of the dictionary \"byNumber\" are no strings."),
    ] {
      expect("\(error { _ = try account.value(forKeyPath: path) })".hasSuffix(text))
    }
    let empty = KeyValueError.invalidKeyPath(keyPath: "a..b", component: "", className: "Account")
    expectEqual("\(empty)", "The key path \"a..b\" of Account has an empty component.")
  }

  @Test("B2: the error names a raw value that no case has", arguments: ["category"])
  func rawValue(_ key: String) throws {
    let account = Account()
    let text = "\(error { try account.setValue("fun", forKey: key) })"
    expect(text.contains("\"category\" of Account"))
    expect(text.hasSuffix("not \"fun\", which is none of its raw values."))
    expectEqual(account.category, .food)
    expect("\(error { try account.setValue([1], forKey: key) })".hasSuffix("not [Int]."))
    try account.setValue("rent", forKey: key)
    expectEqual(account.category, .rent)
  }

  enum Mutation: String, CaseIterable {
    case append, insert, insertMany, remove, removeMany, replace, swap

    fileprivate func make(_ array: ObservedArray<Int>) {
      switch self {
      case .append: array.append(4)
      case .insert: array.insert(4, at: 3)
      case .insertMany: array.insert(contentsOf: [4, 5], at: 3)
      case .remove: array.remove(at: 2)
      case .removeMany: array.removeSubrange(1..<3)
      case .replace: array[2] = 4
      case .swap: array.swapAt(0, 2)
      }
    }
  }

  private final class Ledger: KVOObject {
    @Observed var numbers = [1, 2, 3]
  }

  @Test(
    "H6: an array that an observer shortens before its change stops, naming key and class",
    arguments: Mutation.allCases.filter { $0 != .append }.map(\.rawValue))
  func shortened(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name] in
      let ledger = Ledger()
      let token = ledger.observe(\.numbers, options: .prior) { ledger, change in
        if change.isPrior, !ledger.numbers.isEmpty { ledger.numbers = [] }
      }
      Mutation(rawValue: name)!.make(ledger.mutableArray(\.numbers))
      withExtendedLifetime(token) {}
    }
    let text = try require(result).errors
    expect(text.contains("\"numbers\" of Ledger has 0 elements"))
  }

  private func error(_ body: () throws -> Void) -> any Error {
    do {
      try body()
      return NoError()
    } catch { return error }
  }
  private struct NoError: Error {}
}
