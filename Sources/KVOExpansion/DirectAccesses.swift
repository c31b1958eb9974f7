internal import SwiftSource

/// Finds the names in an observer's body that denote its own property's storage.
///
/// In the `willSet` or `didSet` of a property `x`, Swift takes `x` and `self.x` for the stored value: assigning to it
/// runs no observer again. In a closure or a local function, and through any other reference to the object, the
/// property is used as elsewhere. A local variable `x` is neither.
struct DirectAccesses {
  /// A statement whose block has not begun.
  private struct Head {
    var word: String
    /// Whether its condition declares a variable with the property's name.
    var hides = false
  }

  /// The range between two brackets.
  private struct Scope {
    enum Kind { case group, block, function }

    var kind: Kind
    /// The keyword of the statement that this block belongs to.
    var word: String?
    /// Whether a local variable hides the property: at the beginning of the scope, and now.
    let beginsHidden: Bool
    var isHidden: Bool
    var head: Head?

    init(_ kind: Kind, word: String? = nil, isHidden: Bool = false) {
      (self.kind, self.word, beginsHidden, self.isHidden) = (kind, word, isHidden, isHidden)
    }
  }

  private let name: String
  private var scopes = [Scope(.block)]
  private var functions = 0
  private var last: Scope {
    get { scopes[scopes.count - 1] }
    set { scopes[scopes.count - 1] = newValue }
  }
  private var isHidden: Bool { last.isHidden || last.head?.hides == true }
  private var found: [Token] = []

  private init(name: String) { self.name = name }

  /// The tokens of a body that denote the storage, also those in interpolated strings. `parameter` is the observer's
  /// parameter, which may hide the property.
  static func tokens(named name: String, in body: ArraySlice<Token>, parameter: String) -> [Token] {
    var accesses = DirectAccesses(name: name)
    accesses.last.isHidden = name == parameter
    accesses.look(at: Array(body))
    return accesses.found
  }

  private mutating func look(at tokens: [Token]) {
    var closed: Scope?
    for index in tokens.indices {
      let token = tokens[index]
      for interpolation in token.interpolations { look(at: interpolation) }
      switch token.kind {
      case .punctuation where token.is("(") || token.is("["):
        scopes.append(Scope(.group, isHidden: isHidden))
      case .punctuation where token.is("{"):
        openBrace()
      case .punctuation where token.is(")") || token.is("]") || token.is("}"):
        closed = close()
        continue
      // The condition after a `repeat` block has no block of its own.
      case .keyword where token.is("while") && closed?.word == "repeat":
        break
      case .keyword where index == 0 || !tokens[index - 1].is("."):
        look(atKeyword: token, index, of: tokens)
      case .identifier where token.name == name && isDirect(index, of: tokens):
        found.append(token)
      default:
        break
      }
      closed = nil
    }
  }

  private func isDirect(_ index: Int, of tokens: [Token]) -> Bool {
    func isBefore(_ distance: Int, _ text: String) -> Bool {
      index >= distance && tokens[index - distance].is(text)
    }
    guard functions == 0 else { return false }
    if isBefore(1, ".") { return isBefore(2, "self") && !isBefore(3, ".") && !isBefore(3, "\\") }
    let isLabel =
      index + 1 < tokens.count && tokens[index + 1].is(":")
      && (["(", ",", "}"].contains { isBefore(1, $0) } || isInCompoundName(index, of: tokens))
    return !isHidden && !isLabel && !["let", "var", "for"].contains { isBefore(1, $0) }
  }

  // Whether labels lead from here back to a parenthesis: `move(_:to:)`.
  private func isInCompoundName(_ index: Int, of tokens: [Token]) -> Bool {
    var begin = index
    while begin >= 2, tokens[begin - 1].is(":"),
      [.identifier, .keyword].contains(tokens[begin - 2].kind)
    {
      begin -= 2
    }
    return begin < index && begin > 0 && tokens[begin - 1].is("(")
  }

  // MARK: Statements

  private static let statements: Set<String> = [
    "if", "guard", "while", "for", "switch", "catch", "do", "else", "repeat", "defer",
  ]

  private mutating func look(atKeyword token: Token, _ index: Int, of tokens: [Token]) {
    if Self.statements.contains(token.text) {
      // A guard's variables are visible after its `else` block, but not in it.
      let guarded = token.text == "else" && last.head?.word == "guard" && last.head?.hides == true
      last.head = Head(word: guarded ? "guard" : token.text)
      if token.text == "for" { declare(from: index + 1, of: tokens) }
      // Without a pattern, `catch` declares `error`.
      let isUnnamed = token.text == "catch" && tokens[index + 1].is("{")
      if isUnnamed && name == "error" { last.head?.hides = true }
      if guarded { last.head?.word = "guard else" }
    } else if token.text == "let" || token.text == "var" {
      declare(from: index + 1, of: tokens)
      let isCase = index > 0 && tokens[index - 1].is("case")
      if last.kind != .group, last.head == nil, !isCase {
        declareFurther(from: index + 1, of: tokens)
      }
    } else if token.text == "case" || token.text == "default", last.word == "switch",
      last.head == nil
    {
      last.isHidden = last.beginsHidden
    }
  }

  // A brace begins a statement's block; if no statement is open, it begins a closure, a local function or a type.
  private mutating func openBrace() {
    guard let head = last.head else {
      scopes.append(Scope(.function))
      functions += 1
      return
    }
    let block = Scope(.block, word: head.word, isHidden: isHidden)
    last.head = nil
    if head.word == "guard else" { last.isHidden = true }
    scopes.append(block)
  }

  private mutating func close() -> Scope? {
    guard scopes.count > 1 else { return nil }
    let closed = scopes.removeLast()
    if closed.kind == .function { functions -= 1 }
    return closed
  }

  // MARK: Local variables

  // Hides the property if a pattern declares its name: in the block of the statement whose condition the pattern is
  // in, otherwise until the end of the enclosing block.
  private mutating func declare(from start: Int, of tokens: [Token]) {
    guard declares(from: start, of: tokens),
      let scope = scopes.lastIndex(where: { $0.kind != .group || $0.head != nil })
    else { return }
    if scopes[scope].head == nil {
      scopes[scope].isHidden = true
    } else {
      scopes[scope].head?.hides = true
    }
  }

  // Looks for patterns after commas in a declaration of several variables.
  private mutating func declareFurther(from start: Int, of tokens: [Token]) {
    var depth = 0
    for index in start..<tokens.count {
      let token = tokens[index]
      if ["(", "[", "{"].contains(where: token.is) { depth += 1 }
      if [")", "]", "}"].contains(where: token.is) { depth -= 1 }
      let isContinued = index == start || [",", "=", ":"].contains(where: tokens[index - 1].is)
      if depth < 0 || token.is(";") || depth == 0 && token.isFirstOnLine && !isContinued { return }
      guard depth == 0, token.is(","), index + 2 < tokens.count else { continue }
      // Not the comma between the arguments of a generic type.
      let isPattern = tokens[index + 1].is("(") || ["=", ":"].contains(where: tokens[index + 2].is)
      if isPattern { declare(from: index + 1, of: tokens) }
    }
  }

  private func declares(from start: Int, of tokens: [Token]) -> Bool {
    var depth = 0
    for index in start..<tokens.count {
      let token = tokens[index]
      if token.is("(") {
        depth += 1
      } else if token.is(")") {
        depth -= 1
      } else if depth == 0,
        ["=", ":", ",", "{", "}", "in", "where"].contains(where: token.is)
          || index > start && token.isFirstOnLine
      {
        return false
      } else if token.kind == .identifier, token.name == name, !tokens[index - 1].is("."),
        depth == 0 || !tokens[index + 1].is(":")
      {
        return true
      }
      if depth < 0 { return false }
    }
    return false
  }
}
