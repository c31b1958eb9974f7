import Expectations
import KVORuntime
import Testing

/// Values by key, and the hooks that a class can override.
@Suite struct CodingTests {
  @Test func values() throws {
    let person = Person(name: "Ada", age: 36)
    try person.setValue("Al", forKey: "nickname")
    try person.setValuesForKeys(["age": 37, "note": "some"])
    expect(try person.value(forKey: "nickname") as? String == "Al")
    expect(try person.value(forKey: "species") as? String == "human")
    let values: [String: Any?] = try person.dictionaryWithValues(forKeys: ["age", "shout"])
    expect(values["age"] as? Int == 37 && values["shout"] as? String == "ADA")
  }

  @Test func macro() throws {
    let labelled = Labelled()
    try labelled.setValue(labelled, forKey: "owner")
    try labelled.setValue(2, forKey: "index")
    expect(labelled.owner === labelled && labelled.model.index == 2)
    expect(try labelled.value(forKeyPath: "owner.text") as? String == "")
  }

  @Test func hooks() throws {
    let person = Particular(name: "Ada")
    expect(try person.value(forKey: "magic") as? Int == 42)
    #expect(throws: KeyValueError.undefinedKey(key: "other", className: "Particular")) {
      try person.value(forKey: "other")
    }
    try person.setValue(1, forKey: "unknown")
    try person.setValue(nil, forKey: "age")
    expectEqual(person.asked, ["unknown", "nil age"])
    #expect(throws: KeyValueError.nilValue(key: "name", className: "Particular")) {
      try person.setValue(nil, forKey: "name")
    }
    expect(!Particular.accessInstanceVariablesDirectly && Person.accessInstanceVariablesDirectly)
    expect(!Particular.automaticallyNotifiesObservers(forKey: "age"))
    expect(Person.automaticallyNotifiesObservers(forKey: "age"))
  }

  @Test func keyPaths() throws {
    let person = Person(name: "Ada")
    person.friends = [Person(name: "Al", age: 1), Person(name: "Bo", age: 2)]
    expect(try person.value(forKeyPath: "friends.@sum.age") as? Int == 3)
    try person.setValue("Eve", forKeyPath: "name")
    expectEqual(person.name, "Eve")
    expect(try person.friends.value(forKey: "name") as? [String] == ["Al", "Bo"])
    expect(try [4, 84, 2].value(forKeyPath: "@max.self") as? Int == 84)
    let titles: Set<String> = ["Dr"]
    expect(try titles.value(forKeyPath: "@count") as? Int == 1)
    expect(try Set(person.friends).value(forKey: "age") as? Set<Int> == [1, 2])
    func ages(of people: some KeyValueCollection) throws -> Any? { try people.value(forKey: "age") }
    expect(try ages(of: person.friends) as? [Int] == [1, 2])
    try person.friends.setValue(3, forKey: "age")
    try Set(person.friends).setValue(4, forKeyPath: "age")
    expect(try person.friends.value(forKey: "age") as? [Int] == [4, 4])
    let dictionary: [String: Any] = ["friend": person]
    expect(try dictionary.value(forKey: "friend") as? Person === person)
    expect(try dictionary.value(forKeyPath: "friend.name") as? String == "Eve")
  }

  @Test func proxies() throws {
    let person = Person(name: "Ada")
    person.shelf = ["A", "B"]
    person.drawer = ["C"]
    let books = try require(try person.value(forKey: "books") as? ArrayProxy)
    expect(try books.value(forKeyPath: "@count") as? Int == 2)
    #expect(throws: (any Error).self) { try books.value(forKey: "pages") }
    let keys = try require(try person.value(forKey: "keys") as? SetProxy)
    expect(try keys.value(forKeyPath: "@count") as? Int == 1)
    #expect(throws: (any Error).self) { try keys.value(forKey: "pages") }
    let array = try person.mutableArrayValue(forKey: "friends")
    try array.append(Person(name: "Al"))
    expect(try array.value(forKey: "name") as? [String] == ["Al"])
    expect(try array.value(forKeyPath: "@count") as? Int == 1)
    let set = try person.mutableSetValue(forKey: "keys")
    expect(try set.value(forKeyPath: "@count") as? Int == 1)
    #expect(throws: (any Error).self) { try set.value(forKey: "pages") }
    let ordered = try person.mutableOrderedSetValue(forKey: "ranks")
    expect(try ordered.value(forKeyPath: "@count") as? Int == 2)
    #expect(throws: (any Error).self) { try ordered.value(forKey: "pages") }
  }

  @Test func validation() throws {
    let person = Pupil(name: "Ada")
    var value: Any? = " Ada "
    try person.validateValue(&value, forKey: "name")
    expect(value as? String == "Ada")
    person.mate = Pupil()
    value = ""
    #expect(throws: KeyValueError.self) {
      try person.validateValue(&value, forKeyPath: "mate.name")
    }
  }

  @Test func declarations() throws {
    let person = Pupil(name: "ada")
    var received: [String] = []
    let tokens = [
      try person.observe(keyPath: "greeting", options: .new) { received.append("\($1.newValue!)") },
      try person.observe(keyPath: "initial", options: .new) { received.append("\($1.newValue!)") },
    ]
    person.name = "bo"
    expectEqual(received.sorted(), ["b", "hello bo"])
    withExtendedLifetime(tokens) {}
    expectEqual(Pupil.keyPathsForValuesAffectingValue(forKey: "initial"), ["name"])
  }

  @Test func declaredLater() throws {
    func declare(_ keys: inout KeyDeclarations<Whisper>) {
      keys.computed("whisper", \.whisper)
    }
    Whisper.declareKeys(declare)
    expect(try Whisper(name: "ADA").value(forKey: "whisper") as? String == "ada")
  }

  @Test func customization() {
    let square = Square()
    var received = 0
    let token = square.observe(\.area) { _, _ in received += 1 }
    square.side = 2
    expectEqual(received, 1)
    square.silent = 1
    let silent = square.observe(\.silent) { _, _ in received += 1 }
    square.silent = 2
    expectEqual(received, 1)
    withExtendedLifetime((token, silent)) {}
    let customizing: any KeyValueObservingCustomization.Type = Square.self
    let affecting: Set<AnyKeyPath> = customizing.keyPathsAffectingValue(for: \Square.area)
    let notifies: Bool = customizing.automaticallyNotifiesObservers(for: \Square.silent)
    expect(affecting == [\Square.side] && !notifies)
    #if !canImport(ObjectiveC)
      let customized: any NSKeyValueObservingCustomization = square
      expect(customized === square)
    #endif
  }
}
