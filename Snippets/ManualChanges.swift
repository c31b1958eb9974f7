// Manual notification: automatic notification is off for three keys, and left to the superclass for
// the others.
import KVORuntime

final class Transaction: KVOObject {
  let amount: Double

  init(_ amount: Double) {
    self.amount = amount
    super.init()
  }
}

class Account: KVOObject {
  @Observed fileprivate(set) var balance = 0.0
  @Observed fileprivate(set) var itemChanged = 0
  @Observed fileprivate(set) var transactions = [1, 2, 3, 4].map(Transaction.init)
  @Observed var owner = "Ada"

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    ["balance", "itemChanged", "transactions"].contains(key)
      ? false : super.automaticallyNotifiesObservers(forKey: key)
  }

  /// One key, with a notification each time.
  func setBalance(_ newBalance: Double) {
    willChangeValue(forKey: "balance")
    balance = newBalance
    didChangeValue(forKey: "balance")
  }

  /// Notifies only if the value changes.
  func setBalanceIfNew(_ newBalance: Double) {
    guard newBalance != balance else { return }
    setBalance(newBalance)
  }

  /// One operation that changes two keys, with nested pairs.
  func setBalanceAndCount(_ newBalance: Double) {
    willChangeValue(forKey: "balance")
    willChangeValue(forKey: "itemChanged")
    balance = newBalance
    itemChanged += 1
    didChangeValue(forKey: "itemChanged")
    didChangeValue(forKey: "balance")
  }

  /// For an ordered to-many property, pass the kind of change and the indexes as well.
  func removeTransactions(at indexes: RangeSet<Int>) {
    willChange(.removal, valuesAt: indexes, forKey: "transactions")
    transactions.removeSubranges(indexes)
    didChange(.removal, valuesAt: indexes, forKey: "transactions")
  }

  /// A pair around a body, which is also closed if the body throws.
  func empty() {
    withChange(of: \.balance) { balance = 0 }
  }
}

let account = Account()
let tokens = [
  account.observe(\.balance, options: [.old, .new]) { _, change in
    print("  balance: \(change.oldValue!) -> \(change.newValue!)")
  },
  account.observe(\.itemChanged, options: .new) { _, change in
    print("  changed \(change.newValue!) times")
  },
  account.observe(\.transactions, options: .old) { account, change in
    let left = account.transactions.count
    let indexes = change.indexes!.map(\.self)
    print("  \(change.kind): \(change.oldValue!.map(\.amount)) at \(indexes), \(left) left")
  },
  account.observe(\.owner, options: .new) { _, change in print("  owner: \(change.newValue!)") },
]

print("by hand")
account.setBalance(10)
account.setBalance(10)
print("only if it is new")
account.setBalanceIfNew(10)
account.setBalanceIfNew(20)
print("two keys")
account.setBalanceAndCount(30)
print("elements")
account.removeTransactions(at: RangeSet([0..<1, 2..<4]))
print("around a body")
account.empty()
print("the others by themselves")
account.owner = "Grace"
