/// Edits of tests for NSNull whose result is a value, not a condition: `isEmpty = change![.newKey] is NSNull`. Edit 7 of
/// MovingOver.md. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Makes a test that is all of an assigned or returned value, or that chooses between nil and the tested value, an `if`
  /// that is an expression.
  mutating func moveChoice(_ test: NullTest, isOptional: Bool) -> Bool {
    let before = tokens[test.whole.lowerBound - 1]
    guard before.is("=") || before.isWord("return"), isOfChange(test.subject) else { return false }
    let pattern = "if case \(isOptional ? ".some(Optional<Any>.none)" : "Optional<Any>.none") = "
    if file.endsStatement(test.whole.upperBound - 1) {
      choose(test, pattern, test.isNegated ? ("false", "true") : ("true", "false"))
      return true
    }
    return moveTernary(test, pattern)
  }

  /// `let old = (change[.oldKey] is NSNull) ? nil : change[.oldKey]`. The variable needs a type, since nil has none.
  private mutating func moveTernary(_ test: NullTest, _ pattern: String) -> Bool {
    let (mark, subject) = (test.whole.upperBound, test.subject)
    guard tokens[mark].text == "?", !test.isNegated, tokens[mark + 1].isWord("nil"),
      tokens[mark + 2].is(":"),
      case let rest = mark + 3..<mark + 3 + subject.count, rest.upperBound < tokens.count,
      zip(subject, rest).allSatisfy({ tokens[$0].text == tokens[$1].text }),
      file.endsStatement(rest.upperBound - 1), case let equals = test.whole.lowerBound - 1
    else { return false }
    if equals > 1, tokens[equals].is("="),
      tokens[equals - 2].isWord("let") || tokens[equals - 2].isWord("var")
    {
      if equals > 2, ["if", "guard", "while", ","].contains(tokens[equals - 3].text) {
        return false
      }
      insert(": Any?", after: equals - 1)
    }
    choose(test, pattern, ("nil", file.text(ofTokens: subject)), through: rest.upperBound)
    return true
  }

  /// Whether a value is a change's entry, or a variable that was set to one: what another call passes may be from JSON.
  func isOfChange(_ value: Range<Int>) -> Bool {
    guard let last = value.last else { return false }
    if endsEntry(["!", "?"].contains(tokens[last].text) ? last - 1 : last) { return true }
    guard value.count == 1, let body = function(around: value.lowerBound),
      let bound = variable(namedAt: value.lowerBound, in: body)
    else { return false }
    let end = tokens.indices[bound...].first(where: file.endsStatement) ?? bound
    return (bound...end).contains(where: endsEntry)
  }

  /// Whether a bracket ends `change[.newKey]`.
  private func endsEntry(_ close: Int) -> Bool {
    guard tokens[close].is("]"), let open = file.partner[close] else { return false }
    return tokens[open + 1].is(".") && isChangeKey(open + 2)
  }

  private mutating func choose(
    _ test: NullTest, _ pattern: String, _ values: (String, String), through end: Int? = nil
  ) {
    let (first, last) = (test.subject.lowerBound, test.subject.upperBound)
    edits.append(Edit(tokens[test.whole.lowerBound].offset..<tokens[first].offset, pattern))
    replaceWithSpace(
      last..<(end ?? test.whole.upperBound), by: " { \(values.0) } else { \(values.1) }")
  }
}
