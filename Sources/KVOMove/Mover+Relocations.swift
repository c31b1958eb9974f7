/// Moves overrides out of extensions into their classes, since Swift allows them in extensions only with Objective-C. No
/// rule of Behaviour is kept here.
import SwiftSource

/// A declaration that is moved to the end of a class of the same source.
struct Relocation {
  /// The lines of the declaration, with its comments.
  var bytes: Range<Int>
  /// The class's closing brace.
  var brace: Int
}

extension Mover {
  /// Moves an override into its class, if that is in the same source, and neither the extension nor the declaration's place
  /// gives it an access level, conditions, or other names than the class has around it.
  mutating func relocate(_ start: Int, through end: Int, from type: TypeDeclaration) -> Bool {
    guard let own = project.declaration(of: type), own.id.file == index,
      file.start(ofDeclarationAt: type.keyword) == type.keyword,
      !(type.keyword..<type.open).contains(where: { tokens[$0].isWord("where") }),
      tokens[start].isFirstOnLine, let lineEnd = file.endOfLine(after: end),
      tokens[own.close].isFirstOnLine, file.enclosing[own.open] == nil,
      file.conditions(around: start) == file.conditions(around: own.open)
    else { return false }
    relocations.append(Relocation(bytes: startOfLines(before: start)..<lineEnd, brace: own.close))
    return true
  }

  /// Moves coding keys and `encode(to:)` from an extension into a `@KVO` class that declares itself codable: the macro reads
  /// the class's own braces, and writes what it does not find there.
  mutating func relocateCoding(of type: TypeDeclaration) {
    guard type.isExtension, usesMacro(type), let own = project.declaration(of: type),
      own.inherited.contains(where: { ["Codable", "Encodable", "Decodable"].contains($0.name) })
    else { return }
    for nested in types
    where nested.name == "CodingKeys" && file.enclosing[nested.open] == type.open {
      let start = file.start(ofDeclarationAt: nested.keyword)
      guard !relocate(start, through: nested.close, from: type) else { continue }
      report(
        nested.keyword, .refused, "the macro writes CodingKeys in \(type.name), beside these",
        "move them into \(type.name) itself")
    }
    for method in type.methods where method.name == "encode" && labels(of: method).first == "to" {
      guard let brace = method.brace, let end = file.partner[brace] else { continue }
      _ = relocate(method.start, through: end, from: type)
    }
  }

  /// The beginning of a declaration's first line, or of the comments directly before it.
  private func startOfLines(before token: Int) -> Int {
    let trivia = Array(tokens[token].leadingTrivia.utf8)
    var start = trivia.count
    for part in Trivia.parts(of: trivia).reversed() {
      let text = trivia[part.range]
      if part.kind != .space {
        start = part.range.lowerBound
      } else if text.count(where: { $0 == UInt8(ascii: "\n") }) > 1 {
        start = text.lastIndex(of: UInt8(ascii: "\n"))! + 1
        break
      } else if let end = text.lastIndex(of: UInt8(ascii: "\n")) {
        start = end + 1
      }
    }
    let line = file.endOfLine(after: token - 1) ?? tokens[token].offset
    return max(tokens[token].triviaOffset + start, line)
  }

  /// The edits, with those that carry out the relocations.
  func relocated(_ ordered: [Edit]) -> [Edit] {
    var outer = ordered.filter { edit in
      !relocations.contains { $0.bytes.contains(edit.range.lowerBound) }
    }
    for relocation in relocations {
      let line =
        tokens[relocation.brace].offset - file.indentation(of: relocation.brace).utf8.count
      outer.append(Edit(line..<line, file.lineEnd + text(of: relocation, in: ordered)))
      outer.append(Edit(relocation.bytes, ""))
    }
    return outer.ordered()
  }

  /// The text of a relocated declaration after the edits inside it.
  private func text(of relocation: Relocation, in ordered: [Edit], from start: Int? = nil) -> String
  {
    let part = (start ?? relocation.bytes.lowerBound)..<relocation.bytes.upperBound
    let inner = ordered.filter { part.contains($0.range.lowerBound) }
    return String(decoding: inner.applied(to: file.bytes, in: part), as: UTF8.self)
  }

  /// The line of a relocated token after all edits; nil if the token stays.
  func line(ofRelocated token: Token, in ordered: [Edit], _ final: [Edit]) -> Int? {
    guard let index = relocations.firstIndex(where: { $0.bytes.contains(token.offset) }) else {
      return nil
    }
    let brace = tokens[relocations[index].brace]
    let later = relocations[(index + 1)...].filter { $0.brace == relocations[index].brace }
      .map { file.lineEnd + text(of: $0, in: ordered) }
    let rest = text(of: relocations[index], in: ordered, from: token.offset)
    let below = (later + [rest]).joined().utf8.count { $0 == UInt8(ascii: "\n") }
    return final.line(brace.line, ofByte: brace.offset, in: file.bytes) - below
  }
}

extension SourceFile {
  /// The tokens `#if`, `#elseif` and `#else` of the branches around a token.
  fileprivate func conditions(around index: Int) -> [Int] {
    var branches: [Int] = []
    for directive in tokens.indices.prefix(index) {
      switch tokens[directive].text {
      case "#if": branches.append(directive)
      case "#elseif", "#else":
        _ = branches.popLast()
        branches.append(directive)
      case "#endif": _ = branches.popLast()
      default: break
      }
    }
    return branches
  }
}
