// warns: forming 'UnsafeMutableRawPointer' to a variable of type 'KVOContext'; this is likely incorrect
import KVORuntime

class Account: KVOObject {
  @Observed var balance = 0.0
  private var context = KVOContext()
  func watch() throws {
    try addObserver(self, forKeyPath: "balance", options: .new, context: &context)
  }
}
