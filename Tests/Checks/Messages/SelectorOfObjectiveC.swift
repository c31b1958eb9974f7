// quoted: '#selector' can only be used with the Objective-C runtime
import KVORuntime

class Account: KVOObject {
  func act() {}
}

let key = #selector(Account.act)
