import KVORuntime

class Account: KVOObject {
  @Observed var balance = 0.0
}

func watch(_ account: Account) {
  _ = account.observe(\.balance) { _, _ in }
}
