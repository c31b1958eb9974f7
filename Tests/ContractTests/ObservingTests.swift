import Expectations
import KVORuntime
import Testing

/// Registering, by key path and by string.
@Suite struct ObservingTests {
  @Test func keyPaths() {
    let person = Person(name: "Ada")
    var received: [String] = []
    let tokens: [KeyValueObservation] = [
      person.observe(\.age) { person, _ in received.append("age of \(person.name)") },
      person.observe(\.age, options: [.old, .new]) {
        received.append("\($1.oldValue!) \($1.newValue!)")
      },
      person.observe(
        \.nickname, options: .initial, withToken: { received.append("\($2.isValid)") }),
      person.observe([\.name, \.age], options: .new) { received.append("one of \($1 == \.age)") },
    ]
    person.age = 36
    expectEqual(received, ["true", "age of Ada", "0 36", "one of true"])
    for token in tokens { token.invalidate() }
    expect(tokens.allSatisfy { !$0.isValid })
    let shared: any Sendable = tokens[0]
    withExtendedLifetime(shared) { person.age = 37 }
    expectEqual(received.count, 4)
  }

  @Test func sequences() async {
    let person = Person(name: "Ada")
    let values: KeyValueValues<String> = person.values(of: \.name)
    let changes: KeyValueChanges<String> = person.changes(of: \.name, options: [.old, .new])
    var names: KeyValueValues<String>.AsyncIterator = values.makeAsyncIterator()
    var edits: KeyValueChanges<String>.AsyncIterator = changes.makeAsyncIterator()
    person.name = "Grace"
    expectEqual(await names.next(), "Grace")
    expectEqual(await edits.next(isolation: nil)?.oldValue, "Ada")
    let shared: any Sendable = values
    withExtendedLifetime(shared) {}
  }

  @Test func bindings() {
    let (ada, grace) = (Person(name: "Ada"), Person(name: "Grace"))
    let tokens: [KeyValueObservation] = [
      grace.bind(\.name, to: ada, \.name), grace.bind(\.nickname, to: ada, \.age) { "\($0)" },
      grace.bindTwoWay(\.age, to: ada, \.age),
    ]
    ada.name = "Augusta"
    grace.age = 36
    expect(grace.name == "Augusta" && ada.age == 36 && grace.nickname == "36")
    withExtendedLifetime(tokens) {}
  }

  @Test func properties() throws {
    let age: KeyValueProperty = try require(Person.keyValueProperty(forKey: "age"))
    expect(age.key == "age" && age.valueType == Int.self && age.isWritable)
    expect(!age.isToMany && !age.isWeak && Person.keyValueProperty(forKey: "aeg") == nil)
    expect(Person.keyValueProperties.contains { $0.key == "friends" && $0.isToMany })
  }

  @Test func lifetimes() {
    let title = KVOAssociation<String>()
    var ended = false
    var person: Person? = Person(name: "Ada")
    person?[title] = "Countess"
    expectEqual(person?[title], "Countess")
    let token: KeyValueObservation? = person?.onDeinit { ended = true }
    person = nil
    expect(ended && token?.isValid == false)
  }

  @Test func targets() {
    final class Label {
      var text = ""
      func show(_ change: KeyValueObservedChange<String>) { text = change.newValue ?? "" }
    }
    let person = Person()
    let label = Label()
    let token = person.observe(\.name, options: .new, target: label, action: Label.show)
    person.name = "Ada"
    expect(label.text == "Ada" && token.isValid)
  }

  @Test func strings() throws {
    let person = Person()
    var received: [Any?] = []
    let token = try person.observe(keyPath: "name", options: .new) { received.append($1.newValue) }
    person.name = "Ada"
    expect(received.first as? String == "Ada" && token.isValid)
    #expect(throws: KeyValueError.self) { try person.observe(keyPath: "nothing") { _, _ in } }
  }

  @Test func observers() throws {
    let person = Person()
    let watcher = Watcher()
    let context = KVOContext()
    try person.addObserver(watcher, forKeyPath: "name")
    try person.addObserver(watcher, forKeyPath: "age", options: [.new, .old, .prior])
    try person.addObserver(watcher, forKeyPath: "age", options: .new, context: context)
    try person.addObserver(watcher, forKeyPath: "name", context: context.pointer)
    person.name = "Ada"
    person.age = 1
    expectEqual(
      watcher.seen,
      [
        "name setting", "name setting", "age setting prior old 0", "age setting old 0 new 1",
        "age setting new 1",
      ])
    try person.removeObserver(watcher, forKeyPath: "age", context: context)
    try person.removeObserver(watcher, forKeyPath: "name", context: context.pointer)
    try person.removeObserver(watcher, forKeyPath: "name")
    try person.removeObserver(watcher, forKeyPath: "age")
    #expect(throws: KeyValueError.self) { try person.removeObserver(watcher, forKeyPath: "age") }
  }

  @Test func introspection() throws {
    let person = Person()
    let watcher = Watcher()
    let context = KVOContext()
    try person.addObserver(watcher, forKeyPath: "age", options: .new, context: context)
    let information: ObservationInfo = person.observationInfo
    let registration: ObservationInfo.Registration = try require(information.registrations.first)
    expect(registration.keyPath == "age" && registration.options == .new)
    expect(registration.observer.contains("Watcher") && registration.description.contains("age"))
    expectEqual(registration.context, UnsafeRawPointer(context.pointer))
    expect(information.description.contains("age"))
    expect(information.debugDescription.contains("age"))
    expect(person.isObserved(forKey: "age") && !person.isObserved(forKey: "name"))
    person.removeAllObservers()
    expect(!person.isObserved(forKey: "age"))
  }

  @Test func manual() {
    let person = Person()
    var kinds: [KeyValueChange] = []
    var tokens = [person.observe(\.note) { kinds.append($1.kind) }]
    tokens.append(person.observe(\.friends) { kinds.append($1.kind) })
    tokens.append(person.observe(\.titles) { kinds.append($1.kind) })
    person.willChangeValue(forKey: "note")
    person.didChangeValue(forKey: "note")
    person.willChangeValue(for: \.note)
    person.didChangeValue(for: \.note)
    person.withChange(of: \.note) { person.note = "body" }
    person.withAutomaticChange(of: \.note) { person.note = "body" }
    expectEqual(person.withAutomaticChange(forKey: "note") { 7 }, 7)
    expectEqual(person.withChange(forKey: "note") { 7 }, 7)
    person.access(keyPath: \.note)  // reports nothing, since no getter's reads are recorded
    expectEqual(person.coalescingNotifications { 7 }, 7)
    person.willChange(.replacement, valuesAt: RangeSet(), forKey: "friends")
    person.didChange(.replacement, valuesAt: RangeSet(), forKey: "friends")
    person.willChange(.replacement, valuesAt: RangeSet(), for: \.friends)
    person.didChange(.replacement, valuesAt: RangeSet(), for: \.friends)
    person.withChange(.replacement, at: RangeSet(), forKey: "friends") {}
    person.willChangeValue(forKey: "titles", withSetMutation: .union, using: [])
    person.didChangeValue(forKey: "titles", withSetMutation: .union, using: [])
    person.willChangeValue(for: \.titles, withSetMutation: .minus, using: ["Dr"])
    person.didChangeValue(for: \.titles, withSetMutation: .minus, using: ["Dr"])
    person.withChange(.intersect, using: ["Dr"], forKey: "titles") {}
    let settings = [KeyValueChange](repeating: .setting, count: 6)
    let replacements = [KeyValueChange](repeating: .replacement, count: 3)
    expectEqual(kinds, settings + replacements + [.insertion, .removal, .removal])
    withExtendedLifetime(tokens) {}
  }

  @Test func keysThatAreData() throws {
    let person = Person()
    let key = try KeyValueKey<Person, String>("note")
    var received: [String] = []
    let tokens = [
      person.observe(key: key, options: .new) { received.append($1.newValue ?? "") },
      person.observe(keys: [key]) { received.append("\($0.note) \($1) \($2.kind.rawValue)") },
    ]
    try person.setValue("a", for: key)
    person.withChange(forKey: key) { person.note = "b" }
    person.withAutomaticChange(forKey: key) { person.note = "c" }
    expect(try person.value(for: key) == "c" && key.name == "note")
    expectEqual(received, ["a", "a 0 1", "b", "b 0 1", "c", "c 0 1"])
    withExtendedLifetime(tokens) {}
  }

  @Test func record() throws {
    final class Settings: KeyValueRecord {
      override class func registerKeys() {
        Settings.declareKeys { $0.value("volume", 0.5) }
      }
    }
    let settings = Settings()
    let volume = try KeyValueKey<Settings, Double>("volume")
    var received: [Double?] = []
    let token = settings.observe(key: volume, options: .new) { received.append($1.newValue) }
    settings[volume] += 0.25
    expect(settings[volume] == 0.75 && received == [0.75])
    withExtendedLifetime(token) {}
  }

  // In a process of its own, because the hooks are global.
  @Test func diagnostics() async {
    await #expect(processExitsWith: .success) {
      let hook: (@Sendable (String, Any?, KVOObject) -> Void)? =
        KVODiagnostics.unhandledNotification
      KVODiagnostics.unhandledNotification = hook
      let misuse: (@Sendable (String) -> Void)? = KVODiagnostics.misuse
      KVODiagnostics.misuse = misuse
      expectEqual((KVODiagnostics.misuse == nil), (misuse == nil))
    }
  }

  @Test func identity() {
    expect(Person(name: "Ada") != Person(name: "Ada"))
    let ada = Person(name: "Ada")
    expect(ada as KVOObject == ada)
    let set: Set<KVOObject> = [Particular(name: "Ada"), Particular(name: "Ada")]
    expectEqual(set.count, 1)
    let observing: any KeyValueObserving = Person()
    expect(observing is Person)
  }
}
