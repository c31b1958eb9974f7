internal import SwiftSource

/// Keeps the names under which a `@KVO` class's properties are encoded (Q7). The compiler generates `Codable` from
/// the stored properties, so for an `AccessedProperty` it would use the storage's name.
///
/// If the class has no `CodingKeys`, the macro generates them, with the property's name for each storage. If it has
/// `CodingKeys`, their names can't be changed, so the macro generates the methods in the compiler's place. An extension
/// that declares `Codable` is out of the macro's sight. A member that can't be coded lets the compiler refuse to
/// generate the methods there.
struct CodedProperties {
  private let request: AttachedMacro
  private let type: TypeDeclaration
  private let tokens: [Token]

  init(of type: TypeDeclaration, _ request: AttachedMacro, _ tokens: [Token]) {
    (self.type, self.request, self.tokens) = (type, request, tokens)
  }

  /// The members to add; empty if the compiler's own are right.
  func expansion(access: String) -> Expansion {
    let hasStorage = type.members.contains { AccessedProperty.storage(of: $0) != nil }
    guard hasStorage else { return Expansion() }
    guard let keys = type.members.first(where: { name(ofType: $0) == "CodingKeys" }) else {
      return Expansion(source: Superclass.isSurelyUncoded(type) ? uncoded : codingKeys)
    }
    let encodes = isDeclared("Encodable") && !hasFunction("encode(to:)")
    let decodes = isDeclared("Decodable") && !hasInitialiser(from: true)
    guard encodes || decodes else { return Expansion() }
    guard tokens[keys.keyword].isWord("enum") else {
      return Expansion(diagnostics: [unreadable(keys)])
    }
    let names = caseNames(of: keys)
    return Expansion(
      source: (encodes ? encoding(names, access) : "") + (decodes ? decoding(names, access) : ""))
  }

  private func unreadable(_ keys: Member) -> Diagnostic {
    let message = """
      @KVO: the names in CodingKeys are unknown here. Write an enum with the name CodingKeys in the class, or \
      write encode(to:) and init(from:).
      """
    return Diagnostic(severity: .error, message: message, offset: request.offset + keys.offset)
  }

  // Key-value coding ignores fields of this type. A class that is nested in its superclass sees the superclass's
  // member, so the names differ.
  private var uncoded: String {
    let name = ("_kvo_declareCodableInClass_" + type.name.name).inSource
    return "\nprivate final var \(name): Swift.Void = ()"
  }

  // MARK: Keys

  private var codingKeys: String {
    let cases = type.members.flatMap { member -> [String] in
      if case .directive(let text) = member.kind { return [text] }
      return storedNames(of: member).map { name in
        guard let storage = AccessedProperty.storage(of: member) else {
          return "  case \(name.text)"
        }
        return """
            case \(storage) = \(JSON.string(name.name).text)
            static var \(name.text): Self { .\(storage) }
          """
      }
    }
    return """

      private enum CodingKeys: Swift.String, Swift.CodingKey {
      \(cases.joined(separator: "\n"))
      }
      """
  }

  // The compiler's selection: neither properties of the type nor lazy ones.
  private func storedNames(of member: Member) -> [Token] {
    guard case .variable(_, let bindings) = member.kind, !member.isOfType, !member.isOverride,
      !member.modifiers.contains("lazy")
    else { return [] }
    return bindings.filter { !$0.isComputed }.compactMap(\.name)
  }

  // MARK: Methods

  private func encoding(_ names: [String], _ access: String) -> String {
    let lines = names.map { "  try container._encode(\($0), forKey: .\($0))" }
    return """

      \(access)func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
      \(lines.joined(separator: "\n"))
      }
      """
  }

  private func decoding(_ names: [String], _ access: String) -> String {
    let constants = type.members.flatMap { member -> [String] in
      guard case .variable(false, let bindings) = member.kind else { return [] }
      return bindings.filter { $0.initialValue != nil }.compactMap { $0.name?.text }
    }
    let lines = names.filter { !constants.contains($0) }
      .map { "  \($0) = try container._decode(forKey: .\($0))" }
    let access = access == "open " ? "public " : access  // as for every initialiser
    let isFinal = type.modifiers.contains("final")
    let plain = isPlainInherited ? "\n\(access)override init() { super.init() }" : ""
    return """

      \(access)\(isFinal ? "" : "required ")init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
      \(lines.joined(separator: "\n"))
        super.init()
      }\(plain)
      """
  }

  // MARK: The class's own members

  private func isDeclared(_ coding: String) -> Bool {
    type.inherited.contains { name in
      [coding, "Codable"].contains(String(name.split(separator: ".").last ?? ""))
    }
  }

  private func hasFunction(_ reference: String) -> Bool {
    type.members.contains { member in
      if case .function(let function) = member.kind {
        function.reference == reference
      } else {
        false
      }
    }
  }

  private func hasInitialiser(from isDecoding: Bool) -> Bool {
    type.members.contains { member in
      guard tokens[member.keyword].isWord("init") else { return false }
      let isFrom = tokens[member.keyword + 1].is("(") && tokens[member.keyword + 2].isWord("from")
      return isFrom == isDecoding
    }
  }

  // Whether the class would have inherited `init()` if the compiler had generated `init(from:)`.
  private var isPlainInherited: Bool {
    guard !hasInitialiser(from: false), Superclass.isRoot(of: type) else { return false }
    return type.members.allSatisfy { member in
      guard case .variable(let isVariable, let bindings) = member.kind, !member.isOfType,
        !member.isOverride
      else { return true }
      return bindings.allSatisfy { binding in
        binding.isComputed || binding.initialValue != nil || member.modifiers.contains("weak")
          || isVariable && binding.type?.isOptional == true
      }
    }
  }

  private func name(ofType member: Member) -> String? {
    guard ["enum", "struct", "typealias", "class"].contains(tokens[member.keyword].text) else {
      return nil
    }
    return tokens[member.keyword + 1].name
  }

  // The names after `case`, each without its value.
  private func caseNames(of member: Member) -> [String] {
    guard tokens[member.keyword].isWord("enum") else { return [] }
    var names: [String] = []
    var index = member.keyword
    while !tokens[index].is("{") { index += 1 }
    var depth = 0
    var isInCase = false
    while index < tokens.count {
      let token = tokens[index]
      if token.is("{") { depth += 1 }
      if token.is("}") {
        depth -= 1
        if depth == 0 { break }
      }
      if depth == 1, token.is("case") {
        isInCase = true
        names.append(tokens[index + 1].text)
      } else if depth == 1, isInCase, token.is(",") {
        names.append(tokens[index + 1].text)
      } else if token.isFirstOnLine, !tokens[index - 1].is(","), !tokens[index - 1].is("=") {
        isInCase = false
      }
      index += 1
    }
    return names
  }
}
