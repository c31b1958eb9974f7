internal import SwiftSource

// The messages about members of a `@KVO` class: properties that are not observed, or whose observers are not notified, or
// twice (Q2, Q5, Q6, E3, F5), and methods that don't fit (Q4).

extension DeclaredKeys {
  mutating func check(_ member: Member, _ methods: ConventionMethods) {
    checkProperty(member)
    diagnose(methods.misfits(of: member))
    if methods.isValidatorWithResult(member) {
      diagnose(
        .warning, member,
        "@KVO: this method does not validate its key, since it returns a result; let it throw instead."
      )
    }
    warnOfCachedValue(member, methods)
    warnOfUnawareReaders(of: member, methods)
  }

  private mutating func checkProperty(_ member: Member) {
    guard case .variable(true, let bindings) = member.kind, !member.isOfType,
      !member.has("KVOIgnored")
    else { return }
    let isStored = bindings.contains { !$0.isComputed }
    checkStorage(of: member)
    if isStored, bindings.count > 1 || bindings[0].name == nil {
      diagnose(
        .error, member,
        "@KVO: a declaration of several variables can't be observed; declare each by itself, or mark it @KVOIgnored."
      )
    } else if let name = bindings[0].name {
      if isStored, let warning = notObserved(member, name) {
        let ignore = fixItIgnoring(at: member.offset, "mark the property @KVOIgnored")
        diagnose(.warning, member, warning, fixIts: [ignore])
      } else if let accessors = bindings[0].accessors {
        check(accessors, of: name, member)
      }
    }
  }

  // A member that has the name of another property's storage.
  private mutating func checkStorage(of member: Member) {
    guard let name = member.variableName, let storage = AccessedProperty.storage(of: member),
      let other = type.members.first(where: { $0.variableName?.inSource == storage })
    else { return }
    diagnose(
      .error, other,
      "@KVO: the value of \"\(name)\" is stored under the name \(storage); give this property another name."
    )
  }

  /// The warning of a stored property that is not observed; nil if it is.
  private func notObserved(_ member: Member, _ name: Token) -> String? {
    if let wrapper = ObservableMember.wrapper(of: member) {
      return """
        @KVO: "\(name.name)" is not observed, since it has the wrapper @\(wrapper.name), and @KVO \
        can't add a second one; mark it @KVOIgnored if that is intended.
        """
    }
    guard let reason = ObservableMember.reasonNotObserved(member) else { return nil }
    return """
      @KVO: setting "\(name.name)" notifies no observer, since \(reason); change it inside \
      withChange(forKey:), and mark it @KVOIgnored.
      """
  }

  // MARK: - Accessors

  private mutating func check(_ accessors: Accessors, of name: Token, _ member: Member) {
    let setter = member.has("KVOTracked") ? nil : accessors.block("set")
    if let setter, setters.notifiesNoObserver(whenSetting: name.name) {
      warn(ofSetter: setter, of: name, member)
    } else if let setter, member.isOverride, setter.notifiesInSuper(ofSetting: name.name) {
      warn(ofEarlyNotification: name, in: setter)
    } else if member.isOverride,
      let observer = accessors.blocks.first(where: {
        ["willSet", "didSet"].contains($0.name) && $0.setsAgain(name.name)
      })
    {
      diagnose(
        .warning, member,
        """
        @KVO: the \(observer.name) of "\(name.name)" sets "\(name.name)", and so calls itself without an end, since the \
        property is an override; set it only if its value has to be corrected.
        """)
    } else if !setters.mayNotifyOnlyManually(name.name),
      let other = setters.notifiedBeside(accessors, of: name.name)
    {
      warn(ofNotifyingTwice: name, beside: other)
    }
  }

  private mutating func warn(ofSetter setter: Accessors.Block, of name: Token, _ member: Member) {
    guard let wrap = fixItWrapping(setter, of: name) else { return }
    let track = Diagnostic.FixIt(
      message: "mark the property @KVOTracked, if what its setter changes is observed",
      edits: [insertion("@KVOTracked ", at: member.offset)])
    warn(
      at: name,
      """
      @KVO: assigning to "\(name.name)" does not notify its observers, unless what its setter changes is observed and \
      read by its getter: if so, mark the property @KVOTracked; if not, make the change inside \
      withAutomaticChange(of: \\.\(name.text)).
      """, [wrap, track])
  }

  private mutating func warn(ofEarlyNotification name: Token, in setter: Accessors.Block) {
    warn(
      at: name,
      """
      @KVO: observers of "\(name.name)" are notified inside super's setter, while the rest of this setter has not run; \
      make the change inside withAutomaticChange(of: \\.\(name.text)).
      """, [fixItWrapping(setter, of: name)])
  }

  private mutating func warn(ofNotifyingTwice name: Token, beside other: String) {
    let ignore = setters.place(of: other, markedFor: name.name).map {
      fixItIgnoring(at: $0, "mark \(other) @KVOIgnored")
    }
    warn(
      at: name,
      """
      @KVO: setting "\(name.name)" notifies its observers twice: manually, and because "\(other)", which it sets and reads, \
      is observed; mark "\(other)" @KVOIgnored, or leave out the manual notification.
      """, [ignore])
  }

  // MARK: - Getters

  private mutating func warnOfCachedValue(_ member: Member, _ methods: ConventionMethods) {
    guard case .variable(_, let bindings) = member.kind, let name = bindings.first?.name,
      ObservableMember.form(of: member) == .known, methods.affecting(name.name) == nil,
      !setters.mayNotifyOnlyManually(name.name),
      let getter = bindings[0].accessors?.block("get", "_read", "read"),
      let value = setters.cachedValue(in: getter, of: name.name), value.sources.isEmpty,
      let cache = value.cache
    else { return }
    diagnose(
      .warning, member,
      """
      @KVO: the getter of "\(name.name)" keeps its value in "\(cache)" and names no observed property that it is made \
      from, so its observers may not be notified; name them in keyPathsForValuesAffecting\(name.name.capitalizedFirst)().
      """)
  }

  // Warns if another getter reads this property, and tracking can't see that this one changes: its changes are announced
  // manually, what affects it is declared, or it returns a cached value.
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
      """, fixIts: [fixItReportingRead(of: name, in: getter)].compactMap { $0 })
  }

  // MARK: - Corrections

  /// Reports the read at the beginning of a getter. Nil if it is not clear how.
  private func fixItReportingRead(
    of name: Token, in getter: Accessors.Block
  ) -> Diagnostic.FixIt? {
    guard let first = getter.body.first, let needsReturn = getter.needsReturn else { return nil }
    let call = "access(keyPath: \\.\(name.text))\n"
    return .init(
      message: "report the read in the getter",
      edits: [insertion(needsReturn ? call + "return " : call, at: first.offset)])
  }

  /// Makes a setter one automatic change.
  private func fixItWrapping(_ setter: Accessors.Block, of name: Token) -> Diagnostic.FixIt? {
    guard let first = setter.body.first, let last = setter.body.last else { return nil }
    let call = "withAutomaticChange(of: \\.\(name.text)) {"
    return .init(
      message: "put the setter's body inside withAutomaticChange(of:)",
      edits: [
        insertion(call + space(beside: first), at: first.offset),
        insertion(space(beside: last) + "}", at: last.endOffset),
      ])
  }

  /// A directive needs a line of its own.
  private func space(beside token: Token) -> String { token.kind == .directive ? "\n" : " " }

  private func fixItIgnoring(at offset: Int, _ message: String) -> Diagnostic.FixIt {
    .init(message: message, edits: [insertion("@KVOIgnored ", at: offset)])
  }

  /// - Parameter offset: in the class.
  private func insertion(_ text: String, at offset: Int) -> Diagnostic.Edit {
    .init(start: request.offset + offset, end: request.offset + offset, text: text)
  }

  // MARK: - Diagnostics

  mutating func diagnose(_ problem: LexicalProblem) {
    let message = "@KVO: this class may be read wrongly, because of \(problem.message)."
    diagnostics.append(
      Diagnostic(severity: .warning, message: message, offset: request.offset + problem.offset))
  }

  mutating func diagnose(_ misfits: [Misfit]) {
    for misfit in misfits { warn(at: misfit.name, misfit.message) }
  }

  private mutating func warn(
    at name: Token, _ message: String, _ fixIts: [Diagnostic.FixIt?] = []
  ) {
    diagnostics.append(
      Diagnostic(
        severity: .warning, message: message, offset: request.offset + name.offset,
        fixIts: fixIts.compactMap { $0 }))
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
