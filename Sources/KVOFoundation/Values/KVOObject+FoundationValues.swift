internal import Foundation
public import KVORuntime

// Key-value coding with values from Foundation (R3): `NSNull` becomes nil for a property of any type, as in
// `setValuesForKeys` on Apple's platforms. The conversion table determines all other conversions (B12).

extension KVOObject {
  /// Sets several keys from a dictionary of Foundation's, for instance from JSON. `NSNull` becomes nil, and
  /// an `NSNumber` a number of the property's type.
  ///
  /// As on Apple's platforms, `NSNull` becomes nil for a property of any type, also of type `Any`. A property
  /// of type `Any`, or of one of Foundation's types, gets all other values unconverted.
  ///
  /// ```swift
  /// let json = try JSONSerialization.jsonObject(with: data) as! [String: Any]
  /// try entry.setValuesForKeys(json)
  /// ```
  ///
  /// This calls the class's own `setValuesForKeys(_:)`, which takes a dictionary of `Any?`.
  ///
  /// - Throws: the errors of that method. All values are checked before the first is set.
  /// - Complexity: O(*n*) in the size of the dictionary.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) throws {
    var values: [String: Any?] = [:]
    for (key, value) in keyedValues {
      values.updateValue(FoundationValue.value(value), forKey: key)
    }
    try setValuesForKeys(values)
  }

  /// Sets a key to a value of Foundation's. `NSNull` becomes nil for a property of any type, also of type
  /// `Any`. Calls `setValue(_:forKey:)`.
  ///
  /// - Throws: the errors of that method. For `NSNull` and a property that is not optional, the error of
  ///   `setNilValueForKey(_:)`.
  public final func setFoundationValue(_ value: Any?, forKey key: String) throws {
    try setValue(FoundationValue.value(value), forKey: key)
  }

  /// Sets the value at the end of a key path to a value of Foundation's. `NSNull` becomes nil for a property
  /// of any type. If an object on the path is nil, nothing happens.
  ///
  /// - Throws: the errors of `setValue(_:forKeyPath:)`.
  public final func setFoundationValue(_ value: Any?, forKeyPath keyPath: String) throws {
    try setValue(FoundationValue.value(value), forKeyPath: keyPath)
  }

  /// Returns the values of several keys for Foundation's serialisations. Nil becomes `NSNull`, and a number of another
  /// type than Foundation's, such as a `CGFloat`, one that they can write, also inside collections.
  ///
  /// ```swift
  /// let object = try entry.dictionaryWithFoundationValues(forKeys: ["name", "nickname"])
  /// let data = try JSONSerialization.data(withJSONObject: object)
  /// ```
  ///
  /// - Throws: the errors of `dictionaryWithValues(forKeys:)`, which it calls.
  public final func dictionaryWithFoundationValues(forKeys keys: [String]) throws -> [String: Any] {
    try dictionaryWithValues(forKeys: keys).mapValues(FoundationValue.object)
  }
}
