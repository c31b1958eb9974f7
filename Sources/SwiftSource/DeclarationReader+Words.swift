/// Reads attributes and modifiers, and recognises where a declaration begins.

extension DeclarationReader {
  /// The attributes and modifiers before a declaration's keyword.
  struct Prefix {
    var attributes: [Attribute] = []
    var modifiers: [String] = []

    static func += (prefix: inout Prefix, more: Prefix) {
      prefix.attributes += more.attributes
      prefix.modifiers += more.modifiers
    }
  }

  mutating func readPrefix() -> Prefix {
    var prefix = Prefix()
    while !isAtEnd {
      if self[index].is("@") {
        prefix.attributes.append(readAttribute())
      } else if isModifier(at: index) {
        prefix.modifiers.append(readModifier())
      } else {
        break
      }
    }
    return prefix
  }

  private mutating func readModifier() -> String {
    let start = index
    index += 1
    if self[index].is("("), Self.modifiersWithArgument.contains(self[start].text) {
      index = endOfGroup(from: index)
    }
    return text(start..<index)
  }

  mutating func readAttribute() -> Attribute {
    let offset = self[index].offset
    index += 1
    var name = self[index].name
    index += 1
    while let separator = lengthOfModuleSeparator(at: index) {
      name += "." + self[index + separator].name
      index += separator + 1
    }
    if let end = endOfGenericArguments(from: index) { index = end }
    var arguments: [Token] = []
    if self[index].is("("), self[index].leadingTrivia.isEmpty {
      let end = endOfGroup(from: index)
      arguments = (index + 1..<max(index + 1, end - 1)).map { self[$0] }
      index = end
    }
    return Attribute(name: name, offset: offset, arguments: arguments)
  }

  /// The number of tokens between a module's name and the name after it: one for a dot, two for two colons.
  private func lengthOfModuleSeparator(at index: Int) -> Int? {
    guard self[index].leadingTrivia.isEmpty else { return nil }
    if self[index].is(".") { return 1 }
    return self[index].is(":") && self[index + 1].is(":") ? 2 : nil
  }

  // Such as `private(set)`.
  private static let modifiersWithArgument: Set<String> = [
    "public", "private", "fileprivate", "internal", "package", "open", "unowned", "nonisolated",
  ]
  // Without `class`, which also begins a declaration.
  private static let modifierKeywords: Set<String> = [
    "public", "private", "fileprivate", "internal", "static",
  ]
  // No keywords for the lexer. They are modifiers only before another word of a declaration.
  private static let modifierNames: Set<String> = [
    "package", "open", "final", "override", "lazy", "weak", "unowned", "dynamic", "required",
    "convenience", "optional", "indirect", "mutating", "nonmutating", "nonisolated", "isolated",
    "distributed", "prefix", "postfix", "infix", "sending", "borrowing", "consuming",
  ]
  private static let declarationKeywords: Set<String> = [
    "var", "let", "func", "init", "deinit", "subscript", "class", "struct", "enum", "extension",
    "protocol", "typealias", "import", "case", "associatedtype", "operator", "precedencegroup",
  ]

  /// More modifiers than any declaration has. Without the limit, a line of many such words would be scanned once for
  /// each.
  private static let maxModifiers = 32

  /// Whether the word at an index is a modifier of a declaration.
  // `class`, and names such as `open`, are modifiers only before another word of a declaration.
  public func isModifier(at index: Int) -> Bool {
    let token = self[index]
    if token.kind == .keyword, Self.modifierKeywords.contains(token.text) { return true }
    return endOfModifier(at: index).map { declarationFollows(at: $0) } ?? false
  }

  /// The index after the word, with its argument if it has one; nil if the word can't be a modifier.
  private func endOfModifier(at index: Int) -> Int? {
    let token = self[index]
    if token.is("class") { return index + 1 }
    guard token.kind == .identifier, Self.modifierNames.contains(token.text) else { return nil }
    let hasArgument =
      self[index + 1].is("(") && Self.modifiersWithArgument.contains(token.text)
    return hasArgument ? endOfGroup(from: index + 1) : index + 1
  }

  /// Whether modifiers, if any, and then the keyword of a declaration follow.
  private func declarationFollows(at start: Int) -> Bool {
    var index = start
    for _ in 0..<Self.maxModifiers where index < tokens.count {
      let token = self[index]
      if token.is("@") || token.isWord("actor") { return true }
      if token.kind == .keyword {
        return Self.declarationKeywords.contains(token.text)
          || Self.modifierKeywords.contains(token.text)
      }
      guard let end = endOfModifier(at: index) else { return false }
      index = end
    }
    return false
  }

  /// Whether the token begins a line and can't continue the expression or type before it.
  func beginsMember() -> Bool {
    let token = self[index]
    guard token.isFirstOnLine else { return false }
    if token.kind == .directive || token.is("@") || token.is("}") { return true }
    if isContinued(after: index - 1) { return false }
    if token.kind == .pound { return true }
    if token.kind == .keyword, Self.declarationKeywords.contains(token.text) { return true }
    return isModifier(at: index)
      || (token.kind == .identifier && token.text == "actor"
        && self[index + 1].kind == .identifier)
  }

  /// Whether a line that ends with this token is unfinished. An operator without a space before it is a postfix
  /// operator, as in Swift; so are the marks and angle brackets at the end of a type. `=`, `->` and `&` are always
  /// infix.
  private func isContinued(after index: Int) -> Bool {
    let last = self[index]
    if last.is(".") || last.is(",") || last.is(":") { return true }
    guard last.kind == .operator else { return false }
    let closesType = last.text.first == ">" && last.text.allSatisfy { ">?!".contains($0) }
    return (!last.leadingTrivia.isEmpty && !closesType) || ["=", "->", "&"].contains(last.text)
  }
}
