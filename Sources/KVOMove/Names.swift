/// Names that a source declares, found once for each source. No rule of Behaviour is kept here.
import SwiftSource

extension SourceFile {
  /// The names of types' aliases, each with the type's name, or an empty text if that is no name alone.
  func aliases() -> [(String, String)] {
    tokens.indices.filter { isKeyword($0, among: ["typealias"]) }.map { index in
      let isName = tokens[index + 2].is("=") && tokens[index + 3].kind == .identifier
      let isAlone = isName && endsType(endOfTypeName(at: index + 3))
      return (tokens[index + 1].name, isAlone ? typeName(at: index + 3) ?? "" : "")
    }
  }

  /// Whether a type's name ends its statement, also with arguments that are no collection's elements.
  private func endsType(_ last: Int) -> Bool {
    if endsStatement(last) { return true }
    guard tokens[last + 1].text == "<", !Self.wrappers.contains(tokens[last].text) else {
      return false
    }
    let end = (last + 1..<tokens.count - 1).first(where: endsStatement)
    return end.map { tokens[$0].text.hasPrefix(">") } ?? false
  }

  /// The names of cases, members, variables, functions and associated types.
  func declaredNames() -> [String] {
    let words: Set = ["case", "associatedtype", "func", "let", "var", "typealias"]
    return tokens.indices.dropFirst().filter { index in
      guard tokens[index].kind == .identifier else { return false }
      // A later name of `case first, second`.
      return words.contains(tokens[index - 1].text) || tokens[index - 1].is(",") && isCase(index)
    }.map { tokens[$0].name }
  }

  /// The words in texts, and the names of cases, whose raw values may be keys.
  func spelledWords() -> [String] {
    tokens.indices.flatMap { index -> [String] in
      let token = tokens[index]
      if token.kind == .string {
        return token.text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
      }
      guard index > 0, token.kind == .identifier else { return [] }
      let isName =
        tokens[index - 1].isWord("case") || tokens[index - 1].is(",") && isCase(index)
      return isName ? [token.name] : []
    }
  }

  private func isCase(_ index: Int) -> Bool {
    guard let brace = enclosing[index], blocks[brace] == .type else { return false }
    let names = tokens[..<index].reversed().prefix { $0.is(",") || $0.kind == .identifier }
    return tokens[index - names.count - 1].isWord("case")
  }

  /// The names of functions with parameters of these types, of types with such initialisers, and of variables and cases of
  /// the types.
  func names(with types: Set<String>) -> [String] {
    tokens.indices.filter { types.contains(tokens[$0].text) }
      .compactMap { name(declaredBefore: $0) }
  }

  private func name(declaredBefore index: Int) -> String? {
    var place = index
    while place > 2, !isStatementStart(place) {
      place -= 1
      let (token, name) = (tokens[place], tokens[place - 1])
      if let open = partner[place], open < place {
        if token.is("}") { return nil }
        place = open
      } else if token.is("{") || token.is("=") || token.isWord("as") {
        return nil
      } else if token.is("("), tokens[place - 2].isWord("func") || tokens[place - 2].isWord("case")
      {
        return name.name
      } else if token.is("("), name.isWord("init"), let brace = enclosing[place] {
        return (head(ofBlock: brace)..<brace).first(where: beginsType).map { tokens[$0 + 1].name }
      } else if token.is(":"), tokens[place - 2].isWord("var") || tokens[place - 2].isWord("let") {
        return name.name
      }
    }
    return nil
  }

  /// The names of variables and parameters that hold dictionaries whose keys are texts.
  func textDictionaries() -> Set<String> {
    Set(
      tokens.indices.dropFirst(2).filter { index in
        guard tokens[index - 2].kind == .identifier else { return false }
        let isTyped = tokens[index - 1].is(":") && beginsTextDictionary(index)
        return isTyped || tokens[index - 1].is("=") && endsWithTextDictionary(index)
      }.map { tokens[$0 - 2].name })
  }

  /// Whether a type begins at a token: `[String: Any]` or `NSDictionary`.
  func beginsTextDictionary(_ index: Int) -> Bool {
    if ["NSDictionary", "NSMutableDictionary"].contains(tokens[index].text) { return true }
    return tokens[index].is("[") && ["String", "AnyHashable"].contains(tokens[index + 1].text)
      && tokens[index + 2].is(":")
  }

  /// Whether a value is cast to a dictionary: `try decode(data) as? [String: Any]`.
  private func endsWithTextDictionary(_ start: Int) -> Bool {
    var index = start
    while index < tokens.count - 3, index == start || !isStatementStart(index),
      !tokens[index].is("{")
    {
      if tokens[index].isWord("as") {
        return ["?", "!"].contains(tokens[index + 1].text) && beginsTextDictionary(index + 2)
      }
      index = next(after: index)
    }
    return false
  }
}
