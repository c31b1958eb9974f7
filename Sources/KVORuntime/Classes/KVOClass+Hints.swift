/// What errors suggest, which name a class and a key: only what can work, as far as the class tells.
extension KVOClass {
  /// A sentence: which declaration a property lacks, or what its key is. Nil where no class of that name
  /// has it, nothing tells, or it is the runtime's own.
  static func advice(on key: String, inClassNamed name: String) -> String? {
    used(named: name).lazy.compactMap { $0.advice(on: key) }.first
  }

  /// Whether a key path leads to a collection of what has keys, in a class of that name.
  static func hasKeyedElements(_ keyPath: Substring, inClassNamed name: String) -> Bool {
    used(named: name).contains { $0.hasKeyedElements(keyPath) }
  }

  /// The same of this class alone.
  func advice(on key: String) -> String? {
    guard key.first?.isLetter == true || key.first == "_",
      !Field.isNamed(key, in: KVOObject.self)
    else { return nil }
    if let field = fields.first(where: { $0.isObserved && $0.name == key }) {
      return "The property's key is \"\(field.key)\"."
    }
    let classes = Array(sequence(first: self, next: \.superclass)).filter { !$0.type.hidesStorage }
    if classes.contains(where: { Field.isOwn(key, of: $0.type) }) {
      return
        "The property is declared in registerKeys(): declareKeys { $0.stored(\"\(key)\", \\.\(key.inSource)) }."
    }
    let isComputed = classes.contains { SymbolTable.properties(of: $0.type).contains(key) }
    guard isComputed else { return nil }
    return "A computed property is declared in registerKeys(): "
      + "declareKeys { $0.computed(\"\(key)\", \\.\(key.inSource)) }."
  }

  private func hasKeyedElements(_ keyPath: Substring) -> Bool {
    let key = keyPath.prefix { $0 != "." }
    guard let type = property(String(key))?.observedType else { return false }
    let rest = keyPath.dropFirst(key.count + 1)
    if rest.isEmpty {
      guard let element = type.shape?.element else { return false }
      return !element.abilities.isDisjoint(with: .ofContent) || element.holdsAnything
    }
    let link = (type.swiftType as? any OptionalType.Type)?.wrappedType ?? type.swiftType
    return (link as? KVOObject.Type).map { KVOClass.of($0).hasKeyedElements(rest) } ?? false
  }
}
