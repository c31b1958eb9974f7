// Key-value coding of collections, the standard library's and proxies: a key is each element's, an
// operator makes one value of all.

extension Array {
  /// What the elements have for a key, in their order; nil ones as `Optional<Any>.none`. A key that
  /// begins with an @ is an operator, such as `@count`.
  ///
  /// - Throws: as the elements' `value(forKey:)`; `KeyValueError.invalidKeyPath` where an element has
  ///   no keys.
  /// - Complexity: O(*n*).
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// What a key path leads to from each element, or what its operators make of that:
  /// `employees.value(forKeyPath: "@sum.salary")`.
  ///
  /// - Throws: as `KVOObject.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension Set {
  /// What the elements have for a key: a `Set<AnyHashable>`, of nil an empty optional; an array where
  /// that is not hashable. A key that begins with an @ is an operator, such as `@count`.
  ///
  /// - Throws: as the elements' `value(forKey:)`; `KeyValueError.invalidKeyPath` where an element has
  ///   no keys.
  /// - Complexity: O(*n*).
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// What a key path leads to from each element, or what its operators make of that.
  ///
  /// - Throws: as `KVOObject.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension Dictionary where Key == String {
  /// The value that the dictionary has for a key, without an optional around it; nil if it has none. A
  /// key that begins with an @, and that it doesn't have, is an operator.
  ///
  /// - Throws: `KeyValueError.invalidOperator` for an unknown one, or one that needs a key path behind it.
  public func value(forKey key: String) throws -> Any? {
    if let value = self[key] { return flattened(value) }
    return key.utf8.first == UInt8(ascii: "@") ? try value(forKeyPath: key) : nil
  }

  /// Reads a key path, whose first key is one of the dictionary's. An operator works on the dictionary's
  /// values.
  ///
  /// - Throws: as `KVOObject.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension Dictionary where Key == AnyHashable {
  /// The value that the dictionary has for a key, as that of a dictionary whose keys are strings.
  ///
  /// - Throws: `KeyValueError.invalidOperator` for an unknown operator, or one that needs a key path behind it.
  public func value(forKey key: String) throws -> Any? {
    if let value = self[key] { return flattened(value) }
    return key.utf8.first == UInt8(ascii: "@") ? try value(forKeyPath: key) : nil
  }

  /// Reads a key path, whose first key is one of the dictionary's. An operator works on the dictionary's
  /// values.
  ///
  /// - Throws: as `KVOObject.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

// MARK: Proxies

extension ArrayProxy {
  /// What the elements have for a key, as of an `Array` or `Set`. A key that begins with an @ is an
  /// operator, such as `@count`.
  ///
  /// - Throws: as the elements' `value(forKey:)`.
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// What a key path leads to from each element, or what its operators make of that.
  ///
  /// - Throws: as `KVOObject.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension SetProxy {
  /// What the elements have for a key, as of an `Array` or `Set`. A key that begins with an @ is an
  /// operator, such as `@count`.
  ///
  /// - Throws: as the elements' `value(forKey:)`.
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// What a key path leads to from each element, or what its operators make of that.
  ///
  /// - Throws: as `KVOObject.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension MutableArrayProxy {
  /// What the elements have for a key, as of an `Array` or `Set`. A key that begins with an @ is an
  /// operator, such as `@count`.
  ///
  /// - Throws: as the elements' `value(forKey:)`.
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// What a key path leads to from each element, or what its operators make of that.
  ///
  /// - Throws: as `KVOObject.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension MutableSetProxy {
  /// What the elements have for a key, as of an `Array` or `Set`. A key that begins with an @ is an
  /// operator, such as `@count`.
  ///
  /// - Throws: as the elements' `value(forKey:)`.
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// What a key path leads to from each element, or what its operators make of that.
  ///
  /// - Throws: as `KVOObject.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}

extension MutableOrderedSetProxy {
  /// What the elements have for a key, as of an `Array` or `Set`. A key that begins with an @ is an
  /// operator, such as `@count`.
  ///
  /// - Throws: as the elements' `value(forKey:)`.
  public func value(forKey key: String) throws -> Any? {
    try KeyPathCoding.value(forKey: key, ofElementsOf: self)
  }

  /// What a key path leads to from each element, or what its operators make of that.
  ///
  /// - Throws: as `KVOObject.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    try KeyPathCoding.value(keyPath, ofElementsOf: self)
  }
}
