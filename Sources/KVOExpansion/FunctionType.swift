internal import SwiftSource

extension Binding {
  /// Whether the variable's values are functions, or optionals or tuples of functions, as far as its source shows.
  var holdsFunction: Bool {
    if let type { return type.hasArrowOutsideOfTypes }
    return initialValue.map { LexedSource($0).tokens.filter { $0.kind != .endOfFile }[...] }?
      .isFunction ?? false
  }
}

extension ArraySlice<Token> {
  /// Whether the expression is a closure, a value that `as` converts to a function's type, or one of these in
  /// parentheses or in a tuple.
  fileprivate var isFunction: Bool {
    let outer = outerIndices
    if let conversion = outer.last(where: { self[$0].isWord("as") }) {
      return self[(conversion + 1)...].map(\.text).joined(separator: " ").hasArrowOutsideOfTypes
    }
    guard outer.count == 1, let first else { return false }
    return first.is("{")
      || first.is("(") && dropFirst().dropLast().elements.contains(where: \.isFunction)
  }

  /// The elements of a tuple, without their labels.
  private var elements: [ArraySlice<Token>] {
    let commas = outerIndices.filter { self[$0].is(",") }
    return zip([startIndex] + commas.map { $0 + 1 }, commas + [endIndex]).map { start, end in
      let isLabelled = start + 1 < end && self[start + 1].is(":")
      return self[(isLabelled ? start + 2 : start)..<end]
    }
  }

  /// The indices of the tokens outside of brackets, which include the outermost opening brackets.
  private var outerIndices: [Int] {
    var depth = 0
    return indices.filter { index in
      let token = self[index]
      if token.is(")") || token.is("]") || token.is("}") {
        depth -= 1
        return false
      }
      defer { if token.is("(") || token.is("[") || token.is("{") { depth += 1 } }
      return depth == 0
    }
  }
}

extension String {
  /// Whether this type is written as a function's.
  var isFunctionType: Bool { hasArrow(outsideOf: { _, _ in true }) }

  /// Whether the type has an arrow that is in no other type's brackets, optionals excepted.
  fileprivate var hasArrowOutsideOfTypes: Bool {
    hasArrow { bracket, word in bracket == "[" || bracket == "<" && word != "Optional" }
  }

  /// Whether the type has an arrow outside of the brackets that `counts` accepts, with the word before each.
  private func hasArrow(outsideOf counts: (_ bracket: Character, _ word: String) -> Bool) -> Bool {
    // For each bracket that is open, whether it counts.
    var open: [Bool] = []
    var word = ""
    for token in LexedSource(self).tokens {
      if token.is("->") {
        if !open.contains(true) { return true }
      } else if token.kind == .operator || token.kind == .punctuation {
        for character in token.text {
          if "([<".contains(character) { open.append(counts(character, word)) }
          if ")]>".contains(character) { _ = open.popLast() }
        }
      }
      word = token.text
    }
    return false
  }
}
