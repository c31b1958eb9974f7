// quoted: call can throw but is not marked with 'try'
import KVORuntime

class Account: KVOObject {
  @Observed var balance = 0.0
}

func set(_ account: Account) throws {
  account.setValue(10, forKey: "balance")
}
