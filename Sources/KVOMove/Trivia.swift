/// The text between tokens: line ends and comments. No edit may lose a comment. No rule of Behaviour is kept here.
import SwiftSource

/// A part of the text before a token.
struct Trivia {
  enum Kind { case space, lineComment, blockComment }

  var kind: Kind
  /// The part's range in the bytes of the whole text.
  var range: Range<Int>

  /// The parts of a text that consists of white space and comments.
  static func parts(of text: [UInt8]) -> [Trivia] {
    var (parts, index) = ([Trivia](), 0)
    while index < text.count {
      let start = index
      let kind = kind(in: text, at: index)
      switch kind {
      case .blockComment: index = endOfBlock(in: text, from: index)
      case .lineComment: while index < text.count, !isLineEnd(text[index]) { index += 1 }
      case .space:
        repeat { index += 1 } while index < text.count && self.kind(in: text, at: index) == .space
      }
      parts.append(Trivia(kind: kind, range: start..<index))
    }
    return parts
  }

  static func isLineEnd(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }

  private static func kind(in text: [UInt8], at index: Int) -> Kind {
    if text[index...].starts(with: "//".utf8) { return .lineComment }
    return text[index...].starts(with: "/*".utf8) ? .blockComment : .space
  }

  /// Block comments may be nested.
  private static func endOfBlock(in text: [UInt8], from start: Int) -> Int {
    var (index, depth) = (start, 0)
    repeat {
      let (opens, closes) = (
        text[index...].starts(with: "/*".utf8), text[index...].starts(with: "*/".utf8)
      )
      depth += opens ? 1 : closes ? -1 : 0
      index += opens || closes ? 2 : 1
    } while depth > 0 && index < text.count
    return index
  }
}

extension SourceFile {
  /// The comments before tokens, each preceded by a space.
  func comments(before tokens: Range<Int>) -> String {
    tokens.reduce(into: "") { text, index in
      let trivia = Array(self.tokens[index].leadingTrivia.utf8)
      for part in Trivia.parts(of: trivia) where part.kind != .space {
        text += " " + String(decoding: trivia[part.range], as: UTF8.self)
        if part.kind == .lineComment { text += lineEnd }
      }
    }
  }

  /// The offset after the line end that follows a token; nil if another token is on the line.
  func endOfLine(after index: Int) -> Int? {
    let next = tokens[index + 1]
    let trivia = Array(next.leadingTrivia.utf8)
    for part in Trivia.parts(of: trivia) where part.kind == .space {
      guard let end = part.range.first(where: { Trivia.isLineEnd(trivia[$0]) }) else { continue }
      let isPair = trivia[end...].starts(with: "\r\n".utf8)
      return next.triviaOffset + end + (isPair ? 2 : 1)
    }
    return nil
  }
}
