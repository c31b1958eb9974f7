// Collection operators: the greatest of some numbers and of the amounts of some transactions, and
// further operators.
import KVORuntime

final class Transaction: KVOObject {
  @Observed var payee: String
  @Observed var amount: Double

  init(_ payee: String, _ amount: Double) {
    self.payee = payee
    self.amount = amount
    super.init()
  }
}

final class Account: KVOObject {
  @Observed var transactions: [Transaction] = []
}

print("max =", try [4, 84, 2].value(forKeyPath: "@max.self")!)

let transactions = [
  Transaction("baker", 12.5), Transaction("rent", 800), Transaction("baker", 7.5),
]
print("max =", try transactions.value(forKeyPath: "@max.amount")!)

let account = Account()
account.transactions = transactions
for keyPath in [
  "transactions.@max.amount", "transactions.@min.amount", "transactions.@sum.amount",
  "transactions.@avg.amount", "transactions.@count",
] {
  print(keyPath, "=", try account.value(forKeyPath: keyPath)!)
}
let payees = try account.value(forKeyPath: "transactions.@distinctUnionOfObjects.payee")
print("payees:", (payees as! [String]).sorted())

// An operator at the end of a path can be observed.
let token = try account.observe(keyPath: "transactions.@max.amount", options: .new) { _, change in
  print("now at most", change.newValue!)
}
transactions[0].amount = 900
account.mutableArray(\.transactions).append(Transaction("car", 4000))

do {
  _ = try account.value(forKeyPath: "transactions.@median.amount")
} catch {
  print(error)
}
