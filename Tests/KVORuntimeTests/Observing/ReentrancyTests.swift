import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// D7: what callbacks may do during a delivery.
@Suite(.leakFree) struct ReentrancyTests {
  @Test("D7: a set in a final call is a change of its own, delivered in full before the rest")
  func setInFinal() {
    let account = Account()
    let log = Recorder()
    log.observe(account, \.balance, [.old, .new], as: "first") { account, _ in
      if account.balance < 3 { account.balance += 1 }
    }
    log.observe(account, \.balance, [.old, .new], as: "second")
    account.balance = 1
    expectEqual(
      log.take(),
      [
        "first old 0.0 new 1.0", "first old 1.0 new 2.0", "first old 2.0 new 3.0",
        "second old 2.0 new 3.0", "second old 1.0 new 2.0", "second old 0.0 new 1.0",
      ])
  }

  @Test("D7: recursion goes to any depth", arguments: [10, 300])
  func deepRecursion(_ depth: Int) throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher { _ in
      if account.balance < Double(depth) { account.balance += 1 }
    }
    try account.addObserver(watcher, forKeyPath: "balance", options: [.old, .new])
    account.balance = 1
    expectEqual(
      log.take(), (1...depth).map { "w: balance old \(Double($0 - 1)) new \(Double($0))" })
  }

  @Test("D7: two keys may set each other")
  func mutualKeys() {
    let account = Account()
    let log = Recorder()
    log.observe(account, \.balance, .new, as: "balance") { account, _ in
      account.interestRate = account.balance / 10
    }
    log.observe(account, \.interestRate, .new, as: "rate") { account, _ in
      if account.balance < 200 { account.balance += 100 }
    }
    account.balance = 10
    expectEqual(
      log.take(),
      [
        "balance new 10.0", "rate new 1.0", "balance new 110.0", "rate new 11.0",
        "balance new 210.0",
        "rate new 21.0",
      ])
  }

  /// A way to set a property.
  enum Way: CaseIterable {
    case assignment, inPlace, keyPath, key

    func set(_ account: Account, _ value: Double) {
      switch self {
      case .assignment: account.balance = value
      case .inPlace: account.balance += value - account.balance
      case .keyPath: account[keyPath: \.balance] = value
      case .key: try? account.setValue(value, forKey: "balance")
      }
    }
  }

  @Test(
    "D7: a set of the same key in a prior call joins the open change",
    arguments: Way.allCases, Way.allCases)
  func setInPrior(_ outer: Way, _ inner: Way) {
    let account = Account()
    let log = Recorder()
    log.observe(account, \.balance, [.prior, .old, .new]) { account, change in
      guard change.isPrior else { return }
      inner.set(account, 5)
      log.note("is \(account.balance)")
    }
    outer.set(account, 1)
    // In place, 1 is added to the value that the prior call has set. The others store 1.
    let new = outer == .inPlace ? 6.0 : 1
    expectEqual(log.take(), ["a prior old 0.0", "is 5.0", "a old 0.0 new \(new)"])
    expectEqual(account.balance, new)
  }

  @Test("D7: a set of another key in a prior call is a change of its own")
  func setOtherInPrior() {
    let account = Account()
    let log = Recorder()
    log.observe(account, \.balance, .prior, as: "balance") { account, change in
      if change.isPrior { account.interestRate = 1 }
    }
    log.observe(account, \.interestRate, [.prior, .new], as: "rate")
    account.balance = 1
    expectEqual(log.take(), ["balance prior", "rate prior", "rate new 1.0", "balance"])
  }

  @Test("D7: an observer added during a change gets the next one", arguments: [true, false])
  func addedDuringChange(_ inPrior: Bool) throws {
    let account = Account()
    let log = Recorder()
    let added = log.watcher()
    var first = true
    log.observe(account, \.balance, .prior, as: "adder") { account, change in
      guard first, change.isPrior == inPrior else { return }
      first = false
      log.observe(account, \.balance, .new, as: "added")
      try? account.addObserver(added, forKeyPath: "balance")
    }
    account.balance = 1
    expectEqual(log.take(), ["adder prior", "adder"])
    account.balance = 2
    expectEqual(log.take(), ["adder prior", "adder", "added new 2.0", "w: balance"])
  }

  /// How a callback removes a later observer.
  enum Taking: CaseIterable { case invalidate, drop, remove, removeAll, death }

  @Test(
    "D7: an observer removed during a change is not called again",
    arguments: Taking.allCases, [true, false])
  func removedDuringChange(_ taking: Taking, _ inPrior: Bool) throws {
    let account = Account()
    let log = Recorder()
    var victim: Watcher? = Watcher("victim", log.log)
    var token: KeyValueObservation?
    var done = false
    log.observe(account, \.balance, .prior, as: "remover") { account, change in
      guard !done, change.isPrior == inPrior else { return }
      done = true
      switch taking {
      case .invalidate: token?.invalidate()
      case .drop: token = nil
      case .remove: try? account.removeObserver(victim!, forKeyPath: "balance")
      case .removeAll: account.removeAllObservers()
      case .death: victim = nil
      }
    }
    switch taking {
    case .invalidate, .drop:
      token = account.observe(\.balance, options: .prior) { [log = log.log] _, change in
        log.note("victim: balance" + (change.isPrior ? " prior" : ""))
      }
    case .remove, .removeAll, .death:
      try account.addObserver(victim!, forKeyPath: "balance", options: .prior)
    }
    if taking != .removeAll { log.observe(account, \.balance, as: "last") }

    account.balance = 1

    let rest = taking == .removeAll ? [] : ["last"]
    expectEqual(
      log.take(),
      (inPrior
        ? ["remover prior"] + (taking == .removeAll ? [] : ["remover"]) + rest
        : ["remover prior", "victim: balance prior", "remover"] + rest))
    expectEqual(account.balance, 1)
    account.removeAllObservers()
    withExtendedLifetime((victim, token)) {}
  }

  @Test("D7: an observer may remove itself and an earlier one during a change")
  func removingItselfAndEarlier() {
    let account = Account()
    let log = Recorder()
    var tokens: [KeyValueObservation] = []
    tokens.append(log.observe(account, \.balance, as: "0"))
    tokens.append(
      log.observe(account, \.balance, as: "1") { _, _ in
        tokens[0].invalidate()
        tokens[1].invalidate()
      })
    tokens.append(log.observe(account, \.balance, as: "2"))
    account.balance = 1
    account.balance = 1
    expectEqual(log.take(), ["0", "1", "2", "2"])
  }

  @Test("D7: an observer removed and added again during a change gets the next one")
  func removedAndAddedAgain() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    var once = true
    log.observe(account, \.balance) { account, _ in
      guard once else { return }
      once = false
      try? account.removeObserver(watcher, forKeyPath: "balance")
      try? account.addObserver(watcher, forKeyPath: "balance")
    }
    try account.addObserver(watcher, forKeyPath: "balance")
    account.balance = 1
    expectEqual(log.take(), ["a"])
    account.balance = 1
    expectEqual(log.take(), ["a", "w: balance"])
  }

  @Test("D7: a callback may drop the object", arguments: [true, false])
  func droppingTheObject(_ inPrior: Bool) {
    var account: Account? = Account()
    weak let weakAccount = account
    let log = Recorder()
    let tokens = [
      log.observe(account!, \.balance, [.prior, .new], as: "dropper") { _, change in
        if change.isPrior == inPrior { account = nil }
      },
      log.observe(account!, \.balance, .new, as: "next"),
    ]
    account?.balance = 4
    expectEqual(log.take(), ["dropper prior", "dropper new 4.0", "next new 4.0"])
    expect(weakAccount == nil)
    expectEqual(tokens.map(\.isValid), [false, false])
  }

  @Test(
    "D7: an observer that endlessly sets its own property is stopped, naming class and property")
  func endless() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      precondition(KVODiagnostics.depthLimit == 10_000)
      KVODiagnostics.depthLimit = 200
      let ledger = Ledger()
      let token = ledger.observe(\.total) { ledger, _ in ledger.total += 1 }
      ledger.total = 1
      token.invalidate()
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("observers of \"total\" of Ledger set what they observe"))
  }

  private final class Page: KVOObject {
    @Observed var size = 0
    var area: Int { size * size }

    /// Its observer sets what the computed property reads, until it is `last`.
    static func grow(to last: Int) {
      KVODiagnostics.depthLimit = 200
      let page = Page()
      let token = page.observe(\.area) { page, _ in if page.size < last { page.size += 1 } }
      page.size = 1
      token.invalidate()
    }
  }

  @Test("D7: so is one of a computed property, at the same depth, naming what it sets")
  func endlessComputed() async throws {
    await #expect(processExitsWith: .success) { Page.grow(to: 195) }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Page.grow(to: 230)
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("observers of \"size\" of Page set what they observe"))
  }

  private final class Reader: KVOObject {
    @Observed var size = 0
    var area: Int { 2 * size }

    func goOn() { withChange(of: \.area) {} }
  }

  @Test("D7: a computed property that notifies manually is named by its type and what it reads")
  func endlessByHand() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      KVODiagnostics.depthLimit = 200
      let reader = Reader()
      let token = reader.observe(\.area) { reader, _ in reader.goOn() }
      reader.goOn()
      token.invalidate()
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(
      errors.contains(
        "observers of \"\\Reader.<a property of type Int> (size)\" of Reader set what they observe")
    )
  }

  @Test("D7: a callback may drop the object during an in-place change")
  func droppingInPlace() {
    var ledger: Ledger? = Ledger()
    weak let weakLedger = ledger
    let log = Recorder()
    log.observe(ledger!, \.entries, [.prior, .new]) { _, change in
      if change.isPrior { ledger = nil }
    }
    ledger?.entries.append(3)
    expectEqual(log.take(), ["a prior", "a new [1, 2, 3]"])
    expect(weakLedger == nil)
  }

  @Test("D7: a callback may drop the object in its initial call")
  func droppingInInitial() {
    weak var weakAccount: Account?
    let log = Recorder()
    let token: KeyValueObservation = {
      var account: Account? = Account()
      weakAccount = account
      return log.observe(account!, \.balance, .initial) { _, _ in account = nil }
    }()
    expectEqual(log.take(), ["a"])
    expect(weakAccount == nil)
    expect(!token.isValid)
  }

  @Test("D7: a callback may read, register and remove on any object")
  func anythingOnOthers() {
    let account = Account()
    let other = Account()
    let log = Recorder()
    var token: KeyValueObservation?
    log.observe(account, \.balance) { _, _ in
      other.owner = "Ada"
      log.note((try? other.value(forKey: "owner")).map(shown) ?? "error")
      if token == nil {
        token = log.observe(other, \.owner, .new, as: "other")
      } else {
        token?.invalidate()
      }
    }
    for _ in 0..<3 { account.balance = 1 }
    expectEqual(log.take(), ["a", "Ada", "a", "other new Ada", "Ada", "a", "Ada"])
    expect(!isSwapped(other))
  }

  @Test(
    "D7: removing the last observer in a call keeps what was stored",
    arguments: Way.allCases, [true, false])
  func lastObserverRemoved(_ way: Way, _ inPrior: Bool) {
    let account = Account()
    let log = Recorder()
    log.observe(account, \.balance, .prior) { account, change in
      if change.isPrior == inPrior { account.removeAllObservers() }
    }
    way.set(account, 6)
    expectEqual(account.balance, 6)
    expect(!isSwapped(account))
    expectEqual(log.take().count, (inPrior ? 1 : 2))
    way.set(account, 7)
    expectEqual(log.take(), [])
  }

  @Test("D7: an observer registered in the first call of a key is notified of the next at once")
  func otherKeyAtOnce() {
    let account = Account()
    let log = Recorder()
    log.observe(account, \.balance, as: "first") { account, _ in
      log.observe(account, \.owner, .new, as: "second")
      account.owner = "Ada"
    }
    account.balance = 1
    expectEqual(log.take(), ["first", "second new Ada"])
  }
}
