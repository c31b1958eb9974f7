/// Reads declarations from tokens: just as much of them as `TypeDeclaration` tells. What it does not understand it
/// passes over up to what can only be the next member.

public struct DeclarationReader {
  let tokens: [Token]
  private let start: Int
  var index = 0

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

  /// The declaration as a type's member.
  public mutating func readMember() -> Member? {
    index = start
    return isAtEnd ? nil : readMembers(until: tokens.count - 1).first
  }

  /// The token at an index; beyond the end the last one, which is the end.
  subscript(index: Int) -> Token { tokens[min(index, tokens.count - 1)] }

  var isAtEnd: Bool { self[index].kind == .endOfFile }

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
}
