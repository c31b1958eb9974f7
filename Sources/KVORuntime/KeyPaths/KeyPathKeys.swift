/// Maps key paths to keys.
///
/// A key path that names neither an `@Observed` property nor a declared key, but reads such properties (of
/// any object), becomes a tracked key of its own. Examples are computed properties, paths over several
/// objects, and parts of a value.
extension KVOObject {
  /// Returns the name of the key that a key path names. Stops the program, naming the property, if the key
  /// path can't be observed. Evaluates the key path on its first use with the class.
  /// - Complexity: O(1) after the first use.
  func keyName(of keyPath: AnyKeyPath) -> KeyName { observedKey(of: keyPath).name }

  /// Returns the name of the key that a key path names; nil if the key path can't be observed.
  func knownKeyName(of keyPath: AnyKeyPath) -> KeyName? { knownKey(of: keyPath)?.name }

  /// Returns the key that a key path names; stops the program if it can't be observed. The caller must keep
  /// the result for as long as it uses the key.
  func observedKey(of keyPath: AnyKeyPath, _ caller: Caller? = nil) -> ObservedKey {
    guard let key = knownKey(of: keyPath, caller) else {
      KVODiagnostics.stop(notObservable(keyPath, KVOClass.of(self)), for: caller)
    }
    return key
  }

  /// Returns the key that a key path names; nil if the key path can't be observed.
  func knownKey(of keyPath: AnyKeyPath, _ caller: Caller? = nil) -> ObservedKey? {
    let known = KVOClass.of(self)
    let cache = known.keyPaths.contents
    if let name = cache[keyPath] { return ObservedKey(name: name, lease: nil) }
    if keyPath.mayHaveArguments { return leasedKey(of: keyPath, known, caller) }
    return resolve(keyPath, in: known, cache, caller).map { ObservedKey(name: $0, lease: nil) }
  }

  // Not cached: the cache would keep the arguments alive.
  private func leasedKey(
    of keyPath: AnyKeyPath, _ known: KVOClass, _ caller: Caller?
  ) -> ObservedKey? {
    if let property = declared(keyPath, in: known) {
      return ObservedKey(name: checked(property, for: keyPath, in: known, caller).name, lease: nil)
    }
    let lease = known.lease(to: keyPath) {
      let reads = KeyPathReadRecorder(of: keyPath, in: self)
      return reads.isObservable ? reads : nil
    }
    return lease.map { ObservedKey(name: $0.name, lease: $0) }
  }

  private func resolve(
    _ keyPath: AnyKeyPath, in known: KVOClass, _ cache: KeyPathCache.Contents, _ caller: Caller?
  ) -> KeyName? {
    if let property = declared(keyPath, in: known) {
      return cache.name(for: keyPath) { checked(property, for: keyPath, in: known, caller).name }
    }
    let reads = KeyPathReadRecorder(of: keyPath, in: self)
    if let property = stored(keyPath, reads, in: known) {
      return cache.name(for: keyPath) {
        known.observedName(of: checked(property, for: keyPath, in: known, caller))
      }
    }
    guard reads.isObservable else { return nil }
    return cache.name(for: keyPath) { known.track(keyPath, reads) }
  }

  /// Reads the property and returns it if it is an `@Observed` one; nil for any other key path.
  func storedProperty(of keyPath: AnyKeyPath) -> Property? {
    stored(keyPath, KeyPathReadRecorder(of: keyPath, in: self), in: KVOClass.of(self))
  }

  private func checked(
    _ property: Property, for keyPath: AnyKeyPath, in known: KVOClass, _ caller: Caller?
  ) -> Property {
    guard property.observedType.swiftType == Swift.type(of: keyPath).valueType else {
      KVODiagnostics.stop(notObservable(keyPath, known), for: caller)
    }
    return property
  }

  private func declared(_ keyPath: AnyKeyPath, in known: KVOClass) -> Property? {
    let declaration = known.declaredKeyPaths.first {
      // A name with a dot would be observed as a key path, whose value has another type.
      !KeyPathCoding.isPath($0.key) && keyPath.isSame(as: $0.keyPath)
    }
    return declaration.flatMap { known.property($0.key) }.map { observable($0, in: known) }
  }

  private func stored(
    _ keyPath: AnyKeyPath, _ reads: KeyPathReadRecorder, in known: KVOClass
  ) -> Property? {
    guard let read = reads.named else { return nil }
    let offset = read.storageOffset + ObjectHeader.offset
    guard
      let field = known.fields.first(where: {
        // A property of size 0 has the same offset as the next one.
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

/// The key that a key path names.
struct ObservedKey {
  let name: KeyName
  /// Keeps the key assigned to a key path with arguments; nil for others.
  let lease: SubscriptKeyHandle?
}
