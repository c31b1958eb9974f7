/// Detects sources of Swift 2, whose names differ. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Names that Swift 3 has replaced.
  private static let olderCalls: Set = [
    "observeValueForKeyPath", "willChangeValueForKey", "didChangeValueForKey", "valueForKey",
    "valueForKeyPath", "setValuesForKeysWithDictionary", "dictionaryWithValuesForKeys",
    "mutableArrayValueForKey", "mutableSetValueForKey", "mutableOrderedSetValueForKey",
    "dispatch_async", "dispatch_get_main_queue", "dispatch_sync", "println", "CGRectMake",
  ]
  private static let olderTypes: Set = [
    "NSNotificationCenter", "NSUserDefaults", "NSFileManager", "NSOperationQueue", "NSOperation",
    "NSProgress", "NSBundle", "NSKeyValueChangeNewKey", "NSKeyValueChangeOldKey",
  ]

  /// The first token that occurs in Swift 2 only, and its name.
  func olderSwift() -> (token: Int, name: String)? {
    let declared = Set(
      tokens.indices.filter { index in
        index > 0 && tokens[index - 1].isWord("func")
          && !tokens[max(index - 5, 0)..<index].contains { $0.isWord("override") }
      }.map { tokens[$0].name })
    let found = tokens.indices.first { index in
      let token = tokens[index]
      guard token.kind == .identifier, !declared.contains(token.name) else { return false }
      if Self.olderCalls.contains(token.text) { return tokens[index + 1].is("(") }
      if Self.olderTypes.contains(token.text) { return !project.hasType(named: token.name) }
      guard ["New", "Old", "Initial", "Prior"].contains(token.text), index > 3 else { return false }
      return tokens[index - 1].is(".")
        && (tokens[index - 2].is(":") && tokens[index - 3].text == "options"
          || tokens[index - 2].text == "NSKeyValueObservingOptions"
          || tokens[index - 2].is("[") && tokens[index - 4].text == "options")
    }
    return found.map { ($0, tokens[$0].name) }
  }
}
