// quoted: '#keyPath' can only be used with the Objective-C runtime
import KVORuntime

class Account: KVOObject {
  @Observed var balance = 0.0
}

let key = #keyPath(Account.balance)
