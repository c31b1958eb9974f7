/// String literals: single-line, multi-line and raw ones, with interpolations, which may contain strings again.

extension Lexer {
  /// The number of hashes before the quote at the position; nil if no string begins there.
  func stringHashes() -> Int? {
    var hashes = 0
    while byte(hashes) == Character.hash { hashes += 1 }
    return byte(hashes) == Character.quote ? hashes : nil
  }

  /// Moves past a string and returns the tokens of its interpolations.
  mutating func string(hashes: Int) -> [[Token]] {
    let start = position
    position += hashes
    let isMultiline = beginsMultiline(hashes: hashes)
    position += isMultiline ? 3 : 1
    var interpolations: [[Token]] = []
    while !isAtEnd {
      if closesString(hashes: hashes, isMultiline: isMultiline) {
        position += (isMultiline ? 3 : 1) + hashes
        return interpolations
      }
      if !isMultiline, Character.isLineEnd(byte()) { break }
      guard byte() == Character.backslash, hasHashes(hashes, after: position) else {
        position += 1
        continue
      }
      position += 1 + hashes
      if byte() == Character.openingParenthesis {
        position += 1
        if let tokens = interpolation(ofStringAt: start) { interpolations.append(tokens) }
      } else if !isAtEnd, isMultiline || !Character.isLineEnd(byte()) {
        position += 1
      }
    }
    report("a string that does not end", at: start)
    return interpolations
  }

  /// Reads the tokens of an interpolation. Nesting deeper than the compiler accepts ends the source.
  private mutating func interpolation(ofStringAt start: Int) -> [Token]? {
    guard depth < Self.mostDepth else {
      report("a string that nests too deep", at: start)
      position = bytes.count
      return nil
    }
    depth += 1
    defer { depth -= 1 }
    let tokens = tokens(untilParenthesis: true)
    if !isAtEnd { position += 1 }
    return tokens
  }

  /// Whether three quotes begin a multi-line string. In #"""# they don't: that is a single-line string of one quote.
  private func beginsMultiline(hashes: Int) -> Bool {
    guard byte(1) == Character.quote, byte(2) == Character.quote else { return false }
    guard hashes > 0 else { return true }
    var index = position + 1
    while index < bytes.count, !Character.isLineEnd(bytes[index]) {
      if bytes[index] == Character.quote, hasHashes(hashes, after: index) { return false }
      index += 1
    }
    return true
  }

  private func closesString(hashes: Int, isMultiline: Bool) -> Bool {
    guard byte() == Character.quote else { return false }
    guard isMultiline else { return hasHashes(hashes, after: position) }
    return byte(1) == Character.quote && byte(2) == Character.quote
      && hasHashes(hashes, after: position + 2)
  }

  private func hasHashes(_ count: Int, after index: Int) -> Bool {
    guard index + count < bytes.count else { return false }
    return bytes[(index + 1)...].prefix(count).allSatisfy { $0 == Character.hash }
  }
}
