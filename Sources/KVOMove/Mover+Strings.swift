/// Edits of calls that take keys as strings: `#keyPath`, `try` and contexts. Edits 4 and 5 of MovingOver.md.
import SwiftSource

extension Mover {
  mutating func moveStrings() {
    let proxies = proxyNames()
    for index in tokens.indices {
      lookAtProxy(passedAt: index, proxies)
      if tokens[index].is("#keyPath") {
        moveKeyPath(index)
      } else if project.contexts.uses.contains(place(index)) {
        replace(index, by: "")
      } else if project.contexts.variables.contains(place(index)),
        let value = file.contextVariable(at: index)
      {
        moveContextVariable(index, value)
      } else if file.isStringCall(index), moveDefaults(index) {
        continue
      } else if file.isStringCall(index) && throwsHere(index) || isProxyCall(index, proxies) {
        removeCast(beforeCallAt: index)
        if !callsOverride(index) { attempt(index) }
        if file.isStringCall(index) { castCollection(beforeCallAt: index) }
      } else if file.isStringCall(index) {
        lookAtDictionary(index)
      }
    }
  }

  /// Makes `(songs as NSArray).value(forKey: key)` a call of Swift's array. `AnyObject` has no keys here, so such a cast
  /// is removed if its value is known to have some.
  private mutating func removeCast(beforeCallAt index: Int) {
    guard index > 2, tokens[index - 1].is("."), tokens[index - 2].is(")"),
      let open = file.partner[index - 2], tokens[index - 4].isWord("as")
    else { return lookAtAnyObject(index) }
    if tokens[index - 3].text == "AnyObject" {
      if observedObjects.contains(tokens[index - 5].name), index - 6 == open {
        replace(index - 4..<index - 2, by: "as! KVOObject")
        return
      }
      guard hasKeys(endingAt: index - 5) else { return lookAtAnyObject(index) }
    } else if !Project.collections.contains(tokens[index - 3].text) {
      return lookAtAnyObject(index)
    }
    let isName = (open + 1..<index - 4).allSatisfy {
      tokens[$0].kind == .identifier || tokens[$0].is(".") || tokens[$0].isWord("self")
    }
    if isName { replace(open, by: "") }
    replaceWithSpace(index - 4..<(isName ? index - 1 : index - 2), by: "")
  }

  /// Casts a variable that holds an NSArray or an NSSet, which have no keys here, to an array or a set of Swift.
  private mutating func castCollection(beforeCallAt index: Int) {
    guard index > 1, tokens[index - 1].is("."), let type = foundationType(ofReceiverAt: index),
      let collection = Project.ownCollections[type]
    else { return }
    var start = index - 2
    if tokens[start].is(")") { start = file.partner[start]! - 1 }
    while start > 1, tokens[start - 1].is(".") { start -= 2 }
    insert("(", before: start)
    insert(" as! \(collection))", after: index - 2)
  }

  /// The type with which a call's receiver is declared or made: `NSArray` in `all.value(forKey: key)`, where the source has
  /// `let all = people as NSArray`, or in `NSArray(array: people).value(forKey: key)`.
  private func foundationType(ofReceiverAt index: Int) -> String? {
    let last = index - 2
    if tokens[last].is(")"), let open = file.partner[last], open > 0 {
      return tokens[open - 1].name
    }
    guard tokens[last].kind == .identifier,
      let sources = project.names[self.index].sources[tokens[last].name], sources.count == 1,
      case .type(let type) = sources.first
    else { return nil }
    return type
  }

  /// Lists a call by key of a dictionary, which has keys only there.
  private mutating func lookAtDictionary(_ index: Int) {
    guard case .foreign(let types) = project.receiver(ofCallAt: index, in: self.index),
      !Set(types).isDisjoint(with: ["NSDictionary", "NSMutableDictionary"])
    else { return }
    report(
      index, .refused, "a dictionary is no object with keys here",
      "take its value by a subscript: dictionary[key]")
  }

  /// Whether a value is an object of a moved class or a collection of Swift: numbers and texts by themselves have no
  /// keys, but their arrays have.
  private func hasKeys(endingAt last: Int) -> Bool {
    switch project.receiver(ending: last, in: index) {
    case .classes(let classes): classes.contains { project.root(of: $0) != .other }
    case .foreign(let types):
      !types.isEmpty && types.allSatisfy { Project.values.contains($0) }
    case .unknown: false
    }
  }

  /// The names that the methods `observeValue` have for the observed object.
  private var observedObjects: Set<String> {
    Set(
      types.flatMap(\.methods).filter { $0.name == "observeValue" }.compactMap { method in
        (method.parameters..<(method.brace ?? method.parameters))
          .first { tokens[$0].text == "of" }.map { tokens[$0 + 1].name }
      })
  }

  /// Lists a call by key of an object whose type is `AnyObject`.
  private mutating func lookAtAnyObject(_ index: Int) {
    guard index > 1, tokens[index - 1].is("."), file.isStringCall(index) else { return }
    var last = index - 2
    while ["?", "!"].contains(tokens[last].text), last > 0 { last -= 1 }
    var isAny =
      project.names[self.index].sources[tokens[last].name] == [.type("AnyObject")]
      || parameterType(of: last) == "AnyObject"
    if tokens[last].is(")"), let open = file.partner[last] {
      isAny = (open + 1..<last).contains {
        tokens[$0].text == "AnyObject" && file.enclosing[$0] == open
          && (tokens[$0 - 1].isWord("as") || tokens[$0 - 2].isWord("as"))
      }
    }
    guard isAny else { return }
    report(
      index, .refused, "an AnyObject has no keys here",
      "cast it to KVOObject, or to an array or a set, before \(tokens[index].text)")
  }

  /// The type that the function around a name gives the parameter of that name.
  private func parameterType(of index: Int) -> String? {
    guard index > 0, !tokens[index - 1].is("."), let body = function(around: index) else {
      return nil
    }
    return (file.head(ofBlock: body.lowerBound)..<body.lowerBound).first {
      tokens[$0].name == tokens[index].name && tokens[$0 + 1].is(":")
    }.map { tokens[$0 + 2].text }
  }

  /// Foundation's UserDefaults have only one name each for setting and reading by key, and no proxies.
  private mutating func moveDefaults(_ index: Int) -> Bool {
    guard case .foreign(["UserDefaults"]) = project.receiver(ofCallAt: index, in: self.index) else {
      return false
    }
    if tokens[index].text == "mutableArrayValue", project.replacedTypes["UserDefaults"] == nil {
      report(
        index, .refused, "UserDefaults has no mutable proxies here",
        "change the array of array(forKey:), and set it")
    }
    let names = ["setValue": "set", "value": "object"]
    guard let name = names[tokens[index].text], !tokens[index + 2].text.hasPrefix("forKeyPath")
    else { return false }
    replace(index, by: name)
    return true
  }

  private mutating func moveKeyPath(_ index: Int) {
    guard tokens[index + 1].is("("), let end = file.closing(of: index + 1) else { return }
    let names = (index + 2..<end).filter { tokens[$0].kind == .identifier }.map { tokens[$0].name }
    let types = names.dropLast().prefix(while: isType)
    var owners =
      types.last.map { project.classesByName[$0] ?? [] }
      ?? type(around: index).flatMap(project.declaration).map { [$0] } ?? []
    let keys = names.dropFirst(types.count).map { name in
      let found = project.properties(named: name, in: owners)
      owners = found.flatMap { project.classes(ofValueOf: $0) }
      let keys = found.isEmpty ? project.keys[name] ?? [] : Set(found.map { $0.key ?? name })
      if keys.count > 1 { lookAt(keysOf: name, keys, in: index) }
      return keys.count == 1 ? keys.first! : name
    }
    replace(index..<end + 1, by: "\"\(keys.joined(separator: "."))\"")
  }

  private mutating func lookAt(keysOf name: String, _ keys: Set<String>, in index: Int) {
    report(
      index, .differs,
      "properties named \(name) have several keys: \(keys.sorted().joined(separator: ", "))",
      "write the key of the one that is meant")
  }

  private func isType(_ name: String) -> Bool {
    name.first { $0 != "_" }?.isUppercase == true || project.hasType(named: name)
  }

  // MARK: - Contexts

  private mutating func moveContextVariable(_ index: Int, _ value: Range<Int>) {
    needsRuntime = true
    let prefix = file.start(ofDeclarationAt: index)..<index
    let owner = types.first { $0.open == file.enclosing[index] }
    // Handlers are not isolated, so a shared context needs `nonisolated` in a class on an actor. A member of an
    // object needs none, since its type is `Sendable`.
    let isShared = prefix.contains { tokens[$0].isWord("static") || tokens[$0].isWord("class") }
    let isIsolated = isShared && owner.map(project.isOnMainActor) ?? false
    if let word = prefix.first(where: { tokens[$0].isWord("nonisolated") }) {
      if let end = file.closing(of: word + 1), tokens[word + 1].is("(") {
        if isIsolated {
          replace(word..<end + 1, by: "nonisolated")
        } else {
          remove(word..<end + 1)
        }
      }
    } else if isIsolated {
      let word = prefix.first { tokens[$0].isWord("static") || tokens[$0].isWord("class") }
      insert("nonisolated ", before: word ?? index)
    }
    replace(index, by: "let")
    let isNamed = project.contexts.names.contains("KVOContext")
    let module = isNamed || project.hasType(named: "KVOContext") ? "KVORuntime." : ""
    replaceWithSpace(value, by: " = \(module)KVOContext()")
  }

  // MARK: - try

  /// Whether a call with string keys throws: it is a call of the root's method, not of another method with its name.
  func throwsHere(_ index: Int) -> Bool {
    switch project.receiver(ofCallAt: index, in: self.index) {
    case .classes(let classes):
      classes.contains { project.root(of: $0) != .other }
    case .foreign(let types): types.contains { project.replacedTypes[$0] != nil }
    case .unknown: true
    }
  }

  /// Whether a call's method is an override that does not throw.
  private func callsOverride(_ index: Int) -> Bool {
    guard case .classes(let classes) = project.receiver(ofCallAt: index, in: self.index),
      let close = file.closing(of: index + 1), index < 2 || !tokens[index - 2].isWord("super")
    else { return false }
    let labels = Set((index + 2..<close).filter { tokens[$0 + 1].is(":") }.map { tokens[$0].text })
    return classes.allSatisfy { type in
      ([type] + project.ancestors(of: type).classes).contains { overrides(index, labels, in: $0) }
    }
  }

  private func overrides(_ call: Int, _ labels: Set<String>, in type: TypeDeclaration) -> Bool {
    let source = project.files[type.id.file]
    return type.methods.contains { method in
      guard method.name == tokens[call].text, method.modifiers.contains("override"),
        let brace = method.brace, let close = source.partner[method.parameters]
      else { return false }
      let parameters = source.tokens[method.parameters + 1..<close]
      return parameters.contains { $0.text.hasPrefix("forKey") && labels.contains($0.text) }
        && !parameters.contains { $0.text == "NSObject" }
        && !source.tokens[close..<brace].contains { $0.isWord("throws") }
    }
  }

  private mutating func attempt(_ index: Int) {
    let start = expressionStart(index)
    // One `try` covers all calls of an expression.
    guard !isCovered(start), attempted.insert(start).inserted else { return }
    needsRuntime = true
    insert(isThrowing(at: index) ? "try " : "try! ", before: start)
  }

  /// Whether a `try` precedes the expression, or the call or assignment that the expression is part of.
  private func isCovered(_ expression: Int) -> Bool {
    var start = expression
    while start > 0 {
      if isTried(start) || attempted.contains(start) { return true }
      let before = tokens[start - 1]
      if before.kind == .operator, Self.isAssignment(before.text), start > 1 {
        start = expressionStart(start - 2)
      } else if let open = file.enclosing[start], tokens[open].is("(") || tokens[open].is("[") {
        start = expressionStart(open)
      } else {
        return false
      }
    }
    return false
  }

  private func isTried(_ start: Int) -> Bool {
    guard start > 0 else { return false }
    let before = tokens[start - 1]
    return before.isWord("try")
      || (before.text == "!" || before.text == "?") && tokens[start - 2].isWord("try")
  }

  /// The first token of the expression that a call is part of: `try` can't be to the right of an operator.
  private func expressionStart(_ index: Int) -> Int {
    var start = index
    while start > 0, !file.isStatementStart(start) {
      let before = tokens[start - 1]
      if let open = file.partner[start - 1], open < start - 1 {
        // A block before the token ends a statement, unless it is a trailing closure.
        if before.is("}"), tokens[start].kind != .operator, !tokens[start].is(".") { break }
        start = open
        continue
      }
      if before.kind == .punctuation, !before.is("."), !before.is("\\") { break }
      if before.kind == .operator, Self.isAssignment(before.text) || before.text == "->" { break }
      if before.kind == .keyword, !Self.operands.contains(before.text),
        !(start > 1 && tokens[start - 2].is("."))
      {
        break
      }
      if before.isWord("await") {
        start -= 1
        continue
      }
      if isTried(start) { break }
      start -= 1
    }
    return start
  }

  private static let operands: Set = [
    "self", "super", "as", "is", "Self", "nil", "true", "false", "Any",
  ]

  private static func isAssignment(_ text: String) -> Bool {
    text == "=" || ["+=", "-=", "*=", "/=", "|=", "&="].contains(text)
  }

  /// Functions whose arguments are autoclosures that can't throw.
  private static let assertions: Set = [
    "assert", "assertionFailure", "precondition", "preconditionFailure", "fatalError",
  ]

  private func isAssertion(_ open: Int) -> Bool {
    guard open > 0, tokens[open].is("("), Self.assertions.contains(tokens[open - 1].text) else {
      return false
    }
    return open < 3 || !tokens[open - 2].is(".") || tokens[open - 3].text == "Swift"
  }

  /// Whether an error thrown at a token is handled: by the throwing function around it, or by a `catch`.
  private func isThrowing(at index: Int) -> Bool {
    var open = file.enclosing[index]
    while let bracket = open {
      if isAssertion(bracket) { return false }
      switch file.blocks[bracket] {
      case .function(let throwing): return throwing || becomesThrowing(bracket)
      case .doCatch: return true
      case .closure, .accessors, .accessor, .type, .deferred: return false
      case .control, nil: open = file.enclosing[bracket]
      }
    }
    return false
  }
}
