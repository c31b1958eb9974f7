internal import SwiftSource

/// Reads of a class's own observed properties before `super.init()` (Q5). Swift refuses them, as it refuses reads of
/// any property with accessors. Its message does not say what to do, so the macro's does.
struct EarlyReads {
  private let tokens: [Token]
  private let type: TypeDeclaration
  private let observed: Set<String>

  init(of type: TypeDeclaration, _ tokens: [Token]) {
    (self.type, self.tokens) = (type, tokens)
    let names = type.members.flatMap { member -> [String] in
      guard ObservableMember.isMarked(member), !member.isOverride,
        case .variable(_, let bindings) = member.kind
      else { return [] }
      return bindings.compactMap { $0.name?.name }
    }
    observed = Set(names)
  }

  func diagnostics(_ request: AttachedMacro) -> [Diagnostic] {
    type.members.flatMap { reads(in: $0) }.map { token in
      Diagnostic(
        severity: .warning,
        message: """
          @KVO: "\(token.name)" can't be read or changed in place before super.init(), since it is observed; call super.init() \
          before, or use the value that it was given.
          """,
        offset: request.offset + token.offset)
    }
  }

  private func reads(in member: Member) -> [Token] {
    guard tokens[member.keyword].isWord("init"), !member.modifiers.contains("convenience"),
      let open = opening(from: member.keyword, "(", ")"),
      let body = tokens[open.upperBound...].firstIndex(where: { $0.is("{") }),
      let braces = opening(from: body, "{", "}")
    else { return [] }
    let names = tokens[open].filter { $0.kind == .identifier }.map(\.name)
    let last = end(of: braces)
    return (braces.lowerBound + 1..<last).filter {
      isRead($0, hidden: names, from: braces.lowerBound)
    }
    .map { tokens[$0] }
  }

  private func end(of braces: Range<Int>) -> Int {
    braces.first { index in
      tokens[index].isWord("super") && tokens[index + 1].is(".") && tokens[index + 2].isWord("init")
    } ?? braces.upperBound
  }

  /// The range from the first opening bracket at or after a token to the token after its closing bracket.
  private func opening(from start: Int, _ open: String, _ close: String) -> Range<Int>? {
    guard let first = tokens[start...].firstIndex(where: { $0.is(open) }) else { return nil }
    var depth = 0
    for index in first..<tokens.count {
      if tokens[index].is(open) { depth += 1 }
      if tokens[index].is(close) { depth -= 1 }
      if depth == 0 { return first..<index + 1 }
    }
    return nil
  }

  // A bare name is a read of the property only if no parameter or variable has that name.
  private func isRead(_ index: Int, hidden: [String], from start: Int) -> Bool {
    let token = tokens[index]
    guard token.kind == .identifier, observed.contains(token.name), !tokens[index + 1].is("="),
      !tokens[index + 1].is(":"), !isInAssignedTuple(index)
    else { return false }
    if tokens[index - 1].is(".") {
      return tokens[index - 2].is("self") && !tokens[index - 3].is(".")
        && !tokens[index - 3].is("\\")
    }
    let isDeclared = (start..<index).contains { place in
      tokens[place].name == token.name && tokens[place].kind == .identifier
        && ["let", "var", "for", "case", "in"].contains { tokens[place - 1].isWord($0) }
    }
    return !hidden.contains(token.name) && !isDeclared && !tokens[index - 1].is("\\")
  }

  // `(a, b) = (1, 2)`
  private func isInAssignedTuple(_ index: Int) -> Bool {
    var depth = 0
    for place in index..<tokens.count - 1 {
      let token = tokens[place]
      if token.is("(") || token.is("[") || token.is("{") { depth += 1 }
      if token.is(")") || token.is("]") || token.is("}") { depth -= 1 }
      if depth < 0 { return token.is(")") && tokens[place + 1].is("=") }
    }
    return false
  }
}
