/// Suggestions for error messages that name a class and a key. They are made only if the class's metadata
/// shows that they can work.
extension KVOClass {
  /// A sentence that names the missing declaration or the right key of a property. It is nil if no class of
  /// that name has the property, if metadata is missing, or if the property is the runtime's own.
  static func advice(on key: String, inClassNamed name: String) -> String? {
    used(named: name).lazy.compactMap { $0.advice(on: key) }.first
  }

  /// The type of the key at the end of a key path, in a class of that name; nil if it is unknown.
  static func end(of keyPath: Substring, inClassNamed name: String) -> ValueType? {
    used(named: name).lazy.compactMap { $0.end(of: keyPath) }.first
  }

  /// A sentence that names the missing declaration or the right key of a property of this class; nil if there
  /// is none.
  func advice(on key: String) -> String? {
    guard key.first?.isLetter == true || key.first == "_",
      !Field.isNamed(key, in: KVOObject.self)
    else { return nil }
    if let field = fields.first(where: { $0.isObserved && $0.name == key }) {
      return "The property's key is \"\(field.key)\"."
    }
    let classes = Array(sequence(first: self, next: \.superclass)).filter { !$0.type.hidesStorage }
    guard classes.contains(where: { Field.isOwn(key, of: $0.type) }) else { return nil }
    return
      "The property is declared in registerKeys(): declareKeys { $0.stored(\"\(key)\", \\.\(key.inSource)) }."
  }

  private func end(of keyPath: Substring) -> ValueType? {
    let key = keyPath.prefix { $0 != "." }
    guard let type = property(String(key))?.observedType else { return nil }
    let rest = keyPath.dropFirst(key.count + 1)
    if rest.isEmpty { return type }
    let link = unwrapped(type.swiftType)
    return (link as? KVOObject.Type).flatMap { KVOClass.of($0).end(of: rest) }
  }
}

extension ValueType {
  /// The type of a dictionary, or of an optional one.
  var dictionary: (any KeyedValue.Type)? { unwrapped(swiftType) as? any KeyedValue.Type }

  /// Whether it is a collection whose elements have keys.
  var hasKeyedElements: Bool {
    guard let element = shape?.element else { return false }
    return !element.abilities.isDisjoint(with: .keys) || element.holdsAnything
  }
}
