import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C4 and C7: lifetimes of objects and observers, and what a death leaves of a registration.
@Suite(.leakFree) struct LifetimeTests {
  @Test("C4: a registration retains neither side", arguments: [true, false])
  func keepsNeitherAlive(_ observerFirst: Bool) throws {
    let log = Log()
    var account: Account? = Account()
    var watcher: Watcher? = Watcher("w", log)
    weak let weakAccount = account
    weak let weakWatcher = watcher
    try account?.addObserver(watcher!, forKeyPath: "balance", options: [.old, .new])
    account?.balance = 1
    if observerFirst { watcher = nil } else { account = nil }
    expectEqual((weakWatcher == nil), observerFirst)
    expectEqual((weakAccount == nil), !observerFirst)
    account?.balance = 2
    expectEqual(log.take(), ["w: balance old 0.0 new 1.0"])
    watcher = nil
    account = nil
    expect(weakWatcher == nil && weakAccount == nil)
  }

  @Test("C4: a token retains its object as little as a registration does")
  func tokenKeepsNothing() {
    var account: Account? = Account()
    weak let weakAccount = account
    let token = account!.observe(\.balance) { _, _ in }
    expect(token.isValid)
    account = nil
    expect(weakAccount == nil)
    expect(!token.isValid)
    token.invalidate()
    token.invalidate()
  }

  @Test("C4: an observer that dies ends its registrations, with all objects and keys")
  func observerDies() throws {
    let accounts = (0..<3).map { _ in Account() }
    let log = Recorder()
    let other = log.watcher("other")
    var watcher: Watcher? = Watcher("dead", log.log)
    for account in accounts {
      try account.addObserver(watcher!, forKeyPath: "balance")
      try account.addObserver(watcher!, forKeyPath: "owner", context: context(1))
    }
    try accounts[0].addObserver(other, forKeyPath: "balance")

    watcher = nil

    expect(isSwapped(accounts[0]) && !isSwapped(accounts[1]) && !isSwapped(accounts[2]))
    expect(!accounts[0].isObserved(forKey: "owner"))
    for account in accounts {
      account.balance = 1
      account.owner = "Ada"
    }
    expectEqual(log.take(), ["other: balance"])
    withExtendedLifetime(watcher) {}
  }

  @Test("C4: an observed object that dies ends its registrations and leaves its observers alone")
  func observedDies() throws {
    let second = Account()
    let log = Recorder()
    let watcher = log.watcher()
    var account: Account? = Account()
    try account?.addObserver(watcher, forKeyPath: "balance")
    try second.addObserver(watcher, forKeyPath: "balance")
    let token = log.observe(account!, \.balance)
    account = nil
    expect(!token.isValid)
    second.balance = 1
    expectEqual(log.take(), ["w: balance"])
    try second.removeObserver(watcher, forKeyPath: "balance")
  }

  @Test("C4: observed and observers die in any order, with many of both", arguments: 0..<8)
  func anyOrder(_ seed: UInt64) throws {
    var random = Random(seed: seed)
    let log = Log()
    var accounts: [Account?] = (0..<6).map { _ in Account() }
    var watchers: [Watcher?] = (0..<6).map { Watcher("\($0)", log) }
    for account in accounts {
      for watcher in watchers {
        try account?.addObserver(watcher!, forKeyPath: "balance", options: .new)
      }
    }
    while accounts.contains(where: { $0 != nil }) || watchers.contains(where: { $0 != nil }) {
      if random.next(2) == 0 {
        accounts[random.next(6)] = nil
      } else {
        watchers[random.next(6)] = nil
      }
      for account in accounts { account?.balance += 1 }
      let living = accounts.count { $0 != nil } * watchers.count { $0 != nil }
      expectEqual(log.take().count, living)
    }
  }

  @Test("C4: an object at a dead one's address is not taken for it")
  func reusedObjectAddress() throws {
    let log = Recorder()
    let watcher = log.watcher()
    var token: KeyValueObservation?
    for _ in 0..<200 {
      let account = Account()
      expect(!isSwapped(account))
      expect(!account.isObserved(forKey: "balance"))
      #expect(throws: KeyValueError.self) {
        try account.removeObserver(watcher, forKeyPath: "balance")
      }
      account.balance = 1
      expect(token?.isValid != true)
      try account.addObserver(watcher, forKeyPath: "balance")
      token = account.observe(\.balance) { _, _ in log.note("notified") }
    }
    expectEqual(log.take(), [])
    withExtendedLifetime(token) {}
  }

  @Test("C4: an observer at a dead one's address is not taken for it")
  func reusedObserverAddress() throws {
    let account = Account()
    let log = Log()
    for _ in 0..<200 {
      let watcher = Watcher("w", log)
      #expect(throws: KeyValueError.self) {
        try account.removeObserver(watcher, forKeyPath: "balance")
      }
      account.balance = 1
      expectEqual(log.take(), [])
      try account.addObserver(watcher, forKeyPath: "balance")
    }
  }

  // MARK: Deinits

  @Test("C4: an observer that removes itself in its own deinit finds its registrations")
  func removesItself() throws {
    let account = Account()
    let log = Log()
    do {
      let leaving = Leaving(account, log)
      try account.addObserver(leaving, forKeyPath: "balance")
      try account.addObserver(leaving, forKeyPath: "owner", context: context(1))
      try account.addObserver(leaving, forKeyPath: "nickname")
    }
    expectEqual(log.take(), ["true", "balance removed", "balance not there", "owner removed"])
    expect(!isSwapped(account))
    account.balance = 1
    account.nickname = "A"
    expectEqual(log.take(), [])
  }

  @Test("C4: an object that is being deinitialised is not called any more")
  func deafInDeinit() throws {
    let account = Account()
    let log = Log()
    do {
      let dying = SettingInDeinit(account, log)
      try account.addObserver(dying, forKeyPath: "balance")
      account.balance = 1
    }
    expectEqual(log.take(), ["notified 1.0", "dying"])
    expectEqual(account.balance, 2)
    expect(!isSwapped(account))
  }

  @Test("C4: an observed object still has its registrations in its own deinit, and may end them")
  func observedInDeinit() throws {
    let log = Recorder()
    var object: Dying? = Dying(log.log)
    let token = log.observe(object!, \.number)
    try object?.addObserver(log.watcher(), forKeyPath: "number")
    object = nil
    expectEqual(log.take(), ["observed", "not observed"])
    expect(!token.isValid)
  }

  @Test("C4: an object that sets itself in its own deinit notifies its observers for the last time")
  func setsItselfInDeinit() throws {
    let log = Recorder()
    var object: Closing? = Closing()
    log.observe(object!, \.number, [.old, .new])
    try object?.addObserver(log.watcher(), forKeyPath: "number", options: .new)
    object = nil
    expectEqual(log.take(), ["a old 1 new 0", "w: number new 0"])
  }

  // MARK: Deaths in calls

  @Test("C4: an observer may die in its own call, and in the call of an earlier one")
  func diesInCall() throws {
    let account = Account()
    let log = Recorder()
    var suicide: Watcher? = Watcher("suicide", log.log)
    var victim: Watcher? = Watcher("victim", log.log)
    weak let weakSuicide = suicide
    suicide?.reaction = { _ in
      victim = nil
      suicide = nil
      log.note("dropped")
    }
    try account.addObserver(suicide!, forKeyPath: "balance")
    try account.addObserver(victim!, forKeyPath: "balance")
    log.observe(account, \.balance, as: "last")
    account.balance = 1
    account.balance = 2
    expectEqual(log.take(), ["suicide: balance", "dropped", "last", "last"])
    expect(weakSuicide == nil)
    withExtendedLifetime(victim) {}
  }

  @Test("C4: an observer lives until its call returns, though no other reference to it is left")
  func heldDuringCall() throws {
    let account = Account()
    let log = Recorder()
    var watcher: Watcher? = Watcher("w", log.log)
    weak let weakWatcher = watcher
    watcher?.reaction = { _ in
      watcher = nil
      log.note(weakWatcher == nil ? "gone" : "there")
    }
    try account.addObserver(watcher!, forKeyPath: "balance")
    account.balance = 1
    expectEqual(log.take(), ["w: balance", "there"])
    expect(weakWatcher == nil)
  }

  @Test("C4: an observer that dies in a prior call is not called for the change itself")
  func diesInPrior() throws {
    let account = Account()
    let log = Recorder()
    var watcher: Watcher? = Watcher("w", log.log)
    watcher?.reaction = { _ in watcher = nil }
    try account.addObserver(watcher!, forKeyPath: "balance", options: .prior)
    account.balance = 1
    expectEqual(log.take(), ["w: balance prior"])
    expect(!isSwapped(account))
  }

  // MARK: Self-observation

  @Test("C7: an object may observe itself, by handler, by string and by a method")
  func observesItself() throws {
    let log = Recorder()
    let watcher = Watcher("self", log.log)
    try watcher.addObserver(watcher, forKeyPath: "seen", options: [.old, .new])
    let token = watcher.observe(\.seen, options: .new) { [unowned watcher] object, change in
      log.note("handler \(change.newValue!) \(object === watcher)")
    }
    watcher.seen = 1
    expectEqual(log.take(), ["self: seen old 0 new 1", "handler 1 true"])
    token.invalidate()
    try watcher.removeObserver(watcher, forKeyPath: "seen")
    watcher.seen = 2
    expectEqual(log.take(), [])
    expect(!isSwapped(watcher))
  }

  @Test("C7: an object that observes itself may set itself in its call")
  func setsItself() throws {
    let log = Recorder()
    let watcher = Watcher("self", log.log)
    watcher.reaction = { [unowned watcher] _ in if watcher.seen < 3 { watcher.seen += 1 } }
    try watcher.addObserver(watcher, forKeyPath: "seen", options: .new)
    watcher.seen = 1
    expectEqual(log.take(), ["self: seen new 1", "self: seen new 2", "self: seen new 3"])
  }

  @Test(
    "C7: an object that observes itself dies like others, also with its registrations",
    arguments: [true, false])
  func selfObserverDies(_ removed: Bool) throws {
    let log = Log()
    weak var weakWatcher: Watcher?
    do {
      let watcher = Watcher("self", log)
      weakWatcher = watcher
      try watcher.addObserver(watcher, forKeyPath: "seen")
      try watcher.addObserver(watcher, forKeyPath: "seen", context: context(1))
      watcher.seen = 1
      if removed { try watcher.removeObserver(watcher, forKeyPath: "seen") }
    }
    expect(weakWatcher == nil)
    expectEqual(log.take(), ["self: seen", "self[1]: seen"])
  }

  @Test("C7: two objects may observe each other and die in any order", arguments: [true, false])
  func mutual(_ firstFirst: Bool) throws {
    let log = Log()
    var first: Watcher? = Watcher("first", log)
    var second: Watcher? = Watcher("second", log)
    try first?.addObserver(second!, forKeyPath: "seen")
    try second?.addObserver(first!, forKeyPath: "seen")
    first?.seen = 1
    second?.seen = 1
    expectEqual(log.take(), ["second: seen", "first: seen"])
    if firstFirst { first = nil } else { second = nil }
    first?.seen = 2
    second?.seen = 2
    expectEqual(log.take(), [])
    withExtendedLifetime((first, second)) {}
  }
}

/// Removes itself, as was needed on Apple's platforms.
private final class Leaving: Tracked {
  private let account: Account
  private let log: Log

  init(_ account: Account, _ log: Log) {
    self.account = account
    self.log = log
    super.init()
  }

  deinit {
    log.note("\(account.isObserved(forKey: "balance"))")
    for _ in 0..<2 { leave("balance", nil) }
    leave("owner", context(1))
  }

  private func leave(_ key: String, _ context: UnsafeMutableRawPointer?) {
    do {
      try account.removeObserver(self, forKeyPath: key, context: context)
      log.note("\(key) removed")
    } catch {
      log.note("\(key) not there")
    }
  }
}

/// Sets what it observes as it dies.
private final class SettingInDeinit: Tracked {
  private let account: Account
  private let log: Log

  init(_ account: Account, _ log: Log) {
    self.account = account
    self.log = log
    super.init()
  }

  deinit {
    log.note("dying")
    account.balance += 1
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    log.note("notified \(account.balance)")
  }
}

private final class Closing: Tracked {
  @Observed var number = 1
  deinit { number = 0 }
}

/// Looks at its own registrations as it dies.
private final class Dying: Tracked {
  private let log: Log
  @Observed var number = 0

  init(_ log: Log) {
    self.log = log
    super.init()
  }

  deinit {
    log.note(isObserved(forKey: "number") ? "observed" : "not observed")
    removeAllObservers()
    log.note(isObserved(forKey: "number") ? "observed" : "not observed")
  }
}
