internal import CKVORuntime

/// Error messages for key paths that can't be observed, and how manual changes of them are handled (F6). The
/// key path's components and the class's fields show what the program probably meant.
extension KVOObject {
  /// The key that a change by hand of the key path changes: the key path's own, or that of the plain property
  /// that it names. Nil if the key path reads nothing that can be observed, so that it has no observers.
  func changedKey(of keyPath: AnyKeyPath) -> ObservedKey? {
    // The getter announces a change of this key path. Evaluating it here would announce the change again.
    if kvo_is_recording(), KeyPathReads.isLookingAt(keyPath, of: self) { return nil }
    if let key = knownKey(of: keyPath) { return key }
    let known = KVOClass.of(self)
    known.requireDeclaration(of: "what the key path \(keyPath.text) names")
    if let field = keyPath.plainField(in: known) {
      return known.property(field.key).map { ObservedKey(name: $0.name, lease: nil) }
    }
    if kvo_binding_is_observed(header) { reportIfObserved(keyPath, known) }
    return nil
  }

  // The key path may name a plain property instead of a computed one; then an observer of its string is
  // missed.
  private func reportIfObserved(_ keyPath: AnyKeyPath, _ known: KVOClass) {
    let type = Swift.type(of: keyPath).valueType
    let missed = known.plainFields(of: type).map(\.key).filter { isObserved(forKey: $0) }
    guard let key = missed.first else { return }
    KVODiagnostics.report(
      misuse: """
        A change by hand of the key path \(keyPath.text) tells nobody, since it reads no @Observed \
        property and is no declared key of \(known.name). If it is the plain property "\(key)", which \
        is observed, say withChange(forKey: "\(key)"), or declare it: \
        declareKeys { $0.stored("\(key)", \\.\(key.inSource)) }.
        """)
  }

  /// Stops the program for a key path that can't be observed, with a place that is no literal.
  package func requireObservable(_ keyPath: AnyKeyPath, _ fileID: String, _ line: Int) {
    guard knownKey(of: keyPath) == nil else { return }
    KVODiagnostics.stop("\(notObservable(keyPath, KVOClass.of(self))) (\(fileID):\(line))")
  }

  func notObservable(_ keyPath: AnyKeyPath, _ known: KVOClass) -> String {
    known.requireDeclaration(of: "what the key path \(keyPath.text) names")
    let fault = """
      The key path \(keyPath.text) of type \(swiftName(of: type(of: keyPath).valueType)) can't be \
      observed: it reads no @Observed property and is no declared key of \(known.name).
      """
    if let object = keyPath.keylessObject {
      return fault + " It goes through \(object.phrase): \(object.advice(for: known.name))"
    }
    let first = keyPath.firstProperty(in: known)
    return fault
      + "\(first.text(isWhole: keyPath.hasOneComponent)) \(first.advice(for: keyPath, in: known))"
  }
}

/// An object on a key path whose class has no keys, so that its changes can't be observed.
struct KeylessObject {
  private let type: Any.Type
  /// The key path up to the object, and the property that it reads there, as source text; nil if names are
  /// unknown.
  private let names: (link: String, property: String)?

  fileprivate init(_ type: Any.Type, behind count: Int, in text: String) {
    self.type = type
    // "\\Doc.model?.index"
    let parts = text.split(separator: ".").dropFirst()
    let isKnown = parts.map(Self.bare).allSatisfy { $0.inSource == $0 }
    names =
      isKnown && parts.count > count
      ? (
        parts.prefix(count).joined(separator: "."),
        Self.bare(parts.dropFirst(count).first!)
      ) : nil
  }

  /// - Parameter keys: the keys that lead to the object, each with a mark behind it if it may be nil.
  init(_ type: Any.Type, behind keys: [String], wanted property: String) {
    self.type = type
    let isKnown = (keys + [property]).map { Self.bare($0[...]) }.allSatisfy { $0.inSource == $0 }
    names = isKnown ? (keys.joined(separator: "."), property) : nil
  }

  // Without the marks of optional chaining.
  private static func bare(_ part: Substring) -> String {
    part.filter { $0 != "?" && $0 != "!" }
  }

  var phrase: String {
    let link = names.map { "\(Self.bare($0.link[...])), which is " } ?? ""
    return "\(link)an object of \(className(of: type)), and that is no KVOObject"
  }

  /// - Parameter owner: the name of the class in which the key path begins.
  func advice(for owner: String) -> String {
    "nobody is told what changes in it. " + remedy(for: owner)
  }

  /// The advice without the explanation of the problem.
  func remedy(for owner: String) -> String {
    if FoundationLink.lacksCollection(type) {
      return "Link KVOFoundation, with which \(className(of: type)) has keys."
    }
    let property = names?.property ?? "<key>"
    let mark = names.map { "its \"\($0.property)\"" } ?? "what is read of it"
    let path = names.map { $0.link + "." + $0.property } ?? "…"
    return """
      Make \(className(of: type)) a subclass of KVOObject, and mark \(mark) @Observed. Or give \
      \(owner) a computed property that tells of it, var \(property): … { get { \(path) } \
      set { withChange(of: \\.\(property)) { \(path) = newValue } } }, which is declared in registerKeys(): \
      declareKeys { $0.computed("\(property)", \\.\(property)) }.
      """
  }
}

extension AnyKeyPath {
  /// The first object on the key path that has no keys; nil if there is none.
  var keylessObject: KeylessObject? {
    guard var components = KeyPathComponents(self) else { return nil }
    var count = 0
    while let component = components.next() {
      if component != .optional { count += 1 }
      guard let type = components.valueType else { return nil }
      let held = (type as? any OptionalType.Type)?.wrappedType ?? type
      guard held is AnyClass else { continue }
      if !(held is KVOObject.Type) { return KeylessObject(held, behind: count, in: text) }
    }
    return nil
  }
}

/// The first property of a key path, as far as it is known.
private enum FirstProperty {
  case plain(Field)
  case computed(name: String)
  /// Computed, or one of these plain properties.
  case unknown(candidates: [Field])
  case nothing
}

extension FirstProperty {
  func text(isWhole: Bool) -> String {
    let it = isWhole ? "It is" : "It begins with"
    switch self {
    case .plain(let field): return " \(it) the \(field.word) \"\(field.name)\"."
    case .computed(let name):
      return " \(it) \"\(name)\", which is computed, and reads nothing that is observed."
    case .unknown(let candidates):
      guard !candidates.isEmpty else { return "" }
      let list = candidates.map { $0.form == .lazy ? "the lazy \($0.name)" : $0.name }
      return " \(isWhole ? "It is" : "What it begins with is") computed, or a plain property of "
        + "that type, of which there are: \(list.joined(separator: ", "))."
    case .nothing: return ""
    }
  }

  func advice(for keyPath: AnyKeyPath, in known: KVOClass) -> String {
    switch self {
    case .plain(let field) where !field.isVariable:
      return "What never changes need not be observed. To be a key all the same, it is declared in "
        + "registerKeys(): declareKeys { $0.accessors(\"\(field.name)\", \\.\(field.name.inSource), "
        + "get: { $0.\(field.name.inSource) }) }."
    case .plain(let field):
      let marks = field.takesWrapper ? "\(known.mark(for: field)) Or declare" : "Declare"
      return "\(marks) \(declaration(of: "stored(\"\(field.name)\", \\.\(field.name.inSource))")), "
        + "which then notifies by key-value coding and by hand."
    case .computed(let name):
      return "Mark what it reads @Observed. Or declare "
        + "\(declaration(of: "computed(\"\(name)\", \\.\(name.inSource))")), "
        + "and tell of its changes: \(keyPath.bracket(of: name))."
    case .unknown(let candidates)
    where !candidates.isEmpty && !candidates.contains(where: \.takesWrapper):
      return "Declare " + declarations
    case .unknown, .nothing:
      return "Mark the property @Observed if it is stored. Or declare " + declarations
    }
  }

  private var declarations: String {
    "\(declaration(of: "stored(\"<key>\", \\.<key>)")) for a plain property, which then "
      + "notifies by key-value coding and by hand, $0.computed for a computed one."
  }

  private func declaration(of entry: String) -> String {
    "the key in registerKeys(): declareKeys { $0.\(entry) }"
  }
}

extension KVOClass {
  /// How a plain property that takes a wrapper becomes observable.
  func mark(for field: Field) -> String {
    guard let owner = owner(of: field), isByMacro(field) else {
      return "Mark the property @Observed."
    }
    return """
      \(owner.name) has the macro @KVO, which leaves this property plain: mark it dynamic, as others of \(owner.name) \
      are, or take its @KVOIgnored away.
      """
  }

  /// Whether the class that stores a property has the macro.
  func isByMacro(_ field: Field) -> Bool {
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
  fileprivate var word: String {
    guard isVariable else { return "constant" }
    switch form {
    case .lazy: return "lazy property"
    case .weak: return "weak property"
    case .unowned, .unsafe: return "unowned property"
    case .plain, .observed: return "plain property"
    }
  }

  // The storage of a lazy property is an optional.
  fileprivate func mayAnswer(_ type: Any.Type) -> Bool {
    guard form == .lazy else { return self.type.swiftType == type }
    return (self.type.swiftType as? any OptionalType.Type)?.wrappedType == type
  }
}

extension AnyKeyPath {
  /// The plain stored property that the key path names, if it can't be overridden.
  fileprivate func plainField(in known: KVOClass) -> Field? {
    guard var components = KeyPathComponents(self), case .stored(let offset) = components.next(),
      components.isAtEnd
    else { return nil }
    return known.fields.first { !$0.isObserved && $0.offset == offset }
  }

  /// Source text that announces a change of a computed property: in its setter, if it has one.
  fileprivate func bracket(of name: String) -> String {
    let isWritable = _typeName(Swift.type(of: self), qualified: false)
      .hasPrefix("ReferenceWritableKeyPath<")
    let bracket = "withChange(of: \\.\(name.inSource))"
    return isWritable && hasOneComponent
      ? "set { \(bracket) { … = newValue } }" : "\(bracket) { … } around what changes it"
  }

  fileprivate var hasOneComponent: Bool {
    guard var components = KeyPathComponents(self) else { return false }
    return components.next() != nil && components.isAtEnd
  }

  // A key path contains no names. It has the offset of a stored property that can't be overridden. For a
  // property that may be computed it has a getter, whose name may be in the program's symbols.
  fileprivate func firstProperty(in known: KVOClass) -> FirstProperty {
    guard var components = KeyPathComponents(self), let first = components.next() else {
      return .nothing
    }
    switch first {
    case .stored(let offset):
      let field = known.fields.first { !$0.isObserved && $0.offset == offset }
      return field.map { .plain($0) } ?? .nothing
    case .computed:
      let root = Swift.type(of: self).rootType
      if let name = components.name(of: first, in: root) { return known.property(called: name) }
      let type = components.valueType ?? Swift.type(of: self).valueType
      return .unknown(candidates: known.plainFields(of: type))
    case .optional, .part: return .nothing
    }
  }
}

extension KVOClass {
  /// The plain variables that a key path with this value type may name.
  fileprivate func plainFields(of type: Any.Type) -> [Field] {
    fields.filter { !$0.isObserved && $0.isVariable && $0.mayAnswer(type) }
  }

  fileprivate func property(called name: String) -> FirstProperty {
    if name == PropertySymbol.subscriptName { return .nothing }
    return fields.first { !$0.isObserved && $0.name == name }.map { .plain($0) }
      ?? .computed(name: name)
  }
}
