// quoted: cannot pass immutable value as inout argument: 'balanceContext' is a 'let' constant
import KVORuntime

private let balanceContext = KVOContext()

class Account: KVOObject {
  @Observed var balance = 0.0
  func watch() throws {
    try addObserver(self, forKeyPath: "balance", options: .new, context: &balanceContext)
  }
}
