// What classes tell of their keys (P3).

/// What a class tells of one of its keys, without an object of it.
///
/// ```swift
/// for property in Account.keyValueProperties where property.isWritable {
///   form.addField(property.key, of: property.valueType)
/// }
/// ```
public struct KeyValueProperty: Sendable {
  /// The key, as it was asked for.
  public let key: String
  /// The type of the values that key-value coding reads and observers are told: of an optional property an optional. Of
  /// a lazy property that has not been used yet nil is read all the same, of collection accessors a proxy.
  public let valueType: Any.Type
  /// Whether `setValue(_:forKey:)` can set it.
  public let isWritable: Bool
  /// Whether its value is an array or a set, or it has collection accessors: its elements are changed one by one.
  public let isToMany: Bool
  /// Whether the property holds its object weakly.
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
  // What a lazy property is kept in is an optional.
  fileprivate var declaredType: Any.Type {
    let type = observedType.swiftType
    guard accessors == nil, storage?.form == .lazy else { return type }
    return (type as? any OptionalType.Type)?.wrappedType ?? type
  }
}

extension KVOObject {
  /// What the class tells of a key, found as `value(forKey:)` finds it; nil if it has no such key. Nothing is read, and
  /// hooks for undefined keys are not asked. Any thread.
  ///
  /// - Complexity: O(1) after the key's first use.
  public final class func keyValueProperty(forKey key: String) -> KeyValueProperty? {
    KVOClass.of(self).property(key).map { KeyValueProperty($0, key) }
  }

  /// All keys of the class, declared and stored, those of its superclasses among them, by name; but for stored
  /// properties whose names begin with an underscore. Any thread.
  ///
  /// - Complexity: O(*n* log *n*) in the number of keys.
  public final class var keyValueProperties: [KeyValueProperty] {
    KVOClass.of(self).keys.sorted().compactMap { keyValueProperty(forKey: $0) }
  }
}
