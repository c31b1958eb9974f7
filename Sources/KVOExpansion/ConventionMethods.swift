internal import SwiftSource

/// The methods of a class that Apple's key-value coding finds by their names (Q4), and the declarations equivalent to
/// them.

struct ConventionMethods {
  /// Instance methods by name and labels joined to one word. However a selector is divided, its word is the same:
  /// `removeObject(fromItemsAt:)` and `removeObjectFromItems(at:)` both give `removeObjectFromItemsAt`. So does
  /// `removeObjectFromItemsAtIndex(_:)`, as Objective-C spells it.
  private(set) var methods: [String: Function] = [:]
  /// Methods and properties of the type itself, mapped to the expression that calls them.
  private var typeMembers: [String: String] = [:]
  /// The words of instance methods that override a superclass's.
  private var overrides: Set<String> = []
  /// The actors named by an attribute of a member: of methods, by their words, and of members of the type.
  private var actors: [String: String] = [:]
  /// `properties`: all of them. `readable`: those that are not conditional and whose getter neither waits nor throws.
  /// `stored`: the stored ones, except those marked as changed by element accessors.
  private var properties: Set<String> = []
  private(set) var readable: [String: Binding] = [:]
  private var stored: Set<String> = []

  init(of type: TypeDeclaration) {
    var conditions = 0
    for member in type.members {
      if case .directive(let text) = member.kind {
        if text.hasPrefix("#if") { conditions += 1 }
        if text.hasPrefix("#endif") { conditions -= 1 }
        continue
      }
      if member.isUnavailable { continue }
      let isThere = conditions == 0
      switch member.kind {
      case .variable(_, let bindings) where !member.isOfType:
        for binding in bindings { add(binding, of: member, isThere: isThere) }
      case .variable where isThere: add(Statement.all(in: member), of: member)
      case .function(let function) where isThere: add(function, of: member)
      default: break
      }
    }
  }

  private mutating func add(_ function: Function, of member: Member) {
    if member.isOfType {
      add(Statement.all(in: member), of: member)
    } else if !function.isGeneric, !function.effects.contains("async"),
      !function.parameters.contains(where: { $0.type.words.contains("some") })
    {
      methods[function.word] = function
      if member.isOverride { overrides.insert(function.word) }
      actors[function.word] = member.actor
    }
  }

  private mutating func add(_ binding: Binding, of member: Member, isThere: Bool) {
    guard let name = binding.name?.name else { return }
    properties.insert(name)
    if name.hasPrefix("countOf") { actors[name] = member.actor }
    if isThere, ObservableMember.isReadAtOnce(binding) { readable[name] = binding }
    if !binding.isComputed, !member.has("KVOIgnored") { stored.insert(name) }
  }

  private mutating func add(_ statements: [Statement], of member: Member) {
    for statement in statements where statement.misfit == nil {
      actors[statement.name.name] = member.actor
      typeMembers[statement.name.name] = statement.expression
    }
  }

  /// The method of the type that names the key paths that affect a key.
  func affecting(_ key: String) -> String? {
    typeMembers["keyPathsForValuesAffecting" + key.capitalizedFirst]
  }

  /// The actor named by the method that lists what affects a property; nil if the method names none.
  func actorOfAffecting(_ member: Member) -> String? {
    guard case .variable(_, let bindings) = member.kind, let name = bindings.first?.name else {
      return nil
    }
    return actors["keyPathsForValuesAffecting" + name.name.capitalizedFirst]
  }

  /// The declarations that a method, or a property of the type, makes for a key.
  func declarations(of member: Member) -> [String] {
    guard !member.isUnavailable else { return [] }
    if case .function(let function) = member.kind, !member.isOfType {
      return function.isReturning ? [] : validator(function).map { [$0] } ?? []
    }
    return Statement.all(in: member).compactMap { $0.misfit == nil ? declaration(by: $0) : nil }
  }

  // A method inside `#if` is not found from its property's declaration, so it gets a declaration of its own.
  private func declaration(by statement: Statement) -> String? {
    let (name, value) = (statement.name.name, statement.expression)
    guard let key = key(in: name, after: statement.prefix) else { return nil }
    switch statement.kind {
    case .affecting:
      return typeMembers[name] != nil && properties.contains(key)
        ? nil : "keys.dependency(\"\(key)\", on: \(value))"
    case .automatic: return "keys.automaticallyNotifies(\"\(key)\", \(value))"
    }
  }

  /// Members that are named for a key by a convention but have the wrong type or effects.
  func misfits(of member: Member) -> [Misfit] {
    Statement.all(in: member).compactMap { statement in
      guard let reason = statement.misfit,
        let key = key(in: statement.name.name, after: statement.prefix)
      else { return nil }
      return Misfit(name: statement.name, of: key, isMethod: statement.isMethod, reason)
    }
  }

  /// Whether the method would be a key's validator if it returned nothing.
  func isValidatorWithResult(_ member: Member) -> Bool {
    guard case .function(let function) = member.kind, !member.isOfType else { return false }
    return function.isReturning && validator(function) != nil
  }

  private func validator(_ function: Function) -> String? {
    guard let key = key(in: function.name.name, after: "validate"), function.parameters.count == 1,
      let parameter = function.parameters.first, parameter.label == nil,
      parameter.type.hasPrefix("inout "), !function.effects.contains("async"), !function.isGeneric,
      !parameter.type.words.contains("some")
    else { return nil }
    let call = (function.isThrowing ? "try " : "") + "$0.\(function.name.text)"
    let isOptional = parameter.type.hasSuffix("?") || parameter.type.hasPrefix("inout Optional<")
    // A value that is not optional is never nil: then the validator is not called.
    let name = isOptional ? "validator" : "_validator"
    return "keys.\(name)(\"\(key)\") { \(call)(&$1) }"
  }

  // MARK: - Collections

  /// The keys that have accessors for their elements and no observed storage, which is changed element by element
  /// already. Each comes with the actor named by one of its methods. If its methods name several actors, they are not
  /// called.
  var collections: [(declaration: ElementDeclaration, actor: String?)] {
    var actorsOfKeys: [String: Set<String>] = [:]
    for word in methods.keys {
      for key in candidates(word) {
        actorsOfKeys[key, default: []].formUnion(actors[word].map { [$0] } ?? [])
      }
    }
    return actorsOfKeys.filter { !stored.contains($0.key) }.sorted { $0.key < $1.key }
      .compactMap { key, found in
        let all = found.union(actors["countOf" + key.capitalizedFirst].map { [$0] } ?? [])
        return all.count > 1 ? nil : (ElementDeclaration(of: key, in: self), all.first)
      }
  }

  /// Whether a method for a key's elements overrides a superclass's, which may have others for the key.
  func overridesElements(of key: String) -> Bool {
    overrides.contains { candidates($0).contains(key) }
  }

  private func candidates(_ word: String) -> [String] {
    let named = [
      ("countOf", ""), ("insertObjectIn", "At"), ("insert", "At"), ("removeObjectFrom", "At"),
      ("remove", "At"), ("add", "Object"), ("add", ""), ("memberOf", ""), ("objectIn", "At"),
    ]
    return named.compactMap { prefix, suffix in
      guard let middle = word.dropping(suffix: suffix)?.dropFirst(prefix.count),
        word.hasPrefix(prefix)
      else { return nil }
      return key(in: prefix + middle, after: prefix)
    }
  }

  private func key(in name: String, after prefix: String) -> String? {
    guard name.hasPrefix(prefix), name.utf8.count > prefix.utf8.count else { return nil }
    let rest = String(name.dropFirst(prefix.count))
    guard let first = rest.first, first.isUppercase || !first.isLetter else { return nil }
    return properties.contains(rest) ? rest : first.lowercased() + rest.dropFirst()
  }
}

/// A method or a property of the type whose name says which key it makes a statement about.
private struct Statement {
  enum Kind { case affecting, automatic }
  let kind: Kind
  let prefix: String
  let name: Token
  let isMethod: Bool
  /// The reason why it can't be called; nil if it can.
  let misfit: String?

  var expression: String { name.text + (isMethod ? "()" : "") }

  private static let conventions: [(kind: Kind, prefix: String, type: WrittenType)] = [
    (.affecting, "keyPathsForValuesAffecting", "Set<String>"),
    (.automatic, "automaticallyNotifiesObserversOf", "Bool"),
  ]

  static func all(in member: Member) -> [Statement] {
    guard member.isOfType, !member.isUnavailable else { return [] }
    switch member.kind {
    case .function(let function):
      guard function.parameters.isEmpty, !function.isGeneric else { return [] }
      let effect = function.effects.isEmpty ? nil : "it waits or throws"
      return [Statement(function.name, isMethod: true, function.result ?? "Void", effect)]
        .compactMap { $0 }
    case .variable(_, let bindings):
      return bindings.compactMap { binding in
        let effect = ObservableMember.isReadAtOnce(binding) ? nil : "its getter waits or throws"
        return binding.name.flatMap { Statement($0, isMethod: false, binding.type, effect) }
      }
    default: return []
    }
  }

  /// - Parameter type: the type that it returns; nil if that is not written.
  private init?(_ name: Token, isMethod: Bool, _ type: String?, _ effect: String?) {
    guard let convention = Self.conventions.first(where: { name.name.hasPrefix($0.prefix) }) else {
      return nil
    }
    let written = type.map { WrittenType($0) } ?? convention.type
    let (verb, of) = isMethod ? ("returns", "") : ("is of", "of ")
    let result =
      written.mayBe(convention.type)
      ? nil : "it \(verb) \(written.text), and not \(of)\(convention.type.text)"
    (kind, prefix, self.name, self.isMethod) = (convention.kind, convention.prefix, name, isMethod)
    misfit = effect ?? result
  }
}

extension Function {
  /// The function's name and labels as one word, each label capitalised, without the words `Index`, `Indexes` and
  /// `Object` by which Objective-C's selectors are longer.
  fileprivate var word: String {
    let word = parameters.reduce(name.name) { $0 + ($1.label ?? "").capitalizedFirst }
    for index in ["AtIndexes", "AtIndex"] {
      if let short = word.dropping(suffix: index) { return short + "At" }
      guard let range = word.firstRange(of: index + "With") else { continue }
      let rest = word[range.upperBound...]
      return word[..<range.lowerBound] + "AtWith" + (rest == "Object" ? "" : rest)
    }
    return word
  }
}

extension String {
  fileprivate var words: [String] { LexedSource(self).tokens.map(\.text) }

  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

  fileprivate func dropping(suffix: String) -> Substring? {
    hasSuffix(suffix) ? dropLast(suffix.count) : nil
  }
}
