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
    return nil
  }

  /// Makes a key path a key of its own: computed, and tracked.
  func track(_ keyPath: AnyKeyPath, _ reads: KeyPathReads) -> Property {
    let property = Property(
      name: nameOfTracked(reads), storage: nil,
      accessors: .keyPath(keyPath, .tracked(isPath: reads.isPath)), setter: nil, isManual: false)
    property.add(to: cClass)
    return property
  }

  // What it reads is what a dump can say of it. No string names it: a key has no backslash, and this
  // no dot.
  private func nameOfTracked(_ reads: KeyPathReads) -> KeyName {
    let number = trackedKeys.withLock { count in
      count += 1
      return count
    }
    let owner = String(name.map { $0 == "." ? "/" : $0 })
    return .of("\\\(owner)#\(number)(\(reads.names.joined(separator: ", ")))")
  }
}
