/// The key that a key path names.
///
/// What is neither an `@Observed` property nor declared, but reads such properties, of this object
/// or of others, becomes a key of its own, which is tracked: computed properties, paths over
/// several objects, parts of a value.
extension KVOObject {
  /// The name of an observable key of this class or a superclass. What can't be observed is a
  /// programming error: the program stops, with the property named. Evaluates the key path the
  /// first time that it is used with the class.
  /// - Complexity: O(1) after that.
  func keyName(of keyPath: AnyKeyPath) -> KeyName { observedKey(of: keyPath).name }

  /// The same; nil for what can't be observed.
  func knownKeyName(of keyPath: AnyKeyPath) -> KeyName? { knownKey(of: keyPath)?.name }

  /// The key, which is the key path's as long as the answer lives.
  func observedKey(of keyPath: AnyKeyPath) -> ObservedKey {
    guard let key = knownKey(of: keyPath) else {
      KVODiagnostics.stop(notObservable(keyPath, KVOClass.of(self)))
    }
    return key
  }

  /// The same; nil for what can't be observed.
  func knownKey(of keyPath: AnyKeyPath) -> ObservedKey? {
    let known = KVOClass.of(self)
    let cache = known.keyPaths.contents
    if let name = cache[keyPath] { return ObservedKey(name: name, lease: nil) }
    if keyPath.mayHaveArguments { return leasedKey(of: keyPath, known) }
    return resolve(keyPath, in: known, cache).map { ObservedKey(name: $0, lease: nil) }
  }

  // Not kept, lest it keep the arguments.
  private func leasedKey(of keyPath: AnyKeyPath, _ known: KVOClass) -> ObservedKey? {
    if let property = declared(keyPath, in: known) {
      return ObservedKey(name: checked(property, for: keyPath, in: known).name, lease: nil)
    }
    let lease = known.lease(to: keyPath) {
      let reads = KeyPathReads(of: keyPath, in: self)
      return reads.isObservable ? reads : nil
    }
    return lease.map { ObservedKey(name: $0.name, lease: $0) }
  }

  private func resolve(
    _ keyPath: AnyKeyPath, in known: KVOClass, _ cache: KeyPathCache.Contents
  ) -> KeyName? {
    if let property = declared(keyPath, in: known) {
      return cache.name(for: keyPath) { checked(property, for: keyPath, in: known).name }
    }
    let reads = KeyPathReads(of: keyPath, in: self)
    if let property = stored(keyPath, reads, in: known) {
      return cache.name(for: keyPath) {
        known.observedName(of: checked(property, for: keyPath, in: known))
      }
    }
    guard reads.isObservable else { return nil }
    return cache.name(for: keyPath) { known.track(keyPath, reads) }
  }

  /// The key of an `@Observed` property, by reading it; nil for another key path.
  func storedKey(of keyPath: AnyKeyPath) -> KeyName? {
    let known = KVOClass.of(self)
    return stored(keyPath, KeyPathReads(of: keyPath, in: self), in: known).map(known.observedName)
  }

  private func checked(
    _ property: Property, for keyPath: AnyKeyPath, in known: KVOClass
  ) -> Property {
    guard property.observedType.swiftType == Swift.type(of: keyPath).valueType else {
      KVODiagnostics.stop(notObservable(keyPath, known))
    }
    return property
  }

  private func declared(_ keyPath: AnyKeyPath, in known: KVOClass) -> Property? {
    let declaration = known.declaredKeyPaths.first {
      // A registration for such a name would be one for what it leads to, of whatever type.
      !KeyPathCoding.isPath($0.key) && keyPath.isSame(as: $0.keyPath)
    }
    return declaration.flatMap { known.property($0.key) }.map { observable($0, in: known) }
  }

  private func stored(
    _ keyPath: AnyKeyPath, _ reads: KeyPathReads, in known: KVOClass
  ) -> Property? {
    guard let read = reads.named else { return nil }
    let offset = read.storageOffset + ObjectHeader.offset
    guard
      let field = known.fields.first(where: {
        // Properties that take no room share the offset of the next.
        $0.isObserved && $0.offset == offset
          && $0.type.swiftType == Swift.type(of: keyPath).valueType
      }),
      let property = known.property(field.key), property.storage?.offset == offset
    else { return nil }
    known.learn(read.accessor, of: field.key)
    guard read.isOverridden, property.accessors == nil else { return property }
    return known.learn(override: .keyPath(keyPath), of: field.key) ?? property
  }
}

/// A key that a key path names.
struct ObservedKey {
  let name: KeyName
  /// Of a key path with arguments: what makes it its key.
  let lease: KeyLease?
}
