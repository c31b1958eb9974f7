internal import CKVORuntime

/// The keys and key paths that affect a key, by string and by key path. The class is asked once for each key,
/// and again after further declarations.
extension KVOClass {
  /// The declared dependencies of a key, in the class and its superclasses. Each is a key path of the object, although
  /// the declaring class may name a hidden property (Q2). Those that are declared by hand add up. An answer of a method
  /// that the macro has found replaces the superclass's (Q4).
  func declaredDependencies(_ key: String) -> Set<String> {
    KVOClass.lock.withLock {
      let declarers = declarers(of: key)
      var isAnswered = false
      return declarers.reduce(into: []) { found, known in
        let declared = known.preparation.declared.dependencies[declarers.key] ?? []
        found.formUnion(paths(declared, seenBy: known))
        guard !isAnswered, let answer = known.preparation.generated.dependencies[declarers.key]
        else { return }
        found.formUnion(paths(answer, seenBy: known))
        isAnswered = true
      }
    }
  }

  /// The key paths that affect a key.
  /// - Parameters:
  ///   - object: An object of the class, by which key paths are mapped to keys.
  ///   - forHint: Whether no dependency is made. Then key paths that are no keys are not reported.
  func keyPathsAffecting(
    _ key: String, of object: KVOObject, forHint: Bool = false
  ) -> Set<String> {
    var named = affecting(key)
    if let source = property(key)?.source { named.insert(source.string) }
    let keyPaths = affectingKeyPaths(key)
    if !named.isEmpty || !keyPaths.isEmpty { named.formUnion(declaredBases(key)) }
    // Not under the lock, because naming a key path reads properties.
    object.findStorage(ofFirstKeysIn: named, in: self)
    return keyPaths.reduce(into: named) { found, keyPath in
      if let key = object.knownKey(of: keyPath) {
        // The class has declared the dependency forever, so the leased key is kept forever, too.
        if !forHint, let lease = key.lease { _ = Unmanaged.passRetained(lease) }
        found.insert(key.name.string)
      } else if !forHint {
        KVODiagnostics.report(
          misuse:
            """
            "\(spelling(of: key))" of \(name) can't depend on the key path \(keyPath.text), which names no @Observed \
            property and no declared key. Declare the dependency by string: declareKeys { \
            $0.dependency("\(key)", on: …) }.
            """)
      }
    }
  }

  /// The key paths by which a library's class affects a key, whatever a subclass declares.
  private func declaredBases(_ key: String) -> Set<String> {
    KVOClass.lock.withLock {
      let declarers = declarers(of: key)
      return declarers.reduce(into: []) { found, known in
        found.formUnion(
          paths(known.preparation.declared.bases[declarers.key] ?? [], seenBy: known))
      }
    }
  }

  // If the class does not override the class function, the answer equals the declarations and is not stored
  // again, which saves memory with very many keys.
  private func affecting(_ key: String) -> Set<String> {
    guard MethodOverride.affects(type) else { return declaredDependencies(key) }
    let (known, declarations) = KVOClass.lock.withLock {
      (preparation.affecting[key], preparation.declarations)
    }
    if let known { return known }
    // Not under the lock, so that other callers need not wait for the class's code.
    let answer = answerAboutKeysAffecting(key)
    return KVOClass.lock.withLock {
      if let known = preparation.affecting[key] { return known }
      // An answer that may lack declarations made during the call is not cached.
      if preparation.declarations == declarations { preparation.affecting[key] = answer }
      return answer
    }
  }

  // The answer has declared key paths, as the asked class has them, and those of the class that overrides the function,
  // as that class sees them.
  private func answerAboutKeysAffecting(_ key: String) -> Set<String> {
    let declarers = declarers(of: key)
    let answer = declarers.lowest.type.keyPathsForValuesAffectingValue(forKey: declarers.key)
    guard !hidden.isEmpty else { return answer }
    let declared = declarers.lowest.declaredDependencies(declarers.key)
    let overriding = KVOClass.of(MethodOverride.overridingAffects(declarers.lowest.type))
    return paths(answer.intersection(declared), seenBy: declarers.lowest)
      .union(paths(answer.subtracting(declared), seenBy: overriding))
  }

  // MARK: The typed customisation protocol

  var customization: (any KeyValueObservingCustomization.Type)? {
    type as? any KeyValueObservingCustomization.Type
  }

  private func affectingKeyPaths(_ key: String) -> Set<AnyKeyPath> {
    guard let customization else { return [] }
    let (known, named) = KVOClass.lock.withLock {
      (preparation.affectingKeyPaths[key], keyPath(of: key))
    }
    if let known { return known }
    guard let named else { return [] }
    // Not under the lock, so that other callers need not wait for the class's code.
    let answer = customization.keyPathsAffectingValue(for: named)
    return KVOClass.lock.withLock {
      if let known = preparation.affectingKeyPaths[key] { return known }
      preparation.affectingKeyPaths[key] = answer
      return answer
    }
  }

  /// The key path that names a key, with the class that has the property as its root. The caller holds
  /// `lock`.
  func keyPath(of key: String) -> AnyKeyPath? {
    preparation.keyPaths[key] ?? declaredAccessors(key)?.keyPath
  }

  /// Adds a key's own key path, which a typed call has used. The customisation protocol can now be asked
  /// about the key.
  func learn(_ keyPath: AnyKeyPath, of key: String) {
    guard customization != nil else { return }
    let isNew = KVOClass.lock.withLock {
      preparation.keyPaths.updateValue(keyPath, forKey: key) == nil
    }
    guard isNew else { return }
    refreshAsking([key])
    kvo_class_forget_dependencies(cClass)
  }
}
