/// Keys for key paths that have no name and are observed through the properties that they read (F5, F6). The
/// class creates or leases (`SubscriptKeyPool`) a key for such a key path. The C core tracks the key by reading
/// it (`tracking.c`).
extension KVOClass {
  /// The key of the `@Observed` property at an offset from the header. O(1) after the first call. Any thread.
  func storedKey(at offset: Int) -> KeyName? {
    guard let address = UnsafeRawPointer(bitPattern: offset + ObjectHeader.offset) else {
      return nil
    }
    return storedKeys[address] ?? findStoredKey(at: address)
  }

  // A property of a zero-sized type shares its offset with another one.
  private func findStoredKey(at address: UnsafeRawPointer) -> KeyName? {
    let offset = Int(bitPattern: address)
    let learned = KVOClass.lock.withLock { Array(preparation.learned.values) }
    for field in fields + learned
    where field.isObserved && field.offset == offset && !isNoKeyPath(field.key) {
      if let property = property(name(of: field)), property.observedStorage?.offset == offset {
        return storedKeys.insert(property.name, at: address)
      }
    }
    let unnamed = fields.first { $0.isObserved && $0.offset == offset && $0.type.hasRoom }
    return unnamed.map { storedKeys.insert(name(ofUnnamed: $0), at: address) }
  }

  /// Whether a property's name is parsed as a key path, as that of `` `my.name` ``, although it is a key for
  /// key-value coding. A declared key is spelled as the program chose, and never parsed so.
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

  // Creates a key for a property whose name would be parsed as a key path, or has been declared as the key of another
  // one.
  private func name(ofUnnamed field: Field) -> KeyName {
    let property = Property(
      name: unspellable("\(name)+\(field.offset):\(field.key)"), storage: field, accessors: nil,
      isManual: false)
    property.add(to: cClass, of: type)
    return property.name
  }

  /// Makes a key path a tracked key of its own. An equal key path whose root is a superclass has the same
  /// key.
  func track(_ keyPath: AnyKeyPath, _ reads: KeyPathReadRecorder) -> KeyName {
    if let known = tracked(like: keyPath) { return known }
    return addTracked(
      reads.names, .keyPath(keyPath, .tracked(reads.kind)), for: keyPath)
  }

  /// Leases a key to a key path with arguments.
  /// - Parameter reads: Returns the properties that it reads now, or nil if it can't be observed. Called
  ///   without a lock.
  func lease(to keyPath: AnyKeyPath, _ reads: () -> KeyPathReadRecorder?) -> SubscriptKeyLease? {
    // Equal key paths with this class and with a superclass as their root get the same key, so this class
    // becomes the root.
    let keyPath = keyPath.rerooted(to: type)
    return argumentKeys.lease(to: keyPath) {
      reads().map {
        SubscriptKey.Kind(
          type: ObjectIdentifier(Swift.type(of: keyPath).valueType), kind: $0.kind,
          reads: $0.names)
      }
    } _: { kind in
      let accessors = SubscriptKeyAccessors(
        type: .of(any: Swift.type(of: keyPath).valueType), keyPath: nil,
        .tracked(kind.kind))
      return SubscriptKey(kind, addTracked(kind.reads, accessors), accessors)
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
    property.add(to: cClass, of: type)
    if let keyPath {
      let key = TrackedKey(keyPath: keyPath, name: property.name)
      trackedKeys.withLock { $0.byKeyPath.append(key) }
    }
    return property.name
  }

  private func tracked(like keyPath: AnyKeyPath) -> KeyName? {
    trackedKeys.withLock { $0.byKeyPath }.first {
      Swift.type(of: $0.keyPath).valueType == Swift.type(of: keyPath).valueType
        && $0.keyPath.isSameInObject(as: keyPath)
    }?.name
  }

  /// The key path that has a key of its own.
  func trackedKeyPath(ofKey key: String) -> AnyKeyPath? {
    trackedKeys.withLock { $0.byKeyPath }.first { $0.name.string == key }?.keyPath
  }

  /// A key path as in source text, if it has this generated key; nil for the name of a property.
  func keyInSource(_ key: String) -> String? {
    guard key.hasPrefix("\\") else { return nil }
    return trackedKeyPath(ofKey: key)?.text(ofKey: key) ?? argumentKeys.keyPath(ofKey: key)?.text
  }

  /// A key for messages: `"name" of Person`, or `\Person.list[…]`.
  func subject(ofKey key: String) -> String { keyInSource(key) ?? "\(quoted(key)) of \(name)" }

  // The properties that it reads, so that a dump is readable. The number is padded, so that sorting by name
  // keeps the order of creation.
  private func nameOfTracked(_ reads: [String], _ number: Int) -> KeyName {
    let digits = String(number)
    let padded = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    var once: [String] = []
    for read in reads where !once.contains(read) { once.append(read) }
    return unspellable("\(name)#\(padded)(\(once.joined(separator: ", ")))")
  }

  // No property has such a name, because it begins with a backslash. It is not a path either.
  func unspellable(_ text: String) -> KeyName {
    .of("\\" + String(text.map { $0 == "." || $0 == "@" ? "/" : $0 }))
  }
}

/// The keys of key paths that have no name.
struct TrackedKeys {
  /// The number of such keys.
  var count = 0
  /// Key paths that keep their keys forever, in the order of creation.
  var byKeyPath: [TrackedKey] = []
}

/// A key path without arguments and its key.
struct TrackedKey: @unchecked Sendable {
  let keyPath: AnyKeyPath
  let name: KeyName
}

extension ValueType {
  var hasRoom: Bool { cType.pointee.size > 0 }
}
