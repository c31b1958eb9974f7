/// What the lexer makes of a source: tokens that, with the trivia before each, are the source again.
/// No rule of Behaviour is kept here; the macro `@KVO` and the tool that moves sources rely on it.

/// A word of Swift source.
public struct Token: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// A name: also in backticks, also a word that is a keyword only in places (`weak`, `get`), also `$0`.
    case identifier
    /// A word that is no name unless it stands in backticks or after a dot: `class`, `var`, `self`.
    case keyword
    /// An integer or a floating-point literal.
    case number
    /// A whole string literal with its delimiters. What is interpolated is in ``Token/interpolations``.
    case string
    /// A whole regular expression literal, `/…/` or `#/…/#`.
    case regex
    /// An operator, also `=`, `->`, `&`, `?`, `!`, `<`, and `>`. `>>?` is one token.
    case `operator`
    /// One of `(` `)` `[` `]` `{` `}` `,` `:` `;` `.` `@` `\` and what else stands alone: `#`, `` ` ``.
    case punctuation
    /// `#if`, `#elseif`, `#else`, `#endif`. The condition's tokens follow.
    case directive
    /// A word after a hash: `#selector`, `#keyPath`, `#available`, a macro's name.
    case pound
    /// What stands between `<#` and `#>`.
    case placeholder
    /// The end of the source, whose text is empty. What comes last is its trivia.
    case endOfFile
  }

  public var kind: Kind
  /// White space and comments before it, also a first line that begins with `#!`.
  public var leadingTrivia: String
  /// As it stands in the source.
  public var text: String
  /// Where the text begins, in bytes of UTF-8 from the source's beginning.
  public var offset: Int
  /// The text's line, the first of which is 1.
  public var line: Int
  /// The text's place in its line in bytes of UTF-8, the first of which is 1.
  public var column: Int
  /// The tokens of each interpolation of a string, those between its parentheses. Their offsets and lines are
  /// the source's. The last of each is an ``Kind/endOfFile`` whose text is empty and whose trivia is what stands
  /// before the closing parenthesis.
  public var interpolations: [[Token]] = []

  /// Where the text ends, in bytes of UTF-8.
  public var endOffset: Int { offset + text.utf8.count }

  /// Where the trivia before it begins, in bytes of UTF-8.
  public var triviaOffset: Int { offset - leadingTrivia.utf8.count }

  /// A name without its backticks; any other token's text.
  public var name: String {
    guard kind == .identifier, text.utf8.count > 1, text.utf8.first == Character.backtick else {
      return text
    }
    return String(text.dropFirst().dropLast())
  }

  /// Whether a line ends in the trivia before it, or it is the source's first.
  public var isFirstOnLine: Bool {
    triviaOffset == 0
      || leadingTrivia.utf8.contains { $0 == Character.newline || $0 == Character.carriageReturn }
  }

  /// How many angle brackets it opens, less those that it closes.
  public var angles: Int {
    guard kind == .operator, text != "->" else { return 0 }
    return text.utf8.reduce(0) { sum, character in
      sum + (character == UInt8(ascii: "<") ? 1 : character == UInt8(ascii: ">") ? -1 : 0)
    }
  }

  /// Whether it is this punctuation, operator, directive or keyword.
  public func `is`(_ text: String) -> Bool {
    switch kind {
    case .identifier, .string, .regex, .number, .placeholder, .endOfFile: false
    case .keyword, .operator, .punctuation, .directive, .pound: self.text == text
    }
  }

  /// Whether it is this word, a keyword everywhere or a name that is one in places, and not in backticks.
  public func isWord(_ text: String) -> Bool {
    (kind == .keyword || kind == .identifier) && self.text == text
  }
}

/// What the lexer could not make sense of.
public struct LexicalProblem: Hashable, Sendable {
  public var message: String
  /// Where, in bytes of UTF-8.
  public var offset: Int
  public var line: Int
  public var column: Int
}

/// A source's tokens. Their trivia and texts, one after the other, are the source.
public struct LexedSource: Sendable {
  /// The last is ``Token/Kind/endOfFile``.
  public var tokens: [Token]
  /// Empty if the source could be read. Where it is not, tokens are there as well, but not to be relied on.
  public var problems: [LexicalProblem]

  /// Reads a source.
  /// - Complexity: O(the source's length), for each nesting of strings in interpolations.
  public init(_ source: String) {
    var lexer = Lexer(Array(source.utf8))
    tokens = lexer.tokens(untilParenthesis: false)
    problems = lexer.problems
  }

  /// The source.
  public var text: String {
    var text = ""
    for token in tokens {
      text += token.leadingTrivia
      text += token.text
    }
    return text
  }
}
