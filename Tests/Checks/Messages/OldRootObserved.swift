// quoted: value of type 'Account' has no member 'observe'
import Foundation
import KVORuntime

class Account: NSObject {
  var balance = 0.0
}

func watch(_ account: Account) -> NSKeyValueObservation {
  account.observe(\.balance) { _, _ in }
}
