/// Looks keys up in this order: declared accessors, `@Observed` properties, plain stored properties (as
/// instance variables). A key that is found is added to the C core.
extension KVOClass {
  /// The property of a key, or nil if the class has none. O(1) after the key's first use. Any thread.
  package func property(_ key: String) -> Property? {
    if let known = properties.withLock({ $0[key] }) { return known }
    return KVOClass.withAnswers {
      preparation.isComplete ? questions(for: key) : []
    } _: {
      preparation.isComplete ? find(key) : nil
    }
  }

  // The caller holds `lock`, and the class has answered.
  func find(_ key: String) -> Property? {
    if let known = properties.withLock({ $0[key] }) { return known }
    guard let parts = parts(of: key) else { return nil }
    let property = Property(
      name: .of(key), storage: parts.field, accessors: parts.accessors,
      cachedSources: parts.name.map(cachedSources) ?? [], toMany: parts.toMany,
      override: parts.field?.isObserved == true ? preparation.overrides[key] : nil,
      isManual: !isAutomatic(key), source: source(of: key, parts),
      spelling: hidden.isEmpty ? nil : hiddenSpelling(of: key))
    property.add(to: cClass, of: type)
    properties.withLock { $0[key] = property }
    return property
  }

  /// The class's members for a key: at least one of the last three.
  struct Parts {
    /// The name under which the accessors or the `@Observed` property are found.
    let name: String?
    let accessors: Accessors?
    let field: Field?
    let toMany: (any ToManyDeclaration)?
  }

  // The caller holds `lock`.
  func parts(of key: String) -> Parts? {
    let name = accessorNames(for: key).first {
      declaredAccessors($0) != nil || observedField($0) != nil
    }
    let accessors = name.flatMap { declaredAccessors($0) }
    let field = name.flatMap { observedField($0) } ?? plainField(for: key)
    let toMany = declaredToMany(key)
    guard accessors != nil || field != nil || toMany != nil else { return nil }
    return Parts(name: name, accessors: accessors, field: field, toMany: toMany)
  }

  func declaredAccessors(_ name: String) -> Accessors? {
    let declarers = declarers(of: name)
    return declarers.lazy.compactMap { $0.preparation.declared.accessors[declarers.key] }.first
  }

  /// The keys that count as read by the getter of a property, in the class and its superclasses. A name that is no key
  /// is dropped: the macro names what may be a property of a superclass.
  private func cachedSources(of name: String) -> [KeyName] {
    let declarers = declarers(of: name)
    let keys = declarers.reduce(into: Set<String>()) { found, known in
      let declared = known.preparation.declared.cachedSources[declarers.key] ?? []
      found.formUnion(declared.map { self.name($0, seenBy: known) })
    }
    return keys.filter { parts(of: $0) != nil }.sorted().map { .of($0) }
  }

  func declaredToMany(_ name: String) -> (any ToManyDeclaration)? {
    let declarers = declarers(of: name)
    return declarers.lazy.compactMap { $0.preparation.declared.toMany[declarers.key] }.first
  }

  // A property found under another name is changed under its own key, which affects this one. An @Observed
  // property is identified by its storage, whatever its key.
  private func source(of key: String, _ parts: Parts) -> KeyName? {
    guard parts.toMany == nil, parts.field?.isObserved != true,
      let source = parts.name ?? parts.field?.name, source != key
    else { return nil }
    return .of(source)
  }

  // In the search order of key-value coding. A hidden property has no other names.
  private func accessorNames(for key: String) -> [String] {
    hidden.isEmpty || declarers(of: key).key == key
      ? [key, "is" + capitalised(key), "_" + key] : [key]
  }

  /// The other keys under which the accessors of a key are found.
  static func aliases(of key: String) -> [String] {
    var aliases: [String] = []
    if key.hasPrefix("_") { aliases.append(String(key.dropFirst())) }
    if key.hasPrefix("is"), let first = key.utf8.dropFirst(2).first, isCapital(first) {
      aliases.append(String(UnicodeScalar(first + 32)) + key.dropFirst(3))
    }
    return aliases
  }

  // Fields of the subclass are first, so they win over equal names in a superclass.
  private func plainField(for name: String) -> Field? {
    guard preparation.accessesFields else { return nil }
    let declarers = declarers(of: name)
    let (key, capitalised) = (declarers.key, capitalised(declarers.key))
    let fields = fields(of: declarers)
    for name in ["_" + key, "_is" + capitalised, key, "is" + capitalised] {
      if let field = fields.first(where: { !$0.isObserved && $0.name == name }) { return field }
    }
    return nil
  }

  private func observedField(_ name: String) -> Field? {
    if let learned = preparation.learned[name] { return learned }
    let declarers = declarers(of: name)
    return fields(of: declarers).first { $0.isObserved && $0.key == declarers.key }
  }

  private func fields(of declarers: Declarers) -> [Field] {
    hidden.isEmpty ? fields : declarers.flatMap(\.ownFields)
  }
}

/// The key with its first letter upper-cased if that is an ASCII letter.
private func capitalised(_ key: String) -> String {
  guard let first = key.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else {
    return key
  }
  return String(UnicodeScalar(first - 32)) + key.dropFirst()
}

private func isCapital(_ character: UInt8) -> Bool {
  (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character)
}
