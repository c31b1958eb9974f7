internal import SwiftSource

/// Checks the accessors of computed properties, as far as the class alone shows their effect:
/// - A setter that changes nothing that notifies (Q5).
/// - A setter that manually notifies of a property that notifies by itself (E3).
/// - A getter that caches its value in a property that is not observed (Q6).
/// - A property that is announced manually, and read by another getter, which does not report the read (F5).
///
/// In doubt a setter counts as notifying, so there is no warning. These leave doubt: calling a method, closure or
/// subscript of the class; passing the object on; setting a variable that the class does not declare, or an observed
/// one. Setting a part of an observed variable counts as well: if it is a structure, that changes the variable.

struct SetterCheck {
  /// `observed`: properties that notify of their changes. `silent`: constants and ignored variables, which don't.
  private var observed: Set<String> = []
  private var silent: Set<String> = []
  /// The properties that the macro makes observable, with the offsets of their declarations.
  private var stored: [String: Int] = [:]
  /// For each name, the computed properties whose accessors use it.
  private var users: [String: Set<String>] = [:]
  /// For each name, the computed properties whose getters read a property of the object with that name.
  private var readers: [String: Set<String>] = [:]
  /// The names of the type's own members (`static`, `class`).
  private var namesOfType: [String] = []
  private let tokens: [Token]

  /// - Parameter tokens: those of the class.
  init(_ type: TypeDeclaration, _ tokens: [Token]) {
    self.tokens = tokens
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
      for block in binding.accessors?.blocks ?? [] { add(block, of: name) }
    }
  }

  private mutating func add(_ block: Accessors.Block, of name: String) {
    let body = Array(block.body)
    let isGetter = ["get", "_read", "read"].contains(block.name)
    for index in body.indices where body[index].kind == .identifier {
      users[body[index].name, default: []].insert(name)
      if isGetter, isRoot(index, in: body), !isLabel(index, in: body) {
        readers[body[index].name, default: []].insert(name)
      }
    }
  }

  /// Whether the class itself declares what affects a key, or which keys are automatic. If so, the notification by
  /// hand may be the only one.
  func saysOtherwise(_ key: String) -> Bool {
    namesOfType.contains {
      $0 == "registerKeys" || $0 == "keyPathsForValuesAffectingValue"
        || $0 == "keyPathsForValuesAffecting" + key.capitalizedFirst
        || $0.hasPrefix("automaticallyNotifiesObservers")
          && $0 != "automaticallyNotifiesObserversOf" + key.capitalizedFirst
    }
  }

  /// The offset at which to mark a variable, so that only the setter of `key` notifies of its changes. Nil if another
  /// computed property uses the variable: its observers would no longer be notified.
  func place(of variable: String, markedFor key: String) -> Int? {
    users[variable]?.subtracting([key]).isEmpty == false ? nil : stored[variable]
  }

  /// A stored property that the setter assigns to and the getter reads, so that the change is notified twice: by the
  /// property, and manually. Assigning to a part of it, or calling its methods, does not count: it may be an object,
  /// and then the property does not change.
  func notifiedBeside(_ accessors: Accessors, of key: String) -> String? {
    guard let setter = accessors.block("set"), let getter = accessors.block("get", "_read", "read"),
      announcesByHand(Array(setter.body), of: key)
    else { return nil }
    let (set, read) = (Array(setter.body), Array(getter.body))
    return set.indices.first { index in
      stored[set[index].name] != nil && isRoot(index, in: set) && isAssigned(index, in: set)
        && read.indices.contains { read[$0].name == set[index].name && isRoot($0, in: read) }
    }.map { set[$0].name }
  }

  /// The unobserved stored property in which a getter caches its value, and the observed ones that it names, from
  /// which the value may be computed. While the cache is filled, the getter reads none of them, so tracking can't
  /// find them (Q6).
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

  /// The computed properties, other than the key's own, whose getters read a key that the class announces manually
  /// without saying that it is read. Empty if the key's getter reports the read, or may read an observed property.
  func unawareReaders(of key: String, _ getter: Accessors.Block) -> [String] {
    guard let readers = readers[key]?.subtracting([key]), !readers.isEmpty else { return [] }
    let body = Array(getter.body)
    let reports = body.indices.contains { index in
      isRoot(index, in: body)
        && (body[index].name == "access" || observed.contains(body[index].name))
    }
    guard !reports, announcesByHand(tokens, of: key) else { return [] }
    return readers.sorted()
  }

  private func isAssigned(_ index: Int, in body: [Token]) -> Bool {
    if index > 0 {
      let before = body[index - 1]
      if before.isWord("let") || before.isWord("var") { return false }
      if before.is("&") { return body[index].leadingTrivia.isEmpty }
    }
    return index + 1 < body.count && isAssignment(body[index + 1])
  }

  private func announcesByHand(_ body: [Token], of key: String) -> Bool {
    body.indices.contains { index in
      guard ["withChange", "willChangeValue", "willChange"].contains(body[index].name),
        isRoot(index, in: body), index + 1 < body.count, body[index + 1].is("(")
      else { return false }
      let arguments = Array(body[(index + 2)...].prefix { !$0.is(")") })
      return arguments.contains { $0.text == "\"\(key)\"" }
        || arguments.firstIndex { $0.is("\\") }.map { names(key, at: $0, in: arguments) } ?? false
    }
  }

  /// Whether a key path names just this property: `\.x` and `\Person.x` name `x`; `\.x.y` does not.
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

  func notifiesNoObserver(_ setter: Accessors.Block) -> Bool {
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
        // A variable that the class does not declare belongs to a superclass or an extension.
        guard silent.contains(token.name) else { return false }
        setsSilent = true
      }
    }
    return setsSilent
  }

  /// Whether `self` is passed on or subscripted, and is not just the beginning of `self.model`.
  private func isHandedOn(_ index: Int, in body: [Token]) -> Bool {
    guard body[index].isWord("self") else { return false }
    let before = index > 0 ? body[index - 1] : nil
    // `Int.self`, `if let self` and `[weak self]` do not pass the object on.
    if let before, [".", "let", "weak", "unowned"].contains(before.text) { return false }
    let isCaptured = before?.is("[") == true && index > 1 && body[index - 2].is("{")
    return !isCaptured && behindMarks(index, in: body)?.is(".") != true
  }

  /// Whether it is called: a method, a function or a closure, with parentheses or a trailing closure.
  private func isCalled(_ index: Int, in body: [Token]) -> Bool {
    guard let next = behindMarks(index, in: body) else { return false }
    return next.is("(") || next.is("{") && !isOfStatement(index, in: body)
  }

  /// Whether the brace after it begins the block of a statement such as `if`, where no trailing closure can be.
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

  /// Whether it begins an expression or follows `self.`: `model` in `model.index` and in `self.model.index`.
  private func isRoot(_ index: Int, in body: [Token]) -> Bool {
    guard index > 0, body[index - 1].is(".") else { return true }
    return index > 1 && body[index - 2].isWord("self")
      && !(index > 2 && body[index - 3].is("."))
  }

  private func isLabel(_ index: Int, in body: [Token]) -> Bool {
    index + 1 < body.count && body[index + 1].is(":")
      && index > 0 && (body[index - 1].is("(") || body[index - 1].is(","))
  }

  /// Whether it or a part of it is set, or a method is called on it that may change it.
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
