import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// B5 to B7: key paths and operators, over objects and the standard library's collections.
@Suite(.leakFree) struct KeyPathCodingTests {
  /// The values of key paths in the small company.
  static let readings: [(path: String, value: String)] = [
    ("head", "Ada"), ("head.name", "Ada"), ("head.boss", "nil"), ("head.boss.name", "nil"),
    ("head.bonus", "10"), ("self.head.self.name", "Ada"), ("head.grade", "senior"),
    ("head.desk.floor", "2"), ("head.desk.door", "nil"), ("byName.bob.age", "50"),
    ("byName.eve.age", "nil"), ("facts.list.@count", "3"), ("facts.head.name", "Ada"),
    ("facts.none", "nil"), ("guest.name", "nil"),
    ("head.@sum.x", "invalidOperator @sum head.@sum.x"),
    ("workers.name", "[Ada, Bob, Cyd]"), ("workers.boss.name", "[nil, Ada, Ada]"),
    ("workers.bonus", "[10, nil, nil]"), ("workers.scores", "[[4, 84, 2], [7], []]"),
    ("friends.name", "{Ada, Bob}"), ("friends.boss.name", "{Ada, nil}"),
    ("seats.name", "[Ada, nil, Bob]"), ("teams.name", "[[Ada, Bob], [Bob, Cyd]]"),
  ]

  @Test(
    "B5 B7: key paths through objects, optionals, dictionaries, collections", arguments: readings)
  func reading(_ path: String, _ value: String) throws {
    expectEqual(text(Company.small(), path), value)
  }

  @Test(
    "B7: a key of elements without keys is an error that says so", arguments: ["x", "x.y"])
  func keylessElements(_ key: String) throws {
    let error = try #require(throws: KeyValueError.self) { try [1].value(forKey: key) }
    expectEqual(error, .invalidKeyPath(keyPath: key, component: key, className: "[Int]"))
    expectEqual(
      "\(error)",
      "The key path \"\(key)\" of [Int] leads nowhere at \"\(key)\": the elements have no keys.")
  }

  @Test("B7: a key that is set on a collection is set on each element, also of collections in it")
  func settingEach() throws {
    let company = Company.small()
    try company.workers.setValue(30, forKey: "age")
    expectEqual(text(company, "workers.age"), "[30, 30, 30]")
    try [[nil, company.workers[1]], [company.workers[2]]].setValue(31, forKey: "age")
    expectEqual(text(company, "workers.age"), "[30, 31, 31]")
    try Set([company.workers[1]]).setValue("Eve", forKeyPath: "boss.name")
    expectEqual(text(company, "workers.name"), "[Eve, Bob, Cyd]")
    for (element, name): (Any, String) in [(1, "[Any]"), (["age": 1], "[[String: Int]]")] {
      let error = try #require(throws: KeyValueError.self) {
        try (company.workers as [Any] + [element]).setValue(32, forKeyPath: "age")
      }
      expectEqual(error, .invalidKeyPath(keyPath: "age", component: "age", className: name))
    }
    expectEqual(text(company, "workers.age"), "[32, 32, 32]")
    #expect(throws: KeyValueError.self) { try company.workers.setValue(1, forKey: "none") }
  }

  @Test("B7: the error for a key that is set on dictionaries says that they are values")
  func settingDictionaries() throws {
    let rows: [[String: Any]] = [["age": 1]]
    let error = try #require(throws: KeyValueError.self) { try rows.setValue(2, forKey: "age") }
    expectEqual(
      "\(error)",
      """
      The key path "age" of [[String: Any]] leads nowhere at "age": the elements are dictionaries, which can't be changed \
      in place. Set the key path from the object that holds them, or replace them by changed ones.
      """)
  }

  static let operators: [(path: String, value: String)] = [
    ("workers.@count", "3"), ("workers.@count.nonsense.at.all", "3"), ("seats.@count", "3"),
    ("workers.@sum.age", "127"), ("workers.@sum.salary", "5500.0"), ("workers.@sum.bonus", "10"),
    ("workers.@avg.age", "\(127.0 / 3)"), ("workers.@avg.bonus", "\(10.0 / 3)"),
    ("workers.@min.name", "Ada"), ("workers.@max.name", "Cyd"), ("workers.@max.age", "50"),
    ("workers.@min.bonus", "10"), ("workers.@max.grade", "senior"),
    ("workers.@max.boss.age", "36"), ("head.scores.@max.self", "84"),
    ("workers.@unionOfObjects.name", "[Ada, Bob, Cyd]"),
    ("workers.@unionOfObjects.boss", "nilValue workers.@unionOfObjects.boss Company"),
    ("workers.@distinctUnionOfObjects.grade", "[senior, junior]"),
    ("friends.@distinctUnionOfObjects.grade", "{junior, senior}"),
    ("workers.@unionOfArrays.scores", "[4, 84, 2, 7]"),
    ("teams.@distinctUnionOfArrays.self", "[Ada, Bob, Cyd]"),
    ("workers.@unionOfSets.skills", "{c, swift}"),
    ("workers.@distinctUnionOfSets.skills", "{c, swift}"),
    ("workers.@sum.scores.@count", "4"), ("workers.@max.scores.@sum.self", "90"),
    ("facts.list.@sum.self", "6.5"), ("head.staff.@count", "nil"), ("head.staff.@sum.age", "nil"),
    ("workers.@sum.name", "typeMismatch workers.@sum.name Company numbers String"),
    ("workers.@middle.age", "invalidOperator @middle workers.@middle.age"),
    ("workers.@sum", "invalidOperator @sum workers.@sum"),
    ("head..name", "invalidKeyPath head..name  Company"),
    ("head.", "invalidKeyPath head.  Company"), ("", "invalidKeyPath   Company"),
    ("head.age.name", "invalidKeyPath head.age.name name Company"),
    ("head.hat", "undefinedKey hat Worker"), ("hat.name", "undefinedKey hat Company"),
    ("workers.hat", "undefinedKey hat Worker"), ("head.na\0me", "undefinedKey head.na\0me Company"),
  ]

  @Test("B5 B6: operators, and unreadable values", arguments: operators)
  func operating(_ path: String, _ value: String) throws {
    expectEqual(text(Company.small(), path), value)
  }

  @Test("B6: sums are Int as far as possible, averages Double; of nothing 0 and nil")
  func sums() throws {
    func read(_ values: [Any], _ path: String) throws -> Any? { try values.value(forKeyPath: path) }
    expect(try read([1, 2, 3], "@sum.self") as? Int == 6)
    expect(try read([UInt8(200), Int16(100)], "@sum.self") as? Int == 300)
    expect(try read([Int.max, 1], "@sum.self") as? Double == 9_223_372_036_854_775_808)
    expect(try read([Int.max, 1, -1], "@sum.self") as? Int == Int.max)
    expect(try read([UInt64.max], "@sum.self") as? Double == 18_446_744_073_709_551_616)
    expect(try read([1, 0.5], "@sum.self") as? Double == 1.5)
    expect(try read([Float(0.5), 1], "@avg.self") as? Double == 0.75)
    expect(try read([true, true, false], "@sum.self") as? Int == 2)
    for op in ["@sum", "@avg"] {
      expectEqual(try shown(read([], "\(op).self")), (op == "@sum" ? "0" : "0.0"))
    }
    expect(try read([], "@sum.self") is Int && read([], "@avg.self") is Double)
    expect(try read([], "@min.self") == nil && read([], "@max.self") == nil)
    expect(try [4, 84, 2].value(forKeyPath: "@max.self") as? Int == 84)
    expect(try [Int?.none, 5].value(forKeyPath: "@max.self") as? Int == 5)
    expect(try Set([4, 84, 2]).value(forKeyPath: "@min.self") as? Int == 2)
    expect(try [Int?.none, 5].value(forKeyPath: "@avg.self") as? Double == 2.5)
    expect(try ["b", "é", "a"].value(forKeyPath: "@max.self") as? String == "é")
    #expect(throws: KeyValueError.self) { try [1, "a"].value(forKeyPath: "@max.self") }
  }

  @Test("B7: collections answer keys themselves")
  func collections() throws {
    let company = Company.small()
    expect(try company.workers.value(forKey: "age") as? [Int] == [36, 50, 41])
    expect(try company.workers.value(forKey: "bonus") as? [Int?] == [10, nil, nil])
    expect(try company.workers.value(forKey: "@count") as? Int == 3)
    expect(try company.friends.value(forKey: "name") as? Set<String> == ["Ada", "Bob"])
    expect(try company.seats.value(forKeyPath: "name.@count") as? Int == 3)
    expect(try company.byName.value(forKey: "bob") as? Worker === company.workers[1])
    expect(try company.byName.value(forKey: "eve") == nil)
    expect(try company.byName.value(forKeyPath: "bob.boss.name") as? String == "Ada")
    expect(try ["a": Int?.none].value(forKey: "a") == nil)
    expectEqual(
      keyValueError { _ = try company.workers.value(forKey: "boss.name") },
      .undefinedKey(key: "boss.name", className: "Worker"))
    expectEqual(
      keyValueError { _ = try [1].value(forKey: "x") },
      .invalidKeyPath(keyPath: "x", component: "x", className: "[Int]"))
    expect(try [Worker]().value(forKey: "hat") as? [Int] == [])
  }

  static let settings: [(path: String, value: any Sendable, read: String, result: String)] = [
    ("head.name", "Eve", "head.name", "Eve"), ("head.boss.name", "Eve", "head.boss", "nil"),
    ("workers.age", 7, "workers.age", "[7, 7, 7]"), ("friends.age", 7, "workers.age", "[7, 7, 41]"),
    ("seats.bonus", 1, "seats.bonus", "[1, nil, 1]"),
    ("byName.bob.age", 9, "workers.age", "[36, 9, 41]"),
    ("head.desk.floor", 5, "head.desk.floor", "5"), ("head.desk.door", 8.9, "head.desk.door", "8"),
    ("head.desk.floor", Int?.none, "head.desk.floor", "nil"),
    ("teams.age", 3, "teams.age", "[[3, 3], [3, 3]]"),
  ]

  @Test(
    "B5: the last key of a path is set, in every element where it is a collection's",
    arguments: settings)
  func setting(_ path: String, _ value: any Sendable, _ read: String, _ result: String) throws {
    let company = Company.small()
    try company.setValue(value, forKeyPath: path)
    expectEqual(text(company, read), result)
  }

  static let refusals: [(path: String, error: KeyValueError)] = [
    ("head.hat", .undefinedKey(key: "hat", className: "Worker")),
    ("hat.age", .undefinedKey(key: "hat", className: "Company")),
    ("head.age", .typeMismatch(key: "age", className: "Worker", expected: "Int", found: "[Int]")),
    (
      "head.desk.floor",
      .typeMismatch(
        key: "floor", className: "[String: Int]", expected: "Int", found: "[Int]")
    ),
    ("workers.@max.age", .invalidOperator("@max", keyPath: "workers.@max.age")),
    ("head.self", .readOnly(key: "head.self", className: "Company")),
    ("head..age", .invalidKeyPath(keyPath: "head..age", component: "", className: "Company")),
    ("head.age.x", .invalidKeyPath(keyPath: "head.age.x", component: "x", className: "Company")),
  ]

  @Test("B5 B2: a key path that can't be set is an error", arguments: refusals)
  func refusing(_ path: String, _ error: KeyValueError) {
    let company = Company.small()
    expectEqual(keyValueError { try company.setValue([1], forKeyPath: path) }, error)
    expect(
      text(company, "workers.age") == "[36, 50, 41]" && text(company, "head.desk.floor") == "2")
  }

  @Test("B3: nil for a non-optional last key goes to its object's setNilValueForKey")
  func nilValue() {
    expectEqual(
      keyValueError { try Company.small().setValue(nil, forKeyPath: "head.age") },
      .nilValue(key: "age", className: "Worker"))
  }

  @Test("B5: every key on a path uses value(forKey:), and the last setValue(_:forKey:)")
  func overridden() throws {
    let company = Company.small()
    let joker = Joker("Joe")
    company.head = joker
    company.workers = [joker, Worker("Bob")]
    joker.boss = Worker("Ada")
    expectEqual(text(company, "head.name"), "Joe!")
    expectEqual(text(company, "head.joke"), "joke")
    expectEqual(text(company, "workers.name"), "[Joe!, Bob]")
    expectEqual(text(company, "workers.@max.name"), "Joe!")
    expectEqual(text(company, "head.boss.name"), "Ada")
    expectEqual(text(joker, "boss.name"), "Ada")
    try company.setValue("Jim", forKeyPath: "head.name")
    expectEqual(joker.name, "JIM")
  }

  @Test("B5: an error thrown by an accessor or an override passes through unchanged")
  func thrown() {
    let company = Company.small()
    company.head = Joker("Joe")
    for path in ["head.angry", "head.angry.x", "head.wrong", "head.broken.x"] {
      #expect(throws: Joker.Anger(key: path.split(separator: ".")[1] + "")) {
        try company.value(forKeyPath: path)
      }
    }
    #expect(throws: Joker.Anger(key: "angry")) { try company.setValue(1, forKeyPath: "head.angry") }
  }
}

/// The value of a path, or the error, as text.
func text(_ object: KVOObject, _ path: String) -> String {
  do { return plain(try object.value(forKeyPath: path)) } catch {
    return brief(error)
  }
}

private func plain(_ value: Any?) -> String {
  switch value {
  case nil: "nil"
  case let worker as Worker: worker.name
  case let set as Set<AnyHashable>:
    "{" + set.map { plain($0.base) }.sorted().joined(separator: ", ") + "}"
  case let array as [Any]: "[" + array.map { plain($0) }.joined(separator: ", ") + "]"
  default: shown(value)
  }
}

private func brief(_ error: any Error) -> String {
  switch error as? KeyValueError {
  case .undefinedKey(let key, let name): "undefinedKey \(key) \(name)"
  case .nilValue(let key, let name): "nilValue \(key) \(name)"
  case .typeMismatch(let key, let name, let expected, let found):
    "typeMismatch \(key) \(name) \(expected) \(found)"
  case .invalidKeyPath(let path, let component, let name):
    "invalidKeyPath \(path) \(component) \(name)"
  case .invalidOperator(let name, let path): "invalidOperator \(name) \(path)"
  default: "\(error)"
  }
}

private final class Joker: Worker {
  struct Anger: Error, Equatable {
    let key: String
  }

  override class func registerKeys() {
    Joker.declareKeys { keys in
      keys.accessors(
        "angry", get: { _ -> Int in throw Anger(key: "angry") },
        set: { _, _ in throw Anger(key: "angry") })
    }
  }

  override func value(forKey key: String) throws -> Any? {
    switch key {
    case "name": name + "!"
    case "joke": "joke"
    case "wrong": throw Anger(key: key)
    default: try super.value(forKey: key)
    }
  }

  override func setValue(_ value: Any?, forKey key: String) throws {
    try super.setValue((value as? String)?.uppercased() ?? value, forKey: key)
  }

  override func value(forUndefinedKey key: String) throws -> Any? { throw Anger(key: key) }
}
