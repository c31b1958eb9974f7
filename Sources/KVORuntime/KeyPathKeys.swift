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
  func keyName(of keyPath: AnyKeyPath) -> KeyName {
    guard let name = knownKeyName(of: keyPath) else {
      KVODiagnostics.stop(notObservable(keyPath, KVOClass.of(self)))
    }
    return name
  }

  /// The same; nil for what can't be observed.
  func knownKeyName(of keyPath: AnyKeyPath) -> KeyName? {
    let known = KVOClass.of(self)
    return known.keyPaths[keyPath] ?? resolve(keyPath, in: known)
  }

  private func resolve(_ keyPath: AnyKeyPath, in known: KVOClass) -> KeyName? {
    if let property = declared(keyPath, in: known) {
      return keep(property, for: keyPath, in: known)
    }
    let reads = KeyPathReads(of: keyPath, in: self)
    if let property = stored(keyPath, reads, in: known) {
      return keep(property, for: keyPath, in: known)
    }
    // Behind a nil there may be what another object of the class reads.
    guard !reads.names.isEmpty || reads.mayHaveEnded else { return nil }
    return known.keyPaths.name(for: keyPath) { known.track(keyPath, reads) }
  }

  private func keep(
    _ property: Property, for keyPath: AnyKeyPath, in known: KVOClass
  ) -> KeyName {
    guard property.observedType.swiftType == Swift.type(of: keyPath).valueType else {
      KVODiagnostics.stop(notObservable(keyPath, known))
    }
    return known.keyPaths.name(for: keyPath) { property.name }
  }

  private func declared(_ keyPath: AnyKeyPath, in known: KVOClass) -> Property? {
    let declaration = known.declaredKeyPaths.first { keyPath.isSame(as: $0.keyPath) }
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
    return known.learn(.keyPath(keyPath), of: field.key) ?? property
  }

  // A key path does not know names: a stored property is told by its type.
  private func notObservable(_ keyPath: AnyKeyPath, _ known: KVOClass) -> String {
    known.requireDeclaration(of: "what the key path \(keyPath) names")
    let valueType = Swift.type(of: keyPath).valueType
    let plain = known.fields.filter { !$0.isObserved && $0.type.swiftType == valueType }.map(\.name)
    let guess = plain.isEmpty ? "" : " Perhaps it means \(plain.joined(separator: " or "))."
    let key = plain.count == 1 ? plain[0] : "<key>"
    return """
      The key path \(keyPath) of type \(className(of: valueType)) can't be observed: it reads no \
      @Observed property and is no declared key of \(known.name).\(guess) Mark the property \
      @Observed. Or declare the key in registerKeys(): declareKeys { $0.stored("\(key)", \\.\(key)) } for a plain property, which \
      then notifies by key-value coding and by hand, $0.accessors for a computed one.
      """
  }
}
