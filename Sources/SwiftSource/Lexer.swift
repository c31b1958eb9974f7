/// Splits Swift source into tokens as the compiler's lexer does, with the compiler's decisions on whether a slash
/// begins a regular expression. The state is a position in the source's bytes and the kind of the last token. The
/// parts in `Lexer+….swift` advance the position, never beyond the end.

struct Lexer {
  let bytes: [UInt8]
  var position = 0
  var problems: [LexicalProblem] = []

  /// Whether the last token can be the left operand of an operator. If so, a slash after it divides.
  private var isAfterOperand = false
  private var isAfterDot = false
  private var (line, lineStart) = (1, 0)
  /// The offset up to which lines have been counted.
  private var counted = 0
  /// The number of interpolations around the position. The compiler accepts 256 levels of nesting, of all kinds
  /// together.
  var depth = 0
  static let mostDepth = 256

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  // MARK: - Positions

  /// The byte `ahead` bytes after the position; zero beyond the end.
  func byte(_ ahead: Int = 0) -> UInt8 {
    let index = position + ahead
    return index < bytes.count ? bytes[index] : 0
  }

  var isAtEnd: Bool { position >= bytes.count }

  /// The scalar at an index and its length. An incomplete sequence gives its first byte, which no name contains.
  func scalar(at index: Int) -> (value: UInt32, length: Int) {
    guard index < bytes.count else { return (0, 0) }
    let first = UInt32(bytes[index])
    let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    guard length > 1, index + length <= bytes.count else { return (first, 1) }
    var value = first & (0x7F >> UInt32(length))
    for next in 1..<length { value = value << 6 | UInt32(bytes[index + next] & 0x3F) }
    return (value, length)
  }

  func text(from start: Int, to end: Int) -> String {
    String(decoding: bytes[start..<end], as: UTF8.self)
  }

  mutating func report(_ message: String, at offset: Int) {
    let (line, column) = place(of: offset)
    problems.append(LexicalProblem(message: message, offset: offset, line: line, column: column))
  }

  /// Line and column of an offset. Offsets are usually requested in ascending order, so counting resumes where it
  /// ended.
  private mutating func place(of offset: Int) -> (line: Int, column: Int) {
    if offset < counted { (line, lineStart, counted) = (1, 0, 0) }
    while counted < offset {
      let byte = bytes[counted]
      counted += 1
      let endsLine =
        byte == Character.newline
        || byte == Character.carriageReturn
          && (counted >= bytes.count || bytes[counted] != Character.newline)
      if endsLine { (line, lineStart) = (line + 1, counted) }
    }
    return (line, offset - lineStart + 1)
  }

  // MARK: - Tokens

  /// All tokens up to the end or, in an interpolation, up to the parenthesis that closes it.
  mutating func tokens(untilParenthesis: Bool) -> [Token] {
    var (tokens, parentheses) = ([Token](), 0)
    (isAfterOperand, isAfterDot) = (false, false)
    while true {
      let triviaStart = position
      skipTrivia()
      let start = position
      // Before the places of interpolations are requested, so that lines are counted once.
      let place = place(of: start)
      let isOver =
        isAtEnd || untilParenthesis && parentheses == 0 && byte() == Character.closingParenthesis
      if isOver {
        tokens.append(token(.endOfFile, triviaFrom: triviaStart, from: start, at: place, []))
        return tokens
      }
      if byte() == Character.openingParenthesis { parentheses += 1 }
      if byte() == Character.closingParenthesis { parentheses -= 1 }
      // Lexing interpolations resets the state of the last token, so `next` restores it after a string.
      var interpolations: [[Token]] = []
      let kind = next(isSpaced: triviaStart < start || start == 0, &interpolations)
      let token = token(kind, triviaFrom: triviaStart, from: start, at: place, interpolations)
      (isAfterOperand, isAfterDot) = (endsOperand(token), token.is("."))
      tokens.append(token)
    }
  }

  private func token(
    _ kind: Token.Kind, triviaFrom triviaStart: Int, from start: Int,
    at place: (line: Int, column: Int), _ interpolations: [[Token]]
  ) -> Token {
    Token(
      kind: kind, leadingTrivia: text(from: triviaStart, to: start),
      text: text(from: start, to: position),
      offset: start, line: place.line, column: place.column, interpolations: interpolations)
  }

  private func endsOperand(_ token: Token) -> Bool {
    switch token.kind {
    case .identifier: token.text != "await" && token.text != "unsafe"
    case .number, .string, .regex, .placeholder, .pound: true
    // `func` and `operator` are followed by the name of an operator.
    case .keyword:
      isAfterDot || Words.operands.contains(token.text) || token.text == "func"
        || token.text == "operator"
    case .punctuation: token.text == ")" || token.text == "]" || token.text == "}"
    case .operator: token.text == "!" || token.text == "?" ? isAfterOperand : false
    case .directive, .endOfFile: false
    }
  }

  /// Moves past the token at the position and returns its kind.
  private mutating func next(isSpaced: Bool, _ interpolations: inout [[Token]]) -> Token.Kind {
    let first = byte()
    if first == Character.quote || first == Character.hash {
      if let hashes = stringHashes() {
        let saved = (isAfterOperand, isAfterDot)
        interpolations = string(hashes: hashes)
        (isAfterOperand, isAfterDot) = saved
        return .string
      }
      return first == Character.hash ? hash() : punctuation()
    }
    if Character.isDigit(first) {
      number()
      return .number
    }
    if first == Character.backtick { return quotedName() ? .identifier : punctuation() }
    if isNameStart() { return word() }
    if placeholder() { return .placeholder }
    return `operator`(isSpaced: isSpaced)
  }

  mutating func punctuation() -> Token.Kind {
    let first = byte()
    position += scalar(at: position).length
    if !Character.isPunctuation(first) {
      report("a character that Swift has no use for", at: position - 1)
    }
    return .punctuation
  }

  /// Reads an operator, punctuation, or a regular expression where one may begin.
  private mutating func `operator`(isSpaced: Bool) -> Token.Kind {
    let start = position
    if byte() == Character.slash, mayBeginRegex(isSpaced: isSpaced), regex() { return .regex }
    // After an operand without a space, each mark is a token of its own: a?.b, a!.b and a??.b contain no operator
    // `??`.
    let isPostfix = isAfterOperand && !isSpaced
    let isMark = byte() == UInt8(ascii: "?") || byte() == UInt8(ascii: "!")
    if isPostfix, isMark, byte(1) != UInt8(ascii: "=") {
      position += 1
      return .operator
    }
    skipOperator(endsBeforeRegex: !isPostfix && !isAfterOperand)
    if position == start { return punctuation() }
    if position == start + 1, bytes[start] == Character.dot { return .punctuation }
    return .operator
  }

  /// After an operand a slash divides, unless it begins a line and no space follows it, so that it can't be infix.
  private func mayBeginRegex(isSpaced: Bool) -> Bool {
    guard isAfterOperand else { return true }
    guard isSpaced else { return false }
    var index = position
    while index > 0, Character.isSpace(bytes[index - 1]) {
      index -= 1
      if Character.isLineEnd(bytes[index]) { return !Character.isSpace(byte(1)) }
    }
    return false
  }
}
