internal import SwiftSource

extension SetterCheck {
  /// The tokens of a method or an accessor, and its local names: variables, and parameters, also those of closures.
  ///
  /// A local name hides the object's property only in its scope. In `if let cache { return cache }` the first `cache`
  /// is the property, and so is one after the braces.
  struct Body {
    let tokens: [Token]
    private var scopes: [String: [Range<Int>]] = [:]

    init(_ tokens: [Token], _ parameters: [String?] = []) {
      self.tokens = tokens
      for parameter in parameters.compactMap({ $0 }) { scopes[parameter] = [tokens.indices] }
      for index in tokens.indices.dropLast() where !tokens[index + 1].is(":") {
        switch tokens[index] {
        case let token where token.is("let") || token.is("var"): addVariables(after: index)
        case let token where token.is("for"): addLoop(index)
        case let token where token.is("func"): addFunction(index)
        case let token where token.is("{"): addClosure(index)
        default: break
        }
      }
    }

    /// Whether it names a local variable or parameter.
    func isLocal(_ index: Int) -> Bool {
      !(index > 0 && tokens[index - 1].is("."))
        && scopes[tokens[index].name]?.contains { $0.contains(index) } == true
    }

    /// The local names that are visible at an index.
    func locals(at index: Int) -> [String] {
      scopes.filter { $0.value.contains { $0.contains(index) } }.map(\.key)
    }

    /// Makes the names at some places local in a scope, where they hide the object's properties.
    private mutating func hide(_ places: [Int], in scope: [Range<Int>]) {
      for place in places where tokens[place].kind == .identifier {
        scopes[tokens[place].name, default: []] += scope
      }
    }

    // MARK: - Variables

    private mutating func addVariables(after index: Int) {
      let statement = statement(around: index)
      var start = index + 1
      while start < tokens.count {
        let names = pattern(at: start)
        let end = endOfClause(from: names.upperBound, isCondition: statement != nil)
        hide(Array(names), in: scope(from: end, of: statement))
        // The names of the pattern are local, but `if let cache` also reads the property of that name.
        let mayBeShorthand =
          index > 0 && statement != nil
          && ["if", "guard", "while", ","].contains(where: tokens[index - 1].is)
        if !mayBeShorthand || end > names.upperBound { hide(Array(names), in: [names]) }
        guard statement == nil, end < tokens.count, tokens[end].is(",") else { return }
        start = end + 1
      }
    }

    /// `x`, `(x, y)`, or `.some(x)`.
    private func pattern(at start: Int) -> Range<Int> {
      let start = tokens[start].is(".") ? Swift.min(start + 2, tokens.count - 1) : start
      let isTuple = tokens[start].is("(")
      return start..<(isTuple ? tokens.closing(from: start) ?? start : start) + 1
    }

    /// Where a variable is visible that is declared before `start`, perhaps in the condition of a statement.
    private func scope(from start: Int, of statement: Token?) -> [Range<Int>] {
      let end = endOfBlock(around: start)
      guard let statement else { return [start..<Swift.min(end, nextCase(after: start))] }
      guard let open = block(after: start) else { return [] }
      let close = tokens.closing(from: open) ?? end
      // A `guard`'s names are visible in the rest of its condition and after its block, but not in the block.
      return statement.is("guard") ? [start..<open, close..<max(close, end)] : [start..<close]
    }

    private mutating func addLoop(_ index: Int) {
      guard let last = tokens[index...].firstIndex(where: { $0.is("in") }),
        let open = block(after: last), let close = tokens.closing(from: open)
      else { return }
      hide(Array(index..<last), in: [index..<last, open..<close])
    }

    // MARK: - Parameters

    private mutating func addFunction(_ index: Int) {
      guard let start = tokens[index...].firstIndex(where: { $0.is("(") }),
        let end = tokens.closing(from: start), let open = block(after: end),
        let close = tokens.closing(from: open)
      else { return }
      hide([index + 1], in: [index..<endOfBlock(around: index)])
      hide((start..<end).filter { tokens[$0 + 1].is(":") }, in: [start..<close])
    }

    /// Adds the parameters of a closure, which are before its `in`, if the brace opens one that has parameters.
    private mutating func addClosure(_ open: Int) {
      var start = open + 1
      if tokens[start].is("["), let close = tokens.closing(from: start) { start = close + 1 }
      let others = ["{", "}", ";", "for", "let", "var", "return", "in"]
      guard let last = tokens[start...].firstIndex(where: { others.contains(where: $0.is) }),
        tokens[last].is("in"), last + 1 < tokens.count, !tokens[last + 1].is(":")
      else { return }
      let names = (start..<last).filter { place in
        [",", ")", ":", "in"].contains(where: tokens[place + 1].is)
          && ![":", "->", "."].contains(where: tokens[place - 1].is)
      }
      hide(names, in: [start..<endOfBlock(around: start)])
    }

    // MARK: - Places

    /// The word of the statement in whose condition or pattern an index is.
    private func statement(around index: Int) -> Token? {
      var depth = 0
      for place in (0..<index).reversed() {
        let token = tokens[place]
        if depth == 0 {
          let endsStatement = token.is("}") && tokens[place + 1].isFirstOnLine
          if token.is("{") || token.is(";") || endsStatement { return nil }
          if ["if", "guard", "while", "for"].contains(where: token.is) { return token }
        }
        depth = Swift.max(0, depth + (token.isClosing ? 1 : token.isOpening ? -1 : 0))
      }
      return nil
    }

    /// The end of the brackets, the condition or the statement that an index is in.
    private func endOfClause(from start: Int, isCondition: Bool) -> Int {
      var depth = 0
      for place in start..<tokens.count {
        let token = tokens[place]
        if depth == 0 {
          if token.is(",") || token.is(";") || token.isClosing { return place }
          let isEnd = isCondition ? token.is("{") || token.is("else") : beginsStatement(place)
          if isEnd { return place }
        }
        depth += token.isOpening ? 1 : token.isClosing ? -1 : 0
      }
      return tokens.count
    }

    private func beginsStatement(_ index: Int) -> Bool {
      let (token, before) = (tokens[index], tokens[index - 1])
      let goesOn = token.kind == .operator || [".", ":", "{", "as", "is"].contains(where: token.is)
      return token.isFirstOnLine && !goesOn && (before.kind != .operator || before.isMark)
    }

    /// The next case of the `switch` around an index.
    private func nextCase(after index: Int) -> Int {
      var depth = 0
      return tokens[index...].indices.first { place in
        let token = tokens[place]
        let isPattern = ["if", "guard", "while", "for", ","].contains(where: tokens[place - 1].is)
        if depth <= 0, token.is("case") && !isPattern || token.is("default") { return true }
        depth += token.isOpening ? 1 : token.isClosing ? -1 : 0
        return false
      } ?? tokens.count
    }

    /// The first brace after an index that is outside of parentheses: it opens the statement's block.
    private func block(after index: Int) -> Int? {
      var depth = 0
      return tokens[index...].firstIndex { token in
        if depth <= 0, token.is("{") { return true }
        depth += token.isOpening ? 1 : token.isClosing ? -1 : 0
        return false
      }
    }

    private func endOfBlock(around index: Int) -> Int {
      var depth = 0
      return tokens[index...].firstIndex { token in
        depth += token.is("{") ? 1 : token.is("}") ? -1 : 0
        return depth < 0
      } ?? tokens.count
    }
  }
}
