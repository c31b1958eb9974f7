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

  // MARK: Under a lock

  /// Reports reads while it holds its lock.
  private class Vault: KVOObject {
    private let storage = Mutex(0)
    var balance: Int {
      get {
        storage.withLock {
          access(keyPath: \.balance)
          return $0
        }
      }
      set { withChange(of: \.balance) { storage.withLock { $0 = newValue } } }
    }
    var isOverdrawn: Bool { balance < 0 }
    /// Depends on a property that itself depends on one.
    var isOpen: Bool {
      access(keyPath: \.isOpen)
      return !isOverdrawn
    }
  }
  private final class NamedVault: Vault {
    override class func registerKeys() { declareKeys { $0.computed("balance", \.balance) } }
  }
  private final class Owner: KVOObject {
    @Observed var vault: Vault?
    var isPoor: Bool { (vault?.balance ?? 0) < 10 }
  }

  private static func changes<Object: KVOObject & KeyValueObserving, Value: Sendable>(
    of object: Object, _ keyPath: KeyPath<Object, Value>, _ body: () -> Void
  ) -> Int {
    var count = 0
    let token = object.observe(keyPath) { _, _ in count += 1 }
    body()
    token.invalidate()
    return count
  }

  @Test("F5: a getter may report its read under a lock, whatever is observed first")
  func underLock() async {
    await #expect(processExitsWith: .success) {
      for vault in [Vault(), NamedVault()] {
        let count = Self.changes(of: vault, \.isOverdrawn) { vault.balance = -1 }
        precondition(count == 1, "\(count)")
      }
    }
    await #expect(processExitsWith: .success) {
      let vault = Vault()
      let count = Self.changes(of: vault, \.isOpen) { vault.balance = -1 }
      precondition(count == 1, "\(count)")
    }
  }

  @Test("F5: so may one of an object that a getter meets only later")
  func underLockOfLink() async {
    await #expect(processExitsWith: .success) {
      let owner = Owner()
      let count = Self.changes(of: owner, \.isPoor) {
        let vault = Vault()
        owner.vault = vault
        vault.balance = 20
        owner.vault = NamedVault()
        vault.balance = 30
      }
      precondition(count == 3, "\(count)")
    }
  }

  // MARK: Plain properties

  private final class Plain: KVOObject {
    var raw = 0
    let limit = 3
    @Observed var scale = 1
    var isBig: Bool {
      access(keyPath: \.raw)
      return raw > 9 * scale
    }
    var isConstant: Bool {
      access(keyPath: \.limit)
      return scale > limit
    }
    func set(_ value: Int) { withChange(of: \.raw) { raw = value } }
  }
  private class Base: KVOObject {
    var raw = 0
    @Observed var scale = 1
    var isBig: Bool {
      access(keyPath: \.raw)
      return raw > 9 * scale
    }
  }

  @Test("E3 F5: a plain property that can't be overridden is reported by its key path")
  func plain() {
    let (plain, lines) = (Plain(), Lines())
    let token = log(plain, \.isBig, lines)
    plain.set(10)
    plain.scale = 2
    plain.withChange(forKey: "raw") { plain.raw = 19 }
    expectEqual(lines.all, ["false true", "true false", "false true"])
    withExtendedLifetime(token) {}
  }

  @Test("F5: reporting a read of what can't be announced is misuse")
  func unannounced() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.misuse = { say($0 + "\n") }
      let base = Base()
      let token = base.observe(\.isBig) { _, _ in }
      withExtendedLifetime(token) {}
    }
    let errors = try require(result).errors
    expect(errors.contains("access(keyPath:) reports no read: The key path \\Base."))
    expect(errors.contains("can't be observed"))
  }
}
