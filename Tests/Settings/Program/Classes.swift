import KVORuntime
import Model

/// A subclass of another module's class.
final class Savings: Account {
  @Observed var rate = 1.5
  private var pin = ""

  override var level: Level {
    get { super.level }
    set { super.level = newValue }
  }
}

/// A generic subclass of another module's generic class.
class Labelled<First, Second>: PairBox<First, Second> {
  @Observed var third: [String] = ["third"]
  @Observed final var weight = 1
}

/// A specialisation of a generic class.
final class NumberBox: Box<Int> {
  @Observed var limit = 10
  var sum: Int { value + limit }
}

private let balanceContext = KVOContext()
private let ownerContext = KVOContext()

final class Watcher: KVOObject {
  func watch(_ account: Account) throws {
    try account.addObserver(
      self, forKeyPath: "balance", options: [.old, .new], context: balanceContext)
    try account.addObserver(self, forKeyPath: "owner", options: .new, context: ownerContext)
  }

  func unwatch(_ account: Account) throws {
    try account.removeObserver(self, forKeyPath: "balance", context: balanceContext)
    try account.removeObserver(self, forKeyPath: "owner")
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    switch context {
    case balanceContext: print("balance notified: \(change?[.newKey] ?? "missing")")
    case ownerContext: print("owner notified: \(change?[.newKey] ?? "missing")")
    default: super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }
}

/// Declares nothing, so that a key path's name comes from the class's metadata.
class Plain: KVOObject {
  final var kept = 1
  var overridable = 1
  var computed: Int { 7 }
}

final class Overriding: Plain {
  override var overridable: Int { didSet { kept += 1 } }
}

/// Holds an object that nothing else holds.
final class Slot: KVOObject {
  @Observed var content: AnyObject?
  @Observed var label = ""
}

/// Acts when it dies.
final class Farewell {
  private let action: () -> Void

  init(_ action: @escaping () -> Void) { self.action = action }

  deinit { action() }
}
