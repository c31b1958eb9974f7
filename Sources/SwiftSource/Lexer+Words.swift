/// Trivia, names, keywords, numbers, directives and operators.

enum Words {
  /// The words that can't be used as names without backticks.
  static let keywords: Set<String> = [
    "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default",
    "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate",
    "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
    "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
    "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while",
  ]
  /// The keywords that are values or types.
  static let operands: Set<String> = ["Any", "Self", "false", "nil", "self", "super", "true"]
  static let directives: Set<String> = ["#if", "#elseif", "#else", "#endif"]
}

extension Character {
  static func isPunctuation(_ byte: UInt8) -> Bool {
    switch byte {
    case openingParenthesis, closingParenthesis, UInt8(ascii: "["), UInt8(ascii: "]"),
      UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ","), UInt8(ascii: ":"),
      UInt8(ascii: ";"), UInt8(ascii: "@"), dot, backslash:
      true
    default: false
    }
  }
}

extension Lexer {
  mutating func skipTrivia() {
    if position == 0 {
      if scalar(at: 0).value == 0xFEFF { position = 3 }
      if byte() == Character.hash, byte(1) == UInt8(ascii: "!") { skipLine() }
    }
    while !isAtEnd {
      if Character.isSpace(byte()) {
        position += 1
      } else if byte() == Character.slash, byte(1) == Character.slash {
        skipLine()
      } else if byte() == Character.slash, byte(1) == Character.star {
        skipComment()
      } else if byte() >= 0x80, Character.isSpace(scalar(at: position).value) {
        position += scalar(at: position).length
      } else {
        return
      }
    }
  }

  private mutating func skipLine() {
    while !isAtEnd, !Character.isLineEnd(byte()) { position += 1 }
  }

  private mutating func skipComment() {
    let start = position
    var depth = 0
    repeat {
      if byte() == Character.slash, byte(1) == Character.star {
        (depth, position) = (depth + 1, position + 2)
      } else if byte() == Character.star, byte(1) == Character.slash {
        (depth, position) = (depth - 1, position + 2)
      } else {
        position += 1
      }
    } while depth > 0 && !isAtEnd
    position = min(position, bytes.count)
    if depth > 0 { report("a comment that does not end", at: start) }
  }

  // MARK: - Names

  func isNameStart() -> Bool {
    let first = byte()
    guard first >= 0x80 else {
      return Character.isLetter(first) || first == Character.underscore || first == Character.dollar
    }
    let scalar = scalar(at: position).value
    return !Character.isOperator(scalar) && !Character.isCombining(scalar)
  }

  private mutating func skipName() {
    while !isAtEnd {
      let first = byte()
      let continues =
        first >= 0x80
        ? !Character.isOperator(scalar(at: position).value)
          && !Character.isSpace(scalar(at: position).value)
        : Character.isLetter(first) || Character.isDigit(first) || first == Character.underscore
          || first == Character.dollar
      guard continues else { return }
      position += scalar(at: position).length
    }
  }

  mutating func word() -> Token.Kind {
    let start = position
    skipName()
    return Words.keywords.contains(text(from: start, to: position)) ? .keyword : .identifier
  }

  /// Moves past a name in backticks, which may have any characters except a backtick, a backslash and line ends.
  mutating func quotedName() -> Bool {
    var end = position + 1
    while end < bytes.count, bytes[end] != Character.backtick {
      guard !Character.isLineEnd(bytes[end]), bytes[end] != Character.backslash else {
        return false
      }
      end += 1
    }
    guard end < bytes.count, end > position + 1 else { return false }
    position = end + 1
    return true
  }

  /// Reads a hash that does not begin a string: an extended regular expression, a directive, `#name`, or a hash
  /// alone.
  mutating func hash() -> Token.Kind {
    var hashes = 1
    while byte(hashes) == Character.hash { hashes += 1 }
    if byte(hashes) == Character.slash, extendedRegex(hashes: hashes) { return .regex }
    let start = position
    position += 1
    guard isNameStart() else {
      position = start
      return punctuation()
    }
    skipName()
    return Words.directives.contains(text(from: start, to: position)) ? .directive : .pound
  }

  mutating func placeholder() -> Bool {
    guard byte() == UInt8(ascii: "<"), byte(1) == Character.hash else { return false }
    var end = position + 2
    while end + 1 < bytes.count, !Character.isLineEnd(bytes[end]) {
      if bytes[end] == Character.hash, bytes[end + 1] == UInt8(ascii: ">") {
        position = end + 2
        return true
      }
      end += 1
    }
    return false
  }

  // MARK: - Numbers

  mutating func number() {
    // In `x.0.1` the tuple members are 0 and 1, not the fraction 0.1.
    let isMember = position > 0 && bytes[position - 1] == Character.dot
    let isHex = byte() == UInt8(ascii: "0") && byte(1) == UInt8(ascii: "x")
    skipNumberPart()
    guard !isMember else { return }
    let whole = position
    guard byte() == Character.dot,
      isHex ? Character.isHexDigit(byte(1)) : Character.isDigit(byte(1))
    else { return }
    position += 1
    if isHex, !hasHexFraction() {
      position = whole
    } else {
      skipNumberPart()
    }
  }

  /// Hexadecimal digits are a fraction only before an exponent: 0x1.description and 0xF.append are members.
  private func hasHexFraction() -> Bool {
    var ahead = 0
    while Character.isHexDigit(byte(ahead)) || byte(ahead) == Character.underscore { ahead += 1 }
    let next = byte(ahead + 1)
    return byte(ahead) | 0x20 == UInt8(ascii: "p")
      && (Character.isDigit(next) || next == UInt8(ascii: "+") || next == UInt8(ascii: "-"))
  }

  /// Skips letters, digits, underscores and the sign of an exponent.
  private mutating func skipNumberPart() {
    let start = position
    let isHex = bytes[start] == UInt8(ascii: "0") && byte(1) == UInt8(ascii: "x")
    while Character.isDigit(byte()) || Character.isLetter(byte()) || byte() == Character.underscore
    {
      let lower = byte() | 0x20
      position += 1
      let isExponent =
        lower == UInt8(ascii: "p") || lower == UInt8(ascii: "e") && !isHex && !isHexBefore(start)
      let isSign = byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-")
      if isExponent, isSign, Character.isDigit(byte(1)) { position += 1 }
    }
  }

  /// Whether the part after the dot belongs to a hexadecimal number, in which an e is a digit.
  private func isHexBefore(_ start: Int) -> Bool {
    guard start > 0, bytes[start - 1] == Character.dot else { return false }
    var index = start - 1
    while index > 0,
      Character.isHexDigit(bytes[index - 1]) || bytes[index - 1] == Character.underscore
    {
      index -= 1
    }
    return index > 1 && bytes[index - 1] == UInt8(ascii: "x")
  }

  // MARK: - Operators

  /// Only an operator that begins with a dot may contain dots. A comment ends any operator.
  mutating func skipOperator(endsBeforeRegex: Bool) {
    let start = position
    let hasDots = byte() == Character.dot
    while !isAtEnd {
      let first = byte()
      if first == Character.slash {
        guard byte(1) != Character.slash, byte(1) != Character.star else { return }
        // In !/…/, the ! is an operator before a regular expression.
        if endsBeforeRegex, position > start {
          let end = position
          if regex() {
            position = end
            return
          }
        }
      }
      if first == Character.star, byte(1) == Character.slash, position > start { return }
      let scalar = scalar(at: position)
      let continues =
        first == Character.dot
        ? hasDots
        : first < 0x80
          ? Character.isOperator(first)
          : Character.isOperator(scalar.value)
            || position > start && Character.isCombining(scalar.value)
      guard continues else { return }
      position += scalar.length
    }
  }
}
