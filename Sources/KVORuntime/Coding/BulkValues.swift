// Several keys at once (B11). All values are checked before the first key is set, so that an error leaves the
// object unchanged. Only errors of hooks and accessors come too late for that.
extension KVOObject {
  /// Orders values for setting: first those that a hook may refuse (the default hooks do), then those that
  /// are certain to be set.
  ///
  /// - Throws: `KeyValueError` for a value that is certain not to be set.
  func inOrderOfRisk(_ keyedValues: [String: Any?]) throws -> [(key: String, value: Any?)] {
    let known = KVOClass.of(self)
    // A class that overrides setting by key may accept any key and value.
    guard !MethodOverride.sets(known.type) else { return keyedValues.map { ($0, $1) } }
    var risky: [(key: String, value: Any?)] = []
    var sure: [(key: String, value: Any?)] = []
    for (key, value) in keyedValues {
      let isSure = try known.property(key)?.takes(value, of: self) ?? false
      isSure ? sure.append((key, value)) : risky.append((key, value))
    }
    return risky + sure
  }
}
