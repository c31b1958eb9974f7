internal import SwiftSource

/// Whether a computed property's setter changes nothing that could tell of it (Q5), or tells by hand of what tells by itself
/// (E3), and whether its getter keeps its value (Q6), as far as the class alone shows that. In doubt it tells, and once: a method, a closure or a subscript of the class
/// is called, the object itself is handed on, a variable is set that the class does not declare, or one that is observed
/// is set, or part of it, which is a change of it where it is a structure.

struct SetterCheck {
  /// What tells of its changes, and constants, which have none.
  private var observed: Set<String> = []
  private var silent: Set<String> = []
  /// Those that the macro makes observable, and where they are declared.
  private var stored: [String: Int] = [:]
  /// The computed properties in whose accessors a name stands.
  private var users: [String: Set<String>] = [:]
  /// What the type itself has.
  private var namesOfType: [String] = []

  init(_ type: TypeDeclaration) {
    for member in type.members { add(member) }
  }

  private mutating func add(_ member: Member) {
    if member.isOfType {
      namesOfType += member.names
      return
    }
    guard case .variable(let isVariable, let bindings) = member.kind else { return }
    for binding in bindings {
      guard let name = binding.name?.name else { continue }
      if !isVariable || member.has("KVOIgnored") {
        silent.insert(name)
      } else {
        observed.insert(name)
      }
      if ObservableMember.isMarked(member) { stored[name] = member.offset }
      guard binding.isComputed else { continue }
      for block in binding.accessors?.blocks ?? [] {
        for token in block.body where token.kind == .identifier {
          users[token.name, default: []].insert(name)
        }
      }
    }
  }

  /// Whether the class says by itself what affects a key, or which keys are automatic: then telling by hand may be all
  /// that there is.
  func saysOtherwise(_ key: String) -> Bool {
    namesOfType.contains {
      $0 == "registerKeys" || $0 == "keyPathsForValuesAffectingValue"
        || $0 == "keyPathsForValuesAffecting" + key.capitalizedFirst
        || $0.hasPrefix("automaticallyNotifiesObservers")
          && $0 != "automaticallyNotifiesObserversOf" + key.capitalizedFirst
    }
  }

  /// Where a variable would be marked that a key's setter tells of by hand. Nowhere if another computed property uses it:
  /// that would tell its observers no more.
  func place(of variable: String, markedFor key: String) -> Int? {
    users[variable]?.subtracting([key]).isEmpty == false ? nil : stored[variable]
  }

  /// The stored property that a setter assigns to and its getter reads, and which so tells of a change that the setter
  /// tells of by hand as well. A part of it that is set, or a method that is called, may be an object's, which tells nobody.
  func toldBeside(_ accessors: Accessors, of key: String) -> String? {
    guard let setter = accessors.block("set"), let getter = accessors.block("get", "_read", "read"),
      tellsByHand(setter, of: key)
    else { return nil }
    let (set, read) = (Array(setter.body), Array(getter.body))
    return set.indices.first { index in
      stored[set[index].name] != nil && isRoot(index, in: set) && isAssigned(index, in: set)
        && read.indices.contains { read[$0].name == set[index].name && isRoot($0, in: read) }
    }.map { set[$0].name }
  }

  /// What a getter keeps its value in, a stored property that is not observed, and the observed ones that it names, from
  /// which the value may be made. While the value is kept, the getter reads none of them, so tracking can't find them (Q6).
  func keeping(_ getter: Accessors.Block, of key: String) -> (cache: String, sources: [String])? {
    let body = Array(getter.body)
    let roots = body.indices.filter { index in
      body[index].kind == .identifier && isRoot(index, in: body) && !isLabel(index, in: body)
    }
    let cache = roots.first { silent.contains(body[$0].name) && isAssigned($0, in: body) }
    guard let cache else { return nil }
    var sources: [String] = []
    for name in roots.map({ body[$0].name })
    where observed.contains(name) && name != key && !sources.contains(name) {
      sources.append(name)
    }
    return (body[cache].name, sources)
  }

  private func isAssigned(_ index: Int, in body: [Token]) -> Bool {
    if index > 0 {
      let before = body[index - 1]
      if before.isWord("let") || before.isWord("var") { return false }
      if before.is("&") { return body[index].leadingTrivia.isEmpty }
    }
    return index + 1 < body.count && isAssignment(body[index + 1])
  }

  private func tellsByHand(_ setter: Accessors.Block, of key: String) -> Bool {
    let body = Array(setter.body)
    return body.indices.contains { index in
      guard ["withChange", "willChangeValue", "willChange"].contains(body[index].name),
        isRoot(index, in: body), index + 1 < body.count, body[index + 1].is("(")
      else { return false }
      let arguments = Array(body[(index + 2)...].prefix { !$0.is(")") })
      return arguments.contains { $0.text == "\"\(key)\"" }
        || arguments.firstIndex { $0.is("\\") }.map { names(key, at: $0, in: arguments) } ?? false
    }
  }

  /// Whether a key path is of one property alone: `\.x` and `\Person.x` of `x`, and not `\.x.y`.
  private func names(_ key: String, at backslash: Int, in arguments: [Token]) -> Bool {
    var path = arguments[(backslash + 1)...].prefix { !$0.is(",") }
    while let first = path.first, !first.is(".") { path = path.dropFirst() }
    while path.count > 2, path.dropFirst().first?.name.first?.isUppercase == true {
      path = path.dropFirst(2)  // a type in a type
    }
    return path.count == 2 && path.last?.name == key
  }

  private static let telling: Set<String> = [
    "withChange", "willChangeValue", "didChangeValue", "willChange", "didChange", "setValue",
    "mutableArray", "mutableSet", "mutableArrayValue", "mutableSetValue", "mutableOrderedSetValue",
    "setValuesForKeys", "coalescingNotifications",
  ]

  func tellsNobody(_ setter: Accessors.Block) -> Bool {
    let body = Array(setter.body)
    var setsSilent = false
    for (index, token) in body.enumerated() {
      if token.isWord("super") || isHandedOn(index, in: body) { return false }
      guard token.kind == .identifier else { continue }
      if Self.telling.contains(token.name) { return false }
      guard isRoot(index, in: body), !isLabel(index, in: body) else { continue }
      if isCalled(index, in: body) { return false }
      if observed.contains(token.name) {
        if mayChange(index, in: body) { return false }
      } else if isSet(index, in: body) {
        // What the class does not declare a superclass or an extension has.
        guard silent.contains(token.name) else { return false }
        setsSilent = true
      }
    }
    return setsSilent
  }

  /// Whether it is `self`, and no mere beginning of `self.model`: an argument, or asked for a subscript.
  private func isHandedOn(_ index: Int, in body: [Token]) -> Bool {
    guard body[index].isWord("self") else { return false }
    let before = index > 0 ? body[index - 1] : nil
    // `Int.self`, `if let self`, and `[weak self]` are none.
    if let before, [".", "let", "weak", "unowned"].contains(before.text) { return false }
    let isCaptured = before?.is("[") == true && index > 1 && body[index - 2].is("{")
    return !isCaptured && behindMarks(index, in: body)?.is(".") != true
  }

  /// Whether it is a method, a function or a closure that is called, with parentheses or with a closure behind it.
  private func isCalled(_ index: Int, in body: [Token]) -> Bool {
    guard let next = behindMarks(index, in: body) else { return false }
    return next.is("(") || next.is("{") && !isOfStatement(index, in: body)
  }

  /// Whether the brace behind it is that of an `if` or a loop: those of closures don't stand there.
  private func isOfStatement(_ index: Int, in body: [Token]) -> Bool {
    let statements = ["if", "guard", "while", "for", "switch", "catch"]
    let first = body[..<index].last { token in
      token.is("{") || token.is("}") || token.is(";") || statements.contains { token.is($0) }
    }
    return first?.kind == .keyword
  }

  private func behindMarks(_ index: Int, in body: [Token]) -> Token? {
    body[(index + 1)...].first { !$0.is("?") && !$0.is("!") }
  }

  /// `model` of `model.index` and of `self.model.index`.
  private func isRoot(_ index: Int, in body: [Token]) -> Bool {
    guard index > 0, body[index - 1].is(".") else { return true }
    return index > 1 && body[index - 2].isWord("self")
      && !(index > 2 && body[index - 3].is("."))
  }

  private func isLabel(_ index: Int, in body: [Token]) -> Bool {
    index + 1 < body.count && body[index + 1].is(":")
      && index > 0 && (body[index - 1].is("(") || body[index - 1].is(","))
  }

  /// Whether it is set, or part of it, or a method of it is called that may change it.
  private func mayChange(_ index: Int, in body: [Token]) -> Bool {
    if index > 0, body[index - 1].is("&") { return true }
    guard index + 1 < body.count else { return false }
    return body[index + 1].is(".") || body[index + 1].is("[") || isSet(index, in: body)
  }

  /// Whether an assignment follows it and its members.
  private func isSet(_ index: Int, in body: [Token]) -> Bool {
    var next = index + 1
    while next < body.count {
      let token = body[next]
      if token.is("."), next + 1 < body.count {
        next += 2
      } else if token.kind == .operator, token.text == "?" || token.text == "!" {
        next += 1
      } else if token.is("[") {
        var depth = 0
        repeat {
          if body[next].is("[") { depth += 1 }
          if body[next].is("]") { depth -= 1 }
          next += 1
        } while depth > 0 && next < body.count
      } else {
        break
      }
    }
    return next < body.count && isAssignment(body[next])
  }

  private func isAssignment(_ token: Token) -> Bool {
    token.kind == .operator && token.text.hasSuffix("=")
      && !["==", "!=", "<=", ">=", "===", "!==", "~="].contains(token.text)
  }
}

extension Member {
  fileprivate var names: [String] {
    switch kind {
    case .function(let function): [function.name.name]
    case .variable(_, let bindings): bindings.compactMap { $0.name?.name }
    case .directive, .other: []
    }
  }
}
