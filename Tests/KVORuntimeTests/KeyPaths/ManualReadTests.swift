import Expectations
import KVORuntime
import Synchronization
import TestSupport
import Testing

/// F5: getters report reads of properties that are announced manually, by `access(keyPath:)`.
@Suite(.leakFree) struct ManualReadTests {
  private class Account: KVOObject {
    private let storage = Mutex(0)
    @Observed var limit = 0
    var balance: Int {
      get {
        access(keyPath: \.balance)
        return storage.withLock { $0 }
      }
      set { withChange(of: \.balance) { storage.withLock { $0 = newValue } } }
    }
    var room: Int { balance + limit }
    subscript(index: Int) -> Int {
      access(keyPath: \.[index])
      return limit
    }
  }
  private final class Declared: Account {
    override class func registerKeys() { declareKeys { $0.computed("balance", \.balance) } }
  }
  private final class Meter: KVOObject {
    private var raw = 0
    var level: Int {
      get {
        access(keyPath: \.level)
        return raw
      }
      set { withChange(of: \.level) { raw = newValue } }
    }
    override class func registerKeys() { declareKeys { $0.computed("level", \.level) } }
  }
  private final class Bank: KVOObject {
    @Observed var account = Account()
    var isRich: Bool { account.balance > 10 }
  }

  private final class Lines { var all: [String] = [] }

  private func log<Object: KVOObject & KeyValueObserving, Value: Sendable>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, _ lines: Lines
  ) -> KeyValueObservation {
    object.observe(keyPath, options: [.old, .new]) { _, change in
      lines.all.append("\(change.oldValue!) \(change.newValue!)")
    }
  }

  @Test("F5: a getter that reads a manual property by its name is notified of its changes")
  func computed() {
    for account in [Account(), Declared()] {
      let lines = Lines()
      let token = log(account, \.room, lines)
      account.balance = 5
      account.limit = 2
      account.balance = 6
      expectEqual(lines.all, ["0 5", "5 7", "7 8"])
      withExtendedLifetime(token) {}
    }
  }

  @Test("F5: such a property is observed itself, without a declaration too")
  func property() {
    for account in [Account(), Declared()] {
      let lines = Lines()
      let tokens = [log(account, \.balance, lines), log(account, \.room, lines)]
      account.balance = 5
      expectEqual(lines.all.sorted(), ["0 5", "0 5"])
      account.limit = 1
      expectEqual(lines.all.count, 3)
      withExtendedLifetime(tokens) {}
    }
  }

  @Test("F5: it is found behind a link, by a key path and by another object's getter")
  func linked() {
    let bank = Bank()
    let (along, rich) = (Lines(), Lines())
    let tokens = [log(bank, \.account.balance, along), log(bank, \.isRich, rich)]
    bank.account.balance = 20
    let left = bank.account
    bank.account = Account()
    left.balance = 1
    bank.account.balance = 11
    expectEqual(along.all, ["0 20", "20 0", "0 11"])
    expectEqual(rich.all, ["false true", "true false", "false true"])
    withExtendedLifetime(tokens) {}
  }

  @Test("F5: in a subclass, the superclass's key path names the same key")
  func inherited() {
    final class Savings: Account { var half: Int { balance / 2 } }
    let savings = Savings()
    let lines = Lines()
    let tokens = [log(savings, \.half, lines), log(savings, \.balance, lines)]
    savings.balance = 4
    expectEqual(lines.all.sorted(), ["0 2", "0 4"])
    withExtendedLifetime(tokens) {}
  }

  @Test("E2 F5: it needs no hint, and reads that are not recorded report nothing")
  func quiet() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.hint = { say($0 + "\n") }
      let account = Declared()
      let meter = Meter()
      let tokens = [account.observe(\.balance) { _, _ in }, meter.observe(\.level) { _, _ in }]
      account.balance = 3
      meter.level = 1
      expectEqual(account.balance, 3)
      withExtendedLifetime(tokens) {}
    }
    expectEqual(try require(result).errors, "")
  }

  @Test("F5: a key path with arguments is misuse")
  func arguments() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.misuse = { say($0 + "\n") }
      let account = Account()
      let token = account.observe(\.[3]) { _, _ in }
      withExtendedLifetime(token) {}
    }
    let errors = try require(result).errors
    expect(errors.contains("access(keyPath:) was called with") && errors.contains("has arguments"))
  }
}
