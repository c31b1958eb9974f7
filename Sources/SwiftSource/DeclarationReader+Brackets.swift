/// Brackets: finds the end of a group, and distinguishes generic arguments in angle brackets from comparisons.

extension DeclarationReader {
  func isOpening(_ token: Token) -> Bool {
    token.is("(") || token.is("[") || token.is("{")
  }

  /// The index after the closing bracket that matches the one at `start`; the end of the source if there is none.
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

  /// The index after `<…>`, if `start` is a `<` that begins generic arguments and can't be a comparison.
  func endOfGenericArguments(from start: Int) -> Int? {
    guard self[start].is("<"), start > 0 else { return nil }
    var (index, depth) = (start, 0)
    while mayBeOfGenericArguments(index) {
      depth += self[index].angles
      // Types do not nest this deep. Without the limit, a long series of comparisons would be scanned once for each
      // `<`.
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
    // A number is a generic argument only if it is the whole argument: `Matrix<3, 4>`.
    case .number:
      let (before, behind) = (self[index - 1], self[index + 1])
      return (before.is("<") || before.is(",")) && (behind.is(",") || behind.angles < 0)
    case .string, .regex, .directive, .pound, .endOfFile: return false
    }
  }

  /// The range's source text, without the trivia before its first token.
  func text(_ range: Range<Int>) -> String {
    let range = range.clamped(to: tokens.indices)
    guard let first = range.first else { return "" }
    count(range.count)
    var (text, end) = (self[first].text, self[first].endOffset)
    // A string's text contains its interpolations, so skip their tokens.
    for token in tokens[range].dropFirst() where token.offset >= end {
      text += token.leadingTrivia + token.text
      end = token.endOffset
    }
    return text
  }
}
