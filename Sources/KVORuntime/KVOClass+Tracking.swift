/// Keys of what has no name: of key paths that are observed by what they read.
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
    for field in fields + learned where field.isObserved && field.offset == offset {
      if let property = property(field.key), property.observedStorage?.offset == offset {
        return storedKeys.insert(property.name, at: address)
      }
    }
    let hidden = fields.first { $0.isObserved && $0.offset == offset && $0.type.hasRoom }
    return hidden.map { storedKeys.insert(name(ofHidden: $0), at: address) }
  }

  // A superclass's property whose name a subclass's own has taken, private as both may be.
  private func name(ofHidden field: Field) -> KeyName {
    let property = Property(
      name: unspellable("\(name)+\(field.offset):\(field.key)"), storage: field, accessors: nil,
      setter: nil, isManual: false)
    property.add(to: cClass)
    return property.name
  }

  /// Makes a key path a key of its own: computed, and tracked. One that names the same, of a
  /// superclass, is the same key.
  func track(_ keyPath: AnyKeyPath, _ reads: KeyPathReads) -> KeyName {
    if let known = tracked(like: keyPath) { return known }
    let number = trackedKeys.withLock { $0.count + 1 }
    let property = Property(
      name: nameOfTracked(reads, number), storage: nil,
      accessors: .keyPath(keyPath, .tracked(isPath: reads.isPath)), setter: nil, isManual: false)
    property.add(to: cClass)
    trackedKeys.withLock { $0.append(TrackedKey(keyPath: keyPath, name: property.name)) }
    return property.name
  }

  private func tracked(like keyPath: AnyKeyPath) -> KeyName? {
    trackedKeys.withLock { $0 }.first {
      Swift.type(of: $0.keyPath).valueType == Swift.type(of: keyPath).valueType
        && ($0.keyPath.isSame(as: keyPath) || keyPath.isSame(as: $0.keyPath))
    }?.name
  }

  // What it reads is what a dump can say of it. Of equal length, so that the first comes first where
  // keys go by their names.
  private func nameOfTracked(_ reads: KeyPathReads, _ number: Int) -> KeyName {
    let digits = String(number)
    let padded = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    return unspellable("\(name)#\(padded)(\(reads.names.joined(separator: ", ")))")
  }

  // A name that no key has, since it begins with a backslash, and that is no path.
  private func unspellable(_ text: String) -> KeyName {
    .of("\\" + String(text.map { $0 == "." || $0 == "@" ? "/" : $0 }))
  }
}

/// A key path that has a key of its own.
// As in KeyPathCache, one with an argument that is not sendable is evaluated where what it reads is
// changed.
struct TrackedKey: @unchecked Sendable {
  let keyPath: AnyKeyPath
  let name: KeyName
}

extension ValueType {
  fileprivate var hasRoom: Bool { cType.pointee.size > 0 }
}
