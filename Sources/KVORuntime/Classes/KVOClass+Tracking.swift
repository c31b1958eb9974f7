/// Keys of what has no name: of key paths that are observed by what they read (F5, F6). The class makes a key for
/// such a key path, or leases it one (`ArgumentKeys`), and the C core tracks that by reading it (`tracking.c`).
extension KVOClass {
  /// The key of the `@Observed` property that lies so far behind the header. O(1) after the first
  /// call. Any thread.
  func storedKey(at offset: Int) -> KeyName? {
    guard let address = UnsafeRawPointer(bitPattern: offset + ObjectHeader.offset) else {
      return nil
    }
    return storedKeys[address] ?? findStoredKey(at: address)
  }

  // Of two properties of one name the subclass's has the key. One that takes no room has no offset
  // of its own.
  private func findStoredKey(at address: UnsafeRawPointer) -> KeyName? {
    let offset = Int(bitPattern: address)
    let learned = KVOClass.lock.withLock { Array(preparation.learned.values) }
    for field in fields + learned
    where field.isObserved && field.offset == offset && !isNoKeyPath(field.key) {
      if let property = property(field.key), property.observedStorage?.offset == offset {
        return storedKeys.insert(property.name, at: address)
      }
    }
    let hidden = fields.first { $0.isObserved && $0.offset == offset && $0.type.hasRoom }
    return hidden.map { storedKeys.insert(name(ofHidden: $0), at: address) }
  }

  /// Whether the name of a property, which is its key to key-value coding, is taken apart as a key path:
  /// `` `my.name` ``. What is declared has the key that the program gave it.
  func isNoKeyPath(_ name: String) -> Bool {
    KeyPathCoding.isPath(name) && property(name)?.accessors == nil
  }

  /// The key under which a stored property is observed.
  func observedName(of property: Property) -> KeyName {
    guard isNoKeyPath(property.name.string), let storage = property.observedStorage else {
      return property.name
    }
    return storedKey(at: storage.offset - ObjectHeader.offset) ?? property.name
  }

  // A superclass's property whose name a subclass's own has taken, private as both may be; one whose name is
  // no key path.
  private func name(ofHidden field: Field) -> KeyName {
    let property = Property(
      name: unspellable("\(name)+\(field.offset):\(field.key)"), storage: field, accessors: nil,
      isManual: false)
    property.add(to: cClass)
    return property.name
  }

  /// Makes a key path a key of its own: computed, and tracked. One that names the same, of a
  /// superclass, is the same key.
  func track(_ keyPath: AnyKeyPath, _ reads: KeyPathReads) -> KeyName {
    if let known = tracked(like: keyPath) { return known }
    return addTracked(
      reads.names, .keyPath(keyPath, .tracked(isPath: reads.isPath)), for: keyPath)
  }

  /// Leases a key to a key path with arguments.
  /// - Parameter reads: what it reads now; nil for what can't be observed. Called without a lock.
  func lease(to keyPath: AnyKeyPath, _ reads: () -> KeyPathReads?) -> KeyLease? {
    // Equal key paths of this class and of a superclass are the same, with this class as their root.
    let keyPath = keyPath.rerooted(to: type)
    return argumentKeys.key(of: keyPath) {
      reads().map {
        ArgumentKey.Kind(
          type: ObjectIdentifier(Swift.type(of: keyPath).valueType), isPath: $0.isPath,
          reads: $0.names)
      }
    } _: { kind in
      let accessors = LeasedAccessors(
        type: .of(any: Swift.type(of: keyPath).valueType), keyPath: nil,
        .tracked(isPath: kind.isPath))
      return ArgumentKey(kind, addTracked(kind.reads, accessors), accessors)
    }
  }

  private func addTracked(
    _ reads: [String], _ accessors: Accessors?, for keyPath: AnyKeyPath? = nil
  ) -> KeyName {
    let number = trackedKeys.withLock { keys in
      keys.count += 1
      return keys.count
    }
    let property = Property(
      name: nameOfTracked(reads, number), storage: nil, accessors: accessors,
      isManual: false)
    property.add(to: cClass)
    if let keyPath {
      let key = TrackedKey(keyPath: keyPath, name: property.name)
      trackedKeys.withLock { $0.byKeyPath.append(key) }
    }
    return property.name
  }

  private func tracked(like keyPath: AnyKeyPath) -> KeyName? {
    trackedKeys.withLock { $0.byKeyPath }.first {
      Swift.type(of: $0.keyPath).valueType == Swift.type(of: keyPath).valueType
        && ($0.keyPath.isSame(as: keyPath) || keyPath.isSame(as: $0.keyPath))
    }?.name
  }

  /// The key path that has a key of its own.
  func trackedKeyPath(ofKey key: String) -> AnyKeyPath? {
    trackedKeys.withLock { $0.byKeyPath }.first { $0.name.string == key }?.keyPath
  }

  // What it reads is what a dump can say of it. Of equal length, so that the first comes first where
  // keys go by their names.
  private func nameOfTracked(_ reads: [String], _ number: Int) -> KeyName {
    let digits = String(number)
    let padded = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    return unspellable("\(name)#\(padded)(\(reads.joined(separator: ", ")))")
  }

  // A name that no key has, since it begins with a backslash, and that is no path.
  private func unspellable(_ text: String) -> KeyName {
    .of("\\" + String(text.map { $0 == "." || $0 == "@" ? "/" : $0 }))
  }
}

/// What has keys without having names.
struct TrackedKeys {
  /// How many such keys there are.
  var count = 0
  /// Key paths that have keys for ever, in the order in which they got them.
  var byKeyPath: [TrackedKey] = []
}

/// A key path, without arguments, that has a key of its own.
struct TrackedKey: @unchecked Sendable {
  let keyPath: AnyKeyPath
  let name: KeyName
}

extension ValueType {
  var hasRoom: Bool { cType.pointee.size > 0 }
}
