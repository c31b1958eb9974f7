// Descriptions of a class's keys (P3).

/// A description of one key of a class, available without an object.
///
/// ```swift
/// for property in Account.keyValueProperties where property.isWritable {
///   form.addField(property.key, of: property.valueType)
/// }
/// ```
public struct KeyValueProperty: Sendable {
  /// The key, spelled as in the request.
  public let key: String
  /// The type of the values that key-value coding reads and observers get. It is an optional for an optional
  /// property.
  ///
  /// For a lazy property that has not been used yet, reading gives nil although the type is not optional. For
  /// collection accessors it gives a proxy.
  public let valueType: Any.Type
  /// Whether `setValue(_:forKey:)` can set the key.
  public let isWritable: Bool
  /// Whether elements can be changed one by one: the value is an array or a set, or the key has collection
  /// accessors.
  public let isToMany: Bool
  /// Whether the property is a weak reference.
  public let isWeak: Bool

  init(_ property: Property, _ key: String) {
    self.key = key
    valueType = property.declaredType
    isWritable = property.isWritable
    isToMany = property.toMany != nil || property.observedType.shape != nil
    isWeak = property.storage?.form == .weak
  }
}

extension Property {
  // A lazy property is stored in an optional, which is left out here.
  fileprivate var declaredType: Any.Type {
    let type = observedType.swiftType
    guard accessors == nil, storage?.form == .lazy else { return type }
    return unwrapped(type)
  }
}

extension KVOObject {
  /// Returns the description of a key, found as `value(forKey:)` finds it, or nil if the class has no such
  /// key.
  ///
  /// No value is read, and the hooks for undefined keys are not called. May be called on any thread.
  ///
  /// - Complexity: O(1) after the key's first use.
  public final class func keyValueProperty(forKey key: String) -> KeyValueProperty? {
    KVOClass.of(self).property(key).map { KeyValueProperty($0, key) }
  }

  /// The descriptions of all keys of the class and its superclasses, declared and stored, sorted by key.
  ///
  /// Stored properties whose names begin with an underscore are left out. May be used on any thread.
  ///
  /// - Complexity: O(*n* log *n*) in the number of keys.
  public final class var keyValueProperties: [KeyValueProperty] {
    KVOClass.of(self).keys.sorted().compactMap { keyValueProperty(forKey: $0) }
  }
}
