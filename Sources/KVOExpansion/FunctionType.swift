internal import SwiftSource

extension Binding {
  /// Whether the variable's values are functions, or optionals or tuples of functions, as far as its source shows.
  var holdsFunction: Bool {
    if let type { return type.hasArrowOutsideOfTypes }
    let tokens = initialValue.map { LexedSource($0).tokens.filter { $0.kind != .endOfFile } } ?? []
    guard tokens.first?.text == "{" else { return false }
    var depth = 0
    for (index, token) in tokens.enumerated() {
      if token.text == "{" { depth += 1 }
      if token.text == "}" { depth -= 1 }
      if depth == 0 { return index == tokens.count - 1 }
    }
    return false
  }
}

extension String {
  /// Whether this type is written as a function's.
  var isFunctionType: Bool { hasArrow { "([<".contains($0.text) } }

  /// Whether the type has an arrow that is in no other type's brackets, optionals excepted.
  fileprivate var hasArrowOutsideOfTypes: Bool {
    var isOptional = false
    return hasArrow { token in
      defer { isOptional = token.text == "Optional" }
      return token.text == "[" || token.text == "<" && !isOptional
    }
  }

  /// Whether the type has an arrow outside of the brackets that `opens` accepts.
  private func hasArrow(_ opens: (Token) -> Bool) -> Bool {
    // The counterpart of each bracket that is open, and whether it counts.
    var open: [Bool] = []
    for token in LexedSource(self).tokens {
      let counts = opens(token)
      if ["(", "[", "<"].contains(token.text) { open.append(counts) }
      if [")", "]", ">"].contains(token.text) { _ = open.popLast() }
      if !open.contains(true), token.text == "->" { return true }
    }
    return false
  }
}
