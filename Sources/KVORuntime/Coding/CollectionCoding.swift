// Key-value coding of collections, the standard library's and proxies: a key is read from each element, and
// an operator computes one value from all.

extension Array {
  /// Returns the values that the elements have for a key, in their order. A nil value is `Optional<Any>.none`
  /// in the result.
  ///
  /// A key that begins with an @, such as `@count`, is an operator on the elements.
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
}

extension Set {
  /// Returns the values that the members have for a key, as a `Set<AnyHashable>`. A nil value is an empty
  /// optional in it. If the values are not hashable, the result is an array.
  ///
  /// A key that begins with an @, such as `@count`, is an operator on the members.
  ///
  /// - Throws: The error of a member's `value(forKey:)`; `KeyValueError.invalidKeyPath` if a member has no
  ///   keys; `KeyValueError.invalidOperator` for an unknown operator.
  /// - Complexity: O(*n*) in the number of members.
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// Returns the values of a key path, read from each member, or the result of its operators on them:
  /// `employees.value(forKeyPath: "@sum.salary")`.
  ///
  /// - Throws: The error of reading a key on the way. `KeyValueError.invalidKeyPath` for an empty component,
  ///   or one that is read from a value without keys. `KeyValueError.invalidOperator` for an operator that is
  ///   unknown or can't be applied. `KeyValueError.typeMismatch` or `KeyValueError.nilValue` if an operator
  ///   can't work on an element.
  /// - Complexity: O(*n*) in the number of members.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

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

// MARK: Proxies

extension ArrayProxy {
  /// Returns the values that the elements have for a key, in their order. A nil value is `Optional<Any>.none`
  /// in the result.
  ///
  /// A key that begins with an @, such as `@count`, is an operator on the elements.
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
}

extension SetProxy {
  /// Returns the values that the members have for a key, as a `Set<AnyHashable>`. A nil value is an empty
  /// optional in it. If the values are not hashable, the result is an array.
  ///
  /// A key that begins with an @, such as `@count`, is an operator on the members.
  ///
  /// - Throws: The error of a member's `value(forKey:)`; `KeyValueError.invalidKeyPath` if a member has no
  ///   keys; `KeyValueError.invalidOperator` for an unknown operator.
  /// - Complexity: O(*n*) in the number of members.
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// Returns the values of a key path, read from each member, or the result of its operators on them:
  /// `employees.value(forKeyPath: "@sum.salary")`.
  ///
  /// - Throws: The error of reading a key on the way. `KeyValueError.invalidKeyPath` for an empty component,
  ///   or one that is read from a value without keys. `KeyValueError.invalidOperator` for an operator that is
  ///   unknown or can't be applied. `KeyValueError.typeMismatch` or `KeyValueError.nilValue` if an operator
  ///   can't work on an element.
  /// - Complexity: O(*n*) in the number of members.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension MutableArrayProxy {
  /// Returns the values that the elements have for a key, in their order. A nil value is `Optional<Any>.none`
  /// in the result.
  ///
  /// A key that begins with an @, such as `@count`, is an operator on the elements.
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
}

extension MutableSetProxy {
  /// Returns the values that the members have for a key, as a `Set<AnyHashable>`. A nil value is an empty
  /// optional in it. If the values are not hashable, the result is an array.
  ///
  /// A key that begins with an @, such as `@count`, is an operator on the members.
  ///
  /// - Throws: The error of a member's `value(forKey:)`; `KeyValueError.invalidKeyPath` if a member has no
  ///   keys; `KeyValueError.invalidOperator` for an unknown operator.
  /// - Complexity: O(*n*) in the number of members.
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// Returns the values of a key path, read from each member, or the result of its operators on them:
  /// `employees.value(forKeyPath: "@sum.salary")`.
  ///
  /// - Throws: The error of reading a key on the way. `KeyValueError.invalidKeyPath` for an empty component,
  ///   or one that is read from a value without keys. `KeyValueError.invalidOperator` for an operator that is
  ///   unknown or can't be applied. `KeyValueError.typeMismatch` or `KeyValueError.nilValue` if an operator
  ///   can't work on an element.
  /// - Complexity: O(*n*) in the number of members.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension MutableOrderedSetProxy {
  /// Returns the values that the elements have for a key, in their order. A nil value is `Optional<Any>.none`
  /// in the result.
  ///
  /// A key that begins with an @, such as `@count`, is an operator on the elements.
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
}
