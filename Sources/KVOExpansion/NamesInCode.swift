internal import SwiftSource

/// The roles of names in the tokens of a body, as far as their neighbours show them: a name is read, set, called, or
/// only a label. In the comments, *it* is the name at the given index.
extension [Token] {
  /// The tokens, and those of each interpolation in them.
  var withInterpolations: [[Token]] {
    [self] + flatMap { $0.interpolations.flatMap(\.withInterpolations) }
  }

  // MARK: - Places

  /// Whether it begins an expression or follows `self.`: `model` in `model.index`, `self.model.index` and
  /// `self?.model.index`.
  func isRoot(_ index: Int) -> Bool {
    guard index > 0, self[index - 1].is(".") else { return true }
    return follows("self", index)
  }

  /// Whether it is the member that follows `super`.
  func isOfSuper(_ index: Int) -> Bool {
    index > 0 && self[index - 1].is(".") && follows("super", index)
  }

  private func follows(_ word: String, _ index: Int) -> Bool {
    guard let owner = self[..<(index - 1)].lastIndex(where: { !$0.isMark }) else { return false }
    return self[owner].isWord(word) && !(owner > 0 && self[owner - 1].is("."))
  }

  /// Whether it is the label of an argument.
  func isLabel(_ index: Int) -> Bool {
    index + 1 < count && self[index + 1].is(":")
      && index > 0 && (self[index - 1].is("(") || self[index - 1].is(","))
  }

  /// Whether `self` is passed on or subscripted, and is not just the beginning of `self.model`.
  func isHandedOn(_ index: Int) -> Bool {
    guard self[index].isWord("self") else { return false }
    let before = index > 0 ? self[index - 1] : nil
    // `Int.self`, `if let self` and `[weak self]` do not pass the object on.
    if let before, [".", "let", "weak", "unowned"].contains(before.text) { return false }
    let isCaptured = before?.is("[") == true && index > 1 && self[index - 2].is("{")
    return !isCaptured && behindMarks(index)?.is(".") != true
  }

  // MARK: - Calls

  /// Whether it is called: a method, a function or a closure, with parentheses or a trailing closure.
  func isCalled(_ index: Int) -> Bool {
    guard let next = behindMarks(index) else { return false }
    return isCall(next, of: index)
  }

  /// Whether a method of it, or of a part of it, is called: `cache.append(1)`, `cache.items[0]?.clear()`.
  func isCalledInside(_ index: Int) -> Bool {
    let end = endOfMembers(index)
    return end > index + 1 && end < count && isCall(self[end], of: index)
  }

  /// Whether a method is called on a member of a type: `Cache.shared.add(1)`, but not `Cache(1)` or `Cache.add(1)`.
  func isCalledInMember(ofType index: Int) -> Bool {
    guard index + 2 < count, self[index + 1].is(".") else { return false }
    return self[index + 2].isTypeName
      ? isCalledInMember(ofType: index + 2) : isCalledInside(index + 2)
  }

  /// Whether the token after it, or after its members, begins the arguments of a call.
  private func isCall(_ next: Token, of index: Int) -> Bool {
    next.is("(") && !next.isFirstOnLine || next.is("{") && !isOfStatement(index)
  }

  /// Whether the brace after it begins the block of a statement such as `if`, where no trailing closure can be.
  private func isOfStatement(_ index: Int) -> Bool {
    let statements = ["if", "guard", "while", "for", "switch", "catch"]
    // The nearest brace, separator or statement word before the name.
    let nearest = self[..<index].last { token in
      token.is("{") || token.is("}") || token.is(";") || statements.contains { token.is($0) }
    }
    return nearest?.kind == .keyword
  }

  /// The token after it and the marks of optionals.
  private func behindMarks(_ index: Int) -> Token? {
    self[(index + 1)...].first { !$0.isMark }
  }

  // MARK: - Assignments

  /// Whether it or a part of it is set, or a method is called on it that may change it.
  func mayChange(_ index: Int) -> Bool {
    guard index + 1 < count else { return false }
    return self[index + 1].is(".") || self[index + 1].is("[") || isSet(index)
  }

  /// Whether it or a part of it is assigned to, also in a tuple, or passed as an `inout` argument.
  func isSet(_ index: Int) -> Bool {
    isPassedInOut(index) || !isDeclared(index) && isAssigned(before: endOfMembers(index))
  }

  /// Whether all of it is assigned to, also in a tuple, or passed as an `inout` argument.
  func isSetAsAWhole(_ index: Int) -> Bool {
    isPassedInOut(index) || !isDeclared(index) && isAssigned(before: index + 1)
  }

  /// Whether it is a variable's name in the declaration.
  private func isDeclared(_ index: Int) -> Bool {
    index > 0 && (self[index - 1].isWord("let") || self[index - 1].isWord("var"))
  }

  /// Whether it is passed as `&it` or `&self.it`.
  func isPassedInOut(_ index: Int) -> Bool {
    let start = index > 1 && self[index - 1].is(".") ? index - 2 : index
    guard start > 1, self[start - 1].is("&"), self[start].leadingTrivia.isEmpty else {
      return false
    }
    return ["(", ",", ":"].contains(where: self[start - 2].is)
  }

  /// The index after a name's members and subscripts.
  private func endOfMembers(_ index: Int) -> Int {
    var next = index + 1
    while next < count {
      let token = self[next]
      if token.is("."), next + 1 < count {
        next += 2
      } else if token.isMark {
        next += 1
      } else if token.is("["), !token.isFirstOnLine, let close = closing(from: next) {
        next = close + 1
      } else {
        break
      }
    }
    return next
  }

  /// Whether a value is assigned to the expression that ends before an index, by itself or in a tuple.
  private func isAssigned(before end: Int) -> Bool {
    guard end < count else { return false }
    if isAssignment(self[end]) { return true }
    guard self[end].is(",") || self[end].is(")"), let close = closing(from: end),
      self[close].is(")"), let open = opening(to: close), beginsTuple(open)
    else { return false }
    return isAssigned(before: close + 1)
  }

  /// Whether a parenthesis begins a tuple, and neither arguments nor a pattern.
  private func beginsTuple(_ open: Int) -> Bool {
    guard open > 0, !self[open].isFirstOnLine else { return true }
    let before = self[open - 1]
    return before.kind != .identifier
      && ![")", "]", "let", "var", "case"].contains(where: before.is)
  }

  /// The closing bracket of the brackets around an index, or of the bracket that opens there.
  func closing(from index: Int) -> Int? {
    var depth = self[index].isOpening ? 0 : 1
    return self[index...].firstIndex { token in
      depth += token.isOpening ? 1 : token.isClosing ? -1 : 0
      return depth == 0
    }
  }

  private func opening(to close: Int) -> Int? {
    var depth = 0
    return self[...close].lastIndex { token in
      depth += token.isClosing ? 1 : token.isOpening ? -1 : 0
      return depth == 0
    }
  }

  private func isAssignment(_ token: Token) -> Bool {
    token.kind == .operator && token.text.hasSuffix("=")
      && !["==", "!=", "<=", ">=", "===", "!==", "~="].contains(token.text)
  }
}

extension Token {
  /// Whether it is the mark of an optional that is unwrapped.
  var isMark: Bool { (self.is("?") || self.is("!")) && leadingTrivia.isEmpty }
  var isOpening: Bool { ["(", "[", "{"].contains(where: self.is) }
  var isClosing: Bool { [")", "]", "}"].contains(where: self.is) }
  /// Whether it begins with a capital, as names of types do.
  var isTypeName: Bool { name.first?.isUppercase == true }
}
