internal import CKVORuntime

/// What the program probably means otherwise, without being wrong: said once, where a hook or the
/// environment asks for it.
enum Hint {
  static var areWanted: Bool { kvo_wants_hints() }

  private static let told = Locked<Set<String>>([])

  /// - Parameter text: a sentence, which is not made unless it is asked for.
  static func tell(_ text: @autoclosure () -> String) {
    guard areWanted else { return }
    let text = text()
    if told.withLock({ $0.insert(text).inserted }) { kvo_give_hint(text) }
  }
}

extension KVOObject {
  /// Where a declared key can be assigned to, but its getter reads nothing that could tell of it.
  @inline(never)
  func hintAtSilence(of key: String) {
    guard let property = KVOClass.of(self).property(key), property.observedStorage == nil,
      let accessors = property.accessors, accessors.isWritable, let keyPath = accessors.keyPath
    else { return }
    let key = property.name.string
    // What is declared to affect it may be what its setter sets. A declared key is read as itself, too.
    guard KVOClass.of(self).declaredDependencies(key).isEmpty,
      KeyPathReads(of: keyPath, in: self).names.allSatisfy({ $0 == key })
    else { return }
    Hint.tell(
      """
      "\(key)" of \(className(of: type(of: self))) is observed, and its getter reads no @Observed \
      property: \(remedy(for: key)) Setting it by key tells always.
      """)
  }

  private func remedy(for key: String) -> String {
    guard Field.isStored(key, in: type(of: self)) else {
      return """
        unless its setter says so, set { withChange(of: \\.\(key)) { … = newValue } }, nobody is told \
        when it is assigned to.
        """
    }
    let field = KVOClass.of(self).fields.first { $0.name == key }
    return """
      unless it is assigned to in withChange(of: \\.\(key)) { … }, nobody is told.\
      \(field.map(\.takesWrapper) ?? true ? " Or mark it @Observed." : "")
      """
  }
}
