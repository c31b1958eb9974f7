// Several keys at once (B11). What the class tells of a value is asked before the first key is set, so that an
// error leaves the object as it was, but for what hooks refuse.
extension KVOObject {
  /// First what hooks may refuse, which by default is an error, then what is sure to be set.
  ///
  /// - Throws: `KeyValueError` for what is sure not to be set.
  func inOrderOfRisk(_ keyedValues: [String: Any?]) throws -> [(key: String, value: Any?)] {
    let known = KVOClass.of(self)
    // A class that sets keys in its own way may take anything.
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
