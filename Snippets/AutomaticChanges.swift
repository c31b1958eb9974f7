// Changes that notify automatically: by setter, by key, by key path, by a proxy of a to-many
// property.
import KVORuntime

final class Transaction: KVOObject {
  let amount: Double

  init(_ amount: Double) {
    self.amount = amount
    super.init()
  }
}

final class Account: KVOObject {
  @Observed var name = "Current"
  @Observed var transactions: [Transaction] = []
}

final class Document: KVOObject {
  @Observed var account: Account? = Account()
}

let document = Document()
let account = document.account!
let nameToken = account.observe(\.name, options: .new) { _, change in
  print("The name is \(change.newValue!).")
}
let transactionsToken = account.observe(\.transactions, options: .new) { account, change in
  print("\(change.kind): \(change.newValue!.map(\.amount)), now \(account.transactions.count)")
}

account.name = "Savings"
try account.setValue("Holidays", forKey: "name")
try document.setValue("Rainy days", forKeyPath: "account.name")

let transactions = try account.mutableArrayValue(forKey: "transactions")
try transactions.append(Transaction(20))
// A proxy with the type of the elements.
account.mutableArray(\.transactions).append(Transaction(30))
