@testable import KVOExpansion

/// Calls the plugin as the compiler does, and returns its answers.
struct Asking {
  static let file = "/tmp/Account.swift"
  /// The declaration's offset in the file.
  static let offset = 100

  static func answer(_ text: String) -> JSON {
    var plugin = Plugin()
    return plugin.answer(to: Array(text.utf8))
  }

  /// The compiler's message about an attached macro.
  static func request(
    _ type: String, _ role: String, _ source: String, in contexts: [String] = [],
    of parent: String? = nil
  ) -> JSON {
    let location: JSON = .object([
      "fileName": .string(file), "fileID": .string("M/Account.swift"), "line": .number(1),
      "column": .number(1), "offset": .number(Double(offset)),
    ])
    let syntax: JSON = .object([
      "kind": .string("declaration"), "source": .string(source), "location": location,
    ])
    let parentSyntax: JSON = parent.map { .object(["source": .string($0)]) } ?? .null
    return .object([
      "expandAttachedMacro": .object([
        "parentDeclSyntax": parentSyntax,
        "macro": .object([
          "moduleName": .string("KVOMacros"), "typeName": .string(type), "name": .string("KVO "),
        ]),
        "macroRole": .string(role), "discriminator": .string("$s1M"), "declSyntax": syntax,
        "attributeSyntax": syntax,
        "lexicalContext": .array(contexts.map { .object(["source": .string($0)]) }),
      ])
    ])
  }

  static func expand(
    _ type: String, _ role: String, _ source: String, in contexts: [String] = [],
    of parent: String? = nil
  ) -> (String, [JSON]) {
    let result = answer(request(type, role, source, in: contexts, of: parent).text)[
      "expandMacroResult"]
    guard case .array(let diagnostics)? = result?["diagnostics"] else { return ("?", []) }
    return (result?["expandedSource"]?.string ?? "?", diagnostics)
  }

  static func attribute(_ source: String, of parent: String? = nil) -> String {
    expand("KVOMacro", "memberAttribute", source, of: parent).0
  }

  /// The members that the macro adds to a class.
  static func allMembers(_ source: String) -> String { expand("KVOMacro", "member", source).0 }

  /// The members that the macro adds to a class, without those for `Codable` that are no methods.
  static func members(_ source: String, in contexts: [String] = []) -> String {
    let members = expand("KVOMacro", "member", source, in: contexts).0
    let ends = ["\nprivate enum CodingKeys", "\nprivate final var _kvo_declare"].compactMap {
      members.ranges(of: $0).first?.lowerBound
    }
    return String(members[..<(ends.first ?? members.endIndex)])
  }

  /// The lines that declare keys, without the enclosing function.
  static func declarations(_ body: String) -> [String] {
    members("@KVO class A: KVOObject {\n\(body)\n}").split(separator: "\n")
      .map { String($0.drop { $0 == " " }) }
      .filter { $0.hasPrefix("keys.") || $0.hasPrefix("_declareIsolatedKeys") || $0.hasPrefix("#") }
  }

  /// A source, after applying a fix-it as the compiler does.
  static func apply(_ fixIt: JSON, to source: String) -> String {
    guard case .array(let changes)? = fixIt["changes"] else { return "" }
    var text = Array(source.utf8)
    for change in changes.reversed() {
      let start = (change["range"]?["startOffset"]?.int ?? 0) - offset
      let end = (change["range"]?["endOffset"]?.int ?? 0) - offset
      text.replaceSubrange(start..<end, with: Array((change["newText"]?.string ?? "").utf8))
    }
    return String(decoding: text, as: UTF8.self)
  }

  static func messages(_ source: String) -> [String] {
    expand("KVOMacro", "member", source).1.map { diagnostic in
      let offset = diagnostic["position"]?["offset"]?.int ?? -1
      return "\(diagnostic["severity"]?.string ?? "") at \(offset - Asking.offset): "
        + (diagnostic["message"]?.string ?? "")
    }
  }
}
