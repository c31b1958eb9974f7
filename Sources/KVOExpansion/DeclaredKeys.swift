internal import SwiftSource

/// The members that `@KVO` adds to its class (Q2): an override of `_registerProperties`. It declares each property under
/// its name, with getter and setter, and each method whose name makes a statement about a key (Q4). A directive around a
/// member is repeated around its declaration.

struct DeclaredKeys {
  let request: AttachedMacro
  let type: TypeDeclaration
  let setters: SetterCheck
  var diagnostics: [Diagnostic] = []

  static func members(of request: AttachedMacro) -> Expansion {
    let lexed = LexedSource(request.source)
    var reader = DeclarationReader(lexed.tokens, at: 0)
    let read = reader.readType()?.ignoringUnmarked()
    guard let type = read, type.keyword == "class" else {
      let message = "@KVO is for classes, which inherit from KVOObject: only they can be observed."
      let place = read.map { request.offset + $0.name.offset } ?? request.start
      return Expansion(diagnostics: [Diagnostic(severity: .error, message: message, offset: place)])
    }
    if let problem = Superclass.problem(of: type, request) {
      return Expansion(diagnostics: [problem])
    }
    var keys = DeclaredKeys(request, type, lexed.tokens)
    if let problem = lexed.problems.first { keys.diagnose(problem) }
    keys.diagnostics += EarlyReads(of: type, lexed.tokens).diagnostics(request)
    let source = keys.source()
    let coded = CodedProperties(of: type, request, lexed.tokens).expansion(access: keys.access)
    return Expansion(
      source: source + coded.source, diagnostics: keys.diagnostics + coded.diagnostics)
  }

  private init(_ request: AttachedMacro, _ type: TypeDeclaration, _ tokens: [Token]) {
    (self.request, self.type) = (request, type)
    setters = SetterCheck(type, tokens)
  }

  // MARK: - Declarations

  /// Lines that declare keys: `own` for members on the class's actor or on none, `others` for members that name their
  /// own actor.
  private struct Lines {
    var own: [String] = []
    var others: [String] = []

    mutating func add(_ line: String, on actor: String?) {
      guard let actor else { return own.append(line) }
      others.append("_declareIsolatedKeys { @\(actor) keys in \(line) }")
    }

    mutating func add(directive: String) {
      own.append(directive)
      others.append(directive)
    }

    /// The lines indented, with the directives around them; nil if there are only directives.
    static func text(_ lines: [String], _ indentation: String) -> String? {
      guard lines.contains(where: { !$0.hasPrefix("#") }) else { return nil }
      return lines.map { $0.hasPrefix("#") ? $0 : indentation + $0 }.joined(separator: "\n")
    }
  }

  private mutating func source() -> String {
    let methods = ConventionMethods(of: type)
    var lines = Lines()
    for member in type.members {
      if case .directive(let text) = member.kind {
        lines.add(directive: text)
        continue
      }
      check(member, methods)
      let declared = [declaration(of: member, methods)].compactMap { $0 }
      for line in declared + methods.declarations(of: member) {
        lines.add(line, on: member.actor ?? methods.actorOfAffecting(member))
      }
    }
    for (declaration, actor) in methods.collections {
      if let line = declaration.line {
        let key = declaration.key
        let end = methods.overridesElements(of: key) ? "; keys._overridesElements(\"\(key)\")" : ""
        lines.add(line + end, on: actor)
      }
      diagnose(declaration.misfits)
    }
    return registration(of: lines)
  }

  /// The override that declares keys by these lines; empty if they declare none.
  private func registration(of lines: Lines) -> String {
    let own = Lines.text(lines.own, "    ").map { "  _declareKeys { keys in\n\($0)\n  }" }
    let others = Lines.text(lines.others, "  ")
    guard own != nil || others != nil else { return "" }
    let isOnActor = own != nil && mayBeOnActor
    // A class nested in its superclass's body sees the superclass's function, even a private one, so the class's name
    // makes it unique.
    let function = "_declareProperties\(type.name.name)".inSource
    let body = [isOnActor ? "  _callIsolated(\(function))" : own, others].compactMap { $0 }
    // Deprecated functions may use deprecated members without a warning, and a superclass's deprecated override.
    let override = """
      @available(*, deprecated)
      \(access)nonisolated override class func _registerProperties() {
        super._registerProperties()
      \(body.joined(separator: "\n"))
      }
      """
    guard isOnActor, let own else { return override }
    return """
      \(override)
      @available(*, deprecated)
      private static func \(function)() {
      \(own)
      }
      """
  }

  /// The class's access level, because subclasses in other modules override the function. In an extension, the level
  /// may be the extension's.
  private var access: String {
    let extensionWords =
      request.context.first.map { LexedSource($0).tokens.map(\.text) }
      .flatMap { $0.contains("extension") ? $0.prefix { $0 != "extension" } : nil } ?? []
    let own = type.modifiers.first {
      ["public", "open", "package", "internal", "private", "fileprivate"].contains($0)
    }
    let word = own ?? extensionWords.first { ["public", "package"].contains($0) } ?? ""
    return ["public", "open", "package"].contains(word) ? word + " " : ""
  }

  /// Key paths to members on an actor can be formed on that actor only. So the declarations are in a function of the
  /// class, which is on the class's actor, whether the class names it, inherits it, or gets it from its module.
  ///
  /// The compiler refuses a reference to such a function of a generic class that is on no actor. So for a generic
  /// class, only an attribute that may name an actor makes this true.
  private var mayBeOnActor: Bool {
    let isGeneric =
      type.endOfName > type.name.endOffset || request.context.contains(where: \.mayBeGeneric)
    return !isGeneric
      || type.attributes.contains { attribute in
        attribute.name.first?.isUppercase == true
          && !["KVO", "KVORuntime.KVO"].contains(attribute.name)
      }
  }

  private func declaration(of member: Member, _ methods: ConventionMethods) -> String? {
    guard ObservableMember.hasKey(member), case .variable(_, let bindings) = member.kind,
      let binding = bindings.first, let name = binding.name, !member.isUnavailable,
      name.name.isKey
    else { return nil }
    let key = "\"\(name.name)\""
    let keyPath = "\\.\(name.text)"
    let overrides = member.isOverride ? "; keys._overrides(\(key))" : ""
    guard binding.isComputed else {
      let isObserved = ObservableMember.form(of: member) == .observed || member.has("Observed")
      return "keys.\(isObserved ? "_observed" : "stored")(\(key), \(keyPath))\(overrides)"
    }
    if let affecting = methods.affecting(name.name) {
      return "keys.computed(\(key), \(keyPath), affectedBy: \(affecting))\(overrides)"
    }
    let sources = cachedSources(binding, name).map { "\"\($0)\"" }.joined(separator: ", ")
    let caching = sources.isEmpty ? "" : "; keys._keeping(\(key), reads: [\(sources)])"
    return "keys.computed(\(key), \(keyPath))\(caching)\(overrides)"
  }

  /// The keys from which a property's getter makes a value that it caches.
  private func cachedSources(_ binding: Binding, _ name: Token) -> [String] {
    let getter = binding.accessors?.block("get", "_read", "read")
    return getter.flatMap { setters.cachedValue(in: $0, of: name.name) }?.sources ?? []
  }
}

extension String {
  /// Whether an enclosing declaration with this head may give the class generic parameters.
  fileprivate var mayBeGeneric: Bool {
    let tokens = LexedSource(self).tokens
    if tokens.contains(where: { $0.isWord("extension") || $0.isWord("some") }) { return true }
    let words = ["class", "struct", "enum", "actor", "func", "init", "subscript"]
    guard let word = tokens.firstIndex(where: { words.contains($0.text) }) else { return false }
    let name = ["init", "subscript"].contains(tokens[word].text) ? word : word + 1
    return name + 1 < tokens.count && tokens[name + 1].text.hasPrefix("<")
  }

  /// Whether key paths can name it. A name with a dot, or beginning with an at sign, is not a key.
  var isKey: Bool {
    !utf8.contains(UInt8(ascii: ".")) && !hasPrefix("@") && !utf8.contains(UInt8(ascii: "\\"))
      && !utf8.contains(UInt8(ascii: "\""))
  }
}
