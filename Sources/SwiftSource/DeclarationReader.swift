/// Reads declarations from tokens: just as much of them as `TypeDeclaration` tells. What it does not understand it
/// passes over up to what can only be the next member.

public struct DeclarationReader {
  private let tokens: [Token]
  private let start: Int
  private var index = 0

  /// - Parameter source: one declaration, with what stands before it.
  public init(_ source: String) { self.init(LexedSource(source).tokens, at: 0) }

  /// Reads one of a source's declarations.
  /// - Parameter tokens: all of the source, up to its end. What is interpolated in a string may stand behind it as well.
  /// - Parameter start: The declaration's first token.
  public init(_ tokens: [Token], at start: Int) { (self.tokens, self.start) = (tokens, start) }

  /// The declaration, if it is of a type.
  public mutating func readType() -> TypeDeclaration? {
    index = start
    let (attributes, modifiers) = readPrefix()
    let keyword = self[index].text
    let isType = ["class", "struct", "enum", "actor", "extension", "protocol"].contains(keyword)
    guard isType, index + 1 < tokens.count else { return nil }
    index += 1
    var name = self[index]
    index += 1
    while self[index].is("."), self[index + 1].kind == .identifier {
      name = self[index + 1]
      index += 2
    }
    if let end = endOfGenericArguments(from: index) { index = end }
    let endOfName = self[index - 1].endOffset
    var supertypes: [Supertype] = []
    if self[index].is(":") {
      index += 1
      supertypes = readSupertypes()
    }
    while !isAtEnd, !self[index].is("{") { index += 1 }
    let (open, close) = (index, endOfGroup(from: index) - 1)
    index += 1
    return TypeDeclaration(
      keyword: keyword, attributes: attributes, modifiers: modifiers, name: name,
      supertypes: supertypes, endOfName: endOfName, open: open, close: close,
      members: readMembers(until: close))
  }

  /// The declaration as a type's member.
  public mutating func readMember() -> Member? {
    index = start
    return isAtEnd ? nil : readMembers(until: tokens.count - 1).first
  }

  /// The token at an index; beyond the end the last one, which is the end.
  private subscript(index: Int) -> Token { tokens[min(index, tokens.count - 1)] }

  private var isAtEnd: Bool { self[index].kind == .endOfFile }

  // MARK: - Members

  private mutating func readMembers(until end: Int) -> [Member] {
    var members: [Member] = []
    while index < end {
      let before = index
      if self[index].is(";") {
        index += 1
      } else if self[index].kind == .directive {
        members.append(readDirective(until: end))
      } else {
        members.append(readOne(until: end))
      }
      if index == before { index += 1 }
    }
    return members
  }

  private mutating func readDirective(until end: Int) -> Member {
    let start = index
    index += 1
    while index < end, !self[index].isFirstOnLine { index += 1 }
    return Member(
      kind: .directive(text(start..<index)), attributes: [], modifiers: [],
      offset: self[start].offset, start: start, keyword: start)
  }

  private mutating func readOne(until end: Int) -> Member {
    let start = index
    let (attributes, modifiers) = readPrefix()
    let keyword = index
    let kind: Member.Kind
    switch self[index].text {
    case "var" where self[index].kind == .keyword, "let" where self[index].kind == .keyword:
      let isVariable = self[index].text == "var"
      index += 1
      kind = .variable(isVariable: isVariable, bindings: readBindings(until: end))
    case "func" where self[index].kind == .keyword:
      index += 1
      kind = .function(readFunction(until: end))
    default:
      kind = .other
      skipOther(until: end)
    }
    return Member(
      kind: kind, attributes: attributes, modifiers: modifiers, offset: self[start].offset,
      start: start, keyword: keyword)
  }

  /// Up to the end of its braces, or to what begins another member.
  private mutating func skipOther(until end: Int) {
    let start = index
    while index < end {
      if index > start, beginsMember() { return }
      if self[index].is(";") { return }
      if self[index].is("{") {
        index = min(endOfGroup(from: index), end)
        return
      }
      index = min(isOpening(self[index]) ? endOfGroup(from: index) : index + 1, end)
    }
  }

  // MARK: - Attributes and modifiers

  private mutating func readPrefix() -> ([Attribute], [String]) {
    var attributes: [Attribute] = []
    var modifiers: [String] = []
    while !isAtEnd {
      if self[index].is("@") {
        attributes.append(readAttribute())
      } else if isModifier(at: index) {
        var text = self[index].text
        index += 1
        if self[index].is("("), Self.modifiersWithArgument.contains(text) {
          let end = endOfGroup(from: index)
          text += self.text(index..<end)
          index = end
        }
        modifiers.append(text)
      } else {
        break
      }
    }
    return (attributes, modifiers)
  }

  private mutating func readAttribute() -> Attribute {
    let offset = self[index].offset
    index += 1
    var name = self[index].name
    index += 1
    while let separator = separatorOfModule(at: index) {
      name += "." + self[index + separator].name
      index += separator + 1
    }
    if let end = endOfGenericArguments(from: index) { index = end }
    if self[index].is("("), self[index].leadingTrivia.isEmpty {
      index = endOfGroup(from: index)
    }
    return Attribute(name: name, offset: offset)
  }

  /// Of how many tokens what separates a module's name from a name in it is: a point, or two colons.
  private func separatorOfModule(at index: Int) -> Int? {
    guard self[index].leadingTrivia.isEmpty else { return nil }
    if self[index].is(".") { return 1 }
    return self[index].is(":") && self[index + 1].is(":") ? 2 : nil
  }

  private static let modifiersWithArgument: Set<String> = [
    "public", "private", "fileprivate", "internal", "package", "open", "unowned", "nonisolated",
  ]
  private static let modifierKeywords: Set<String> = [
    "public", "private", "fileprivate", "internal", "static",
  ]
  private static let modifierNames: Set<String> = [
    "package", "open", "final", "override", "lazy", "weak", "unowned", "dynamic", "required",
    "convenience", "optional", "indirect", "mutating", "nonmutating", "nonisolated", "isolated",
    "distributed", "prefix", "postfix", "infix", "sending", "borrowing", "consuming",
  ]
  private static let declarationKeywords: Set<String> = [
    "var", "let", "func", "init", "deinit", "subscript", "class", "struct", "enum", "extension",
    "protocol", "typealias", "import", "case", "associatedtype", "operator", "precedencegroup",
  ]

  /// Whether a word is a modifier of a declaration.
  // `class` before another word of a declaration is one; a name is one only before such a word.
  public func isModifier(at index: Int) -> Bool {
    let token = self[index]
    if token.kind == .keyword {
      if Self.modifierKeywords.contains(token.text) { return true }
      return token.text == "class" && isWordOfDeclaration(at: index + 1)
    }
    guard token.kind == .identifier, Self.modifierNames.contains(token.text) else { return false }
    let next = index + 1
    return isWordOfDeclaration(at: next)
      || self[next].is("(") && Self.modifiersWithArgument.contains(token.text)
        && isWordOfDeclaration(at: endOfGroup(from: next))
  }

  private func isWordOfDeclaration(at index: Int) -> Bool {
    guard index < tokens.count else { return false }
    let token = self[index]
    if token.is("@") { return true }
    if token.kind == .keyword {
      return Self.declarationKeywords.contains(token.text)
        || Self.modifierKeywords.contains(token.text)
    }
    guard token.kind == .identifier else { return false }
    return token.text == "actor" || isModifier(at: index)
  }

  /// Whether the token begins a line and can't go on with what stood before.
  private func beginsMember() -> Bool {
    let token = self[index]
    guard token.isFirstOnLine else { return false }
    if token.kind == .directive || token.is("@") || token.is("}") { return true }
    let previous = self[index - 1]
    let goesOn =
      previous.is(".") || previous.is(",") || previous.is(":")
      || previous.kind == .operator && !["?", "!", ">"].contains(previous.text)
    if goesOn { return false }
    if token.kind == .pound { return true }
    if token.kind == .keyword, Self.declarationKeywords.contains(token.text) { return true }
    return isModifier(at: index)
      || token.kind == .identifier && token.text == "actor"
        && self[index + 1].kind == .identifier
  }

  // MARK: - Properties

  private mutating func readBindings(until end: Int) -> [Binding] {
    var bindings: [Binding] = []
    repeat {
      if !bindings.isEmpty { index += 1 }
      bindings.append(readBinding(until: end))
    } while index < end && self[index].is(",")
    return bindings
  }

  private mutating func readBinding(until end: Int) -> Binding {
    var binding = Binding(place: index)
    if self[index].is("(") {
      index = min(endOfGroup(from: index), end)
    } else {
      binding.name = self[index]
      index += 1
    }
    if index < end, self[index].is(":") {
      index += 1
      binding.type = readType(until: end)
    }
    if index < end, self[index].is("=") {
      index += 1
      binding.initialValue = readExpression(until: end)
    }
    if index < end, self[index].is("{") {
      let close = min(endOfGroup(from: index), end)
      binding.accessors = readAccessors(behind: index, until: max(close - 1, index + 1))
      index = close
    }
    return binding
  }

  private mutating func readType(until end: Int) -> String {
    let start = index
    var angles = 0
    while index < end {
      let token = self[index]
      if index > start, beginsMember() { break }
      if token.is("{") || token.is(";") || token.is("=") { break }
      if token.is(","), angles == 0 { break }
      angles += token.angles
      index = min(isOpening(token) ? endOfGroup(from: index) : index + 1, end)
    }
    return text(start..<index)
  }

  // A brace is of a closure, unless observers stand in it.
  private mutating func readExpression(until end: Int) -> String {
    let start = index
    while index < end {
      if index > start, beginsMember() { break }
      let token = self[index]
      if token.is(",") || token.is(";") { break }
      if token.is("{"), index > start, holdsObservers(at: index) { break }
      if token.leadingTrivia.isEmpty, let close = endOfGenericArguments(from: index) {
        index = close
        continue
      }
      index = min(isOpening(token) ? endOfGroup(from: index) : index + 1, end)
    }
    return text(start..<index)
  }

  private func holdsObservers(at brace: Int) -> Bool {
    var reader = self
    reader.index = brace + 1
    while reader[reader.index].is("@") { _ = reader.readAttribute() }
    let word = reader[reader.index]
    guard word.isWord("willSet") || word.isWord("didSet") else { return false }
    let next = reader[reader.index + 1]
    return next.is("{") || next.is("(")
  }

  private static let accessorNames: Set<String> = [
    "get", "set", "willSet", "didSet", "_read", "_modify", "read", "modify", "init",
    "unsafeAddress", "unsafeMutableAddress",
  ]

  private func readAccessors(behind open: Int, until end: Int) -> Accessors {
    let range = (open + 1..<end).clamped(to: tokens.indices)
    var reader = self
    reader.index = range.lowerBound
    var blocks: [Accessors.Block] = []
    while reader.index < range.upperBound {
      guard let block = reader.readAccessor(until: range.upperBound) else {
        blocks = []
        break
      }
      blocks.append(block)
    }
    if blocks.isEmpty {
      blocks = [.init(name: "get", parameter: nil, effects: [], body: tokens[range])]
    }
    return Accessors(open: open, blocks: blocks)
  }

  private mutating func readAccessor(until end: Int) -> Accessors.Block? {
    while index < end {
      if self[index].is("@") {
        _ = readAttribute()
      } else if self[index].isWord("mutating") || self[index].isWord("nonmutating")
        || self[index].isWord("nonisolated")
      {
        index += 1
      } else {
        break
      }
    }
    guard index < end, Self.accessorNames.contains(self[index].text) else { return nil }
    var block = Accessors.Block(
      name: self[index].text, parameter: nil, effects: [], body: [])
    index += 1
    if index < end, self[index].is("(") {
      block.parameter = self[index + 1].name
      index = min(endOfGroup(from: index), end)
    }
    while index < end, self[index].isWord("async") || self[index].isWord("throws") {
      block.effects.append(self[index].text)
      index += 1
      if index < end, self[index].is("(") { index = min(endOfGroup(from: index), end) }
    }
    guard index < end, self[index].is("{") else { return nil }
    let close = min(endOfGroup(from: index), end)
    block.body = tokens[((index + 1)..<max(close - 1, index + 1)).clamped(to: tokens.indices)]
    index = close
    return block
  }

  // MARK: - Methods

  private mutating func readFunction(until end: Int) -> Function {
    var function = Function(name: self[index], parameters: [], effects: [])
    index += 1
    if let close = endOfGenericArguments(from: index) {
      function.isGeneric = true
      index = close
    }
    if index < end, self[index].is("(") {
      let close = min(endOfGroup(from: index), end)
      function.open = index
      function.parameters = readParameters((index + 1)..<max(close - 1, index + 1))
      index = close
    }
    while index < end, !self[index].is("{"), !beginsMember(), !self[index].is(";") {
      if self[index].isWord("throws") || self[index].isWord("rethrows")
        || self[index].isWord("async")
      {
        function.effects.append(self[index].text)
      } else if self[index].text == "->" {
        function.isReturning =
          !self[index + 1].isWord("Void") && !(self[index + 1].is("(") && self[index + 2].is(")"))
      }
      index = min(isOpening(self[index]) ? endOfGroup(from: index) : index + 1, end)
    }
    if index < end, self[index].is("{") {
      function.body = index
      index = min(endOfGroup(from: index), end)
    }
    return function
  }

  private func readParameters(_ range: Range<Int>) -> [Function.Parameter] {
    var parameters: [Function.Parameter] = []
    var reader = self
    reader.index = range.lowerBound
    while reader.index < range.upperBound {
      while reader[reader.index].is("@") { _ = reader.readAttribute() }
      let label = reader[reader.index].name
      while reader.index < range.upperBound, !reader[reader.index].is(":") {
        reader.index += 1
      }
      reader.index += 1
      let type = reader.index < range.upperBound ? reader.readType(until: range.upperBound) : ""
      if reader.index < range.upperBound, reader[reader.index].is("=") {
        reader.index += 1
        _ = reader.readExpression(until: range.upperBound)
      }
      parameters.append(.init(label: label == "_" ? nil : label, type: type))
      reader.index += 1  // the comma
    }
    return parameters
  }

  private mutating func readSupertypes() -> [Supertype] {
    var types: [Supertype] = []
    var start = index
    var angles = 0
    func add(_ range: Range<Int>) {
      if !range.isEmpty { types.append(Supertype(text: text(range), place: range.lowerBound)) }
    }
    while !isAtEnd, !self[index].is("{"), !self[index].isWord("where") {
      let token = self[index]
      angles += token.angles
      if token.is(","), angles == 0 {
        add(start..<index)
        index += 1
        start = index
      } else {
        index = isOpening(token) ? endOfGroup(from: index) : index + 1
      }
    }
    add(start..<index)
    return types
  }

  // MARK: - Brackets

  private func isOpening(_ token: Token) -> Bool {
    token.is("(") || token.is("[") || token.is("{")
  }

  /// Where what follows the closing bracket begins; the end of the source if there is none.
  private func endOfGroup(from start: Int) -> Int {
    var (index, depth) = (start, 0)
    while index < tokens.count, self[index].kind != .endOfFile {
      let token = self[index]
      if isOpening(token) { depth += 1 }
      if token.is(")") || token.is("]") || token.is("}") { depth -= 1 }
      index += 1
      if depth <= 0 { return index }
    }
    return index
  }

  /// Where what follows `<…>` begins, if it stands there and can't be a comparison.
  private func endOfGenericArguments(from start: Int) -> Int? {
    guard self[start].is("<"), start > 0 else { return nil }
    var (index, depth) = (start, 0)
    while self[index].kind != .endOfFile {
      let token = self[index]
      if token.is("{") || token.is("}") || token.is(";") || token.is("=") { return nil }
      depth += token.angles
      if token.kind == .operator, token.text != "->", depth == 0 { return index + 1 }
      if token.kind == .number || token.kind == .string || token.kind == .regex { return nil }
      index = token.is("(") || token.is("[") ? endOfGroup(from: index) : index + 1
    }
    return nil
  }

  /// As it stands in the source, without what is before it.
  private func text(_ range: Range<Int>) -> String {
    let range = range.clamped(to: tokens.indices)
    guard let first = range.first else { return "" }
    var (text, end) = (self[first].text, self[first].endOffset)
    // What is interpolated in a string is in its text.
    for token in tokens[range].dropFirst() where token.offset >= end {
      text += token.leadingTrivia + token.text
      end = token.endOffset
    }
    return text
  }
}
