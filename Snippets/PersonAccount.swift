// A person observes the balance and the interest rate of an account: registration with two
// contexts, changes, removal, and a mistake.
import KVORuntime

final class Account: KVOObject {
  @Observed var balance = 0.0
  @Observed var interestRate = 0.0
}

final class Person: KVOObject {
  // A context distinguishes a class's notifications from its superclass's, and one key from
  // another, without comparing strings.
  private static let balanceContext = KVOContext()
  private static let interestRateContext = KVOContext()

  let name: String

  init(name: String) {
    self.name = name
    super.init()
  }

  func watch(_ account: Account) throws {
    try account.addObserver(
      self, forKeyPath: "balance", options: [.old, .new], context: Self.balanceContext)
    try account.addObserver(
      self, forKeyPath: "interestRate", options: [.old, .new], context: Self.interestRateContext)
  }

  func stopWatching(_ account: Account) throws {
    try account.removeObserver(self, forKeyPath: "balance", context: Self.balanceContext)
    try account.removeObserver(self, forKeyPath: "interestRate", context: Self.interestRateContext)
  }

  // Called after each change, before the assignment returns.
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    switch context {
    case Self.balanceContext: report("balance", change)
    case Self.interestRateContext: report("interest rate", change)
    default:
      // Not this class's own notification: the superclass may be observing, too.
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }

  private func report(_ what: String, _ change: [KeyValueChangeKey: Any]?) {
    guard let old = change?[.oldKey], let new = change?[.newKey] else { return }
    print("\(name): the \(what) went from \(old) to \(new)")
  }
}

let account = Account()
let ada = Person(name: "Ada")

print("Ada watches the account.")
try ada.watch(account)
account.balance = 100
account.balance += 150
try account.setValue(200, forKey: "balance")
account.interestRate = 0.02

print("Ada stops watching: she is not notified from now on.")
try ada.stopWatching(account)
account.balance = 0
print("The balance is \(account.balance).")

print("Stopping again is a mistake, which is reported and changes nothing.")
do {
  try ada.stopWatching(account)
} catch KeyValueError.observerNotRegistered(let keyPath, let className, _) {
  print("Nobody to remove for \"\(keyPath)\" of \(className)")
}
