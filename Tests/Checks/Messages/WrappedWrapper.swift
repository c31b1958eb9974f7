// says: WrappedWrapper.swift:10:13: error: composed wrapper type
// quoted: composed wrapper type 'Observed<Value>' does not match type of 'Clamped.wrappedValue'
import KVORuntime

@propertyWrapper struct Clamped {
  var wrappedValue: Int
}

class Account: KVOObject {
  @Clamped @Observed var limit = 1
}
