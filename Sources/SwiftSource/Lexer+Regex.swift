/// Regular expression literals. Whether a slash begins a bare literal, /…/, or divides is decided as the compiler
/// decides it: by the token before, which the lexer looks at, and by the text between the slashes.

extension Lexer {
  /// Moves past a bare literal. Returns false without moving if the text can't be one: it begins or ends with a
  /// space, does not end on its line, or closes a parenthesis that it did not open.
  mutating func regex() -> Bool {
    guard !Character.isSpace(byte(1)) else { return false }
    var (index, depth, isInClass) = (position + 1, 0, false)
    while index < bytes.count, !Character.isLineEnd(bytes[index]) {
      switch bytes[index] {
      case Character.backslash:
        index += 1
        if index < bytes.count, Character.isLineEnd(bytes[index]) { return false }
      case UInt8(ascii: "["): isInClass = true
      case UInt8(ascii: "]"): isInClass = false
      case Character.openingParenthesis where !isInClass: depth += 1
      case Character.closingParenthesis where !isInClass:
        depth -= 1
        if depth < 0 { return false }
      case Character.slash:
        let isEmpty = index == position + 1
        guard !isEmpty, !endsInSpace(index) else { return false }
        position = index + 1
        return true
      default: break
      }
      index += 1
    }
    return false
  }

  /// Whether an unescaped space or tab precedes the closing slash.
  private func endsInSpace(_ index: Int) -> Bool {
    let last = bytes[index - 1]
    return (last == Character.space || last == Character.tab)
      && bytes[index - 2] != Character.backslash
  }

  /// Moves past #/…/#. The literal may span lines if nothing but spaces follows the opening delimiter on its line.
  mutating func extendedRegex(hashes: Int) -> Bool {
    var index = position + hashes + 1
    let isMultiline = lineEnds(at: index)
    while index < bytes.count {
      let current = bytes[index]
      if Character.isLineEnd(current), !isMultiline { break }
      if current == Character.backslash {
        index += 2
        continue
      }
      index += 1
      let closes =
        current == Character.slash && index + hashes <= bytes.count
        && bytes[index...].prefix(hashes).allSatisfy { $0 == Character.hash }
      if closes {
        position = index + hashes
        return true
      }
    }
    report("a regular expression that does not end", at: position)
    return false
  }

  private func lineEnds(at index: Int) -> Bool {
    var index = index
    while index < bytes.count, bytes[index] == Character.space || bytes[index] == Character.tab {
      index += 1
    }
    return index < bytes.count && Character.isLineEnd(bytes[index])
  }
}
