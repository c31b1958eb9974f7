internal import CKVORuntime

// Messages about key paths that can't be observed, typed ones (F6) and strings (C8), and the handling of
// manual changes of such key paths (E3).

extension KVOObject {
  /// The key that a manual change of the key path changes: the key path's own, or that of the plain property
  /// that it names. Nil if the key path reads nothing that can be observed, so that it has no observers.
  func changedKey(of keyPath: AnyKeyPath) -> ObservedKey? {
    // The getter announces a change of this key path. Evaluating it here would announce the change again.
    if kvo_is_recording(), KeyPathReadRecorder.classifier(of: keyPath, of: self) != nil {
      return nil
    }
    if let key = announcedKey(of: keyPath) { return key }
    if kvo_binding_is_observed(header) { reportIfObserved(keyPath, KVOClass.of(self)) }
    return nil
  }

  /// The key by which changes of what a key path names are announced and observed: its own, or that of the plain
  /// property that it is. Nil if it reads nothing that can be observed.
  func announcedKey(of keyPath: AnyKeyPath) -> ObservedKey? {
    if let key = knownKey(of: keyPath) { return key }
    let known = KVOClass.of(self)
    known.requireDeclaration(of: "what the key path \(keyPath.text) names")
    guard let field = keyPath.plainProperty(in: known) else { return nil }
    return known.property(field.key).map { ObservedKey(name: $0.name) }
  }

  // The key path may name a plain property instead of a computed one; then an observer of its string is
  // missed.
  private func reportIfObserved(_ keyPath: AnyKeyPath, _ known: KVOClass) {
    let plain = known.plainFields(of: type(of: keyPath).valueType).map(\.key)
    guard let key = plain.first(where: { isObserved(forKey: $0) }) else { return }
    let remedy =
      plain.count == 1
      ? "For the plain property \(quoted(key)), which is observed, say withChange(forKey: \(quoted(key)))."
      : """
      If it names one of the plain properties \(plain.map(quoted).joined(separator: ", ")), say \
      withChange(forKey:) with the property's key.
      """
    KVODiagnostics.report(
      misuse: """
        A manual change of the key path \(keyPath.text) notifies no observer, since it reads no @Observed \
        property and is not a declared key of \(known.name). \(remedy)
        """)
  }

  /// Stops the program for a key path that can't be observed, with a source location that is not a literal.
  package func requireObservable(_ keyPath: AnyKeyPath, _ fileID: String, _ line: Int) {
    guard knownKey(of: keyPath) == nil else { return }
    KVODiagnostics.stop("\(notObservable(keyPath, KVOClass.of(self))) (\(fileID):\(line))")
  }

  func notObservable(_ keyPath: AnyKeyPath, _ known: KVOClass) -> String {
    known.requireDeclaration(of: "what the key path \(keyPath.text) names")
    return """
      The key path \(keyPath.text) of type \(swiftName(of: type(of: keyPath).valueType)) can't be \
      observed: it reads no @Observed property and is not a declared key of \(known.name). \
      \(keyPath.keylessClass.map(known.advice(onKeyless:)) ?? keyPath.advice(in: known))
      """
  }

  /// Gives a hint if an observed key path will lead nowhere as soon as a link that is nil gets an object.
  func hintAtUnresolvedPath(of keyPath: String) {
    let known = KVOClass.of(self)
    guard keyPath.utf8.contains(UInt8(ascii: ".")), let end = known.unresolvedPath(of: keyPath),
      (try? value(forKeyPath: end.link)) == nil
    else { return }
    Hint.give(
      """
      The key path \(quoted(keyPath)) of \(known.name) is observed, and leads nowhere at \(quoted(end.key)) once \
      \(quoted(end.link)) is no longer nil. \(end.reason(in: known))
      """)
  }
}

extension AnyKeyPath {
  /// The class of the first object on the key path that has no keys; nil if there is none.
  var keylessClass: AnyClass? {
    guard var components = KeyPathComponents(self) else { return nil }
    while components.next() != nil {
      guard let type = components.valueType else { return nil }
      let held = unwrapped(type)
      if let held = held as? AnyClass, !(held is KVOObject.Type) { return held }
    }
    return nil
  }

  /// The plain stored property that the key path begins with, if it can't be overridden. Metadata names no
  /// other one.
  fileprivate func plainField(in known: KVOClass) -> Field? {
    guard var components = KeyPathComponents(self), case .stored(let offset) = components.next()
    else { return nil }
    return known.fields.first { !$0.isObserved && $0.offset == offset }
  }

  /// The plain stored property that the key path is, if it can't be overridden.
  func plainProperty(in known: KVOClass) -> Field? {
    guard var components = KeyPathComponents(self), components.next() != nil, components.isAtEnd
    else { return nil }
    return plainField(in: known)
  }

  /// The start of the key path, as far as it is known, and advice on how to make it observable.
  fileprivate func advice(in known: KVOClass) -> String {
    if let field = plainField(in: known) {
      let name = field.name
      guard field.isVariable else { return "\"\(name)\" is a constant, which never changes." }
      return """
        "\(name)" is a plain property. \(field.takesWrapper ? "\(known.mark(for: field)) Or declare" : "Declare") it in \
        registerKeys(), to notify by key-value coding and manually: declareKeys { $0.stored("\(name)", \\.\(name.inSource)) }.
        """
    }
    var components = KeyPathComponents(self)
    _ = components?.next()
    let candidates = known.plainFields(of: components?.valueType ?? type(of: self).valueType)
    let list =
      candidates.isEmpty ? "" : " (\(candidates.map(\.name).joined(separator: ", ")))"
    if !candidates.isEmpty, candidates.allSatisfy(known.isByMacro) {
      return """
        \(known.name) has the macro @KVO. If the key path begins with a plain property\(list), take its @KVOIgnored away; \
        if with a computed one, take that of what its getter reads away. Or declare the key in registerKeys(), \
        declareKeys { $0.stored("<key>", \\.<key>) } or $0.computed, and change it in withChange(of: \\.<key>) { … }.
        """
    }
    return """
      If it begins with a plain property\(list), mark that @Observed; if with a computed one, what its getter reads. Or \
      give the class @KVO, or declare the key in registerKeys(), declareKeys { $0.stored("<key>", \\.<key>) } or \
      $0.computed, and change it in withChange(of: \\.<key>) { … }.
      """
  }
}

extension KVOClass {
  /// Advice on how to observe properties of an object without keys.
  func advice(onKeyless type: AnyClass) -> String {
    let other = className(of: type)
    if FoundationLink.lacksCollection(type) {
      return "Link KVOFoundation, with which \(other) has keys."
    }
    return """
      It goes through an object of \(other), which is not a KVOObject. Make \(other) one; or give \(name) a computed \
      property, declared in registerKeys(), whose setter announces the change: set { withChange(of: \\.<key>) { … } }.
      """
  }

  /// The plain variables that a key path with this value type may name.
  fileprivate func plainFields(of type: Any.Type) -> [Field] {
    fields.filter { !$0.isObserved && $0.isVariable && $0.mayAnswer(type) }
  }

  /// Advice on how to make a plain property observable that takes a wrapper.
  func mark(for field: Field) -> String {
    guard let owner = owner(of: field), isByMacro(field) else { return "Mark it @Observed." }
    return """
      \(owner.name) has the macro @KVO, which leaves this property plain: take its @KVOIgnored away or, if \(owner.name) \
      marks its observed properties dynamic, mark it so.
      """
  }

  /// Whether the class that stores a property has the macro.
  fileprivate func isByMacro(_ field: Field) -> Bool {
    let owner = owner(of: field)
    return KVOClass.lock.withLock { owner?.preparation.generated.accessors.isEmpty == false }
  }

  private func owner(of field: Field) -> KVOClass? {
    sequence(first: self, next: \.superclass).first { known in
      Field.declared(by: known.type).contains { $0.offset == field.offset && $0.name == field.name }
    }
  }
}

extension Field {
  // The storage of a lazy property is an optional.
  fileprivate func mayAnswer(_ type: Any.Type) -> Bool {
    guard form == .lazy else { return self.type.swiftType == type }
    return (self.type.swiftType as? any OptionalType.Type)?.wrappedType == type
  }
}

// MARK: Strings

/// The point at which a string key path leads nowhere, according to the types that the classes on the way
/// declare. It explains an error that has only the path's text, or predicts one behind a link that is nil
/// now.
struct UnresolvedPath {
  /// The path before the missing key, and that key.
  let link: String
  let key: String
  /// The class of the link's values. It has no keys, or lacks this one, which a subclass may have.
  let holder: AnyClass

  var isKeyless: Bool { !(holder is KVOObject.Type) }

  func reason(in known: KVOClass) -> String {
    (holder as? KVOObject.Type).map { KVOClass.of($0).lack(of: key) }
      ?? known.advice(onKeyless: holder)
  }
}

extension KVOClass {
  static func unresolvedPath(of keyPath: String, inClassNamed name: String) -> (
    UnresolvedPath, KVOClass
  )? {
    used(named: name).lazy.compactMap { known in
      known.unresolvedPath(of: keyPath).map { ($0, known) }
    }
    .first
  }

  /// Returns nil if every key is known, or if the types don't show an error.
  func unresolvedPath(of keyPath: String) -> UnresolvedPath? {
    var (holder, link): (AnyClass, [String]) = (type, [])
    for key in keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
      guard !key.isEmpty, key != "self", !key.hasPrefix("@") else { return nil }
      let end = UnresolvedPath(link: link.joined(separator: "."), key: key, holder: holder)
      guard let owner = holder as? KVOObject.Type else { return end }
      let known = KVOClass.of(owner)
      guard let type = known.property(key)?.observedType.swiftType else {
        let mayHaveMore = known.lacksFields || MethodOverride.answers(owner)
        return link.isEmpty || mayHaveMore ? nil : end
      }
      let held = unwrapped(type)
      guard let next = held as? AnyClass, held is KVOObject.Type || isKeyless(next) else {
        return nil
      }
      (holder, link) = (next, link + [key])
    }
    return nil
  }
}

private func isKeyless(_ type: AnyClass) -> Bool {
  !(type is any KeyedObject.Type) && FoundationLink.linked?.collection(type) == nil
}
