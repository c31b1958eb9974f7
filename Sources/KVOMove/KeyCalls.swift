/// Finds calls of key-value coding and observing, and the keys that they name. No rule of Behaviour is kept here.
import SwiftSource

extension SourceFile {
  /// Methods that throw here, each with the labels that distinguish it from other methods of its name; empty if its
  /// name suffices.
  private static let stringCalls: [String: Set<String>] = [
    "addObserver": ["forKeyPath"], "removeObserver": ["forKeyPath"],
    "value": ["forKey", "forKeyPath", "forUndefinedKey"],
    "setValue": ["forKey", "forKeyPath", "forUndefinedKey"],
    "dictionaryWithValues": ["forKeys"], "setValuesForKeys": [], "setNilValueForKey": [],
    "mutableArrayValue": ["forKey", "forKeyPath"], "mutableSetValue": ["forKey", "forKeyPath"],
    "mutableOrderedSetValue": ["forKey", "forKeyPath"],
    "validateValue": ["forKey", "forKeyPath"],
  ]
  /// The numbers of arguments of the methods that share their names with others.
  private static let counts: [String: ClosedRange<Int>] = [
    "value": 1...1, "setValue": 2...2, "validateValue": 2...2, "addObserver": 2...4,
    "removeObserver": 2...3,
    "setValuesForKeys": 1...1, "setNilValueForKey": 1...1, "dictionaryWithValues": 1...1,
  ]

  /// Whether the call's method takes keys as strings.
  func isStringCall(_ index: Int) -> Bool {
    guard let labels = Self.stringCalls[tokens[index].text], tokens[index + 1].is("("),
      tokens[index].kind == .identifier, index > 0, !tokens[index - 1].isWord("func"),
      let close = closing(of: index + 1)
    else { return false }
    let open = index + 1
    let written = (open + 1..<close).filter { tokens[$0 + 1].is(":") && enclosing[$0] == open }
      .map { tokens[$0].text }
    let count = (open + 1..<close).count { tokens[$0].is(",") && enclosing[$0] == open } + 1
    guard Self.counts[tokens[index].text]?.contains(count) ?? true else { return false }
    guard !labels.isEmpty else { return written.isEmpty }
    guard written.contains(where: labels.contains) else { return false }
    // `setValue(value: 1, forKeyPath: path)` is a different method.
    let isFirstLabelled = tokens[open + 1].kind == .identifier && tokens[open + 2].is(":")
    return isFirstLabelled == (labels.contains("forKeys") || count == 1)
  }

  /// Whether the call registers a typed observer.
  func isObservation(_ index: Int) -> Bool {
    guard tokens[index].kind == .identifier, tokens[index + 1].is("(") else { return false }
    if tokens[index].text == "observe" {
      return tokens[index + 2].is("\\")
        || tokens[index + 2].is("[") && tokens[index + 3].is("\\")
        || tokens[index + 2].text == "keyPath" && tokens[index + 3].is(":")
        || hasLabel(["options", "changeHandler"], inCallAt: index)
        || tokens[index + 3].is(")") && tokens[index + 4].is("{") && isKeyPath(index + 2)
    }
    return tokens[index].text == "publisher" && tokens[index + 2].text == "for"
      && tokens[index + 4].is("\\")
  }

  /// Whether a name is that of a parameter or a variable whose type is a key path.
  private func isKeyPath(_ name: Int) -> Bool {
    tokens.indices[..<name].suffix(400).contains {
      tokens[$0].name == tokens[name].name && tokens[$0 + 1].is(":")
        && tokens[$0 + 2].text.hasSuffix("KeyPath")
    }
  }

  private func hasLabel(_ labels: Set<String>, inCallAt index: Int) -> Bool {
    guard let close = closing(of: index + 1) else { return false }
    return (index + 2..<close).contains {
      labels.contains(tokens[$0].text) && tokens[$0 + 1].is(":") && enclosing[$0] == index + 1
    }
  }

  /// Methods that notify of manual changes, and whether only a label distinguishes them from others of their name.
  private static let announcements = [
    "willChangeValue": false, "didChangeValue": false, "withChange": false, "willChange": true,
    "didChange": true,
  ]

  /// Whether the call notifies of a manual change.
  func isAnnouncement(_ index: Int) -> Bool {
    guard let needsLabel = Self.announcements[tokens[index].text], tokens[index + 1].is("("),
      !(index > 0 && tokens[index - 1].isWord("func"))
    else { return false }
    return !needsLabel || hasLabel(["valuesAt"], inCallAt: index)
  }

  func isKeyCall(_ index: Int) -> Bool {
    isStringCall(index) || isObservation(index) || isAnnouncement(index)
  }

  /// The keys that a call names, and the types before them: `\Song.title`, `#keyPath(Song.title)`, `"title"`.
  func keys(ofCallAt index: Int) -> (keys: [String], types: [String]) {
    guard let close = closing(of: index + 1) else { return ([], []) }
    var (keys, types, place) = ([String](), [String](), index + 2)
    while place < close {
      if tokens[place].kind == .string {
        keys += parts(ofString: tokens[place].text)
      } else if tokens[place].is("\\") || tokens[place].is("#keyPath") {
        let end =
          tokens[place].is("\\") ? endOfPath(from: place + 1) : closing(of: place + 1) ?? close
        for name in tokens[place + 1..<end] where name.kind == .identifier {
          if name.name.first?.isUppercase == true {
            types.append(name.name)
          } else {
            keys.append(name.name)
          }
        }
        place = end
        continue
      } else if tokens[place].is("{"), let end = partner[place] {
        place = end
      }
      place += 1
    }
    return (keys, types)
  }

  private func parts(ofString text: String) -> [String] {
    let isPath = { (character: Character) in
      character.isLetter || character.isNumber || "._@".contains(character)
    }
    let inner = text.drop { $0 == "\"" || $0 == "#" }.prefix { $0 != "\"" }
    guard inner.allSatisfy(isPath) else { return [] }
    return inner.split(separator: ".").map(String.init).filter { $0.first != "@" }
  }

  private func endOfPath(from start: Int) -> Int {
    var index = start
    while tokens[index].kind == .identifier || tokens[index].is(".")
      || ["?", "!"].contains(tokens[index].text)
    {
      index += 1
    }
    return max(index, start + 1)
  }
}
