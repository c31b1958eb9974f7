/// Regular expression literals. A bare one, /…/, is told from a slash that divides as the compiler tells it:
/// by what comes before, which the lexer looks at, and by what is between the slashes.

extension Lexer {
  /// Moves over a bare literal. False, and nothing is moved, if what is there can't be one: it begins or ends
  /// with a space, does not end on its line, or closes a parenthesis that it does not open.
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

  /// A space before the closing slash, unless it is escaped.
  private func endsInSpace(_ index: Int) -> Bool {
    let last = bytes[index - 1]
    return (last == Character.space || last == Character.tab)
      && bytes[index - 2] != Character.backslash
  }

  /// Moves over #/…/#, which goes on over lines if the first of them ends at once.
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
