/// Lexing of sources that are hard to read, without losing anything.
import Expectations
import Foundation
import SwiftSource
import Testing

@Suite struct LexerTests {
  private static func texts(_ source: String) -> [String] {
    LexedSource(source).tokens.dropLast().map(\.text)
  }

  private static func kinds(_ source: String) -> [Token.Kind] {
    LexedSource(source).tokens.dropLast().map(\.kind)
  }

  private static let cases: [(source: String, texts: [String])] = [
    ("let a = 1", ["let", "a", "=", "1"]),
    ("a+b", ["a", "+", "b"]),
    ("a/b/c", ["a", "/", "b", "/", "c"]),
    ("a / b / c", ["a", "/", "b", "/", "c"]),
    ("x?.y!.z", ["x", "?", ".", "y", "!", ".", "z"]),
    ("a??1", ["a", "?", "?", "1"]),
    ("a ?? 1", ["a", "??", "1"]),
    ("a != b", ["a", "!=", "b"]),
    ("0...9", ["0", "...", "9"]),
    ("0..<x.count", ["0", "..<", "x", ".", "count"]),
    ("x.0.1", ["x", ".", "0", ".", "1"]),
    ("1.5e-3+0x1.8p-2", ["1.5e-3", "+", "0x1.8p-2"]),
    ("0x1f-e", ["0x1f", "-", "e"]),
    ("0xe-1", ["0xe", "-", "1"]),
    ("1.description", ["1", ".", "description"]),
    ("0x1.description", ["0x1", ".", "description"]),
    ("0xF.append(1)", ["0xF", ".", "append", "(", "1", ")"]),
    ("1_000.5_0", ["1_000.5_0"]),
    ("A<B<C>>?", ["A", "<", "B", "<", "C", ">>?"]),
    ("a -> b", ["a", "->", "b"]),
    ("`class` `a b`", ["`class`", "`a b`"]),
    ("$0 $value", ["$0", "$value"]),
    ("naïve变量🙂", ["naïve变量🙂"]),
    ("a ≤ b ⊕ c", ["a", "≤", "b", "⊕", "c"]),
    (
      "@objc(insertObject:inSongsAtIndex:)",
      ["@", "objc", "(", "insertObject", ":", "inSongsAtIndex", ":", ")"]
    ),
    (
      "#if DEBUG\n#elseif os(Linux)\n#else\n#endif",
      ["#if", "DEBUG", "#elseif", "os", "(", "Linux", ")", "#else", "#endif"]
    ),
    (
      "#keyPath(a.b) #selector(x)",
      ["#keyPath", "(", "a", ".", "b", ")", "#selector", "(", "x", ")"]
    ),
    ("\\Account.balance", ["\\", "Account", ".", "balance"]),
    ("<#T##Int#> < x", ["<#T##Int#>", "<", "x"]),
    // Strings
    (#""{""#, [#""{""#]),
    (#""a\"b" c"#, [#""a\"b""#, "c"]),
    (#""\(a + "}\(b)")" c"#, [#""\(a + "}\(b)")""#, "c"]),
    (##"#"a"b\"# c"##, [##"#"a"b\"#"##, "c"]),
    (##"#"\#("x")"# c"##, [##"#"\#("x")"#"##, "c"]),
    (###"##"a"#b"## c"###, [###"##"a"#b"##"###, "c"]),
    (##"#"""# c"##, [##"#"""#"##, "c"]),
    ("\"\"\"\n a \" \"\" \\\"\"\" }\n\"\"\" c", ["\"\"\"\n a \" \"\" \\\"\"\" }\n\"\"\"", "c"]),
    ("\"\" c", ["\"\"", "c"]),
    (#""\\" c"#, [#""\\""#, "c"]),
    (#""\(f { $0 })" c"#, [#""\(f { $0 })""#, "c"]),
    // Regular expressions
    ("let r = /a{2}/ + 1", ["let", "r", "=", "/a{2}/", "+", "1"]),
    ("f(/a\\/}/)", ["f", "(", "/a\\/}/", ")"]),
    ("f(/[)]/)", ["f", "(", "/[)]/", ")"]),
    ("[/a/, /b/]", ["[", "/a/", ",", "/b/", "]"]),
    ("reduce(1, /)", ["reduce", "(", "1", ",", "/", ")"]),
    ("f(/, +) / 2", ["f", "(", "/", ",", "+", ")", "/", "2"]),
    ("return /[/)]x/", ["return", "/[/", ")", "]", "x", "/"]),
    ("!/a/.b", ["!", "/a/", ".", "b"]),
    ("(a) / (b) / c", ["(", "a", ")", "/", "(", "b", ")", "/", "c"]),
    ("x /= y / z", ["x", "/=", "y", "/", "z"]),
    ("self / a / b", ["self", "/", "a", "/", "b"]),
    ("x.in / a / b", ["x", ".", "in", "/", "a", "/", "b"]),
    ("One()\n/b/", ["One", "(", ")", "/b/"]),
    ("a\n  / b / c", ["a", "/", "b", "/", "c"]),
    ("#/a\"{/# c", ["#/a\"{/#", "c"]),
    ("##/a/#b/## c", ["##/a/#b/##", "c"]),
    ("#/\n a { # x\n/# c", ["#/\n a { # x\n/#", "c"]),
    (
      "func /(a: V, b: V) -> V { a/b }",
      [
        "func", "/", "(", "a", ":", "V", ",", "b", ":", "V", ")", "->", "V", "{", "a", "/", "b",
        "}",
      ]
    ),
    // Comments
    ("a // }\nb", ["a", "b"]),
    ("a /* } /* \" */ { */ b", ["a", "b"]),
    ("a /**/ b/*/ */c", ["a", "b", "c"]),
    ("a*/*x*/b", ["a", "*", "b"]),
    ("#!/usr/bin/swift {\na", ["a"]),
    ("\u{FEFF}a", ["a"]),
    ("a\u{A0}b", ["a", "b"]),
  ]

  @Test("The kinds of tokens", arguments: cases.indices)
  func tokens(index: Int) {
    let (source, texts) = Self.cases[index]
    expectEqual(Self.texts(source), texts)
    expect(LexedSource(source).problems.isEmpty)
    expectEqual(LexedSource(source).text, source)
  }

  @Test("Each token has its kind, and a name's backticks are removed")
  func kinds() {
    let source = "@a `b` class 1 \"c\" = /d/ #/e/# + . #if x #f <#g#> $0 weak x.class"
    expectEqual(
      Self.kinds(source),
      [
        .punctuation, .identifier, .identifier, .keyword, .number, .string, .operator, .regex,
        .regex,
        .operator, .punctuation, .directive, .identifier, .pound, .placeholder, .identifier,
        .identifier, .identifier, .punctuation, .keyword,
      ])
    let tokens = LexedSource("`b` `a b` c `").tokens
    expectEqual(tokens.map(\.name), ["b", "a b", "c", "`", ""])
    expect(tokens[0].isWord("`b`") && !tokens[0].isWord("b"))
  }

  @Test("Lines and columns are counted in bytes from 1, over every kind of line end")
  func places() {
    let tokens = LexedSource("é a\r\nb\rc\n\n\td \"\"\"\n x\n\"\"\" e").tokens
    let places = tokens.map { "\($0.text.prefix(1)) \($0.line):\($0.column) \($0.offset)" }
    expectEqual(
      places,
      [
        "é 1:1 0", "a 1:4 3", "b 2:1 6", "c 3:1 8", "d 5:2 12", "\" 5:4 14", "e 7:5 25", " 7:6 26",
      ])
    expectEqual(tokens.map(\.isFirstOnLine), [true, false, true, true, true, false, false, false])
    expect(tokens.allSatisfy { $0.endOffset - $0.offset == $0.text.utf8.count })
  }

  @Test("A string's interpolations are tokens with positions in the source")
  func interpolations() throws {
    let source = "x = \"a\\(b + \"\\(c /* ) */ )\")d\\(e)\" + f"
    let string = try require(LexedSource(source).tokens.first { $0.kind == .string })
    expectEqual(
      string.interpolations.map { $0.map(\.text) },
      [
        ["b", "+", "\"\\(c /* ) */ )\"", ""], ["e", ""],
      ])
    let inner = string.interpolations[0][2].interpolations
    expectEqual(inner.map { $0.map(\.text) }, [["c", ""]])
    expectEqual(inner[0][1].leadingTrivia, " /* ) */ ")
    let bytes = Array(source.utf8)
    for token in string.interpolations.joined() + inner[0] {
      let slice = String(decoding: bytes[token.offset..<token.endOffset], as: UTF8.self)
      expectEqual(slice, token.text)
      expectEqual(token.column, token.offset + 1)
    }
  }

  @Test(
    "The place where a source breaks off is reported, and nothing of it is lost",
    arguments: [
      ("a \"b\nc", "a string that does not end", 2),
      ("\"\"\"\n a", "a string that does not end", 0),
      ("#\"a\"", "a string that does not end", 0),
      ("a /* /* */", "a comment that does not end", 2),
      ("#/a\n/#", "a regular expression that does not end", 0),
      ("a ` b", "a character that Swift has no use for", 2),
      ("\"\\(a", "a string that does not end", 0),
    ])
  func problems(source: String, message: String, offset: Int) {
    let lexed = LexedSource(source)
    expectEqual(lexed.problems.first?.message, message)
    expectEqual(lexed.problems.first?.offset, offset)
    expectEqual(lexed.text, source)
  }

  @Test("A string that nests deeper than the compiler reads is reported, and ends the reading")
  func nesting() {
    func nested(_ depth: Int) -> LexedSource {
      LexedSource(
        "a " + String(repeating: "\"\\(", count: depth) + "b"
          + String(repeating: ")\"", count: depth) + " c")
    }
    expect(nested(200).problems.isEmpty && nested(200).tokens.map(\.text).last == "")
    let deep = nested(5_000)
    expectEqual(deep.problems.first?.message, "a string that nests too deep")
    expect(deep.tokens.count == 3 && deep.text == nested(5_000).text)
  }

  private static let sources: [URL] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folders = ["Sources", "Examples", "Benchmarks", "Snippets"].map { root.appending(path: $0) }
    return folders.flatMap { folder in
      let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
      return (files?.compactMap { $0 as? URL } ?? []).filter {
        $0.pathExtension == "swift" && !$0.path.contains("/.build/")
      }
    }
  }()

  @Test("The package's own sources are read, with matching braces, and reproduced exactly")
  func package() throws {
    expect(Self.sources.count > 200)
    for file in Self.sources {
      let source = try String(contentsOf: file, encoding: .utf8)
      let lexed = LexedSource(source)
      expect(lexed.problems.isEmpty, "\(file.path)")
      expectEqual(lexed.text, source, "\(file.path)")
      var depth = 0
      var lineOfExcess: Int?
      for token in lexed.tokens where token.kind == .punctuation {
        if "([{".contains(token.text) { depth += 1 }
        if ")]}".contains(token.text) { depth -= 1 }
        if depth < 0, lineOfExcess == nil { lineOfExcess = token.line }
      }
      expect(depth == 0 && lineOfExcess == nil, "\(file.path):\(lineOfExcess ?? 0)")
    }
  }

  @Test("A source that is cut off or changed anywhere is read to its end and reproduced exactly")
  func mutations() throws {
    var random = Seeded(state: 7)
    let pieces = [
      "\"", "#", "/", "\\(", ")", "`", "/*", "*/", "\"\"\"", "\n", "<#", "é", "\0", "\u{301}",
    ]
    let source = Self.cases.map(\.source).joined(separator: "\n")
    for _ in 0..<1000 {
      var scalars = Array(source.unicodeScalars)
      for _ in 0..<3 {
        let index = Int.random(in: 0..<scalars.count, using: &random)
        if Bool.random(using: &random) { scalars.removeSubrange(index...) }
        scalars.insert(
          contentsOf: pieces.randomElement(using: &random)!.unicodeScalars,
          at: min(index, scalars.count))
        if scalars.count < 10 { break }
      }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      expectEqual(LexedSource(String(text)).text, String(text))
    }
  }
}

/// A fixed random sequence.
private struct Seeded: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
