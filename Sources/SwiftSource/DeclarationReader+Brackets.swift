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
    while self[index].kind != .endOfFile {
      let token = self[index]
      if token.is("{") || token.is("}") || token.is(";") || token.is("=") { return nil }
      depth += token.angles
      if token.kind == .operator, token.text != "->", depth == 0 { return index + 1 }
      if token.kind == .number || token.kind == .string || token.kind == .regex { return nil }
      index = token.is("(") || token.is("[") ? endOfGroup(from: index) : index + 1
    }
    return nil
  }

  /// As it stands in the source, without what is before it.
  func text(_ range: Range<Int>) -> String {
    let range = range.clamped(to: tokens.indices)
    guard let first = range.first else { return "" }
    var (text, end) = (self[first].text, self[first].endOffset)
    // What is interpolated in a string is in its text.
    for token in tokens[range].dropFirst() where token.offset >= end {
      text += token.leadingTrivia + token.text
      end = token.endOffset
    }
    return text
  }
}
