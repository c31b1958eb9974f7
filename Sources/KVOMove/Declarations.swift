/// The types of a source with what the edits need of them: superclasses, properties, methods.
/// No rule of Behaviour is kept here.
import SwiftSource

/// A type or an extension of one.
struct TypeDeclaration {
  var name: String
  var keyword: Int
  var isExtension: Bool
  var isClass: Bool
  /// The first token of each that it inherits from, by the last component's name.
  var inherited: [(name: String, at: Int)]
  var open: Int
  var close: Int
  var properties: [PropertyDeclaration] = []
  var methods: [MethodDeclaration] = []
}

struct PropertyDeclaration {
  var name: String
  /// The token `var` or `let`.
  var keyword: Int
  /// The first of its attributes and modifiers, or the keyword.
  var start: Int
  var modifiers: Set<String>
  var type: String
  /// The brace of its accessors or observers.
  var brace: Int?
  var isComputed: Bool
  /// The braces of its accessors by their names.
  var accessors: [String: Int]

  var isDynamic: Bool { modifiers.contains("dynamic") || modifiers.contains("@NSManaged") }
  var isConstant = false
  var isStatic: Bool { modifiers.contains("static") || modifiers.contains("class") }
}

struct MethodDeclaration {
  var name: String
  var keyword: Int
  var start: Int
  var modifiers: Set<String>
  /// The parenthesis of its parameters.
  var parameters: Int
  var brace: Int?
}

extension SourceFile {
  private static let modifierWords: Set = [
    "public", "private", "internal", "open", "fileprivate", "package", "final", "dynamic", "weak",
    "unowned", "lazy", "static", "class", "override", "nonisolated", "convenience", "required",
    "mutating", "nonmutating", "optional", "indirect",
  ]

  /// All types, an outer one before those in it.
  func types() -> [TypeDeclaration] {
    tokens.indices.filter { beginsType($0) }.compactMap { type(at: $0) }
  }

  private func type(at keyword: Int) -> TypeDeclaration? {
    guard let open = (keyword..<tokens.count).first(where: { tokens[$0].is("{") }),
      let close = partner[open]
    else { return nil }
    var name = tokens[keyword + 1].name
    var (inherited, index) = ([(name: String, at: Int)](), keyword + 2)
    while index + 1 < open, tokens[index].is("."), tokens[index + 1].kind == .identifier {
      name = tokens[index + 1].name
      index += 2
    }
    if let colon = (index..<open).first(where: { tokens[$0].is(":") && depth($0, from: index) == 0 }
    ) {
      index = colon + 1
      while index < open, !tokens[index].isWord("where") {
        let start = index
        while index + 2 < open, tokens[index + 1].is(".") { index += 2 }
        inherited.append((tokens[index].name, start))
        while index < open, !(tokens[index].is(",") && depth(index, from: start) == 0) {
          index += 1
        }
        index += 1
      }
    }
    let kind = tokens[keyword].text
    var type = TypeDeclaration(
      name: name, keyword: keyword, isExtension: kind == "extension", isClass: kind == "class",
      inherited: inherited, open: open, close: close)
    for index in open + 1..<close where enclosing[index] == open {
      if isDeclaration(index, of: ["var", "let"]), let property = property(at: index) {
        type.properties.append(property)
      } else if isDeclaration(index, of: ["func"]), let method = method(at: index) {
        type.methods.append(method)
      }
    }
    return type
  }

  /// How many angle brackets are open between two tokens.
  private func depth(_ index: Int, from start: Int) -> Int {
    guard index > start else { return 0 }
    return tokens[start..<index].reduce(0) { depth, token in
      guard token.kind == .operator, token.text != "->" else { return depth }
      return depth + token.text.count { $0 == "<" } - token.text.count { $0 == ">" }
    }
  }

  private func property(at keyword: Int) -> PropertyDeclaration? {
    let nameToken = tokens[keyword + 1]
    guard nameToken.kind == .identifier else { return nil }
    let (start, modifiers) = modifiers(before: keyword)
    let brace = tokens[keyword].text == "var" ? accessorBrace(ofVariableAt: keyword) : nil
    var type = ""
    if tokens[keyword + 2].is(":") {
      type = text(ofTokens: typeTokens(after: keyword + 2))
    } else if tokens[keyword + 2].is("="), tokens[keyword + 3].kind == .number {
      let literal = tokens[keyword + 3].text
      type = literal.contains(".") ? "Double" : "Int"
    } else if tokens[keyword + 2].is("="), tokens[keyword + 3].name.first?.isUppercase == true,
      tokens[keyword + 4].is("(")
    {
      type = tokens[keyword + 3].name
    }
    let accessors = brace.map { self.accessors(in: $0) } ?? [:]
    let observesOnly = accessors["didSet"] != nil || accessors["willSet"] != nil
    return PropertyDeclaration(
      name: nameToken.name, keyword: keyword, start: start, modifiers: modifiers, type: type,
      brace: brace, isComputed: brace != nil && !observesOnly, accessors: accessors,
      isConstant: tokens[keyword].text == "let")
  }

  /// A variable's type, behind its colon.
  func typeTokens(after colon: Int) -> Range<Int> {
    var (end, angles) = (colon + 1, 0)
    while end < tokens.count, !tokens[end].is("="), !tokens[end].is("{"), !isStatementStart(end),
      !tokens[end].is("}"), !tokens[end].is(";"), !(tokens[end].is(",") && angles == 0),
      tokens[end].kind != .endOfFile
    {
      if tokens[end].kind == .operator, tokens[end].text != "->" {
        angles += tokens[end].text.count { $0 == "<" } - tokens[end].text.count { $0 == ">" }
      }
      end = (partner[end].map { $0 > end ? $0 : end } ?? end) + 1
    }
    return colon + 1..<end
  }

  private func accessors(in brace: Int) -> [String: Int] {
    var accessors: [String: Int] = [:]
    for index in brace + 1..<partner[brace]!
    where blocks[index] == .accessor && enclosing[index] == brace {
      var name = index - 1
      if tokens[name].is(")"), let open = partner[name] { name = open - 1 }
      while name > brace, ["throws", "async"].contains(tokens[name].text) { name -= 1 }
      accessors[tokens[name].text] = index
    }
    return accessors
  }

  private func method(at keyword: Int) -> MethodDeclaration? {
    guard tokens[keyword + 1].kind == .identifier || tokens[keyword + 1].kind == .operator,
      let parameters = (keyword..<min(keyword + 40, tokens.count)).first(where: {
        tokens[$0].is("(")
      })
    else { return nil }
    let (start, modifiers) = modifiers(before: keyword)
    var index = partner[parameters]! + 1
    while index < tokens.count, blocks[index] == nil, !isStatementStart(index),
      !tokens[index].is("}")
    {
      index = (partner[index].map { $0 > index ? $0 : index } ?? index) + 1
    }
    let brace =
      blocks[index] == .function(throwing: true) || blocks[index] == .function(throwing: false)
    return MethodDeclaration(
      name: tokens[keyword + 1].name, keyword: keyword, start: start, modifiers: modifiers,
      parameters: parameters, brace: brace ? index : nil)
  }

  /// The modifiers and attributes before a declaration's keyword, and the first one's place.
  func modifiers(before keyword: Int) -> (start: Int, modifiers: Set<String>) {
    var (start, modifiers) = (keyword, Set<String>())
    while start > 0 {
      var index = start - 1
      if tokens[index].is(")"), let open = partner[index], open > 0 { index = open - 1 }
      let token = tokens[index]
      if index > 0, tokens[index - 1].is("@") {
        modifiers.insert("@" + token.text)
        start = index - 1
      } else if Self.modifierWords.contains(token.text),
        token.kind == .keyword || token.kind == .identifier
      {
        // `private(set)` is no `private`.
        modifiers.insert(index == start - 1 ? token.text : token.text + "()")
        start = index
      } else {
        break
      }
    }
    return (start, modifiers)
  }
}
