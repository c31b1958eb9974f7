// What stands behind the mutable proxies of a key: declared accessors that read, and change if there
// is a pair of them; else the property; else whatever answers the key.
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

/// A key of an object; the class has no property for one that only the object answers.
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

/// What has mutable to-many keys.
protocol ToManyOwner {
  func mutableArrayValue(forKey key: String) throws -> MutableArrayProxy
  func mutableSetValue(forKey key: String) throws -> MutableSetProxy
  func mutableOrderedSetValue(forKey key: String) throws -> MutableOrderedSetProxy
}

extension KVOObject: ToManyOwner {}

extension KVOObject {
  /// Hands on the last key of a path, and the object that the rest leads to.
  func atEnd<R>(of keyPath: String, _ body: (any ToManyOwner, String) throws -> R) throws -> R {
    let (target, key) = try KeyPathCoding.lastKey(of: keyPath, from: self)
    guard let owner = target as? any ToManyOwner else {
      throw KeyValueError.invalidKeyPath(
        keyPath: keyPath, component: key, className: className(of: type(of: self)))
    }
    return try body(owner, key)
  }
}
