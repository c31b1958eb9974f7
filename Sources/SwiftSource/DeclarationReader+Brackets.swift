/// Brackets, which group what stands between them, and where what is between angle brackets is no comparison.

extension DeclarationReader {
  func isOpening(_ token: Token) -> Bool {
    token.is("(") || token.is("[") || token.is("{")
  }

  /// Where what follows the closing bracket begins; the end of the source if there is none.
  func endOfGroup(from start: Int) -> Int {
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
  func endOfGenericArguments(from start: Int) -> Int? {
    guard self[start].is("<"), start > 0 else { return nil }
    var (index, depth) = (start, 0)
    while mayBeOfGenericArguments(index) {
      depth += self[index].angles
      // So deep are no types, but many comparisons may follow each other, each of which is asked about.
      guard depth <= 64 else { return nil }
      if self[index].kind == .operator, !self[index].is("->"), depth <= 0 {
        return depth == 0 ? index + 1 : nil
      }
      index = isOpening(self[index]) ? endOfGroup(from: index) : index + 1
    }
    return nil
  }

  private func mayBeOfGenericArguments(_ index: Int) -> Bool {
    let token = self[index]
    switch token.kind {
    case .identifier, .keyword, .placeholder: return true
    case .punctuation: return [".", ",", ":", "@", "(", "["].contains(token.text)
    case .operator:
      return ["->", "&", "...", "~"].contains(token.text)
        || token.text.allSatisfy { "<>?!".contains($0) }
    // A value is one only by itself: `Matrix<3, 4>`.
    case .number:
      let (before, behind) = (self[index - 1], self[index + 1])
      return (before.is("<") || before.is(",")) && (behind.is(",") || behind.angles < 0)
    case .string, .regex, .directive, .pound, .endOfFile: return false
    }
  }

  /// As it stands in the source, without what is before it.
  func text(_ range: Range<Int>) -> String {
    let range = range.clamped(to: tokens.indices)
    guard let first = range.first else { return "" }
    count(range.count)
    var (text, end) = (self[first].text, self[first].endOffset)
    // What is interpolated in a string is in its text.
    for token in tokens[range].dropFirst() where token.offset >= end {
      text += token.leadingTrivia + token.text
      end = token.endOffset
    }
    return text
  }
}
