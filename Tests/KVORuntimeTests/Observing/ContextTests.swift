import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C11, D10 and D11: contexts distinguish registrations, and classes of one hierarchy.
@Suite(.leakFree) struct ContextTests {
  @Test("C11: the address of a static serves as a context")
  func addressOfStatic() throws {
    let account = Account()
    let observer = StaticObserver()
    try observer.watch(account)
    account.balance = 1
    account.interestRate = 2
    expectEqual(observer.lines, ["balance", "interestRate"])
    try observer.leave(account)
    account.balance = 3
    expectEqual(observer.lines.count, 2)
    expect(!isSwapped(account))
  }

  @Test("C11: a KVOContext serves as a context, and matches in a switch and by ==")
  func contextObject() throws {
    let account = Account()
    let observer = ContextObserver()
    try observer.watch(account)
    account.balance = 1
    account.interestRate = 2
    expectEqual(observer.lines, ["balance ==", "interestRate =="])
    try observer.leave(account)
    account.balance = 2
    expectEqual(observer.lines.count, 2)
    expect(!isSwapped(account))
  }

  @Test("C11: a KVOContext equals its own pointer and nothing else")
  func equality() {
    let first = KVOContext()
    let second = KVOContext()
    expectEqual(first.pointer, first.pointer)
    expect(first.pointer != second.pointer)
    expect(first.pointer == first && first ~= first.pointer)
    expect(!(first.pointer == second) && !(second ~= first.pointer))
    expect(!(nil == first) && !(first ~= nil))
  }

  @Test("C11: the pointer is passed back unchanged, whatever it points to")
  func neverDereferenced() throws {
    let account = Account()
    let log = Recorder()
    let watcher = log.watcher()
    let numbers = [1, 2, 0x1000, Int.max]
    for number in numbers {
      try account.addObserver(watcher, forKeyPath: "balance", context: context(number))
    }
    account.balance = 1
    expectEqual(log.take(), numbers.map { "w[\($0)]: balance" })
  }

  @Test("C11: the address of a KVOContext is not reused while a registration holds it")
  func addressNotReused() throws {
    let account = Account()
    let log = Recorder()
    var released: KVOContext? = KVOContext()
    let pointer = released!.pointer
    try account.addObserver(log.watcher(), forKeyPath: "balance", context: released!)
    released = nil
    let others = (0..<10_000).map { _ in KVOContext() }
    expectEqual(Set(others.map(\.pointer)).count, 10_000)
    expect(!others.contains { $0.pointer == pointer })
    withExtendedLifetime(released) {}
  }

  @Test("C11: contexts may be made on many threads at once")
  func madeOnThreads() {
    let made = Collected<UInt>()
    onThreads(4) { _ in
      let contexts = (0..<1000).map { _ in KVOContext() }
      made.append(contexts.map { UInt(bitPattern: $0.pointer) })
    }
    expectEqual(Set(made.values).count, 4000)
  }

  @Test(
    "D11: superclass and subclass observe the same key with different contexts without clashing")
  func hierarchy() throws {
    let account = Account()
    let observer = SubObserver()
    try observer.watchAsBase(account)
    try observer.watchAsSub(account)
    account.balance = 1
    expectEqual(observer.lines, ["base balance", "sub balance"])
    try observer.leaveAsBase(account)
    account.balance = 2
    expectEqual(observer.lines, ["base balance", "sub balance", "sub balance"])
    try observer.leaveAsSub(account)
    account.balance = 3
    expectEqual(observer.lines.count, 3)
    expect(!isSwapped(account))
  }

  @Test("D11: the superclass alone works in an object of the subclass, and the other way round")
  func oneOfHierarchy() throws {
    let account = Account()
    let observer = SubObserver()
    try observer.watchAsBase(account)
    account.balance = 1
    expectEqual(observer.lines, ["base balance"])
    #expect(throws: KeyValueError.self) { try observer.leaveAsSub(account) }
    account.balance = 2
    try observer.leaveAsBase(account)
    expectEqual(observer.lines, ["base balance", "base balance"])
  }
}

/// D10: notifications that no class takes. Each test has a process of its own, because hooks are global.
@Suite struct UnhandledTests {
  @Test("D10: a notification that no class takes stops, naming observer, key path and object")
  func stops() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let account = Account()
      let observer = SubObserver()
      try account.addObserver(observer, forKeyPath: "interestRate", context: context(99))
      account.interestRate = 1
      say("still there")
    }
    let text = try require(result).errors
    for word in ["SubObserver", "interestRate", "Account"] { expect(text.contains(word)) }
    expect(!text.contains("still there"))
  }

  @Test("D10: an observer without an override stops too")
  func withoutOverride() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let account = Account()
      let person = Person()
      try account.addObserver(person, forKeyPath: "balance")
      account.balance = 1
    }
    let text = try require(result).errors
    for word in ["Person", "balance", "Account"] { expect(text.contains(word)) }
  }

  @Test("D10: a hook gets it instead, each time, and the program goes on")
  func hook() async {
    await #expect(processExitsWith: .success) {
      let seen = Collected<String>()
      KVODiagnostics.unhandledNotification = { keyPath, object, observer in
        seen.append(["\(keyPath) of \(type(of: object!)) by \(type(of: observer))"])
      }
      expect(KVODiagnostics.unhandledNotification != nil)
      let account = Account()
      let observer = SubObserver()
      let log = Recorder()
      try account.addObserver(observer, forKeyPath: "balance", context: context(99))
      try observer.watchAsBase(account)
      log.observe(account, \.balance, as: "last")
      account.balance = 1
      account.balance = 2
      let line = "balance of Account by SubObserver"
      expectEqual(seen.values, [line, line])
      expectEqual(observer.lines, ["base balance", "base balance"])
      expectEqual(log.take(), ["last", "last"])
      expectEqual(account.balance, 2)
    }
  }

  @Test("D10: without the hook it stops again")
  func hookTakenBack() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      KVODiagnostics.unhandledNotification = { _, _, _ in say("hook") }
      let account = Account()
      let observer = SubObserver()
      try account.addObserver(observer, forKeyPath: "balance", context: context(99))
      account.balance = 1
      KVODiagnostics.unhandledNotification = nil
      account.balance = 2
    }
    let text = try require(result).errors
    expect(text.contains("hook") && text.contains("SubObserver"))
  }
}

// MARK: Observers

/// Distinguishes its registrations by the addresses of statics, as on Apple's platforms.
private final class StaticObserver: Tracked {
  nonisolated(unsafe) private static var balanceContext = 0
  nonisolated(unsafe) private static var rateContext = 0
  private(set) var lines: [String] = []

  func watch(_ account: Account) throws {
    try account.addObserver(self, forKeyPath: "balance", context: &Self.balanceContext)
    try account.addObserver(self, forKeyPath: "interestRate", context: &Self.rateContext)
  }

  func leave(_ account: Account) throws {
    try account.removeObserver(self, forKeyPath: "balance", context: &Self.balanceContext)
    try account.removeObserver(self, forKeyPath: "interestRate", context: &Self.rateContext)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if context == &Self.balanceContext {
      lines.append("balance")
    } else if context == &Self.rateContext {
      lines.append("interestRate")
    } else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }
}

private let balanceContext = KVOContext()
private let rateContext = KVOContext()

private final class ContextObserver: Tracked {
  private(set) var lines: [String] = []

  func watch(_ account: Account) throws {
    try account.addObserver(self, forKeyPath: "balance", context: balanceContext)
    try account.addObserver(self, forKeyPath: "interestRate", context: rateContext)
  }

  func leave(_ account: Account) throws {
    try account.removeObserver(self, forKeyPath: "balance", context: balanceContext)
    try account.removeObserver(self, forKeyPath: "interestRate", context: rateContext)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    switch context {
    case balanceContext: lines.append("balance" + (context == balanceContext ? " ==" : ""))
    case rateContext: lines.append("interestRate" + (context == rateContext ? " ==" : ""))
    default: super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }
}

/// Handles its own registrations, and passes the others to super.
class BaseObserver: Tracked {
  private static let context = KVOContext()
  fileprivate(set) var lines: [String] = []

  func watchAsBase(_ account: Account) throws {
    try account.addObserver(self, forKeyPath: "balance", context: Self.context)
  }

  func leaveAsBase(_ account: Account) throws {
    try account.removeObserver(self, forKeyPath: "balance", context: Self.context)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == Self.context else {
      return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
    lines.append("base \(keyPath!)")
  }
}

final class SubObserver: BaseObserver {
  private static let context = KVOContext()

  func watchAsSub(_ account: Account) throws {
    try account.addObserver(self, forKeyPath: "balance", context: Self.context)
  }

  func leaveAsSub(_ account: Account) throws {
    try account.removeObserver(self, forKeyPath: "balance", context: Self.context)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == Self.context else {
      return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
    lines.append("sub \(keyPath!)")
  }
}
