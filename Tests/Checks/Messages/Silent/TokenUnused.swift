// warns: result of call to 'observe(_:options:changeHandler:file:line:)' is unused
import KVORuntime

class Account: KVOObject {
  @Observed var balance = 0.0
}

func watch(_ account: Account) {
  account.observe(\.balance) { _, _ in }
}
