/// The lexer's result: tokens that, with the trivia before each, reproduce the source exactly. No rule of Behaviour
/// is kept here, but the macro `@KVO` and the tool that moves sources rely on it.

/// A word of Swift source.
public struct Token: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// A name, also one in backticks, a contextual keyword (`weak`, `get`), or `$0`.
    case identifier
    /// A reserved word, which is a name only in backticks or after a dot: `class`, `var`, `self`.
    case keyword
    /// An integer or a floating-point literal.
    case number
    /// A whole string literal with its delimiters. Its interpolations are in ``Token/interpolations``.
    case string
    /// A whole regular expression literal, `/…/` or `#/…/#`.
    case regex
    /// An operator, including `=`, `->`, `&`, `?`, `!`, `<` and `>`. `>>?` is one token.
    case `operator`
    /// One of `(` `)` `[` `]` `{` `}` `,` `:` `;` `.` `@` `\`, or a character that is part of no other token: `#`, ``
    /// ` ``.
    case punctuation
    /// `#if`, `#elseif`, `#else` or `#endif`. The condition's tokens follow.
    case directive
    /// A word after a hash: `#selector`, `#keyPath`, `#available`, a macro's name.
    case pound
    /// An editor placeholder, from `<#` to `#>`.
    case placeholder
    /// The end of the source. Its text is empty; trailing white space and comments are its trivia.
    case endOfFile
  }

  public var kind: Kind
  /// The white space and comments before the token, including a first line that begins with `#!`.
  public var leadingTrivia: String
  /// The token's source text.
  public var text: String
  /// The offset of the text, in bytes of UTF-8 from the beginning of the source.
  public var offset: Int
  /// The line of the text, counted from 1.
  public var line: Int
  /// The column of the text in bytes of UTF-8, counted from 1.
  public var column: Int
  /// The tokens of each interpolation of a string: those between its parentheses. Their offsets and lines are those
  /// of the source. The last token of each is an ``Kind/endOfFile`` with empty text, whose trivia is the text before
  /// the closing parenthesis.
  public var interpolations: [[Token]] = []

  /// The offset at which the text ends, in bytes of UTF-8.
  public var endOffset: Int { offset + text.utf8.count }

  /// The offset at which the trivia before the token begins, in bytes of UTF-8.
  public var triviaOffset: Int { offset - leadingTrivia.utf8.count }

  /// A name without its backticks; for any other token, its text.
  public var name: String {
    guard kind == .identifier, text.utf8.count > 1, text.utf8.first == Character.backtick else {
      return text
    }
    return String(text.dropFirst().dropLast())
  }

  /// Whether the trivia before the token contains a line end, or the token is the first of the source.
  public var isFirstOnLine: Bool {
    triviaOffset == 0
      || leadingTrivia.utf8.contains { $0 == Character.newline || $0 == Character.carriageReturn }
  }

  /// The number of angle brackets that the token opens, minus the number that it closes.
  public var angles: Int {
    guard kind == .operator, text != "->" else { return 0 }
    return text.utf8.reduce(0) { sum, character in
      sum + (character == UInt8(ascii: "<") ? 1 : character == UInt8(ascii: ">") ? -1 : 0)
    }
  }

  /// Whether the token is this punctuation, operator, directive or keyword.
  public func `is`(_ text: String) -> Bool {
    switch kind {
    case .identifier, .string, .regex, .number, .placeholder, .endOfFile: false
    case .keyword, .operator, .punctuation, .directive, .pound: self.text == text
    }
  }

  /// Whether the token is this word, as a keyword or as a name without backticks.
  public func isWord(_ text: String) -> Bool {
    (kind == .keyword || kind == .identifier) && self.text == text
  }
}

/// A part of the source that the lexer could not read.
public struct LexicalProblem: Hashable, Sendable {
  public var message: String
  /// The offset of the problem, in bytes of UTF-8.
  public var offset: Int
  public var line: Int
  public var column: Int
}

/// The tokens of a source. Their trivia and texts in order are the source.
public struct LexedSource: Sendable {
  /// The tokens in source order. The last is ``Token/Kind/endOfFile``.
  public var tokens: [Token]
  /// The problems found; empty if the source could be read. If it is not empty, the tokens are unreliable.
  public var problems: [LexicalProblem]

  /// Splits a source into tokens.
  /// - Parameter source: the text to read.
  /// - Complexity: O(*n*) for each level of strings nested in interpolations, where *n* is the length of the source.
  public init(_ source: String) {
    var lexer = Lexer(Array(source.utf8))
    tokens = lexer.tokens(untilParenthesis: false)
    problems = lexer.problems
  }

  /// The source, rebuilt from the tokens.
  public var text: String {
    var text = ""
    for token in tokens {
      text += token.leadingTrivia
      text += token.text
    }
    return text
  }
}
