internal import SwiftSource

/// Finds the names in an observer's body that denote its own property's storage.
///
/// In the `willSet` or `didSet` of a property `x`, Swift takes `x` and `self.x` for the stored value: assigning to it
/// runs no observer again. In a closure or a local function, and through any other reference to the object, the
/// property is used as elsewhere. So it is in a parameter's default value, which is code of its own. A local variable,
/// function or type `x` is neither.
struct DirectAccesses {
  /// A statement whose block has not begun.
  private struct Head {
    var word: String
    /// Whether the part of its condition that is read declares a variable with the property's name: the variable holds
    /// in the pattern, not in the value after it, and then to the end.
    var declares = false
    var isPattern = false
    var hides = false

    var isHidden: Bool { hides || isPattern }

    mutating func endPart() { (hides, isPattern) = (hides || declares, false) }
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
  private var isHidden: Bool { last.isHidden || last.head?.isHidden == true }
  private var found: [Token] = []

  private init(name: String) { self.name = name }

  /// The tokens of a body that denote the storage, also those in interpolated strings. `parameter` is the observer's
  /// parameter, which may hide the property.
  static func tokens(named name: String, in body: ArraySlice<Token>, parameter: String) -> [Token] {
    var accesses = DirectAccesses(name: name)
    let tokens = Array(body)
    let isLocal = accesses.declaresFunction(from: 0, of: tokens)
    accesses.last = Scope(.block, isHidden: isLocal || name == parameter)
    accesses.look(at: tokens)
    return accesses.found
  }

  private mutating func look(at tokens: [Token]) {
    var closed: Scope?
    var headEnd = 0
    for index in tokens.indices where index >= headEnd {
      let token = tokens[index]
      for interpolation in token.interpolations { look(at: interpolation) }
      switch token.kind {
      case .punctuation where token.is("(") || token.is("["):
        scopes.append(Scope(.group, isHidden: isHidden))
      case .punctuation where token.is(","):
        last.head?.endPart()
      case .operator where token.is("="):
        last.head?.isPattern = false
      case .punctuation where token.is("{"):
        openBrace()
        if declaresFunction(from: index + 1, of: tokens) { last.isHidden = true }
      case .punctuation where token.is(")") || token.is("]") || token.is("}"):
        closed = close()
        continue
      // The condition after a `repeat` block has no block of its own.
      case .keyword where token.is("while") && closed?.word == "repeat":
        break
      case .keyword where token.is("func") && (index == 0 || !tokens[index - 1].is(".")):
        headEnd = endOfHead(from: index, of: tokens)
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
      && (["(", ",", "}"].contains { isBefore(1, $0) } || index > 0 && tokens[index - 1].text == "_"
        || isInCompoundName(index, of: tokens))
    return !isHidden && !isLabel && !isLabelOfStatement(index, of: tokens)
      && !["let", "var", "for", "typealias"].contains { isBefore(1, $0) }
  }

  private func isLabelOfStatement(_ index: Int, of tokens: [Token]) -> Bool {
    if index > 0, tokens[index - 1].is("break") || tokens[index - 1].is("continue") {
      return !tokens[index].isFirstOnLine
    }
    return index + 2 < tokens.count && tokens[index + 1].is(":")
      && Self.labelled.contains(where: tokens[index + 2].is)
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

  private static let labelled = ["if", "while", "for", "switch", "do", "repeat"]

  private mutating func look(atKeyword token: Token, _ index: Int, of tokens: [Token]) {
    if token.is("in") { last.head?.isPattern = false }
    if token.is("where") || token.is("else") { last.head?.endPart() }
    if Self.statements.contains(token.text) {
      // A guard's variables are visible after its `else` block, but not in it.
      let guarded = token.text == "else" && last.head?.word == "guard" && last.head?.hides == true
      last.head = Head(word: guarded ? "guard" : token.text)
      if token.text == "for" { declare(from: index + 1, of: tokens) }
      // Without a pattern, `catch` declares `error`.
      let isUnnamed = token.text == "catch" && tokens[index + 1].is("{")
      if isUnnamed && name == "error" { last.head?.declares = true }
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
      last.isHidden = last.beginsHidden || declaresFunction(from: index + 1, of: tokens)
    }
  }

  // A brace begins a statement's block; if no statement is open, it begins a closure, a local function or a type.
  private mutating func openBrace() {
    last.head?.endPart()
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

  // MARK: Local functions

  // The name, parameters and result of a local function denote no property; its block begins at the result.
  private func endOfHead(from start: Int, of tokens: [Token]) -> Int {
    var depth = 0
    for index in start..<tokens.count {
      let token = tokens[index]
      if depth == 0, token.is("{") { return index }
      if ["(", "[", "{"].contains(where: token.is) { depth += 1 }
      if [")", "]", "}"].contains(where: token.is) { depth -= 1 }
    }
    return tokens.count
  }

  // Whether a function or a type alias of the property's name is declared before the enclosing block or case ends. Its
  // name also holds in what stands before it.
  private func declaresFunction(from start: Int, of tokens: [Token]) -> Bool {
    var depth = 0
    for index in start..<tokens.count {
      let token = tokens[index]
      if ["(", "[", "{"].contains(where: token.is) { depth += 1 }
      if [")", "]", "}"].contains(where: token.is) { depth -= 1 }
      let isPattern =
        index > 0 && ["if", "guard", "while", "for", ","].contains(where: tokens[index - 1].is)
      let isNextCase = token.is("case") && !isPattern || token.is("default")
      if depth < 0 || depth == 0 && isNextCase { return false }
      if depth == 0, token.kind == .identifier, token.name == name, index > start,
        tokens[index - 1].is("func") || tokens[index - 1].is("typealias")
      {
        return true
      }
    }
    return false
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
      scopes[scope].head?.declares = true
      scopes[scope].head?.isPattern = true
      if scope < scopes.count - 1 { last.isHidden = true }
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
