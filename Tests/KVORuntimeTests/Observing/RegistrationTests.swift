import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// C1, C2, C8: registering observer objects by string key paths, and removing them.
@Suite(.leakFree) struct RegistrationTests {
  @Test("C1: an observer object is called with key path, object, change and context")
  func notified() throws {
    let account = Account()
    let log = Recorder()
    var calls: [Watcher.Call] = []
    try account.addObserver(
      log.watcher { calls.append($0) }, forKeyPath: "balance", options: [.old, .new],
      context: context(7))
    account.balance = 1
    expectEqual(calls.map(\.keyPath), ["balance"])
    expect(calls.allSatisfy { $0.object as? Account === account })
    expectEqual(calls.map(\.context), [context(7)])
    expectEqual(log.take(), ["w[7]: balance old 0.0 new 1.0"])
  }

  @Test("C1: registered several times, called as many times, and each removal takes one away")
  func several() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    for _ in 0..<3 { try account.addObserver(watcher, forKeyPath: "balance") }
    for left in [3, 2, 1] {
      account.balance = 1
      expectEqual(log.take(), Array(repeating: "w: balance", count: left))
      try account.removeObserver(watcher, forKeyPath: "balance")
    }
    account.balance = 1
    expectEqual(log.take(), [])
    expect(!isSwapped(account))
  }

  @Test("C1: several registrations of one observer keep their options and contexts apart")
  func apart() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    try account.addObserver(watcher, forKeyPath: "balance", options: .old, context: context(1))
    try account.addObserver(watcher, forKeyPath: "balance", options: .new, context: context(2))
    try account.addObserver(watcher, forKeyPath: "balance", options: .prior)
    account.balance = 1
    expectEqual(
      log.take(),
      [
        "w: balance prior", "w[1]: balance old 0.0", "w[2]: balance new 1.0", "w: balance",
      ])
  }

  /// Which of the registrations with contexts 1, 2, 1, 0 a removal ends.
  static let removals: [(removed: Int?, left: [Int])] = [
    (nil, [1, 2, 1]), (1, [1, 2, 0]), (2, [1, 1, 0]), (0, [1, 2, 1]),
  ]

  @Test(
    "C1: a removal with a context takes that context's most recent, one without the most recent",
    arguments: removals)
  func removal(_ removed: Int?, _ left: [Int]) throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    for number in [1, 2, 1, 0] {
      try account.addObserver(watcher, forKeyPath: "balance", context: context(number))
    }
    if let removed {
      try account.removeObserver(watcher, forKeyPath: "balance", context: context(removed))
    } else {
      try account.removeObserver(watcher, forKeyPath: "balance")
    }
    account.balance = 1
    expectEqual(log.take(), left.map { $0 == 0 ? "w: balance" : "w[\($0)]: balance" })
  }

  @Test("C1: a removal takes the most recent, shown by the options of the remaining ones")
  func mostRecent() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    for options in [.old, .new, .prior] as [KeyValueObservingOptions] {
      try account.addObserver(watcher, forKeyPath: "balance", options: options)
    }
    try account.removeObserver(watcher, forKeyPath: "balance")
    account.balance = 1
    expectEqual(log.take(), ["w: balance old 0.0", "w: balance new 1.0"])
    try account.removeObserver(watcher, forKeyPath: "balance")
    account.balance = 2
    expectEqual(log.take(), ["w: balance old 1.0"])
  }

  @Test("C1: removals leave other observers, objects and keys alone")
  func others() throws {
    let accounts = [Account(), Account()]
    let log = Recorder()
    let watchers = [log.watcher("x"), log.watcher("y")]
    for account in accounts {
      for watcher in watchers {
        for key in ["balance", "owner"] { try account.addObserver(watcher, forKeyPath: key) }
      }
    }
    try accounts[0].removeObserver(watchers[0], forKeyPath: "balance")
    for account in accounts {
      account.balance = 1
      account.owner = "Ada"
    }
    expectEqual(
      log.take(),
      [
        "y: balance", "x: owner", "y: owner", "x: balance", "y: balance", "x: owner", "y: owner",
      ])
  }

  @Test("C1: tokens and observer objects do not remove each other")
  func tokensStay() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    try account.addObserver(watcher, forKeyPath: "balance")
    let token = log.observe(account, \.balance)
    try account.removeObserver(watcher, forKeyPath: "balance")
    account.balance = 1
    expectEqual(log.take(), ["a"])
    #expect(throws: KeyValueError.self) {
      try account.removeObserver(watcher, forKeyPath: "balance")
    }
    expect(token.isValid)
  }

  // MARK: Errors

  struct Wrong: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let remove: @Sendable (Account, Watcher, Watcher) throws -> Void

    init(
      _ testDescription: String,
      remove: @escaping @Sendable (Account, Watcher, Watcher) throws -> Void
    ) {
      self.testDescription = testDescription
      self.remove = remove
    }
  }

  static let wrongs = [
    Wrong("another observer") { try $0.removeObserver($2, forKeyPath: "balance") },
    Wrong("another key") { account, watcher, _ in
      try account.removeObserver(watcher, forKeyPath: "owner")
    },
    Wrong("an unknown key") { account, watcher, _ in
      try account.removeObserver(watcher, forKeyPath: "hat")
    },
    Wrong("another context") { account, watcher, _ in
      try account.removeObserver(watcher, forKeyPath: "balance", context: context(2))
    },
    Wrong("no context where there is one") { account, watcher, _ in
      try account.removeObserver(watcher, forKeyPath: "balance", context: nil)
    },
    Wrong("a context that never was") { account, watcher, _ in
      try account.removeObserver(watcher, forKeyPath: "balance", context: KVOContext())
    },
    Wrong("an object that is not observed") { _, watcher, _ in
      try Account().removeObserver(watcher, forKeyPath: "balance")
    },
  ]

  @Test(
    "C2: removing what is not registered is an error, and nothing else changes", arguments: wrongs)
  func notRegistered(_ wrong: Wrong) throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    let other = log.watcher("other")
    try account.addObserver(watcher, forKeyPath: "balance", options: .new, context: context(1))
    let error = keyValueError { try wrong.remove(account, watcher, other) }
    guard case .observerNotRegistered(_, let className, let observer) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    expectEqual(className, "Account")
    expect(observer.contains("Watcher"))
    account.balance = 1
    expectEqual(log.take(), ["w[1]: balance new 1.0"])
  }

  @Test("C2: one removal too many is an error that names all three")
  func onceTooOften() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    try account.addObserver(watcher, forKeyPath: "balance")
    try account.removeObserver(watcher, forKeyPath: "balance")
    let error = keyValueError { try account.removeObserver(watcher, forKeyPath: "balance") }
    let text = try require(error).description
    for word in ["Account", "balance", "Watcher"] { expect(text.contains(word)) }
  }

  static let unknown: [(path: String, error: KeyValueError)] = [
    ("hat", .undefinedKey(key: "hat", className: "Person")),
    ("Age", .undefinedKey(key: "Age", className: "Person")),
    ("age\0", .undefinedKey(key: "age\0", className: "Person")),
    ("fullName", .undefinedKey(key: "fullName", className: "Person")),
    ("", .invalidKeyPath(keyPath: "", component: "", className: "Person")),
  ]

  @Test(
    "C8: a key that is neither property nor declaration is an error, and nothing is registered",
    arguments: unknown)
  func undefined(_ path: String, _ expected: KeyValueError) {
    let person = Person()
    let log = Recorder()
    let watcher = log.watcher()
    expectEqual(
      keyValueError { try person.addObserver(watcher, forKeyPath: path, options: .initial) },
      expected)
    expect(!isSwapped(person))
    expect(person.observationInfo.registrations.isEmpty)
    expectEqual(log.take(), [])
  }

  static let properties = [
    "firstName", "lastName", "age", "diary", "rank", "shoeSize", "motto", "pin", "birthYear",
    "salary", "desk",
  ]

  @Test(
    "C8: a key with a property is accepted: observable, plain, private, constant, inherited",
    arguments: properties)
  func accepted(_ key: String) throws {
    let employee = Employee()
    let log = Recorder()
    try employee.addObserver(log.watcher(), forKeyPath: key)
    expect(employee.isObserved(forKey: key))
    employee.willChangeValue(forKey: key)
    employee.didChangeValue(forKey: key)
    expectEqual(log.take(), ["w: \(key)"])
  }

  @Test("C8: a key is accepted if value(forUndefinedKey:) answers it without an error")
  func answeredUndefined() throws {
    let object = Answering()
    let log = Recorder()
    try object.addObserver(log.watcher(), forKeyPath: "ghost")
    expectEqual(
      keyValueError { try object.addObserver(log.watcher(), forKeyPath: "other") },
      .undefinedKey(key: "other", className: "Answering"))
    object.willChangeValue(forKey: "ghost")
    object.didChangeValue(forKey: "ghost")
    expectEqual(log.take(), ["w: ghost"])
  }
}

private final class Answering: Tracked {
  override func value(forUndefinedKey key: String) throws -> Any? {
    key == "ghost" ? "boo" : try super.value(forUndefinedKey: key)
  }
}
