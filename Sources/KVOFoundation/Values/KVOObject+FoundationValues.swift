internal import Foundation
public import KVORuntime

// Key-value coding with what Foundation hands over (R3): NSNull is nil to a property of any type, as in
// `setValuesForKeys` on Apple's platforms. Which values convert is the table's to say (B12).

extension KVOObject {
  /// Sets some keys from a dictionary as Foundation makes it, of JSON for instance: `NSNull` is nil, an `NSNumber` is a
  /// number of the property's type. As on Apple's platforms, `NSNull` among the values is nil to any property, also to
  /// one of type `Any`; what else a property of `Any`, or of one of Foundation's types, is given, it gets as it is.
  ///
  /// ```swift
  /// let json = try JSONSerialization.jsonObject(with: data) as! [String: Any]
  /// try entry.setValuesForKeys(json)
  /// ```
  ///
  /// A dictionary of `Any?` is set by the class's own `setValuesForKeys(_:)`, which takes nil for nil, and which this
  /// calls.
  ///
  /// - Throws: as that does. All values are looked at before the first is set.
  /// - Complexity: O(*n*) in what is in the dictionary.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) throws {
    var values: [String: Any?] = [:]
    for (key, value) in keyedValues {
      values.updateValue(FoundationValue.value(value), forKey: key)
    }
    try setValuesForKeys(values)
  }

  /// Sets a key to what Foundation handed over: `NSNull` is nil to a property of any type, also of `Any`. Otherwise as
  /// `setValue(_:forKey:)`, which it calls.
  ///
  /// - Throws: as that does: of `NSNull` for a property that is not optional, what `setNilValueForKey(_:)` does.
  public final func setFoundationValue(_ value: Any?, forKey key: String) throws {
    try setValue(FoundationValue.value(value), forKey: key)
  }

  /// Sets the last key of a key path, of the object that it leads to now, as `setFoundationValue(_:forKey:)`. Nothing
  /// happens where there is nil on the way.
  ///
  /// - Throws: as `setValue(_:forKeyPath:)`.
  public final func setFoundationValue(_ value: Any?, forKeyPath keyPath: String) throws {
    try setValue(FoundationValue.value(value), forKeyPath: keyPath)
  }

  /// The values of some keys as Foundation's serialisations take them: `NSNull` for nil, in collections too.
  ///
  /// ```swift
  /// let object = try entry.dictionaryWithFoundationValues(forKeys: ["name", "nickname"])
  /// let data = try JSONSerialization.data(withJSONObject: object)
  /// ```
  ///
  /// - Throws: as `dictionaryWithValues(forKeys:)`, which it calls.
  public final func dictionaryWithFoundationValues(forKeys keys: [String]) throws -> [String: Any] {
    try dictionaryWithValues(forKeys: keys).mapValues(FoundationValue.object)
  }
}
