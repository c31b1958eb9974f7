import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// J1: an object's information about its observers.
@Suite(.leakFree) struct IntrospectionTests {
  @Test("J1: the list of registrations has key path, observer, options and context of each")
  func registrations() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    try account.addObserver(
      watcher, forKeyPath: "owner", options: [.new, .prior], context: context(0xABC))
    log.observe(account, \.balance, [.old, .initial])
    try account.addObserver(watcher, forKeyPath: "balance", options: .distinct)

    let registrations = account.observationInfo.registrations

    expectEqual(registrations.map(\.keyPath), ["balance", "balance", "owner"])
    expectEqual(registrations.map(\.options), [[.old, .initial], .distinct, [.new, .prior]])
    expectEqual(registrations.map(\.context), [nil, nil, UnsafeRawPointer(context(0xABC))])
    expectEqual(registrations.map { $0.observer.contains("Watcher") }, [false, true, true])
  }

  @Test("J1 G4: a typed key path without a name is listed as in source text, while it has its key")
  func generatedKeys() {
    let shelf = Shelf()
    let token = shelf.observe(\.titles[0]) { _, _ in }
    let all = shelf.observe(\.titles.count) { _, _ in }
    let texts = shelf.observationInfo.registrations.map { "\($0)".prefix { $0 != "b" } }
    expectEqual(
      texts.sorted(), ["\\Shelf.titles.<a property of type Int> (titles) ", "\\Shelf.titles[…] "])
    token.invalidate()
    all.invalidate()
  }

  @Test("J1: registrations come by key path, each in the order in which they were made")
  func order() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    for (key, number) in [("owner", 1), ("balance", 2), ("owner", 3), ("balance", 4)] {
      try account.addObserver(watcher, forKeyPath: key, context: context(number))
    }
    let registrations = account.observationInfo.registrations
    expectEqual(registrations.map(\.keyPath), ["balance", "balance", "owner", "owner"])
    expectEqual(registrations.map(\.context), [2, 4, 1, 3].map { UnsafeRawPointer(context($0)) })
  }

  @Test("J1: the list is a snapshot of the moment of the call")
  func picture() {
    let account = Account()
    let log = Recorder()
    let token = log.observe(account, \.balance)
    let info = account.observationInfo
    token.invalidate()
    expectEqual(info.registrations.count, 1)
    expect(account.observationInfo.registrations.isEmpty)
  }

  @Test(
    "J1: the descriptions name key path, observer, options and context, a line for each registration"
  )
  func descriptions() throws {
    let account = Account()
    let log = Recorder()
    expect(!account.observationInfo.description.isEmpty)
    try account.addObserver(
      log.watcher(), forKeyPath: "owner", options: [.new, .prior], context: context(0xABC))
    log.observe(account, \.balance, [.initial, .old, .distinct])
    let info = account.observationInfo
    let lines = info.description.split(separator: "\n").map(String.init)
    try require(lines.count == 2)
    for word in ["balance", "initial", "old", "distinct"] { expect(lines[0].contains(word)) }
    for word in ["owner", "Watcher", "new", "prior", "abc"] { expect(lines[1].contains(word)) }
    expectEqual(info.registrations.map(\.description), lines)
    for word in ["Account", "balance", "owner", "Watcher"] {
      expect(info.debugDescription.contains(word))
    }
  }

  private final class Departing: KVOObject {
    let account: Account
    let tell: ([String]) -> Void

    init(_ account: Account, _ tell: @escaping ([String]) -> Void) {
      self.account = account
      self.tell = tell
    }
    // Its registration still exists here, but it can't be retained to get its description.
    deinit { tell(account.observationInfo.registrations.map(\.description)) }
  }

  @Test("J1: a dying observer is listed as such until its registrations have ended")
  func dying() throws {
    let account = Account()
    var notified: [String] = []
    do {
      let observer = Departing(account) { notified = $0 }
      try account.addObserver(observer, forKeyPath: "balance")
    }
    try require(notified.count == 1)
    expect(notified[0].contains("balance") && notified[0].contains("a dying object"))
    expect(account.observationInfo.registrations.isEmpty)
  }

  @Test("J1: the debug description shows open pairs, and no closed ones")
  func openPairs() {
    let account = Account()
    let log = Recorder()
    log.observe(account, \.balance)
    account.willChangeValue(forKey: "owner")
    account.willChangeValue(forKey: "balance")
    account.didChangeValue(forKey: "balance")
    let lines = account.observationInfo.debugDescription.split(separator: "\n")
    expect(lines.contains { $0.contains("open") && $0.contains("owner") })
    expect(!lines.contains { $0.contains("open") && $0.contains("balance") })
    account.didChangeValue(forKey: "owner")
    expect(!account.observationInfo.debugDescription.contains("open"))
  }

  @Test("J1: an object says whether a key is observed")
  func isObserved() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    expect(!account.isObserved(forKey: "balance"))
    let token = log.observe(account, \.balance)
    try account.addObserver(watcher, forKeyPath: "balance")
    for key in ["owner", "nonsense", ""] { expect(!account.isObserved(forKey: key)) }
    token.invalidate()
    expect(account.isObserved(forKey: "balance"))
    try account.removeObserver(watcher, forKeyPath: "balance")
    expect(!account.isObserved(forKey: "balance"))
  }

  @Test("J1: all observers of an object are removed at once, whoever added them")
  func removeAll() throws {
    let account = Account()
    let other = Account()
    let log = Recorder()
    let watcher = log.watcher()
    let tokens = [log.observe(account, \.balance), log.observe(account, \.balance)]
    let ownerToken = log.observe(account, \.owner)
    try account.addObserver(watcher, forKeyPath: "balance")
    try other.addObserver(watcher, forKeyPath: "balance")

    account.removeAllObservers()

    expectEqual((tokens + [ownerToken]).map(\.isValid), [false, false, false])
    account.balance = 1
    account.owner = "Ada"
    other.balance = 1
    expectEqual(log.take(), ["w: balance"])
    expect(!isSwapped(account))
    #expect(throws: KeyValueError.self) {
      try account.removeObserver(watcher, forKeyPath: "balance")
    }
    account.removeAllObservers()
    log.observe(account, \.balance)
    account.balance = 2
    expectEqual(log.take(), ["a"])
  }

  // MARK: Errors

  static let errors: [(error: KeyValueError, words: [String])] = [
    (.undefinedKey(key: "hat", className: "Person"), ["hat", "Person"]),
    (.nilValue(key: "age", className: "Person"), ["age", "Person", "nil"]),
    (
      .typeMismatch(key: "age", className: "Person", expected: "Int", found: "String"),
      ["age", "Person", "Int", "String"]
    ),
    (.readOnly(key: "birthYear", className: "Person"), ["birthYear", "Person"]),
    (
      .notObservable(key: "list", className: "Person", reason: "observe `people` instead"),
      ["list", "Person", "observe `people` instead"]
    ),
    (
      .observerNotRegistered(keyPath: "age", className: "Person", observer: "Watcher"),
      ["age", "Person", "Watcher"]
    ),
    (.invalidKeyPath(keyPath: "a..b", component: "", className: "Person"), ["a..b", "Person"]),
    (.invalidOperator("@middle", keyPath: "list.@middle"), ["@middle", "list.@middle"]),
    (
      .indexOutOfBounds(key: "list", className: "Person", index: 7, count: 3),
      ["list", "Person", "7", "3"]
    ),
    (
      .validationFailed(key: "age", className: "Person", reason: "too young"),
      ["age", "Person", "too young"]
    ),
  ]

  @Test("C2: an error's description names everything that it knows", arguments: errors)
  func errorDescription(_ error: KeyValueError, _ words: [String]) {
    for word in words { expect(error.description.contains(word)) }
    expectEqual("\(error)", error.description)
    expectEqual(error, error)
    expectEqual(Self.errors.count { $0.error == error }, 1)
  }
}

@KVO private final class Shelf: KVOObject {
  var titles = ["a", "b"]
}
