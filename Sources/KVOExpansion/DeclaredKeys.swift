internal import SwiftSource

/// The members that `@KVO` adds to its class (Q2). An override declares each property under its name, with getter and
/// setter, and each method whose name makes a statement about a key (Q4). A directive around a member is repeated
/// around its declaration.

struct DeclaredKeys {
  private let request: AttachedMacro
  private let type: TypeDeclaration
  private let setters: SetterCheck
  private var diagnostics: [Diagnostic] = []

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
      look(at: member)
      diagnose(methods.misfits(of: member))
      if methods.isValidatorWithResult(member) {
        diagnose(
          .warning, member,
          "@KVO: this method does not validate its key, since it returns a result; let it throw instead."
        )
      }
      warnOfKept(member, methods)
      warnOfUnawareReaders(of: member, methods)
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
    let own = Lines.text(lines.own, "    ").map { "  _declareKeys { keys in\n\($0)\n  }" }
    let others = Lines.text(lines.others, "  ")
    guard own != nil || others != nil else { return "" }
    let isApart = own != nil && mayBeOnActor
    // A class nested in its superclass's body sees the superclass's function, even a private one, so the class's name
    // makes it unique.
    let function = "_declareProperties\(type.name.name)".inSource
    let body = [isApart ? "  _callIsolated(\(function))" : own, others].compactMap { $0 }
    // Deprecated functions may use deprecated members without a warning, and a superclass's deprecated override.
    let override = """
      @available(*, deprecated)
      \(access)nonisolated override class func _registerProperties() {
        super._registerProperties()
      \(body.joined(separator: "\n"))
      }
      """
    guard isApart, let own else { return override }
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
    let sources = keptSources(binding, name).map { "\"\($0)\"" }.joined(separator: ", ")
    let kept = sources.isEmpty ? "" : "; keys._keeping(\(key), reads: [\(sources)])"
    return "keys.computed(\(key), \(keyPath))\(kept)\(overrides)"
  }

  private func keptSources(_ binding: Binding, _ name: Token) -> [String] {
    binding.accessors?.block("get", "_read", "read").flatMap {
      setters.cachedValue(in: $0, of: name.name)
    }?
    .sources ?? []
  }

  // MARK: - Declarations of one member

  private mutating func look(at member: Member) {
    guard case .variable(true, let bindings) = member.kind, !member.isOfType,
      !member.has("KVOIgnored")
    else { return }
    let isStored = bindings.contains { !$0.isComputed }
    diagnoseStorage(of: member)
    if isStored, bindings.count > 1 || bindings[0].name == nil {
      diagnose(
        .error, member,
        "@KVO: a declaration of several variables can't be observed; declare each by itself, or mark it @KVOIgnored."
      )
    } else if isStored, let wrapper = ObservableMember.wrapper(of: member) {
      diagnose(
        .warning, member,
        """
        @KVO: "\(bindings[0].name?.name ?? "")" is not observed, since @\(wrapper.name) stands before it, beside which \
        no other wrapper can; mark it @KVOIgnored if that is meant.
        """, fixIts: [markIgnored(member)])
    } else if isStored, let reason = ObservableMember.reasonNotObserved(member) {
      diagnose(
        .warning, member,
        """
        @KVO: setting "\(bindings[0].name?.name ?? "")" notifies no observer, since \(reason); change it inside \
        withChange(forKey:), and mark it @KVOIgnored.
        """, fixIts: [markIgnored(member)])
    } else if let name = bindings[0].name, !member.has("KVOTracked"),
      let setter = bindings[0].accessors?.block("set"),
      setters.notifiesNoObserver(whenSetting: name.name)
    {
      warn(ofSetter: setter, of: name, member)
    } else if let name = bindings[0].name, member.isOverride, !member.has("KVOTracked"),
      let setter = bindings[0].accessors?.block("set"), setter.notifiesInSuper(ofSetting: name.name)
    {
      warn(ofEarlyNotification: name, in: setter)
    } else if let name = bindings[0].name, member.isOverride,
      let observer = bindings[0].accessors?.blocks.first(where: {
        ["willSet", "didSet"].contains($0.name) && $0.setsAgain(name.name)
      })
    {
      diagnose(
        .warning, member,
        """
        @KVO: the \(observer.name) of "\(name.name)" sets "\(name.name)", and so calls itself without an end, since the \
        property is an override; set it only if its value has to be corrected.
        """)
    } else if let name = bindings[0].name, let accessors = bindings[0].accessors,
      !setters.mayNotifyOnlyManually(name.name),
      let other = setters.notifiedBeside(accessors, of: name.name)
    {
      warn(ofNotifyingTwice: name, beside: other)
    }
  }

  // A member that has the name of another property's storage.
  private mutating func diagnoseStorage(of member: Member) {
    guard let name = member.variableName, let storage = AccessedProperty.storage(of: member),
      let other = type.members.first(where: { $0.variableName?.inSource == storage })
    else { return }
    diagnose(
      .error, other,
      "@KVO: the value of \"\(name)\" is stored under the name \(storage); give this property another name."
    )
  }

  private mutating func warnOfKept(_ member: Member, _ methods: ConventionMethods) {
    guard case .variable(_, let bindings) = member.kind, let name = bindings.first?.name,
      ObservableMember.form(of: member) == .known, methods.affecting(name.name) == nil,
      !setters.mayNotifyOnlyManually(name.name),
      let getter = bindings[0].accessors?.block("get", "_read", "read"),
      let kept = setters.cachedValue(in: getter, of: name.name), kept.sources.isEmpty,
      let cache = kept.cache
    else { return }
    diagnose(
      .warning, member,
      """
      @KVO: the getter of "\(name.name)" keeps its value in "\(cache)" and names no observed property that it is made \
      from, so its observers may not be notified; name them in keyPathsForValuesAffecting\(name.name.capitalizedFirst)().
      """)
  }

  private mutating func warnOfUnawareReaders(of member: Member, _ methods: ConventionMethods) {
    guard case .variable(_, let bindings) = member.kind, let name = bindings.first?.name,
      ObservableMember.form(of: member) == .known, !member.has("KVOTracked"),
      let getter = bindings[0].accessors?.block("get", "_read", "read")
    else { return }
    guard
      let (readers, why) = setters.unawareReaders(
        of: name.name, getter, isDeclared: methods.affecting(name.name) != nil),
      let reader = readers.first(where: {
        methods.affecting($0) == nil && !setters.mayNotifyOnlyManually($0)
      })
    else { return }
    let reason =
      switch why {
      case .manual: "whose changes are announced manually, so"
      case .declared: "whose getter reads nothing observed, so"
      case .cached(let cache): "whose getter keeps its value in \"\(cache)\": while that is filled,"
      }
    diagnose(
      .warning, member,
      """
      @KVO: "\(reader)" reads "\(name.name)", \(reason) observers of "\(reader)" are not \
      notified of its changes; call access(keyPath: \\.\(name.text)) in the getter of "\(name.name)".
      """, fixIts: [report(of: name, in: getter)].compactMap { $0 })
  }

  /// Reports the read at the beginning of a getter. Nil if it is not clear how.
  private func report(of name: Token, in getter: Accessors.Block) -> Diagnostic.FixIt? {
    guard let first = getter.body.first, let needsReturn = getter.needsReturn else { return nil }
    let place = request.offset + first.offset
    let call = "access(keyPath: \\.\(name.text))\n"
    return .init(
      message: "report the read in the getter",
      edits: [.init(start: place, end: place, text: needsReturn ? call + "return " : call)])
  }

  private mutating func warn(ofNotifyingTwice name: Token, beside other: String) {
    let place = setters.place(of: other, markedFor: name.name).map { request.offset + $0 }
    let fixIts = place.map { place in
      Diagnostic.FixIt(
        message: "mark \(other) @KVOIgnored",
        edits: [.init(start: place, end: place, text: "@KVOIgnored ")])
    }
    diagnostics.append(
      Diagnostic(
        severity: .warning,
        message: """
          @KVO: setting "\(name.name)" notifies its observers twice: manually, and because "\(other)", which it sets and reads, \
          is observed; mark "\(other)" @KVOIgnored, or leave out the manual notification.
          """,
        offset: request.offset + name.offset, fixIts: fixIts.map { [$0] } ?? []))
  }

  /// A directive needs a line of its own.
  private func space(beside token: Token) -> String { token.kind == .directive ? "\n" : " " }

  private mutating func warn(ofSetter setter: Accessors.Block, of name: Token, _ member: Member) {
    guard let bracket = bracket(setter, of: name) else { return }
    let place = request.offset + member.offset
    let mark = Diagnostic.FixIt(
      message: "mark the property @KVOTracked, if what its setter changes is observed",
      edits: [.init(start: place, end: place, text: "@KVOTracked ")])
    diagnostics.append(
      Diagnostic(
        severity: .warning,
        message: """
          @KVO: assigning to "\(name.name)" does not notify its observers, unless what its setter changes is observed and \
          read by its getter: if so, mark the property @KVOTracked; if not, make the change inside \
          withAutomaticChange(of: \\.\(name.text)).
          """,
        offset: request.offset + name.offset, fixIts: [bracket, mark]))
  }

  private mutating func warn(ofEarlyNotification name: Token, in setter: Accessors.Block) {
    diagnostics.append(
      Diagnostic(
        severity: .warning,
        message: """
          @KVO: observers of "\(name.name)" are notified inside super's setter, while the rest of this setter has not run; \
          make the change inside withAutomaticChange(of: \\.\(name.text)).
          """,
        offset: request.offset + name.offset,
        fixIts: [bracket(setter, of: name)].compactMap { $0 }))
  }

  /// Makes a setter one automatic change.
  private func bracket(_ setter: Accessors.Block, of name: Token) -> Diagnostic.FixIt? {
    guard let first = setter.body.first, let last = setter.body.last else { return nil }
    let start = request.offset + first.offset
    let end = request.offset + last.endOffset
    return .init(
      message: "put the setter's body inside withAutomaticChange(of:)",
      edits: [
        .init(
          start: start, end: start,
          text: "withAutomaticChange(of: \\.\(name.text)) {" + space(beside: first)),
        .init(start: end, end: end, text: space(beside: last) + "}"),
      ])
  }

  private mutating func diagnose(_ problem: LexicalProblem) {
    let message = "@KVO: this class may be read wrongly, because of \(problem.message)."
    diagnostics.append(
      Diagnostic(severity: .warning, message: message, offset: request.offset + problem.offset))
  }

  private mutating func diagnose(_ misfits: [Misfit]) {
    diagnostics += misfits.map { misfit in
      Diagnostic(
        severity: .warning, message: misfit.message, offset: request.offset + misfit.name.offset)
    }
  }

  private mutating func diagnose(
    _ severity: Diagnostic.Severity, _ member: Member, _ message: String,
    fixIts: [Diagnostic.FixIt] = []
  ) {
    diagnostics.append(
      Diagnostic(
        severity: severity, message: message, offset: request.offset + member.offset, fixIts: fixIts
      ))
  }

  private func markIgnored(_ member: Member) -> Diagnostic.FixIt {
    let place = request.offset + member.offset
    return .init(
      message: "mark the property @KVOIgnored",
      edits: [.init(start: place, end: place, text: "@KVOIgnored ")])
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

extension Accessors.Block {
  /// Whether the body of a getter needs a `return` if a statement is put before it: it is an expression. Nil if it has
  /// directives, yields its value, or is a statement that is an expression.
  fileprivate var needsReturn: Bool? {
    guard name == "get", !body.contains(where: { $0.kind == .directive }) else { return nil }
    var (depth, isStatement) = (0, false)
    for token in body {
      if token.is("(") || token.is("[") || token.is("{") { depth += 1 }
      if token.is(")") || token.is("]") || token.is("}") { depth -= 1 }
      if depth == 0, token.kind == .keyword, Self.statements.contains(token.text) {
        isStatement = true
      }
      // Deeper ones may be a closure's.
      if token.isWord("return"), depth == 0 || depth == 1 && isStatement { return false }
    }
    return isStatement ? nil : true
  }

  private static let statements: Set = [
    "if", "switch", "guard", "do", "for", "while", "repeat", "let", "var", "func", "defer",
  ]
}
