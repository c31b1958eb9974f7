// with: -strict-memory-safety
import KVORuntime

@KVO final class Account: KVOObject, Encodable {
  var balance = 0.0
  var entries: [Int] = []
  var note: String?
  weak var owner: Account?
  var level = 1 { didSet { balance += Double(oldValue) } }
  var total: Double { balance * 2 }
}
