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
    switch value {
    case is any KeyedValue: true
    case let elements as any CollectionValue:
      elements.contains { flattened($0).map(hasDictionaries) ?? false }
    default: false
    }
  }

  /// Sets the last of some keys, of which the first is one of the holder's.
  /// - Returns: what takes the holder's place; nil if it stays.
  func change(_ holder: Any?, _ keys: ArraySlice<String>) throws -> Any? {
    guard let holder = holder.flatMap(flattened), let key = keys.first else { return nil }
    switch holder {
    case let object as any KeyedObject:
      try change(object, key, keys.dropFirst())
      return nil
    case let dictionary as any KeyedValue: return try change(dictionary, key, keys.dropFirst())
    case let proxy as any ProxyValue: return try changeEach(of: proxy.elements, keys)
    case let elements as any CollectionValue: return try changeEach(of: elements, keys)
    default:
      throw KeyValueError.invalidKeyPath(keyPath: keyPath, component: key, className: className)
    }
  }

  private func change(
    _ object: any KeyedObject, _ key: String, _ rest: ArraySlice<String>
  ) throws {
    if rest.isEmpty { return try object.setValue(value, forKey: key) }
    guard let changed = try change(object.value(forKey: key), rest) else { return }
    try object.setValue(changed, forKey: key)
  }

  private func change<D: KeyedValue>(
    _ dictionary: D, _ key: String, _ rest: ArraySlice<String>
  ) throws -> Any? {
    guard !rest.isEmpty else { return try dictionary.setting(value, forKey: key, or: mismatch) }
    guard let changed = try change(dictionary.value(forKey: key), rest) else { return nil }
    return try dictionary.setting(changed, forKey: key, or: mismatch)
  }

  private func changeEach<C: CollectionValue>(
    of elements: C, _ keys: ArraySlice<String>
  ) throws -> Any? {
    var hasChanged = false
    let changed: [Any] = try elements.map { element in
      guard let changed = try change(element, keys) else { return element }
      hasChanged = true
      return changed
    }
    guard hasChanged else { return nil }
    return C.isOrdered ? changed : Set(changed.compactMap { $0 as? AnyHashable })
  }

  private func mismatch(_ key: String, _ dictionary: any KeyedValue) -> KeyValueError {
    .typeMismatch(
      key: key, className: KVORuntime.className(of: type(of: dictionary)),
      expected: KVORuntime.className(of: type(of: dictionary).valueType.swiftType),
      found: typeName(of: value))
  }
}

/// What has keys and is changed as it is.
protocol KeyedObject: AnyObject {
  func value(forKey key: String) throws -> Any?
  func setValue(_ value: Any?, forKey key: String) throws
}

extension KVOObject: KeyedObject {}
extension ForeignObject: KeyedObject {}

extension KeyedValue {
  fileprivate func setting(
    _ value: Any?, forKey key: String, or mismatch: (String, any KeyedValue) -> KeyValueError
  ) throws -> Self {
    guard let changed = setting(value, forKey: key) else { throw mismatch(key, self) }
    return changed
  }
}
