import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C5 and C10: lifetimes of a token's registration and handler.
@Suite(.leakFree) struct TokenTests {
  @Test("C5: invalidating ends the registration; repeating it is harmless")
  func idempotent() {
    let account = Account()
    let log = Recorder()
    let token = log.observe(account, \.balance)
    expect(token.isValid)
    account.balance = 1
    for _ in 0..<3 {
      token.invalidate()
      expect(!token.isValid)
    }
    account.balance = 2
    expectEqual(log.take(), ["a"])
    expect(!isSwapped(account))
  }

  @Test("C5: tokens in a set are distinct")
  func inSet() {
    let account = Account()
    let log = Recorder()
    var tokens: Set<KeyValueObservation> = [
      log.observe(account, \.balance, as: "a"), log.observe(account, \.balance, as: "b"),
    ]
    let first = account.observe(\.balance) { _, _ in log.note("c") }
    for _ in 0..<2 { tokens.insert(first) }
    expect(tokens.count == 3 && tokens.contains(first) && first == first)
    account.balance = 1
    expectEqual(log.take(), ["a", "b", "c"])
    tokens.remove(first)
    expect(!tokens.contains(first))
  }

  @Test("C5: two threads may invalidate one token at once, and the handler is released once")
  func fromTwoThreads() {
    let account = Account()
    for _ in 0..<200 {
      let probe = Probe()
      let token = probe.observe(account)
      onThreads(2) { _ in token.invalidate() }
      expect(!token.isValid)
      expect(!probe.handlerIsAlive)
    }
    expect(!isSwapped(account))
  }

  @Test("C5: dropping the last reference to a token invalidates it")
  func dropping() {
    let account = Account()
    let probe = Probe()
    var first: KeyValueObservation? = probe.observe(account)
    var second = first
    first = nil
    account.balance = 1
    expectEqual(probe.calls, 1)
    withExtendedLifetime(second) {}
    second = nil
    expect(!probe.handlerIsAlive)
    account.balance = 2
    expectEqual(probe.calls, 1)
    expect(!isSwapped(account))
    withExtendedLifetime(first) {}
  }

  @Test("C5: the handler is released when the token is invalidated, though the token lives on")
  func handlerReleased() {
    let account = Account()
    let probe = Probe()
    let token = probe.observe(account)
    expect(probe.handlerIsAlive)
    token.invalidate()
    expect(!probe.handlerIsAlive)
    withExtendedLifetime(token) {}
  }

  /// The ways in which a registration ends.
  enum End: CaseIterable { case invalidate, drop, removeAll }

  @Test(
    "C5: a handler that ends its own registration is released at the end of its call",
    arguments: End.allCases)
  func insideItsCall(_ end: End) {
    let account = Account()
    let probe = Probe()
    var token: KeyValueObservation?
    token = probe.observe(account) {
      switch end {
      case .invalidate: token?.invalidate()
      case .drop: token = nil
      case .removeAll: account.removeAllObservers()
      }
      expect(probe.handlerIsAlive)
    }
    account.balance = 1
    expect(!probe.handlerIsAlive)
    account.balance = 2
    expectEqual(probe.calls, 1)
    withExtendedLifetime(token) {}
  }

  @Test("C5: nested calls of a handler all end before it is released")
  func nestedCalls() {
    let account = Account()
    let probe = Probe()
    var token: KeyValueObservation?
    token = probe.observe(account) {
      if account.balance < 5 { account.balance += 1 } else { token?.invalidate() }
      expect(probe.handlerIsAlive)
    }
    account.balance = 1
    expect(!probe.handlerIsAlive)
    expectEqual(probe.calls, 5)
  }

  @Test("C5: a handler that captures its own token leaks nothing once it is invalidated")
  func selfCapturing() {
    let account = Account()
    let life = Life(of: TokenTests.self)
    final class Owner { var token: KeyValueObservation? }
    let owner = Owner()
    owner.token = account.observe(\.balance) { [life] _, _ in
      life.goesOn()
      owner.token?.invalidate()
    }
    account.balance = 1
    expectEqual(owner.token?.isValid, false)
  }

  @Test(
    "C5: the handler is released when all observers are removed, and when the object dies",
    arguments: [true, false])
  func released(_ byDeath: Bool) {
    var account: Account? = Account()
    let probe = Probe()
    let token = probe.observe(account!)
    if byDeath { account = nil } else { account?.removeAllObservers() }
    expect(!probe.handlerIsAlive)
    expect(!token.isValid)
    token.invalidate()
    withExtendedLifetime(account) {}
  }

  @Test("C5: many tokens of one object end in any order")
  func manyTokens() {
    let account = Account()
    let log = Recorder()
    var tokens = (0..<100).map { log.observe(account, \.balance, as: "\($0)") }
    var random = Random(seed: 5)
    for index in tokens.indices { tokens.swapAt(index, random.next(tokens.count)) }
    for (ended, token) in tokens.enumerated() {
      account.balance = 1
      expectEqual(log.take().count, 100 - ended)
      token.invalidate()
    }
    expect(!isSwapped(account))
  }

  @Test("C5: a token may be given to any thread and ended there")
  func endedElsewhere() {
    let account = Account()
    let log = Recorder()
    let token = log.observe(account, \.balance)
    onThreads(1) { _ in token.invalidate() }
    account.balance = 1
    expectEqual(log.take(), [])
  }

  @Test(
    "C5: the handler is released where the registration ends, with values that it owns"
  )
  func handlerOwnsObjects() {
    let account = Account()
    var other: Account? = Account()
    weak let weakOther = other
    let token = account.observe(\.balance) { [other] _, _ in other?.balance += 1 }
    other = nil
    account.balance = 1
    expectEqual(weakOther?.balance, 1)
    token.invalidate()
    expect(weakOther == nil)
  }

  @Test("C5: a handler that owns the last reference to its observed object releases both")
  func handlerOwnsObserved() {
    weak var weakAccount: Account?
    var token: KeyValueObservation?
    do {
      let account = Account()
      weakAccount = account
      token = account.observe(\.balance) { [account] _, _ in account.owner = "notified" }
      account.balance = 1
    }
    expectEqual(weakAccount?.owner, "notified")
    token?.invalidate()
    expect(weakAccount == nil)
    token = nil
  }

  // MARK: Replaced tokens

  @Test("C10: a token replaced in the setter of the property that holds the object, with initial")
  func replacedInSetter() {
    let screen = AccountScreen()
    let first = Account()
    let second = Account()
    first.balance = 1
    second.balance = 2
    screen.account = first
    first.balance = 10
    screen.account = second
    first.balance = 11
    second.balance = 20
    screen.account = second
    second.balance = 21
    screen.account = nil
    second.balance = 22
    expectEqual(screen.shown, [1, 10, 2, 20, 20, 21])
    expect(!isSwapped(first) && !isSwapped(second))
  }

  @Test("C10: a token replaced from inside its own call")
  func replacedInside() {
    let screen = AccountScreen()
    let first = Account()
    let second = Account()
    second.balance = 2
    screen.account = first
    screen.reaction = { screen in
      if screen.account === first, first.balance > 0 { screen.account = second }
    }
    first.balance = 1
    first.balance = 3
    second.balance = 4
    expectEqual(screen.shown, [0, 1, 2, 4])
    expect(!isSwapped(first))
    screen.reaction = nil
  }

  @Test("C10: replaced inside an initial call, the assignment that ends last wins")
  func replacedInInitial() {
    let screen = AccountScreen()
    let first = Account()
    let second = Account()
    first.balance = 1
    second.balance = 2
    screen.reaction = { screen in if screen.account === first { screen.account = second } }
    screen.account = first
    screen.reaction = nil
    first.balance = 3
    second.balance = 4
    expectEqual(screen.shown, [1, 2, 3])
    expect(isSwapped(first) && !isSwapped(second))
  }
}

/// A handler whose existence can be checked.
private final class Probe {
  private weak var life: Life?
  private(set) var calls = 0

  var handlerIsAlive: Bool { life != nil }

  func observe(_ account: Account, reaction: @escaping () -> Void = {}) -> KeyValueObservation {
    let life = Life(of: Probe.self)
    self.life = life
    return account.observe(\.balance) { [unowned self] _, _ in
      calls += 1
      life.goesOn()
      reaction()
    }
  }
}

/// Observes the account that it currently shows.
private final class AccountScreen {
  private(set) var shown: [Double] = []
  var reaction: ((AccountScreen) -> Void)?
  private var token: KeyValueObservation?

  var account: Account? {
    didSet {
      token = account?.observe(\.balance, options: [.initial, .new]) { [unowned self] _, change in
        shown.append(change.newValue!)
        reaction?(self)
      }
    }
  }
}
