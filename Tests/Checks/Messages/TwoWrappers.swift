// quoted: error: cannot convert value of type 'ReferenceWritableKeyPath<Account, Int>' to expected argument type 'ReferenceWritableKeyPath<Account, Clamped>'
import KVORuntime

@propertyWrapper struct Clamped {
  var wrappedValue: Int
}

class Account: KVOObject {
  @Observed @Clamped var limit = 1
}
