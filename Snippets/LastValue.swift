// The last value of a property that several threads set. The property's author locks its storage.
// The observer reads the property under a lock of its own, since the value in the change may be
// outdated.
import KVORuntime
import Synchronization

@KVO final class Account: KVOObject, @unchecked Sendable {
  private let storage = Mutex(0)

  var balance: Int {
    get {
      access(keyPath: \.balance)
      return storage.withLock { $0 }
    }
    set { withAutomaticChange(of: \.balance) { storage.withLock { $0 = newValue } } }
  }
}

final class Display: Sendable {
  let shown = Mutex(0)
}

let account = Account()
let display = Display()
let token = account.observe(\.balance) { account, _ in
  display.shown.withLock { $0 = account.balance }
}

await withTaskGroup { tasks in
  for value in 1...1_000 { tasks.addTask { account.balance = value } }
}
print("shown is the balance:", display.shown.withLock { $0 } == account.balance)
token.invalidate()
