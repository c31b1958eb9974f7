/// Findings about a change's dictionary that is used as a whole, since its values have their own types here. No rule of
/// Behaviour is kept here.
import SwiftSource

extension Mover {
  /// The variables and parameters that hold a change's dictionary, by their types or values, each with its scopes.
  func findChanges() -> [String: [Range<Int>]] {
    var found: [String: [Range<Int>]] = [:]
    for index in tokens.indices.dropFirst(3) {
      if tokens[index].text == "NSKeyValueChangeKey", tokens[index + 1].is(":"),
        tokens[index - 1].is("["), tokens[index - 2].is(":")
      {
        found[tokens[index - 3].name, default: []].append(scope(ofNameAt: index - 3))
      } else if tokens[index - 1].is("="), found[tokens[index].name] != nil,
        case let last = tokens[index + 1].text == "!" ? index + 1 : index,
        file.endsStatement(last) || ["??", "else", "{", ","].contains(tokens[last + 1].text)
      {
        // `let all = change ?? [:]`
        found[tokens[index - 2].name, default: []].append(scope(ofNameAt: index - 2))
      }
    }
    return found
  }

  private func scope(ofNameAt index: Int) -> Range<Int> {
    guard let open = file.enclosing[index], tokens[open].is("("), let close = file.partner[open],
      let brace = tokens.indices[close...].first(where: { tokens[$0].is("{") }),
      let end = file.partner[brace]
    else { return function(around: index) ?? tokens.indices }
    return brace..<end
  }

  private static let visits: Set = [
    "forEach", "map", "compactMap", "flatMap", "filter", "mapValues", "compactMapValues", "values",
    "reduce", "enumerated", "sorted", "first", "contains", "allSatisfy", "description", "merging",
  ]
  private static let takers: Set = [
    "print", "debugPrint", "dump", "NSLog", "zip", "Array", "Dictionary", "NSDictionary", "String",
    "data",
  ]

  /// Lists a loop over a change, a method that visits its values, its text, and a cast of it.
  mutating func lookAtWhole(changeAt index: Int) {
    guard let scopes = changes[tokens[index].name], scopes.contains(where: { $0.contains(index) }),
      index > 0, !tokens[index - 1].is("."), !tokens[index + 1].is(":")
    else { return }
    var next = index + 1
    while ["?", "!", "??", "[", ")"].contains(tokens[next].text) {
      if tokens[next].is("[") {
        guard tokens[next - 1].text == "??", let close = file.partner[next] else { return }
        next = close
      } else if tokens[next].is(")"), let open = file.partner[next],
        tokens[open - 1].kind == .identifier
      {
        break
      }
      next += 1
    }
    let isVisited = tokens[next].is(".") && Self.visits.contains(tokens[next + 1].text)
    let isCast =
      tokens[next].isWord("as")
      && !tokens[next...].prefix(4).contains { $0.text == "NSKeyValueChangeKey" }
    guard isVisited || isCast || isLooped(index) || isTaken(index, before: next) else { return }
    report(
      index, .differs,
      "a change's values have their own types here: no NSNumber, and no NSNull for nil",
      "read each by its key, change?[.newKey], and cast it to the property's type")
  }

  private func isLooped(_ index: Int) -> Bool {
    let word = tokens[..<index].lastIndex { !$0.is("(") } ?? 0
    return tokens[word].isWord("in") && tokens[..<word].suffix(16).contains { $0.isWord("for") }
  }

  /// Whether an argument of a function that reads all values, or an interpolation, ends before a token.
  private func isTaken(_ index: Int, before next: Int) -> Bool {
    guard tokens[next].is(")") || tokens[next].is(","),
      let open = file.partner[next] ?? file.enclosing[next], open > 0
    else { return false }
    return tokens[open - 1].kind == .string || Self.takers.contains(tokens[open - 1].text)
  }
}
