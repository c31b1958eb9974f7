// An engine in C owns an account and changes it; Swift observes it. The engine's code does not know
// that. Its object is observed like any other, with a token.
import AccountEngine
import KVORuntime

let account = engine_account_open()
let watched = ForeignObject(OpaquePointer(engine_account_object(account)))

print("Swift watches an \(watched.className).")
let token = try watched.observe("balance", as: Double.self, options: [.initial, .old, .new]) {
  _, change in
  if let old = change.oldValue, let new = change.newValue {
    print("the balance went from \(old) to \(new)")
  } else if let new = change.newValue {
    print("the balance is \(new)")
  }
}

// The engine's own functions call the object's setters.
engine_account_deposit(account, 100)
engine_account_set_interest_rate(account, 0.5)
engine_account_accrue_interest(account)

// Sets that property by its key.
try watched.setValue(200, forKey: "balance")
print("The interest rate is \(try watched.value(forKey: "interestRate") ?? "unknown").")

token.invalidate()
engine_account_deposit(account, 1)
print("No observer was notified of the last deposit.")
engine_account_close(account)
