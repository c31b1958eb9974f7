internal import SwiftSource

/// Finds overrides whose code is probably wrong: setters in which observers are notified inside `super`'s setter, while
/// the rest of the setter has not run (Q5, Q6), and a `didSet` or `willSet` that calls itself without an end (Q6).

extension Accessors.Block {
  /// Whether the setter sets `super`'s property and does something else as well, but makes no automatic change of all
  /// that.
  func notifiesInSuper(ofSetting key: String) -> Bool {
    let starts = body.indices.filter(beginsStatement)
    let isAnnounced = body.contains {
      ["withAutomaticChange", "withChange", "willChangeValue", "willChange"].contains($0.name)
    }
    return !isAnnounced && starts.contains { setsSuper($0, key) }
      && starts.contains { !setsSuper($0, key) && hasEffect($0) }
  }

  /// Whether an override's `willSet` or `didSet` sets the property in each call, and so calls itself without an end.
  func setsAgain(_ key: String) -> Bool {
    let tokens = Array(body)
    var (depth, mayHaveReturned) = (0, false)
    return body.indices.enumerated().contains { place, index in
      depth += body[index].isOpening ? 1 : body[index].isClosing ? -1 : 0
      mayHaveReturned = mayHaveReturned || body[index].isWord("return")
      guard depth == 0, !mayHaveReturned, beginsStatement(index) else { return false }
      let isBySelf = body[index].isWord("self") && place + 2 < tokens.count
      let named = isBySelf ? place + 2 : place
      return tokens[named].name == key && tokens.isSetAsAWhole(named)
    }
  }

  /// `super.key = …` or `super.key += …`.
  private func setsSuper(_ index: Int, _ key: String) -> Bool {
    guard body[index].isWord("super"), index + 3 < body.endIndex else { return false }
    let next = body[index + 3]
    return body[index + 2].name == key && next.kind == .operator && next.text.hasSuffix("=")
      && next.text != "=="
  }

  /// Whether a statement begins with a name or with the object: an assignment or a call.
  private func hasEffect(_ start: Int) -> Bool {
    let token = body[start]
    return token.kind == .identifier || token.isWord("self") || token.isWord("super")
  }

  private func beginsStatement(_ index: Int) -> Bool {
    guard index > body.startIndex else { return true }
    let (before, token) = (body[index - 1], body[index])
    if ["{", "}", ";"].contains(where: before.is) { return true }
    return token.isFirstOnLine && !token.is(".") && token.kind != .operator
      && before.kind != .operator && ![",", "(", "[", ":", "."].contains(where: before.is)
  }
}
