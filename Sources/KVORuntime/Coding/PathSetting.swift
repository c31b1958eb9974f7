/// The setting of a key path's last key, where collections or dictionaries are on the way.
///
/// Objects are changed as they are. Dictionaries, and collections of them, are values: a changed copy
/// takes the place of each, as far up as an object, whose key is set to it.
struct PathSetting {
  let keyPath: String
  /// Of what the path begins at, for messages.
  let className: String
  let value: Any?

  /// The path's keys, which it has been found to have.
  var keys: ArraySlice<String> {
    // By bytes, as the C core does: a mark that follows a dot is not the dot's.
    keyPath.utf8.split(separator: UInt8(ascii: ".")).map { String(Substring($0)) }
      .filter { $0 != "self" }[...]
  }

  /// Whether a value is a dictionary, or has some in it.
  static func hasDictionaries(_ value: Any) -> Bool {
    if let elements = AnyElements(value) {
      return elements.all.contains { flattened($0).map(hasDictionaries) ?? false }
    }
    return keyedValue(value) != nil
  }

  /// Sets the last of some keys, of which the first is one of the holder's.
  /// - Returns: what takes the holder's place; nil if it stays.
  func change(_ holder: Any?, _ keys: ArraySlice<String>) throws -> Any? {
    guard let holder = holder.flatMap(flattened), let key = keys.first else { return nil }
    if let object = holder as? any KeyedObject {
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

/// What has keys and is changed as it is.
protocol KeyedObject: AnyObject {
  func value(forKey key: String) throws -> Any?
  func setValue(_ value: Any?, forKey key: String) throws
}

extension KVOObject: KeyedObject {}
extension ForeignObject: KeyedObject {}
