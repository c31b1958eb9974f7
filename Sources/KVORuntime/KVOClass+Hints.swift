/// What errors suggest, which name a class and a key: only what can work, as far as the class tells.
extension KVOClass {
  /// How a property that is no key is declared.
  struct Declaration {
    /// What sort of property it is, as a sentence begins.
    let property: String
    let entry: String
  }

  /// The declaration that a property lacks; nil where no class of that name has it, or nothing tells.
  static func declaration(of key: String, inClassNamed name: String) -> Declaration? {
    guard key.first?.isLetter == true || key.first == "_" else { return nil }
    return used(named: name).lazy.compactMap { $0.declaration(of: key) }.first
  }

  /// Whether a key path leads to a collection of what has keys, in a class of that name.
  static func hasKeyedElements(_ keyPath: Substring, inClassNamed name: String) -> Bool {
    used(named: name).contains { $0.hasKeyedElements(keyPath) }
  }

  private func declaration(of key: String) -> Declaration? {
    let classes = sequence(first: self, next: \.superclass)
    if classes.contains(where: { Field.isNamed(key, in: $0.type) }) {
      return Declaration(property: "The property", entry: "stored(\"\(key)\", \\.\(key))")
    }
    let isComputed = classes.contains {
      $0.type != KVOObject.self && SymbolTable.properties(of: $0.type).contains(key)
    }
    guard isComputed else { return nil }
    return Declaration(
      property: "A computed property", entry: "computed(\"\(key)\", \\.\(key))")
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
