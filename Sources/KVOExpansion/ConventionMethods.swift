internal import SwiftSource

/// Methods of a class that Apple's key-value coding finds by their names (Q4), and the declarations that say the same.

struct ConventionMethods {
  private let type: TypeDeclaration
  /// Instance methods by their names and labels as one word, by which a selector is the same however it is divided:
  /// `removeObjectFromItemsAt` of `removeObject(fromItemsAt:)` and of `removeObjectFromItems(at:)`.
  private var methods: [String: Function] = [:]
  /// Methods of the type and properties of the type, as an expression calls them.
  private var typeMembers: [String: String] = [:]
  /// The actors of methods, by their words, and of members of the type, that are on one of their own.
  private var actors: [String: String] = [:]
  /// Properties that are read, and those that are stored, unless they are marked as what accessors change.
  private var properties: Set<String> = []
  private var stored: Set<String> = []
  /// Those that are arrays, and those that are sets, as far as their declarations say so.
  private var arrays: Set<String> = []
  private var sets: Set<String> = []

  init(of type: TypeDeclaration) {
    self.type = type
    var conditions = 0
    for member in type.members {
      if case .directive(let text) = member.kind {
        if text.hasPrefix("#if") { conditions += 1 }
        if text.hasPrefix("#endif") { conditions -= 1 }
        continue
      }
      // What is not there always is not called.
      if member.has("available") { continue }
      let isThere = conditions == 0
      switch member.kind {
      case .function(let function):
        if member.isOfType {
          guard isThere else { continue }
          actors[function.name.name] = member.actor
          if function.isAsked { typeMembers[function.name.name] = function.name.text + "()" }
        } else if isThere, !function.isGeneric, !function.effects.contains("async"),
          !function.parameters.contains(where: { $0.type.words.contains("some") })
        {
          methods[function.word] = function
          actors[function.word] = member.actor
        }
      case .variable(_, let bindings) where member.isOfType:
        guard isThere else { continue }
        for name in bindings.compactMap(\.name) {
          typeMembers[name.name] = name.text
          actors[name.name] = member.actor
        }
      case .variable(_, let bindings):
        for binding in bindings {
          guard let name = binding.name?.name else { continue }
          properties.insert(name)
          if name.hasPrefix("countOf") { actors[name] = member.actor }
          if binding.isArray { arrays.insert(name) }
          if binding.isSet { sets.insert(name) }
          if !binding.isComputed, !member.has("KVOIgnored") { stored.insert(name) }
        }
      default: break
      }
    }
  }

  /// The method that names what affects a key.
  func affecting(_ key: String) -> String? {
    typeMembers["keyPathsForValuesAffecting" + key.capitalizedFirst]
  }

  /// The actor of the method that names what affects a property, if it is on one of its own.
  func actorOfAffecting(_ member: Member) -> String? {
    guard case .variable(_, let bindings) = member.kind, let name = bindings.first?.name else {
      return nil
    }
    return actors["keyPathsForValuesAffecting" + name.name.capitalizedFirst]
  }

  /// What a method, or a property of the type, says of a key by itself.
  func declarations(of member: Member) -> [String] {
    guard !member.has("available") else { return [] }
    return switch member.kind {
    case .function(let function) where member.isOfType:
      function.isAsked
        ? declarations(of: function.name.name, as: function.name.text + "()") : []
    case .function(let function):
      function.isReturning ? [] : validator(function).map { [$0] } ?? []
    case .variable(_, let bindings) where member.isOfType:
      bindings.compactMap(\.name).flatMap { declarations(of: $0.name, as: $0.text) }
    default: []
    }
  }

  // Where it is there by a condition, it is not known to the property that it says something of.
  private func declarations(of typeMember: String, as expression: String) -> [String] {
    let isKnown = typeMembers[typeMember] != nil
    let value = expression
    if let key = key(in: typeMember, after: "keyPathsForValuesAffecting") {
      return isKnown && properties.contains(key)
        ? [] : ["keys.dependency(\"\(key)\", on: \(value))"]
    }
    return key(in: typeMember, after: "automaticallyNotifiesObserversOf").map {
      ["keys.automaticallyNotifies(\"\($0)\", \(value))"]
    } ?? []
  }

  /// Whether it would be a key's validator, if it returned nothing.
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
    guard !isOptional else { return "keys.validator(\"\(key)\") { \(call)(&$1) }" }
    let type = parameter.type.dropFirst("inout ".count)
    return """
      keys.validator("\(key)") { object, value in
            guard var content: \(type) = value else { return }
            \(call.replacingFirst("$0", by: "object"))(&content)
            value = content
          }
      """
  }

  // MARK: - Collections

  /// Of each key that has accessors for its elements and no storage that is observed: that is changed element by
  /// element as it is. With the actor that one of its methods is on; methods of several are not called.
  var collections: [(line: String, actor: String?)] {
    var actorsOfKeys: [String: Set<String>] = [:]
    for (word, function) in methods {
      for key in candidates(function) {
        actorsOfKeys[key, default: []].formUnion(actors[word].map { [$0] } ?? [])
      }
    }
    return actorsOfKeys.filter { !stored.contains($0.key) }.sorted { $0.key < $1.key }
      .compactMap { key, found in
        let all = found.union(actors["countOf" + key.capitalizedFirst].map { [$0] } ?? [])
        guard all.count <= 1, let line = ordered(key) ?? unordered(key) else { return nil }
        return (line, all.first)
      }
  }

  private func candidates(_ function: Function) -> [String] {
    let word = function.word
    let named = [
      ("countOf", ""), ("insertObjectIn", "At"), ("insert", "At"), ("removeObjectFrom", "At"),
      ("remove", "At"), ("add", "Object"), ("add", ""), ("memberOf", ""), ("objectIn", "At"),
    ]
    return named.compactMap { prefix, suffix in
      guard word.hasPrefix(prefix),
        let middle = word.dropping(suffix: suffix)?.dropFirst(prefix.count)
      else { return nil }
      return key(in: prefix + middle, after: prefix)
    }
  }

  private func ordered(_ key: String) -> String? {
    let name = key.capitalizedFirst
    guard let count = size(key), let element = elementAt(key) else { return nil }
    var arguments = ["count: \(count)", "element: \(element)"]
    let insert =
      method("insert\(name)At", ["[", "RangeSet|IndexSet"]).map {
        batch($0, "$0", ["$1", indexes($0, 1, "$2")])
      }
      ?? method("insertObjectIn\(name)At", ["", "Int"]).map {
        each(
          $0, "zip(elements, indexes.ranges.joined())", "(element, index)", ["element", "index"],
          "object, elements, indexes")
      }
    let remove =
      method("remove\(name)At", ["RangeSet|IndexSet"]).map {
        batch($0, "$0", [indexes($0, 0, "$1")])
      }
      ?? method("removeObjectFrom\(name)At", ["Int"]).map {
        each($0, "Array(indexes.ranges.joined()).reversed()", "index", ["index"], "object, indexes")
      }
    guard isRead(key) || insert != nil && remove != nil else { return nil }
    if let insert, let remove { arguments += ["insert: \(insert)", "remove: \(remove)"] }
    let replace =
      (method("replace\(name)AtWith\(name)", ["RangeSet|IndexSet", "["])
      ?? method("replace\(name)AtWith", ["RangeSet|IndexSet", "["])).map {
        batch($0, "$0", [indexes($0, 0, "$1"), "$2"])
      }
      ?? method("replaceObjectIn\(name)AtWith", ["Int", ""]).map {
        each(
          $0, "zip(indexes.ranges.joined(), elements)", "(index, element)", ["index", "element"],
          "object, indexes, elements")
      }
    if let replace, insert != nil, remove != nil { arguments.append("replace: \(replace)") }
    return "keys.orderedToMany(\"\(key)\", \(arguments.joined(separator: ", ")))"
  }

  private func unordered(_ key: String) -> String? {
    let name = key.capitalizedFirst
    let isProperty = sets.contains(key)
    let contains =
      method("memberOf\(name)", [""]).map { "{ $0.\(named($0))($1) != nil }" }
      ?? (isProperty ? "{ $0.\(key.inSource).contains($1) }" : nil)
    let elements =
      method("enumeratorOf\(name)", []).map { "{ AnySequence($0.\(named($0))()) }" }
      ?? (isProperty ? "{ AnySequence($0.\(key.inSource)) }" : nil)
    guard let count = size(key), let contains, let elements else { return nil }
    let add =
      method("add\(name)", ["Set<"]).map { batch($0, "$0", ["$1"]) }
      ?? method("add\(name)Object", [""]).map {
        each($0, "elements", "element", ["element"], "object, elements")
      }
    let remove =
      method("remove\(name)", ["Set<"]).map { batch($0, "$0", ["$1"]) }
      ?? method("remove\(name)Object", [""]).map {
        each($0, "elements", "element", ["element"], "object, elements")
      }
    guard let add, let remove else { return nil }
    var arguments = ["count: \(count)", "contains: \(contains)", "elements: \(elements)"]
    arguments += ["add: \(add)", "remove: \(remove)"]
    if let intersect = method("intersect\(name)", ["Set<"]) {
      arguments.append("intersect: \(batch(intersect, "$0", ["$1"]))")
    }
    return "keys.unorderedToMany(\"\(key)\", \(arguments.joined(separator: ", ")))"
  }

  private func isRead(_ key: String) -> Bool {
    let name = key.capitalizedFirst
    let isCounted = method("countOf\(name)", []) != nil || properties.contains("countOf\(name)")
    return isCounted && method("objectIn\(name)At", ["Int"]) != nil
  }

  private func size(_ key: String) -> String? {
    let counter = "countOf\(key.capitalizedFirst)"
    if method(counter, []) != nil { return "{ $0.\(counter)() }" }
    if properties.contains(counter) { return "{ $0.\(counter) }" }
    return arrays.contains(key) || sets.contains(key) ? "{ $0.\(key.inSource).count }" : nil
  }

  private func elementAt(_ key: String) -> String? {
    method("objectIn\(key.capitalizedFirst)At", ["Int"]).map { "{ \(call($0, "$0", ["$1"])) }" }
      ?? (arrays.contains(key) ? "{ $0.\(key.inSource)[$1] }" : nil)
  }

  // MARK: - Calls

  /// The method of that word, if its parameters are of types that begin so.
  private func method(_ word: String, _ types: [String]) -> Function? {
    guard let function = methods[word], function.parameters.count == types.count else { return nil }
    let isSuch = zip(function.parameters, types).allSatisfy { parameter, beginnings in
      beginnings.isEmpty
        || beginnings.split(separator: "|").contains { parameter.type.hasPrefix($0) }
    }
    return isSuch ? function : nil
  }

  private func named(_ function: Function) -> String { function.name.text }

  /// `object.insertSongs($1, at: $2)`.
  private func call(_ function: Function, _ object: String, _ arguments: [String]) -> String {
    let labelled = zip(function.parameters, arguments).map { parameter, argument in
      parameter.label.map { "\($0): \(argument)" } ?? argument
    }
    let effect = function.isThrowing ? "try " : ""
    return "\(effect)\(object).\(function.name.text)(\(labelled.joined(separator: ", ")))"
  }

  /// The same, of which no result is used.
  private func change(_ function: Function, _ object: String, _ arguments: [String]) -> String {
    (function.isReturning ? "_ = " : "") + call(function, object, arguments)
  }

  private func batch(_ function: Function, _ object: String, _ arguments: [String]) -> String {
    "{ \(change(function, object, arguments)) }"
  }

  private func each(
    _ function: Function, _ sequence: String, _ element: String, _ arguments: [String],
    _ parameters: String
  ) -> String {
    """
    { \(parameters) in
            for \(element) in \(sequence) { \(change(function, "object", arguments)) }
          }
    """
  }

  /// Foundation's sets of indexes are made of Swift's by `KVOFoundation`.
  private func indexes(_ function: Function, _ place: Int, _ argument: String) -> String {
    let type = function.parameters.indices.contains(place) ? function.parameters[place].type : ""
    return type.hasPrefix("IndexSet") ? "IndexSet(\(argument))" : argument
  }

  private func key(in name: String, after prefix: String) -> String? {
    guard name.hasPrefix(prefix), name.utf8.count > prefix.utf8.count else { return nil }
    let rest = String(name.dropFirst(prefix.count))
    guard let first = rest.first, first.isUppercase || !first.isLetter else { return nil }
    return properties.contains(rest) ? rest : first.lowercased() + rest.dropFirst()
  }
}

extension Function {
  /// Whether it is called without anything.
  fileprivate var isAsked: Bool { parameters.isEmpty && effects.isEmpty && !isGeneric }

  /// Its name and its labels, each with a capital.
  fileprivate var word: String {
    parameters.reduce(name.name) { $0 + ($1.label ?? "").capitalizedFirst }
  }
}

extension Binding {
  /// As its type says, or its first value.
  fileprivate var isArray: Bool {
    if let type { return type.isArrayType }
    guard let initialValue, initialValue.hasSuffix("()") else { return false }
    return String(initialValue.dropLast(2)).isArrayType
  }

  fileprivate var isSet: Bool { (type ?? initialValue ?? "").hasPrefix("Set<") }
}

extension String {
  fileprivate var words: [String] { LexedSource(self).tokens.map(\.text) }

  /// `[Song]`, and no `[Int: Song]`; `Array<Song>`.
  fileprivate var isArrayType: Bool {
    if hasPrefix("Array<") || hasPrefix("ContiguousArray<") { return hasSuffix(">") }
    guard hasPrefix("["), hasSuffix("]") else { return false }
    var depth = 0
    for token in LexedSource(self).tokens {
      if token.is("[") || token.is("(") { depth += 1 }
      if token.is("]") || token.is(")") { depth -= 1 }
      if token.is(":"), depth == 1 { return false }
    }
    return true
  }

  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

  /// In backticks where it is no name without them.
  fileprivate var inSource: String {
    LexedSource(self).tokens.first?.kind == .identifier ? self : "`\(self)`"
  }

  fileprivate func dropping(suffix: String) -> Substring? {
    hasSuffix(suffix) ? dropLast(suffix.count) : nil
  }

  fileprivate func replacingFirst(_ text: String, by other: String) -> String {
    guard let range = firstRange(of: text) else { return self }
    return String(self[..<range.lowerBound]) + other + String(self[range.upperBound...])
  }
}
