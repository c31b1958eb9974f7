internal import CKVORuntime

/// What is said of a key path that can't be observed, and what is done where it is changed by hand.
extension KVOObject {
  /// The key of which a change by hand is one: that of the key path, or of the plain property that it
  /// is known to be. Nil for what reads nothing that can be observed, of which there is nobody to tell.
  func changedKey(of keyPath: AnyKeyPath) -> ObservedKey? {
    if let key = knownKey(of: keyPath) { return key }
    let known = KVOClass.of(self)
    known.requireDeclaration(of: "what the key path \(keyPath) names")
    if let field = keyPath.plainField(in: known) {
      return known.property(field.key).map { ObservedKey(name: $0.name, lent: nil) }
    }
    if kvo_binding_is_observed(header) { reportIfObserved(keyPath, known) }
    return nil
  }

  // What may be computed may be plain as well; then who observes it, as a string, is missed.
  private func reportIfObserved(_ keyPath: AnyKeyPath, _ known: KVOClass) {
    let type = Swift.type(of: keyPath).valueType
    let missed = known.plainFields(of: type).map(\.key).filter { isObserved(forKey: $0) }
    guard let key = missed.first else { return }
    KVODiagnostics.report(
      misuse: """
        A change by hand of the key path \(keyPath) tells nobody, since it reads no @Observed \
        property and is no declared key of \(known.name). If it is the plain "\(key)", which is \
        observed, say withChange(forKey: "\(key)"), or declare it: \
        declareKeys { $0.stored("\(key)", \\.\(key)) }.
        """)
  }

  func notObservable(_ keyPath: AnyKeyPath, _ known: KVOClass) -> String {
    known.requireDeclaration(of: "what the key path \(keyPath) names")
    let place = keyPath.plainPlace(in: known)
    let key = place.key ?? "<key>"
    return """
      The key path \(keyPath) of type \(className(of: type(of: keyPath).valueType)) can't be \
      observed: it reads no @Observed property and is no declared key of \(known.name).\
      \(place.text) Mark the property @Observed. Or declare the key in registerKeys(): \
      declareKeys { $0.stored("\(key)", \\.\(key)) } for a plain property, which then notifies by \
      key-value coding and by hand, $0.accessors for a computed one.
      """
  }
}

/// What is known of the property that a key path begins with.
private struct PlainPlace {
  var key: String?
  var text = ""
}

extension AnyKeyPath {
  /// The plain stored property that it names, if nothing can override that.
  fileprivate func plainField(in known: KVOClass) -> Field? {
    guard var components = KeyPathComponents(self), case .stored(let offset) = components.next(),
      components.isAtEnd
    else { return nil }
    return known.fields.first { !$0.isObserved && $0.offset == offset }
  }

  // A key path knows no names. It has the place of a stored property that nothing can override; what
  // may be computed is of some type, and no more is known.
  fileprivate func plainPlace(in known: KVOClass) -> PlainPlace {
    guard var components = KeyPathComponents(self), let first = components.next() else {
      return PlainPlace()
    }
    switch first {
    case .stored(let offset):
      guard let field = known.fields.first(where: { !$0.isObserved && $0.offset == offset }) else {
        return PlainPlace()
      }
      let verb = components.isAtEnd ? "is" : "begins with"
      guard field.isVariable else {
        return PlainPlace(text: " It \(verb) the constant \"\(field.name)\".")
      }
      return PlainPlace(key: field.name, text: " It \(verb) the plain \"\(field.name)\".")
    case .computed:
      let type = components.valueType ?? Swift.type(of: self).valueType
      let what = components.isAtEnd ? "It is" : "What it begins with is"
      return PlainPlace(text: known.plainProperties(of: type, what))
    case .optional, .part: return PlainPlace()
    }
  }
}

extension KVOClass {
  /// The plain variables that a key path of that type may name.
  fileprivate func plainFields(of type: Any.Type) -> [Field] {
    fields.filter { !$0.isObserved && $0.isVariable && $0.mayAnswer(type) }
  }

  fileprivate func plainProperties(of type: Any.Type, _ what: String) -> String {
    let names = plainFields(of: type).map {
      $0.form == .lazy ? "the lazy \($0.name)" : $0.name
    }
    guard !names.isEmpty else { return "" }
    let list = names.joined(separator: ", ")
    return " \(what) computed, or a plain property of that type, of which there are: \(list)."
  }
}

extension Field {
  // A lazy property is kept in an optional.
  fileprivate func mayAnswer(_ type: Any.Type) -> Bool {
    guard form == .lazy else { return self.type.swiftType == type }
    return (self.type.swiftType as? any OptionalType.Type)?.wrappedType == type
  }
}
