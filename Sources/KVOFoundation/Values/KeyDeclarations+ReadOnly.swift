internal import KVORuntime

// How the classes of this library declare keys that have no setter, and that they tell of themselves (R5 to R7).

extension KeyDeclarations {
  /// A property that nothing affects and that nobody sets by its key. `stored` is for one that is set.
  mutating func readOnly<Value>(_ key: String, _ keyPath: KeyPath<Root, Value>) {
    accessors(key, keyPath) { $0[keyPath: keyPath] }
  }
}
