/// Reads declarations from tokens, only as much of them as `TypeDeclaration` holds. It skips whatever it does not
/// understand, up to a token that can only begin the next member.

public struct DeclarationReader {
  let tokens: [Token]
  private let start: Int
  private let meter: Meter?
  var index = 0

  /// Counts the tokens that a reader and its copies look at. Tests use it to check how the work grows.
  package final class Meter {
    package var steps = 0
    package init() {}
  }

  /// - Parameter source: one declaration, with the attributes and modifiers before it.
  public init(_ source: String) { self.init(LexedSource(source).tokens, at: 0) }

  /// Reads one of a source's declarations.
  /// - Parameter tokens: all tokens of the source up to its end. Tokens of interpolated strings may be in the array
  ///   as well.
  /// - Parameter start: The declaration's first token.
  public init(_ tokens: [Token], at start: Int) { self.init(tokens, at: start, meter: nil) }

  package init(_ tokens: [Token], at start: Int, meter: Meter?) {
    (self.tokens, self.start, self.meter) = (tokens, start, meter)
  }

  /// Reads the declaration of a type; nil if the declaration is none.
  public mutating func readType() -> TypeDeclaration? {
    index = start
    var prefix = readPrefix()
    while self[index].kind == .directive {
      skipDirective(until: tokens.count - 1)
      prefix += readPrefix()
    }
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
      keyword: keyword, attributes: prefix.attributes, modifiers: prefix.modifiers, name: name,
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

  /// Reads the declaration as a member of a type.
  public mutating func readMember() -> Member? {
    index = start
    return readMembers(until: tokens.count - 1).first { !$0.isDirective }
  }

  /// The token at an index. Beyond the end it is the last token, which is `endOfFile`.
  subscript(index: Int) -> Token {
    count(1)
    return tokens[min(index, tokens.count - 1)]
  }

  func count(_ steps: Int) { meter?.steps += steps }

  var isAtEnd: Bool { self[index].kind == .endOfFile }

  // MARK: - Members

  private mutating func readMembers(until end: Int) -> [Member] {
    var members: [Member] = []
    var prefix = Prefix()
    while index < end {
      let start = index
      if self[index].is(";") {
        index += 1
      } else if self[index].kind == .directive {
        members.append(readDirective(until: end))
      } else {
        prefix += readPrefix()
        // `#if` lines may surround attributes. The attributes belong to the member that follows.
        if self[index].kind == .directive { continue }
        members.append(readOne(from: start, prefix, until: end))
        prefix = Prefix()
      }
      if index == start { index += 1 }
    }
    return members
  }

  private mutating func readDirective(until end: Int) -> Member {
    let start = index
    skipDirective(until: end)
    return Member(
      kind: .directive(text(start..<index)), attributes: [], modifiers: [],
      offset: self[start].offset, start: start, keyword: start)
  }

  private mutating func skipDirective(until end: Int) {
    repeat { index += 1 } while index < end && !self[index].isFirstOnLine
  }

  private mutating func readOne(from start: Int, _ prefix: Prefix, until end: Int) -> Member {
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
      kind: kind, attributes: prefix.attributes, modifiers: prefix.modifiers,
      offset: self[start].offset, start: start, keyword: keyword)
  }

  /// Skips a member up to the end of its braces, or to the beginning of the next member.
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
