import CFixtures
import CKVORuntime

/// Sets and mutations in place of a stored property, as a language's binding makes them.
extension UnsafeMutablePointer<bound_object> {
  func address(of property: PartialKeyPath<bound_object>) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(self) + MemoryLayout<bound_object>.offset(of: property)!
  }

  func set<Value>(_ property: WritableKeyPath<bound_object, Value>, _ value: Value) {
    let frame = kvo_stored_property_will_change(header, address(of: property))
    pointee[keyPath: property] = value
    frame.map { kvo_stored_property_did_change($0) }
  }

  func beginMutation(of property: PartialKeyPath<bound_object>) -> OpaquePointer? {
    kvo_stored_property_will_change_in_place(header, address(of: property))
  }

  /// Calls `body` in the mutation, after the store.
  func mutate<Value>(
    _ property: WritableKeyPath<bound_object, Value>, _ value: Value, _ body: () -> Void
  ) {
    let frame = beginMutation(of: property)
    pointee[keyPath: property] = value
    body()
    frame.map { kvo_stored_property_did_change($0) }
  }
}
