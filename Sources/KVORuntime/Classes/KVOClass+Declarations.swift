internal import CKVORuntime

/// A class's declarations, which may be made at any time. Each is checked against the class's fields, stored
/// with the class, and reported to the C core, which then asks the class again. Observed objects follow it
/// (B4, F1).
extension KVOClass {
  /// Adds declarations that the class's code makes by hand.
  func declare<Root: KVOObject>(_ declared: KeyDeclarations<Root>) {
    if isInherited(declared) { return }
    let declarations = declared.withoutImpossibleKeys(of: name).withoutLateValues(of: self)
    add(declarations, byHand: true, replacing: true)
  }

  /// Adds declarations that the macro has generated for the class.
  func declare<Root: KVOObject>(generated declared: KeyDeclarations<Root>) {
    if isInherited(declared) { return }
    var declarations = declared.withoutImpossibleKeys(of: name)
    KVOClass.lock.withLock {
      for key in declarations.overriddenElements {
        guard let inherited = superclass?.declaredToMany(key) else { continue }
        declarations.toMany[key] = declarations.toMany[key]?.completed(by: inherited)
      }
      preparation.generated.merge(declarations)
    }
    add(declarations)
  }

  /// Adds declarations that a superclass's code makes for this class and not for the superclass. They don't replace the
  /// class's generated ones.
  func add(inherited declarations: KeyDeclarations<KVOObject>, byHand: Bool) {
    if !byHand { preparation.generated.merge(declarations) }
    add(declarations, byHand: byHand)
  }

  // A key has one declaration: a hand-written one replaces the generated one, whatever its kind. Returns the
  // keys that have lost generated dependencies.
  private func withdraw(generatedFor keys: Set<String>) -> Set<String> {
    let generated = preparation.generated
    let new = keys.subtracting(preparation.declaredByHand)
    preparation.declaredByHand.formUnion(keys)
    for key in new {
      if let accessors = generated.accessors[key],
        preparation.declared.accessors[key] === accessors
      {
        preparation.declared.accessors[key] = nil
      }
      if generated.toMany[key] != nil { preparation.declared.toMany[key] = nil }
      if generated.cachedSources[key] != nil { preparation.declared.cachedSources[key] = nil }
      preparation.generated.dependencies[key] = nil
    }
    return new.intersection(generated.dependencies.keys)
  }

  private func add<Root: KVOObject>(
    _ declarations: KeyDeclarations<Root>, byHand: Bool = false, replacing isReplacing: Bool = false
  ) {
    let keyPaths = declarations.accessors.compactMap { key, accessors in
      accessors.keyPath.map { (key, $0) }
    }
    for (key, keyPath) in keyPaths {
      if let getter = keyPath.onlyGetter {
        _ = KVOClass.declaredGetters.insert(.of(key), at: getter)
      }
    }
    let declared = Set(declarations.accessors.keys).union(declarations.toMany.keys)
    // In one step: other threads may use the class, and a key that is declared must stay declared for them.
    let isInUse = KVOClass.lock.withLock {
      let withdrawn = isReplacing ? withdraw(generatedFor: declared) : []
      preparation.declared.merge(byHand ? declarations : declarations.withoutDependencies)
      forget(declarations.automatic.keys, withdrawn.union(declarations.dependencies.keys))
      return preparation.isComplete
    }
    // Until the end of this step, other threads use the properties from before.
    refreshAsking(declared.union(declarations.automatic.keys)) {
      if !keyPaths.isEmpty { forgetKeyPaths() }
    }
    if isInUse { hintAtUnknownKeys(of: declarations) }
    // Not under the lock, because properties are read. Tracked keys depend on declared keys, too.
    guard isInUse, !declared.isEmpty || !declarations.dependencies.isEmpty else { return }
    kvo_class_forget_dependencies(cClass)
  }

  // A cached key path may now map to a different key, so the caches are dropped.
  private func forgetKeyPaths() {
    keyPaths.forget()
    spelledKeys.forget()
    for subclass in preparation.subclasses { subclass.forgetKeyPaths() }
  }

  /// Adds the accessors of a key path for a key whose property the class overrides. Observers get the value
  /// of the override, not the stored one. An existing declaration takes precedence.
  func learn(override accessors: Accessors?, of key: String) -> Property? {
    let isNew = KVOClass.lock.withLock { preparation.overrides[key] == nil && accessors != nil }
    return KVOClass.withAnswers {
      (isNew ? questions(refreshing: [key], isNew: true) : []) + questions(for: key)
    } _: {
      if preparation.overrides[key] == nil, let accessors {
        preparation.overrides[key] = accessors
        refresh([key])
      }
      return find(key)
    }
  }

  /// Adds the storage of the `@Observed` property of a declared key.
  func learn(_ storage: Field, of key: String) -> Property? {
    let isNew = KVOClass.lock.withLock { preparation.learned[key] == nil }
    return KVOClass.withAnswers {
      (isNew ? questions(refreshing: [key], isNew: true) : []) + questions(for: key)
    } _: {
      if preparation.learned[key] == nil {
        preparation.learned[key] = storage
        refresh([key])
      }
      return find(key)
    }
  }

  /// The declared setting of a key's automatic notification, in the class or a superclass.
  func declaredAutomatic(_ key: String) -> Bool? {
    KVOClass.lock.withLock {
      let declarers = declarers(of: key)
      return declarers.lazy.compactMap { $0.preparation.declared.automatic[declarers.key] }.first
    }
  }

  /// The declared accessors that have a key path, with the keys by which this class has their properties. A class's
  /// come before its superclass's, hand-written declarations before generated ones, and otherwise earlier ones before
  /// later ones.
  var declaredKeyPaths: [(key: String, keyPath: AnyKeyPath)] {
    KVOClass.lock.withLock {
      sequence(first: self, next: \.superclass).flatMap { known in
        let generated = known.preparation.generated.accessors
        return known.preparation.declared.accessors.filter { $0.value.keyPath != nil }
          .map { key, accessors in (key, accessors, generated[key] === accessors) }
          .sorted { ($0.2 ? 1 : 0, $0.1.number) < ($1.2 ? 1 : 0, $1.1.number) }
          .map { key, accessors, _ in (name(key, seenBy: known), accessors.keyPath!) }
      }
    }
  }

  /// The validator that the class or a superclass has declared for a key.
  func validator(_ key: String) -> Validator? {
    KVOClass.lock.withLock {
      let declarers = declarers(of: key)
      return declarers.lazy.compactMap { $0.preparation.declared.validators[declarers.key] }.first
    }
  }

  /// Drops cached answers of the class, so that it is asked again.
  private func forget(_ automatic: some Sequence<String>, _ derived: some Sequence<String>) {
    for name in names(automatic) { preparation.automatic[name] = nil }
    for name in names(derived) { preparation.affecting[name] = nil }
    preparation.declarations += 1
    preparation.declarationsByThread[.current, default: 0] += 1
    for subclass in preparation.subclasses { subclass.forget(automatic, derived) }
  }

  /// Looks keys up again, once the class and its subclasses have answered.
  /// - Parameter body: Called under the lock afterwards.
  func refreshAsking(_ keys: Set<String>, _ body: () -> Void = {}) {
    KVOClass.withAnswers {
      questions(refreshing: keys)
    } _: {
      refresh(keys)
      body()
    }
  }

  // A class in preparation looks its keys up at the end, so it has nothing to refresh. The caller holds
  // `lock`, and the classes have answered.
  private func refresh(_ keys: Set<String>) {
    guard preparation.isComplete else { return }
    for key in names(keys.union(keys.flatMap(KVOClass.aliases))) {
      // Released outside the properties' lock, because captures of its accessors may be destroyed with it.
      let earlier = properties.withLock { $0.removeValue(forKey: key) }
      check(find(key), replacing: earlier)
    }
    for subclass in preparation.subclasses { subclass.refresh(keys) }
  }

  // Handlers expect values of the type that the key had when they were registered.
  private func check(_ property: Property?, replacing earlier: Property?) {
    guard let property, let earlier, property.observedType !== earlier.observedType else { return }
    KVODiagnostics.stop(
      """
      "\(property.name.string)" of \(name) is of type \
      \(className(of: earlier.observedType.swiftType)), and can't be declared as \
      \(className(of: property.observedType.swiftType)) once the class is in use.
      """)
  }
}

extension Dictionary {
  /// Merges another dictionary. O(1) if one of them is empty.
  mutating func add(_ other: Self, _ combine: (Value, Value) -> Value) {
    if isEmpty { self = other } else if !other.isEmpty { merge(other, uniquingKeysWith: combine) }
  }
}

extension KeyDeclarations {
  /// Adds up dependencies. In other tables a later entry replaces an earlier one.
  mutating func merge<Other>(_ other: KeyDeclarations<Other>) {
    accessors.add(other.accessors) { $1 }
    automatic.add(other.automatic) { $1 }
    toMany.add(other.toMany) { $1 }
    validators.add(other.validators) { $1 }
    dependencies.add(other.dependencies) { $0.union($1) }
    bases.add(other.bases) { $0.union($1) }
    cachedSources.add(other.cachedSources) { $0.union($1) }
    overridden.formUnion(other.overridden)
  }

  /// The macro's dependencies are in `Preparation.generated` only: the lowest class's hold.
  fileprivate var withoutDependencies: Self {
    var others = self
    others.dependencies = [:]
    return others
  }

  /// Returns the declarations without values of records that are declared too late: existing objects have no
  /// room for them. A value that is declared already keeps its declaration.
  fileprivate func withoutLateValues(of known: KVOClass) -> Self {
    var late: [String] = []
    let possible = KVOClass.lock.withLock { () -> Self in
      guard known.layout != nil else { return self }
      var possible = self
      for (key, declared) in accessors {
        let earlier = known.declaredAccessors(key) as? StoredValue
        guard earlier != nil || declared is StoredValue else { continue }
        possible.accessors[key] = nil
        if declared is StoredValue, earlier?.type === declared.type { continue }
        late.append(key)
      }
      return possible
    }
    for key in late {
      KVODiagnostics.report(
        misuse: """
          \(known.name) declares \(quoted(key)) too late: the values that it keeps are those that it declares \
          in registerKeys.
          """)
    }
    return possible
  }

  /// Returns the declarations without keys that can't exist.
  fileprivate func withoutImpossibleKeys(of className: String) -> Self {
    let impossible = Set(accessors.keys).union(toMany.keys).filter { !$0.mayBeKey }
    guard !impossible.isEmpty else { return self }
    var possible = self
    for key in impossible {
      KVODiagnostics.report(
        misuse: "\(className) declares the key \(String(reflecting: key)): a key has no NUL.")
      possible.accessors[key] = nil
      possible.toMany[key] = nil
    }
    return possible
  }
}
