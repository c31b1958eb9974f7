// quoted: var 'balanceContext' is not concurrency-safe because it is nonisolated global shared mutable state
import KVORuntime

private var balanceContext = 0

class Account: KVOObject {
  @Observed var balance = 0.0
}

func watch(_ account: Account) throws {
  try account.addObserver(account, forKeyPath: "balance", options: .new, context: &balanceContext)
}
