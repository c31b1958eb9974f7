// Three ways to identify a change: by its key path, without a context; by one context for the class
// and then the key path; by a context for each key.
import KVORuntime

final class Account: KVOObject {
  @Observed var balance = 0.0
  @Observed var interestRate = 0.01
}

/// Without a context: enough if neither superclass nor subclass observes anything.
final class Display: KVOObject {
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    switch keyPath {
    case "balance": print("display: a new balance")
    case "interestRate": print("display: a new interest rate")
    default: super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }
}

/// The context identifies the notifications of this class; the key path says which one it is.
class Auditor: KVOObject {
  private static let context = KVOContext()

  func audit(_ account: Account) throws {
    try account.addObserver(self, forKeyPath: "balance", options: .new, context: Self.context)
    try account.addObserver(self, forKeyPath: "interestRate", options: .new, context: Self.context)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == Self.context else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      return
    }
    print("auditor: \(keyPath!) is \(change![.newKey]!)")
  }
}

/// A context for each key, so no strings are compared. All other notifications belong to the
/// superclass, which observes the same keys of the same account.
final class Inspector: Auditor {
  private static let balanceContext = KVOContext()
  private static let interestRateContext = KVOContext()

  func inspect(_ account: Account) throws {
    try account.addObserver(
      self, forKeyPath: "balance", options: .old, context: Self.balanceContext)
    try account.addObserver(
      self, forKeyPath: "interestRate", options: .old, context: Self.interestRateContext)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    switch context {
    case Self.balanceContext: print("inspector: the balance was \(change![.oldKey]!)")
    case Self.interestRateContext: print("inspector: the rate was \(change![.oldKey]!)")
    default: super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }
}

let account = Account()
let display = Display()
try account.addObserver(display, forKeyPath: "balance")
try account.addObserver(display, forKeyPath: "interestRate")
let inspector = Inspector()
try inspector.audit(account)
try inspector.inspect(account)

account.balance = 10
account.interestRate = 0.02
