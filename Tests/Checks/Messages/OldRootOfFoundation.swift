// quoted: requires that 'Account' inherit from 'KVOObject'
import Foundation
import KVORuntime

class Account: NSObject {
  @Observed var balance = 0.0
}
