internal import KVORuntime

// Declares keys without a setter whose changes the class announces itself, for the classes of this library
// (R5 to R7).

extension KeyDeclarations {
  /// Declares a property that depends on no other key and can't be set by its key. Use `stored` for one that
  /// can be set.
  mutating func readOnly<Value>(_ key: String, _ keyPath: KeyPath<Root, Value>) {
    accessors(key, keyPath) { $0[keyPath: keyPath] }
  }
}
