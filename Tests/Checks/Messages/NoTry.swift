// quoted: call can throw, but it is not marked with 'try' and the error is not handled
import KVORuntime

class Account: KVOObject {
  @Observed var balance = 0.0
}

func set(_ account: Account) {
  account.setValue(10, forKey: "balance")
}
