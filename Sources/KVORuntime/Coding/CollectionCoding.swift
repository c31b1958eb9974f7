// Key-value coding of collections, the standard library's and proxies: a key is read from each element, and
// an operator computes one value from all.

/// A collection with key-value coding. Exactly these types conform: `Array`, `Set`, `ArrayProxy`, `SetProxy`,
/// `MutableArrayProxy`, `MutableSetProxy` and `MutableOrderedSetProxy`. A program must not conform its own types, because
/// the runtime reads the elements of these alone. It can make an array of its collection's elements.
///
/// ```swift
/// try company.employees.value(forKey: "name")            // the names, in an array
/// try company.employees.value(forKeyPath: "@sum.salary")
/// ```
public protocol KeyValueCollection: Sequence {
  /// A mark, which only the library's types have. Not to be used.
  static var _isKeyed: _KeyedCollection { get }
}

/// The mark of a type that conforms to `KeyValueCollection`. It has no public initializer.
public struct _KeyedCollection {}

extension Array: KeyValueCollection {
  public static var _isKeyed: _KeyedCollection { _KeyedCollection() }
}
extension Set: KeyValueCollection {
  public static var _isKeyed: _KeyedCollection { _KeyedCollection() }
}
extension ArrayProxy: KeyValueCollection {
  public static var _isKeyed: _KeyedCollection { _KeyedCollection() }
}
extension SetProxy: KeyValueCollection {
  public static var _isKeyed: _KeyedCollection { _KeyedCollection() }
}
extension MutableArrayProxy: KeyValueCollection {
  public static var _isKeyed: _KeyedCollection { _KeyedCollection() }
}
extension MutableSetProxy: KeyValueCollection {
  public static var _isKeyed: _KeyedCollection { _KeyedCollection() }
}
extension MutableOrderedSetProxy: KeyValueCollection {
  public static var _isKeyed: _KeyedCollection { _KeyedCollection() }
}

extension KeyValueCollection {
  /// Returns the values that the elements have for a key: in an array, in their order, or in a
  /// `Set<AnyHashable>` for a set. A nil value is `Optional<Any>.none` in the result.
  ///
  /// A key that begins with an @, such as `@count`, is an operator on the elements. If values of a set's
  /// members are not hashable, the result is an array.
  ///
  /// - Throws: The error of an element's `value(forKey:)`; `KeyValueError.invalidKeyPath` if an element has
  ///   no keys; `KeyValueError.invalidOperator` for an unknown operator.
  /// - Complexity: O(*n*) in the number of elements.
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// Returns the values of a key path, read from each element, or the result of its operators on them:
  /// `employees.value(forKeyPath: "@sum.salary")`.
  ///
  /// - Throws: The error of reading a key on the way. `KeyValueError.invalidKeyPath` for an empty component,
  ///   or one that is read from a value without keys. `KeyValueError.invalidOperator` for an operator that is
  ///   unknown or can't be applied. `KeyValueError.typeMismatch` or `KeyValueError.nilValue` if an operator
  ///   can't work on an element.
  /// - Complexity: O(*n*) in the number of elements.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }

  /// Sets a key of each element, in the collection's order: `try rows.setValue(true, forKey: "isSelected")`. The
  /// elements of a collection in this one are set as well; an element that is nil is skipped.
  ///
  /// - Throws: The error of an element's `setValue(_:forKey:)`; the elements before it stay set.
  ///   `KeyValueError.invalidKeyPath` if an element is no object with keys, such as a dictionary, which is a value.
  /// - Complexity: O(*n*) in the number of elements.
  public func setValue(_ value: Any?, forKey key: String) throws {
    try KeyPathCoding.setEach(of: self, key) { try $0.setValue(value, forKey: key) }
  }

  /// Sets the last key of a path that begins at each element: `try rows.setValue(nil, forKeyPath: "owner.name")`. It is
  /// like `setValue(_:forKey:)` otherwise.
  ///
  /// - Throws: The error of an element's `setValue(_:forKeyPath:)`; the elements before it stay set.
  ///   `KeyValueError.invalidKeyPath` if an element is no object with keys.
  /// - Complexity: O(*n*) in the number of elements.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) throws {
    try KeyPathCoding.setEach(of: self, keyPath) { try $0.setValue(value, forKeyPath: keyPath) }
  }
}

/// Key-value coding of dictionaries with string keys.
extension Dictionary where Key == String {
  /// Returns the dictionary's value for a key, without an optional around it, or nil if it has none.
  ///
  /// A key that begins with an @, and that the dictionary doesn't have, is an operator on the dictionary's
  /// values.
  ///
  /// - Throws: `KeyValueError.invalidOperator` for an operator that is unknown, or that needs a key path
  ///   after it.
  public func value(forKey key: String) throws -> Any? {
    if let value = self[key] { return flattened(value) }
    return key.utf8.first == UInt8(ascii: "@") ? try value(forKeyPath: key) : nil
  }

  /// Returns the value at the end of a key path, whose first key is a key of the dictionary. An operator at
  /// the start applies to the dictionary's values.
  ///
  /// - Throws: The error of reading a key on the way. `KeyValueError.invalidKeyPath` for an empty component,
  ///   or one that is read from a value without keys. `KeyValueError.invalidOperator` for an operator that is
  ///   unknown or can't be applied. `KeyValueError.typeMismatch` or `KeyValueError.nilValue` if an operator
  ///   can't work on an element.
  /// - Complexity: Linear in the number of components, and of elements where the path goes through a
  ///   collection.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension Dictionary where Key == AnyHashable {
  /// Returns the dictionary's value for a string key, without an optional around it, or nil if it has none.
  ///
  /// A key that begins with an @, and that the dictionary doesn't have, is an operator on the dictionary's
  /// values.
  ///
  /// - Throws: `KeyValueError.invalidOperator` for an operator that is unknown, or that needs a key path
  ///   after it.
  public func value(forKey key: String) throws -> Any? {
    if let value = self[key] { return flattened(value) }
    return key.utf8.first == UInt8(ascii: "@") ? try value(forKeyPath: key) : nil
  }

  /// Returns the value at the end of a key path, whose first key is a key of the dictionary. An operator at
  /// the start applies to the dictionary's values.
  ///
  /// - Throws: The error of reading a key on the way. `KeyValueError.invalidKeyPath` for an empty component,
  ///   or one that is read from a value without keys. `KeyValueError.invalidOperator` for an operator that is
  ///   unknown or can't be applied. `KeyValueError.typeMismatch` or `KeyValueError.nilValue` if an operator
  ///   can't work on an element.
  /// - Complexity: Linear in the number of components, and of elements where the path goes through a
  ///   collection.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}
