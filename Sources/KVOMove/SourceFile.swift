/// A source in the form that the edits use: one row of tokens that includes those of interpolations, with the partner
/// of each bracket and the kind of each block. No rule of Behaviour is kept here. It relies on SwiftSource's lexer.
import SwiftSource

/// The kind of block that a brace opens.
enum Block: Hashable {
  case type
  case function(throwing: Bool)
  case accessors
  /// `get`, `set`, `didSet`, `willSet`.
  case accessor
  /// The block of a statement such as `if`, of a `catch`, or of a `do` without `catch`.
  case control
  /// The block of a `do` with `catch`, which catches what is thrown in it.
  case doCatch
  /// The body of a `defer`, which can't throw.
  case deferred
  case closure
}

struct SourceFile {
  let path: String
  let bytes: [UInt8]
  /// The tokens; the last is the end of the file.
  let tokens: [Token]
  /// Maps each bracket to its matching bracket.
  private(set) var partner: [Int: Int] = [:]
  /// The kind of block at each opening brace.
  private(set) var blocks: [Int: Block] = [:]
  /// The innermost bracket that is open at each token.
  private(set) var enclosing: [Int?] = []
  private(set) var imports: [Import] = []
  /// Branches that Linux does not compile. Their tokens are not in `tokens`.
  private(set) var excluded: [ExcludedBranch] = []

  /// Throws the first problem of a source that can't be read.
  init(path: String, text: String) throws(SourceProblem) {
    let lexed = LexedSource(text)
    if let problem = lexed.problems.first {
      throw SourceProblem(line: problem.line, message: problem.message)
    }
    self.path = path
    bytes = Array(text.utf8)
    let finder = BranchFinder(lexed.tokens)
    excluded = finder.excluded
    let kept = Self.joined(finder.kept, bytes)
    tokens = Self.flattened(kept) + [kept.last!]
    try pair()
    findBlocks()
    imports = findImports()
  }

  /// The tokens, each with all text since the previous one as its trivia: also that of excluded branches between them.
  private static func joined(_ tokens: [Token], _ bytes: [UInt8]) -> [Token] {
    var (joined, end) = (tokens, 0)
    for index in joined.indices {
      if joined[index].triviaOffset > end {
        joined[index].leadingTrivia = String(
          decoding: bytes[end..<joined[index].offset], as: UTF8.self)
      }
      end = joined[index].endOffset
    }
    return joined
  }

  /// The tokens without the last. Each string is followed by the tokens of its interpolations, in parentheses.
  private static func flattened(_ tokens: [Token]) -> [Token] {
    var flat: [Token] = []
    for token in tokens.dropLast() {
      flat.append(token)
      for inner in token.interpolations {
        let (first, last) = (inner.first!, inner.last!)
        flat.append(bracket("(", at: first.triviaOffset - 1, like: first))
        flat += flattened(inner)
        flat.append(bracket(")", at: last.offset, like: last))
      }
    }
    return flat
  }

  private static func bracket(_ text: String, at offset: Int, like token: Token) -> Token {
    var bracket = token
    (bracket.kind, bracket.text, bracket.offset) = (.punctuation, text, offset)
    (bracket.leadingTrivia, bracket.interpolations) = ("", [])
    return bracket
  }

  /// The bracket that closes the one at a token; nil if there is no opening bracket.
  func closing(of open: Int) -> Int? {
    guard let close = partner[open], close > open else { return nil }
    return close
  }

  /// The token after another one or, if that opens brackets, after their end.
  func next(after index: Int) -> Int { (closing(of: index) ?? index) + 1 }

  private mutating func pair() throws(SourceProblem) {
    let closing = ["(": ")", "[": "]", "{": "}"]
    var open: [Int] = []
    for (index, token) in tokens.enumerated() {
      let isBracket = token.kind == .punctuation
      if isBracket, closing.values.contains(token.text) {
        guard let last = open.popLast(), closing[tokens[last].text] == token.text else {
          throw SourceProblem(line: token.line, message: "\(token.text) without its partner")
        }
        (partner[last], partner[index]) = (index, last)
      }
      enclosing.append(open.last)
      if isBracket, closing[token.text] != nil { open.append(index) }
    }
    if let last = open.last {
      throw SourceProblem(
        line: tokens[last].line, message: "\(tokens[last].text) without its partner")
    }
  }

  // MARK: - Blocks

  private static let typeWords: Set = ["class", "struct", "enum", "extension", "protocol", "actor"]
  private static let controlWords: Set = [
    "if", "guard", "for", "while", "switch", "else", "repeat", "catch",
  ]

  private mutating func findBlocks() {
    /// The kind of the next block within each open bracket.
    var pending: [Int?: (block: Block, at: Int)] = [:]
    for index in tokens.indices {
      let level = enclosing[index]
      if tokens[index].is("{") {
        blocks[index] = kind(ofBraceAt: index, pending[level]?.block)
        pending[level] = nil
      } else if beginsType(index) {
        pending[level] = (.type, index)
      } else if isKeyword(index, among: ["func", "init", "deinit", "subscript"]) {
        pending[level] = (.function(throwing: isThrowing(index)), index)
      } else if isKeyword(index, among: ["var"]) {
        pending[level] = nil
        if let brace = accessorBrace(ofVariableAt: index) { blocks[brace] = .accessors }
      } else if isKeyword(index, among: Self.controlWords) {
        pending[level] = (.control, index)
      } else if isKeyword(index, among: ["defer"]) {
        pending[level] = (.deferred, index)
      }
    }
  }

  private func kind(ofBraceAt index: Int, _ pending: Block?) -> Block {
    if blocks[index] == .accessors { return .accessors }
    if index > 0, isKeyword(index - 1, among: ["do"]) {
      let next = partner[index]! + 1
      return isKeyword(next, among: ["catch"]) ? .doCatch : .control
    }
    if index > 0, isAccessorHead(before: index) { return .accessor }
    return pending ?? .closure
  }

  private func isAccessorHead(before brace: Int) -> Bool {
    var index = brace - 1
    if tokens[index].is(")"), let open = partner[index] { index = open - 1 }
    guard index >= 0, let outer = enclosing[brace], blocks[outer] == .accessors else {
      return false
    }
    return ["get", "set", "didSet", "willSet", "_modify", "_read", "init", "throws", "async"]
      .contains(tokens[index].text)
  }

  /// Whether the token is one of these keywords, and neither a member's name nor a label.
  func isKeyword(_ index: Int, among words: Set<String>) -> Bool {
    guard tokens.indices.contains(index), words.contains(tokens[index].text) else { return false }
    let isWord = tokens[index].kind == .keyword || tokens[index].kind == .identifier
    return isWord && !(index > 0 && tokens[index - 1].is(".")) && !tokens[index + 1].is(":")
  }

  func beginsType(_ index: Int) -> Bool {
    guard isKeyword(index, among: Self.typeWords), tokens[index + 1].kind == .identifier,
      index == 0 || !tokens[index - 1].is(":") && !tokens[index - 1].is(",")
    else { return false }
    // `class func` and `class override var` begin no type, but `class dynamic {` does.
    return !["class", "actor"].contains(tokens[index].text) || isNameOfType(index + 1)
  }

  /// Whether a name in a type's declaration is followed by what follows the type's name.
  private func isNameOfType(_ index: Int) -> Bool {
    let after = tokens[index + 1]
    return after.is("{") || after.is(":") || after.is("<") || after.isWord("where")
  }

  private func isThrowing(_ index: Int) -> Bool {
    var index = index + 1
    while index < tokens.count, !tokens[index].is("{"), !tokens[index].is("}") {
      if tokens[index].isWord("throws") || tokens[index].isWord("rethrows") { return true }
      index = next(after: index)
    }
    return false
  }

  /// The brace of a variable's accessors or observers, if it has any.
  func accessorBrace(ofVariableAt index: Int) -> Int? {
    var (position, hasValue) = (index + 1, false)
    while position < tokens.count {
      let token = tokens[position]
      if token.is("{") {
        guard hasValue else { return position }
        // The brace after a value begins observers or a closure.
        let next = tokens[position + 1]
        if next.isWord("didSet") || next.isWord("willSet") { return position }
      } else if token.is("}") || token.is(";") || token.is(")") || token.kind == .endOfFile {
        return nil
      } else if token.is("=") {
        hasValue = true
      } else if position > index + 1, isStatementStart(position) {
        return nil
      }
      position = next(after: position)
    }
    return nil
  }

  // MARK: - Statements

  /// Whether a token begins a line and does not continue the statement before it.
  func isStatementStart(_ index: Int) -> Bool {
    guard index > 0, tokens[index].isFirstOnLine else { return false }
    let (before, token) = (tokens[index - 1], tokens[index])
    if token.kind == .operator && !isPrefix(index) || token.is(".") || token.is(",")
      || token.is(":") || token.is("{")
    {
      return false
    }
    if before.kind == .operator, !isPostfix(index - 1) { return false }
    return !before.is(",") && !before.is(":") && !before.is("(") && !before.is("[")
      && !before.is(".")
      && !token.isWord("as") && !token.isWord("is")
  }

  /// The first token of a block's head, such as `func`, `if` or `switch`; the brace itself if it has no head.
  func head(ofBlock brace: Int) -> Int {
    var first = brace
    while first > 0 {
      let before = tokens[first - 1]
      if before.is("{") || before.is("}") || before.is(";") { break }
      first -= 1
      if let open = partner[first], open < first { first = open }
      if isStatementStart(first) { break }
    }
    return first
  }

  /// Whether a token is the last of its statement.
  func endsStatement(_ index: Int) -> Bool {
    let next = tokens[index + 1]
    return next.is("}") || next.is(";") || next.kind == .endOfFile || isStatementStart(index + 1)
  }

  /// Whether the body is a single statement.
  func isOneStatement(_ body: Range<Int>) -> Bool {
    guard let first = body.first else { return false }
    return body.dropFirst().allSatisfy { index in
      enclosing[index] != enclosing[first] || !tokens[index].is(";") && !isStatementStart(index)
    }
  }

  /// Whether an operator at the beginning of a line is a prefix one, because no space follows it.
  private func isPrefix(_ index: Int) -> Bool { tokens[index + 1].leadingTrivia.isEmpty }

  /// Whether an operator at the end of a line is a postfix one, because no space precedes it.
  private func isPostfix(_ index: Int) -> Bool {
    index > 0 && tokens[index].leadingTrivia.isEmpty && !["=", "->"].contains(tokens[index].text)
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  func text(ofTokens range: Range<Int>) -> String {
    range.isEmpty
      ? "" : text(tokens[range.lowerBound].offset..<tokens[range.upperBound - 1].endOffset)
  }
}

/// The reason why a source can't be read.
struct SourceProblem: Error {
  var line: Int
  var message: String
}
