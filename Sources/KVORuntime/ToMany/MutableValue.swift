// The contents of a key's mutable proxies. Declared accessors are used for reading, and for changing if there
// is a pair of them. Otherwise the property is used, or else key-value coding.
extension KVOObject {
  func orderedContents(forKey key: String) throws -> OrderedContents {
    let found = try toManyKey(key)
    let declared = found.property?.toMany?.ordered(found.key)
    let held = found.property.flatMap {
      $0.valueType?.shape?.ordered(CollectionPlace(key: found.key, property: $0))
    }
    let keyed = KeyedArray(key: found.key, property: found.property)
    let fallback: any OrderedReading & OrderedMutation = held ?? keyed
    return OrderedContents(
      key: key, className: found.key.className, reading: declared?.reading ?? fallback,
      mutation: declared?.mutation ?? (found.isWritable ? fallback : nil))
  }

  func memberContents(forKey key: String) throws -> MemberContents {
    let found = try toManyKey(key)
    let declared = found.property?.toMany?.unordered(found.key)
    let held = found.property.flatMap {
      $0.valueType?.shape?.unordered(CollectionPlace(key: found.key, property: $0))
    }
    let fallback: any MemberReading & MemberMutation =
      held ?? KeyedSet(key: found.key, property: found.property)
    return MemberContents(
      key: key, className: found.key.className, reading: declared?.reading ?? fallback,
      mutation: declared?.mutation ?? (found.isWritable ? fallback : nil))
  }
}

/// A key of an object. `property` is nil if only the object's hook for undefined keys answers it.
private struct FoundKey {
  let key: ToManyKey
  let property: Property?
  var isWritable: Bool { property?.isWritable ?? true }
}

extension KVOObject {
  fileprivate func toManyKey(_ key: String) throws -> FoundKey {
    if let property = KVOClass.of(self).property(key) {
      if let type = property.valueType?.swiftType, FoundationLink.lacksCollection(type) {
        throw KeyValueError.typeMismatch(
          key: key, className: className(of: Swift.type(of: self)), expected: swiftName(of: type),
          found: "elements")
      }
      return FoundKey(key: ToManyKey(object: self, name: property.name), property: property)
    }
    _ = try value(forKey: key)
    let name = try key.withKey(className(of: type(of: self))) { _ in KeyName.of(key) }
    return FoundKey(key: ToManyKey(object: self, name: name), property: nil)
  }
}

// MARK: Key paths

/// A type that has mutable to-many keys.
protocol ToManyOwner {
  func mutableArrayValue(forKey key: String) throws -> MutableArrayProxy
  func mutableSetValue(forKey key: String) throws -> MutableSetProxy
  func mutableOrderedSetValue(forKey key: String) throws -> MutableOrderedSetProxy
}

extension KVOObject: ToManyOwner {}

extension KVOObject {
  /// Calls a body with the last key of a path, and the object to which the rest of the path leads.
  func atEnd<R>(of keyPath: String, _ body: (any ToManyOwner, String) throws -> R) throws -> R {
    let (target, key) = try KeyPathCoding.lastKey(of: keyPath, from: self)
    guard let owner = objectCast(target, to: (any ToManyOwner).self) else {
      throw KeyValueError.invalidKeyPath(
        keyPath: keyPath, component: key, className: className(of: type(of: self)))
    }
    return try body(owner, key)
  }
}
