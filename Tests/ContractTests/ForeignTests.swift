import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import Testing

/// Objects of the C runtime.
@Suite struct ForeignTests {
  @Test func objects() throws {
    let made = try require(kvo_object_create(account_class()))
    defer { kvo_object_release(made) }
    let object = ForeignObject(OpaquePointer(made))
    expectEqual(object.className, "CAccount")
    var received: [Double?] = []
    let token: KeyValueObservation = try object.observe(
      "balance", as: Double.self, options: .new
    ) { received.append($1.newValue) }
    try object.setValue(2, forKey: "balance")
    expect(try object.value(forKey: "balance") as? Double == 2)
    expect(received == [2] && object.observationInfo.registrations.count == 1)
    token.invalidate()
    let observing: any KeyValueObserving = object
    expect(observing is ForeignObject)
  }

  @Test func keyPaths() throws {
    let made = try require(kvo_object_create(account_class()))
    defer { kvo_object_release(made) }
    let branch = try require(kvo_object_create(tracked_class()))
    defer { kvo_object_release(branch) }
    let object = ForeignObject(OpaquePointer(made))
    try object.setValue(ForeignObject(OpaquePointer(branch)), forKey: "branch")
    try object.setValue(7, forKeyPath: "branch.mark")
    expect(try object.value(forKeyPath: "branch.mark") as? Int == 7)
    try object.setValue(nil, forKey: "branch")
    expect(try object.value(forKeyPath: "branch.mark") == nil)
  }

  @Test func bindings() throws {
    let made = try require(kvo_object_create(account_class()))
    defer { kvo_object_release(made) }
    let object = ForeignObject(OpaquePointer(made))
    let person = Person(name: "Ada")
    let title = KVOAssociation<String>()
    var tokens: [KeyValueObservation] = [
      try object.bind("balance", to: person, \.age), try object.bind("owner", to: person, \.name),
      try object.bind("interestRate", to: person, \.age) { Double($0) / 2 },
    ]
    person.age = 3
    expect(try object.value(forKey: "balance") as? Double == 3)
    expect(try object.value(forKey: "interestRate") as? Double == 1.5)
    tokens = []
    tokens = [
      try person.bindTwoWay(\.age, to: object, "balance"),
      try person.bind(\.name, to: object, "balance") { (value: Int) in "\(value)" },
      try person.bind(\.nickname, to: object, "owner"), object.onDeinit {},
    ]
    try object.setValue(5, forKey: "balance")
    expect(person.age == 5 && person.name == "5" && person.nickname == "Ada")
    object[title] = "kept"
    expectEqual(object.coalescingNotifications { 2 }, 2)
    expectEqual(object[title], "kept")
    withExtendedLifetime(tokens) {}
  }

  @Test func sequences() async throws {
    let made = try require(kvo_object_create(account_class()))
    defer { kvo_object_release(made) }
    let object = ForeignObject(OpaquePointer(made))
    var values = try object.values(of: "balance", as: Double.self).makeAsyncIterator()
    var changes = try object.changes(of: "balance", as: Double.self, options: .new)
      .makeAsyncIterator()
    try object.setValue(2, forKey: "balance")
    expectEqual(await values.next(), 2)
    expectEqual(await changes.next()?.newValue, 2)
  }
}
