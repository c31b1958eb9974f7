/// Sets a key path's last key if collections or dictionaries are on the way.
///
/// Objects are changed in place. Dictionaries, and collections of dictionaries, are values: each is replaced
/// by a changed copy, up to the nearest object, whose key is set to the copy.
struct PathSetting {
  let keyPath: String
  /// The class of the value at which the path begins, for messages.
  let className: String
  let value: Any?

  /// The path's keys. The path was read before, so they are valid.
  var keys: ArraySlice<String> {
    // Split by bytes, as in the C core. In a `Character` a combining mark after a dot would be part of the
    // dot.
    keyPath.utf8.split(separator: UInt8(ascii: ".")).map { String(Substring($0)) }
      .filter { $0 != "self" }[...]
  }

  /// Whether a value is a dictionary or contains dictionaries.
  static func hasDictionaries(_ value: Any) -> Bool {
    if let elements = AnyElements(value) {
      return elements.all.contains { flattened($0).map(hasDictionaries) ?? false }
    }
    return keyedValue(value) != nil
  }

  /// Sets the last of several keys; the first is a key of the holder.
  /// - Returns: The holder's replacement, or nil if it stays.
  func change(_ holder: Any?, _ keys: ArraySlice<String>) throws -> Any? {
    guard let holder = holder.flatMap(flattened), let key = keys.first else { return nil }
    if let object = objectCast(holder, to: (any KeyedObject).self) {
      try change(object, key, keys.dropFirst())
      return nil
    }
    if let elements = AnyElements(holder) { return try changeEach(of: elements, keys) }
    guard let dictionary = keyedValue(holder) else {
      throw KeyValueError.invalidKeyPath(keyPath: keyPath, component: key, className: className)
    }
    return try change(dictionary, key, keys.dropFirst())
  }

  private func change(
    _ object: any KeyedObject, _ key: String, _ rest: ArraySlice<String>
  ) throws {
    if rest.isEmpty { return try object.setValue(value, forKey: key) }
    guard let changed = try change(object.value(forKey: key), rest) else { return }
    try object.setValue(changed, forKey: key)
  }

  private func change(
    _ dictionary: any KeyedValue, _ key: String, _ rest: ArraySlice<String>
  ) throws -> Any? {
    guard !rest.isEmpty else { return try setting(value, key, in: dictionary) }
    guard let changed = try change(dictionary.member(forKey: key), rest) else { return nil }
    return try setting(changed, key, in: dictionary)
  }

  private func changeEach(of elements: AnyElements, _ keys: ArraySlice<String>) throws -> Any? {
    var hasChanged = false
    let changed: [Any] = try elements.all.map { element in
      guard let changed = try change(element, keys) else { return element }
      hasChanged = true
      return changed
    }
    guard hasChanged else { return nil }
    return elements.isOrdered ? changed : Set(changed.compactMap { $0 as? AnyHashable })
  }

  private func setting(
    _ value: Any?, _ key: String, in dictionary: any KeyedValue
  ) throws -> Any {
    if let changed = dictionary.setting(value, forKey: key) { return changed }
    throw KeyValueError.typeMismatch(
      key: key, className: swiftName(of: type(of: dictionary)),
      expected: swiftName(of: dictionary.memberType),
      found: ValueType.of(any: dictionary.memberType).found(value))
  }
}

/// An object that has keys and is changed in place.
protocol KeyedObject: AnyObject {
  func value(forKey key: String) throws -> Any?
  func setValue(_ value: Any?, forKey key: String) throws
  func setValue(_ value: Any?, forKeyPath keyPath: String) throws
}

extension KVOObject: KeyedObject {}
extension ForeignObject: KeyedObject {}
