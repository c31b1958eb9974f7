import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// A1 and A2: an object's class while it is observed.
@Suite(.leakFree) struct SwizzleTests {
  @Test("A1: the first observer swaps the isa to a dynamic subclass, the last removal puts it back")
  func swap() {
    let account = Account()
    let log = Recorder()
    expect(isa(of: account) == nil)
    let tokens = [
      log.observe(account, \.balance), log.observe(account, \.owner),
      log.observe(account, \.balance),
    ]
    for token in tokens {
      expectEqual(isa(of: account).map(name)?.hasPrefix("KVONotifying_"), true)
      expectEqual(isa(of: account).map(name)?.contains("Account"), true)
      token.invalidate()
    }
    expect(isa(of: account) == nil)
  }

  @Test("A1: the swap needs no closure, so it works where the system refuses them")
  func withoutClosures() async {
    await #expect(processExitsWith: .success) {
      closures_refuse(true)
      let account = Account()
      let log = Recorder()
      let token = log.observe(account, \.balance)
      account.balance = 1
      expectEqual(log.take(), ["a"])
      token.invalidate()
    }
  }

  @Test("A1: other objects of the class are unaffected")
  func others() {
    let observed = Account()
    let other = Account()
    let subclass = SavingsAccount()
    let log = Recorder()
    log.observe(observed, \.balance)
    expect(isSwapped(observed))
    expect(!isSwapped(other) && !isSwapped(subclass))
    for account in [observed, other, subclass] { account.balance = 1 }
    expectEqual(log.take(), ["a"])
  }

  @Test("A1: the objects of a class share one dynamic subclass, a subclass's have another")
  func sharedSubclass() {
    let accounts = [Account(), Account()]
    let savings = SavingsAccount()
    let log = Recorder()
    for account in accounts + [savings] { log.observe(account, \.balance) }
    expectEqual(isa(of: accounts[0]), isa(of: accounts[1]))
    expect(isa(of: accounts[0]) != isa(of: savings))
    let superclass = kvo_class_superclass(isa(of: savings)!)
    expectEqual(superclass, coreClass(of: savings))
  }

  /// The ways in which the last registration ends.
  enum End: CaseIterable { case invalidate, drop, remove, removeAll, death }

  @Test(
    "A1: however the last registration ends, the isa is restored", arguments: End.allCases)
  func putBack(_ end: End) throws {
    let account = Account()
    let log = Log()
    var watcher: Watcher? = Watcher("w", log)
    var token: KeyValueObservation?
    switch end {
    case .invalidate, .drop: token = account.observe(\.balance) { _, _ in log.note("handler") }
    case .remove, .removeAll, .death: try account.addObserver(watcher!, forKeyPath: "balance")
    }
    expect(isSwapped(account))
    switch end {
    case .invalidate: token?.invalidate()
    case .drop: token = nil
    case .remove: try account.removeObserver(watcher!, forKeyPath: "balance")
    case .removeAll: account.removeAllObservers()
    case .death: watcher = nil
    }
    expect(!isSwapped(account))
    account.balance = 1
    expectEqual(log.take(), [])
    withExtendedLifetime((watcher, token)) {}
  }

  @Test("A1: an object may be observed and unobserved any number of times")
  func again() {
    let account = Account()
    let log = Recorder()
    for round in 1...100 {
      let token = log.observe(account, \.balance, [.old, .new])
      account.balance = Double(round)
      token.invalidate()
      account.balance = 0
      expect(!isSwapped(account))
    }
    expectEqual(log.take(), (1...100).map { "a old 0.0 new \(Double($0))" })
  }

  /// How to make an object of a class, and to observe it.
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () -> KVOObject
    let observe: @Sendable (KVOObject, Recorder) -> Void

    init<Object: KVOObject, Value>(
      _ keyPath: any KeyPath<Object, Value> & Sendable, make: @escaping @Sendable () -> Object
    ) {
      testDescription = "\(Object.self)"
      self.make = make
      observe = { object, log in log.observe(object as! Object, keyPath) }
    }
  }

  static let samples = [
    Sample(\Account.balance) { Account() }, Sample(\SavingsAccount.balance) { SavingsAccount() },
    Sample(\SealedAccount.seal) { SealedAccount() }, Sample(\Ledger.total) { Ledger() },
    Sample(\Box<Int>.value) { Box(1) }, Sample(\NumberBox.limit) { NumberBox(1) },
  ]

  @Test("A2: the class of an observed object is its original one", arguments: samples)
  func classOf(_ sample: Sample) {
    let object = sample.make()
    let log = Recorder()
    let type = type(of: object)
    let core = name(of: coreClass(of: object))
    sample.observe(object, log)
    expect(Swift.type(of: object) == type)
    expect("\(Swift.type(of: object))" == sample.testDescription)
    expectEqual(name(of: coreClass(of: object)), core)
    expect(!core.contains("KVONotifying"))
    expectEqual(isa(of: object).map(name), "KVONotifying_\(core)")
  }

  @Test("A2: casts and overridden methods are those of the object's class")
  func casts() {
    let object: Account = SavingsAccount()
    let log = Recorder()
    log.observe(object, \.balance)
    expect(object is SavingsAccount)
    expect(object as? SealedAccount == nil)
    expectEqual((object as? SavingsAccount)?.floor, 0)
    expect(ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(SavingsAccount.self))
  }
}
