internal import SwiftSource

/// What `@KVO` adds to its class (Q2): an override in which each property is declared under its name, with its getter and
/// setter, and each method whose name says something of a key (Q4). A directive around a member stands around what is
/// made of it.

struct DeclaredKeys {
  private let request: AttachedMacro
  private let type: TypeDeclaration
  private var diagnostics: [Diagnostic] = []

  static func members(of request: AttachedMacro) -> Expansion {
    var reader = DeclarationReader(request.source)
    guard let type = reader.readType(), type.keyword == "class" else {
      let message = "@KVO is for classes, which inherit from KVOObject: only they can be observed."
      return Expansion(diagnostics: [
        Diagnostic(severity: .error, message: message, offset: request.attributeOffset)
      ])
    }
    guard !type.inherited.isEmpty else { return withoutSuperclass(type, request) }
    var keys = DeclaredKeys(request: request, type: type)
    let source = keys.source()
    return Expansion(source: source, diagnostics: keys.diagnostics)
  }

  private init(request: AttachedMacro, type: TypeDeclaration) {
    self.request = request
    self.type = type
  }

  private static func withoutSuperclass(
    _ type: TypeDeclaration, _ request: AttachedMacro
  ) -> Expansion {
    let name = type.name.text
    let end = request.offset + type.endOfName
    let fixIt = Diagnostic.FixIt(
      message: "inherit from KVOObject", edits: [.init(start: end, end: end, text: ": KVOObject")])
    return Expansion(diagnostics: [
      Diagnostic(
        severity: .error,
        message: "@KVO: \(name) has to inherit from KVOObject, or from a class that does.",
        offset: request.offset + type.name.offset, fixIts: [fixIt])
    ])
  }

  // MARK: - Declarations

  /// A class of an actor has properties that no key path of other code may lead to: its keys are found by what is
  /// stored, as without the macro. An attribute that is not known may be an actor.
  private var isIsolated: Bool {
    type.attributes.contains { attribute in
      attribute.name.first?.isUppercase == true
        && !["KVO", "KVORuntime.KVO"].contains(attribute.name)
    }
  }

  private mutating func source() -> String {
    let methods = ConventionMethods(of: type)
    var lines: [String] = []
    for member in type.members {
      if case .directive(let text) = member.kind {
        lines.append(text)
        continue
      }
      look(at: member)
      guard !isIsolated else { continue }
      if let line = declaration(of: member, methods) { lines.append(line) }
      lines += methods.declarations(of: member)
    }
    lines += isIsolated ? [] : methods.collections
    guard lines.contains(where: { !$0.hasPrefix("#") }) else { return "" }
    // As accessible as the class: subclasses in other modules override it in their turn.
    let access = type.modifiers.first { ["public", "open"].contains($0) }.map { $0 + " " } ?? ""
    let body = lines.map { $0.hasPrefix("#") ? $0 : "    " + $0 }.joined(separator: "\n")
    return """
      \(access)override class func _registerProperties() {
        super._registerProperties()
        declareKeys { keys in
      \(body)
        }
      }
      """
  }

  private func declaration(of member: Member, _ methods: ConventionMethods) -> String? {
    let form = ObservableMember.form(of: member)
    guard form != .none, case .variable(_, let bindings) = member.kind,
      let binding = bindings.first,
      let name = binding.name, !isApart(member), name.name.isKey
    else { return nil }
    let key = "\"\(name.name)\""
    let keyPath = "\\.\(name.text)"
    guard binding.isComputed else { return "keys.stored(\(key), \(keyPath))" }
    let affecting = methods.affecting(name.name).map { ", affectedBy: \($0)" } ?? ""
    return "keys.computed(\(key), \(keyPath)\(affecting))"
  }

  /// Whether other code may not form a key path to it, or not everywhere.
  private func isApart(_ member: Member) -> Bool {
    member.attributes.contains { $0.name == "available" || $0.name.hasSuffix("Actor") }
  }

  // MARK: - What is said of a member

  private mutating func look(at member: Member) {
    guard case .variable(true, let bindings) = member.kind, !member.isOfType,
      !member.has("KVOIgnored")
    else { return }
    let isStored = bindings.contains { !$0.isComputed }
    if isStored, bindings.count > 1 || bindings[0].name == nil {
      tell(
        .error, member,
        "@KVO: a declaration of several variables can't be observed; declare each by itself, or mark it @KVOIgnored."
      )
    } else if isStored, let wrapper = ObservableMember.wrapper(of: member) {
      tell(
        .warning, member,
        """
        @KVO: "\(bindings[0].name?.name ?? "")" is not observed, since @\(wrapper.name) stands before it, beside which \
        no other wrapper can; mark it @KVOIgnored if that is meant.
        """)
    } else if isStored, let reason = ObservableMember.reasonNotObserved(member) {
      tell(
        .warning, member,
        """
        @KVO: setting "\(bindings[0].name?.name ?? "")" tells nobody, since \(reason); change it inside \
        withChange(forKey:), and mark it @KVOIgnored.
        """)
    } else if let name = bindings[0].name, !member.has("KVOTracked"),
      let setter = bindings[0].accessors?.block("set"),
      SetterCheck(type).tellsNobody(setter)
    {
      warn(ofSetter: setter, of: name)
    }
  }

  private mutating func warn(ofSetter setter: Accessors.Block, of name: Token) {
    guard let first = setter.body.first, let last = setter.body.last else { return }
    let start = request.offset + first.offset
    let end = request.offset + last.endOffset
    let fixIt = Diagnostic.FixIt(
      message: "tell of it by withChange(of:)",
      edits: [
        .init(start: start, end: start, text: "withChange(of: \\.\(name.text)) { "),
        .init(start: end, end: end, text: " }"),
      ])
    diagnostics.append(
      Diagnostic(
        severity: .warning,
        message: """
          @KVO: assigning to "\(name.name)" tells its observers of nothing, unless what its setter changes is observed; \
          change it inside withChange(of: \\.\(name.text)), or mark the property @KVOTracked if it is.
          """,
        offset: request.offset + name.offset, fixIts: [fixIt]))
  }

  private mutating func tell(_ severity: Diagnostic.Severity, _ member: Member, _ message: String) {
    diagnostics.append(
      Diagnostic(severity: severity, message: message, offset: request.offset + member.offset))
  }
}

extension String {
  /// Whether key paths can name it: a name with a point in it, or an at sign before it, is none.
  var isKey: Bool {
    !utf8.contains(UInt8(ascii: ".")) && !hasPrefix("@") && !utf8.contains(UInt8(ascii: "\\"))
      && !utf8.contains(UInt8(ascii: "\""))
  }
}
