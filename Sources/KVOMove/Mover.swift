/// Moves sources of Apple's platforms to KVORuntime: what the documented edits change, and what a human has to look at.
/// Nothing is changed that no edit names, and what can't be read is left as it is. A source that has been moved is
/// changed by nothing when it is moved again. No rule of Behaviour is kept here; Documentation/KVOMove.md says what
/// is done, and each edit stands in a file `Mover+….swift`.
import SwiftSource

/// How observable properties are written.
public enum ObservableStyle: Sendable {
  /// `@KVO` before the class.
  case macro
  /// `@Observed` before each property, with `registerKeys` for what is found by its name otherwise.
  case wrapper
}

public struct MovedSource: Sendable {
  public var path: String
  /// The source after all edits.
  public var text: String
  /// In the order of their places.
  public var edits: [Edit]
  public var findings: [Finding]
  /// What imports have been added of; the source's target has to depend on products of the same names.
  public var modules: [String]
  /// What the edits change; empty if there are none.
  public var diff: String
}

/// Moves sources that belong together: a class's superclass may stand in another one.
/// - Complexity: O(the sources' length).
public func move(
  _ sources: [(path: String, text: String)], style: ObservableStyle = .macro
) -> [MovedSource] {
  var (files, results) = ([SourceFile](), [String: MovedSource]())
  for (path, text) in sources {
    do throws(SourceProblem) {
      files.append(try SourceFile(path: path, text: text))
    } catch {
      let finding = Finding(
        line: error.line, harm: .missing, reason: "can't be read: \(error.message)",
        advice: "it is left as it is")
      results[path] = MovedSource(
        path: path, text: text, edits: [], findings: [finding], modules: [], diff: "")
    }
  }
  let project = Project(files)
  for (index, file) in files.enumerated() {
    var mover = Mover(project, index, style)
    results[file.path] = mover.result()
  }
  return sources.map { results[$0.path]! }
}

struct Mover {
  let project: Project
  let file: SourceFile
  /// Which of the project's it is.
  let index: Int
  let types: [TypeDeclaration]
  let style: ObservableStyle
  var edits: [Edit] = []
  /// With the token that each is about.
  private var findings: [(token: Int, harm: Harm, reason: String, advice: String)] = []
  /// Names that the compiler reports in many places of a source, with their tokens.
  private var leftovers: [String: [Int]] = [:]
  /// Where a `try` has been put.
  var attempted: Set<Int> = []
  var needsRuntime = false
  var needsFoundation = false
  var addedModules: [String] = []

  init(_ project: Project, _ index: Int, _ style: ObservableStyle) {
    (self.project, self.index, self.style) = (project, index, style)
    (file, types) = (project.files[index], project.types[index])
  }

  mutating func result() -> MovedSource {
    let isConcerned =
      project.participants.files.contains(index)
      || types.contains { project.root(of: $0) != .other }
      || project.contexts.variables.contains { $0.file == index }
    if isConcerned {
      if let (token, name) = olderSwift() {
        find(
          token, .missing, "this is Swift 2 (\(name)), which no edit is made for",
          "convert it to a newer Swift first")
      } else {
        move()
      }
    }
    let ordered = edits.ordered()
    let bytes = ordered.applied(to: file.bytes, in: 0..<file.bytes.count)
    let found = findings.map { finding in
      let token = tokens[finding.token]
      let line = ordered.line(token.line, ofByte: token.offset, in: file.bytes)
      return Finding(line: line, harm: finding.harm, reason: finding.reason, advice: finding.advice)
    }
    let excluded = file.excluded.filter(\.hasKeyValueCode).map { branch in
      Finding(
        line: ordered.line(branch.line, ofByte: branch.offset, in: file.bytes), harm: .missing,
        reason: "code under \(branch.directive) is not compiled on Linux",
        advice: "it is left as it is; if it is needed there, move it out of the condition first")
    }
    return MovedSource(
      path: file.path, text: String(decoding: bytes, as: UTF8.self), edits: ordered,
      findings: Set(found + excluded).sorted {
        ($0.harm, $0.line, $0.reason) < ($1.harm, $1.line, $1.reason)
      },
      modules: addedModules,
      diff: UnifiedDiff(file.bytes, ordered).text(path: file.path))
  }

  private mutating func move() {
    let isNew = !file.imports.contains { $0.module == "KVORuntime" }
    needsRuntime =
      isNew
      && tokens.indices.contains {
        tokens[$0].text.hasPrefix("NSKeyValue") || file.isObservation($0) || file.isAnnouncement($0)
      }
    for type in types { moveType(type) }
    moveAttributes()
    moveStrings()
    moveNames()
    findLeftovers()
    summariseLeftovers()
    moveImports()
  }

  // MARK: - What edits are made of

  var tokens: [Token] { file.tokens }

  func place(_ token: Int) -> Place { Place(file: index, token: token) }

  mutating func replace(_ token: Int, by text: String) {
    edits.append(Edit(tokens[token].offset..<tokens[token].endOffset, text))
  }

  /// Replaces tokens. Comments among them stand behind the text.
  mutating func replace(_ range: Range<Int>, by text: String) {
    let bytes = tokens[range.lowerBound].offset..<tokens[range.upperBound - 1].endOffset
    edits.append(Edit(bytes, text + file.comments(before: range.dropFirst())))
  }

  /// Replaces tokens with the space before them.
  mutating func replaceWithSpace(_ range: Range<Int>, by text: String) {
    let bytes = tokens[range.lowerBound].triviaOffset..<tokens[range.upperBound - 1].endOffset
    edits.append(Edit(bytes, text + file.comments(before: range)))
  }

  mutating func insert(_ text: String, before token: Int) {
    edits.append(Edit(tokens[token].offset..<tokens[token].offset, text))
  }

  mutating func insert(_ text: String, after token: Int) {
    edits.append(Edit(tokens[token].endOffset..<tokens[token].endOffset, text))
  }

  /// Removes tokens with the space behind them. Comments stay.
  mutating func remove(_ range: Range<Int>) {
    let next = tokens[range.upperBound]
    let comments = file.comments(before: range.dropFirst()).dropFirst()
    let isBlank = next.leadingTrivia.allSatisfy(\.isWhitespace) && comments.isEmpty
    let end = isBlank ? next.offset : tokens[range.upperBound - 1].endOffset
    edits.append(Edit(tokens[range.lowerBound].offset..<end, String(comments)))
  }

  /// Replaces the white space behind the last comment that stands before a token.
  mutating func replaceSpace(before token: Int, by text: String) {
    let trivia = Array(tokens[token].leadingTrivia.utf8)
    let last = Trivia.parts(of: trivia).last
    let length = last.map { $0.kind == .space ? $0.range.count : 0 } ?? 0
    edits.append(Edit(tokens[token].offset - length..<tokens[token].offset, text))
  }

  mutating func find(_ token: Int, _ harm: Harm, _ reason: String, _ advice: String) {
    findings.append((token, harm, reason, advice))
  }

  /// Counts what one line says of the whole source.
  mutating func count(_ token: Int, as name: String) { leftovers[name, default: []].append(token) }

  private mutating func summariseLeftovers() {
    guard let first = leftovers.values.joined().min() else { return }
    let counts = leftovers.sorted { $0.key < $1.key }.map { name, tokens in
      "\(tokens.count) \(name)\(tokens.count == 1 ? "" : "s")"
    }
    find(
      first, .refused,
      "\(counts.joined(separator: ", ")): there is no Objective-C runtime and no Interface Builder",
      "call methods and closures; observe(\\.key, target:action:)")
  }
}

extension SourceFile {
  /// What ends the source's lines.
  var lineEnd: String {
    let (feed, carriage) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    guard let first = bytes.firstIndex(where: { $0 == feed || $0 == carriage }) else { return "\n" }
    if bytes[first] == feed { return "\n" }
    return first + 1 < bytes.count && bytes[first + 1] == feed ? "\r\n" : "\r"
  }

  /// The white space before the first token of a token's line.
  func indentation(of index: Int) -> String {
    var first = index
    while first > 0, !tokens[first].isFirstOnLine { first -= 1 }
    return String(
      tokens[first].leadingTrivia.reversed().prefix { $0 == " " || $0 == "\t" }.reversed())
  }
}
