/// Moves sources from Apple's platforms to KVORuntime: makes the documented edits, and lists what a person has to
/// look at. It changes nothing else, and leaves sources unchanged that it can't read. Moving a moved source again
/// changes nothing.
///
/// No rule of Behaviour is kept here. Documentation/KVOMove.md describes the edits; each kind is in a file
/// `Mover+….swift`.
import SwiftSource

/// How observable properties are declared.
public enum ObservableStyle: Sendable {
  /// `@KVO` before the class.
  case macro
  /// `@Observed` before each property, with `registerKeys` for what would otherwise be found by name.
  case wrapper
}

public struct MovedSource: Sendable {
  public var path: String
  /// The source after all edits.
  public var text: String
  /// The edits, in source order.
  public var edits: [Edit]
  public var findings: [Finding]
  /// The modules that were imported. The source's target has to depend on products of the same names.
  public var modules: [String]
  /// The edits as a unified diff; empty if there are none.
  public var diff: String
}

/// Moves sources that belong together: a class's superclass may be in another source.
/// - Parameters:
///   - sources: the path and text of each source.
///   - style: how observable properties are declared.
/// - Returns: the sources after their edits, each with its findings.
/// - Complexity: O(*n*), where *n* is the length of all sources.
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
  /// The file's index in the project.
  let index: Int
  let types: [TypeDeclaration]
  let style: ObservableStyle
  var edits: [Edit] = []
  /// The findings, each with the token that it is about.
  private var findings: [(token: Int, harm: Harm, reason: String, advice: String)] = []
  /// Names that the compiler reports at many places of a source, with their tokens.
  private var leftovers: [String: [Int]] = [:]
  /// The expressions that have been given a `try`.
  var attempted: Set<Int> = []
  /// The operators that have been replaced by commas.
  var separated: Set<Int> = []
  /// The selectors whose questions have been replaced.
  var answered: Set<Int> = []
  var needsRuntime = false
  var needsFoundation = false
  var addedModules: [String] = []
  /// The declarations that are moved into their classes.
  var relocations: [Relocation] = []
  /// The names of properties and functions that return a mutable proxy.
  var proxyMembers: Set<String> = []
  /// The calls of Objective-C's associated objects that have been replaced.
  var associated: Set<Int> = []
  /// The scopes of the variables that hold a change's dictionary, by the variable's name.
  var changes: [String: [Range<Int>]] = [:]
  /// The names of variables that hold dictionaries whose keys are texts.
  let textDictionaries: Set<String>

  init(_ project: Project, _ index: Int, _ style: ObservableStyle) {
    (self.project, self.index, self.style) = (project, index, style)
    (file, types) = (project.files[index], project.types[index])
    textDictionaries = file.textDictionaries()
  }

  mutating func result() -> MovedSource {
    let isConcerned =
      project.participants.files.contains(index)
      || types.contains { project.root(of: $0) != .other }
      || project.contexts.variables.contains { $0.file == index }
    if isConcerned {
      if let (token, name) = olderSwift() {
        report(
          token, .missing, "this is Swift 2 (\(name)), which no edit is made for",
          "convert it to a newer Swift first")
      } else {
        move()
      }
    } else if namesReplacedType {
      moveFoundationTypes()
      moveImports()
    }
    let ordered = edits.ordered()
    let final = relocated(ordered)
    let bytes = final.applied(to: file.bytes, in: 0..<file.bytes.count)
    let found = findings.map { finding in
      let token = tokens[finding.token]
      let line =
        line(ofRelocated: token, in: ordered, final)
        ?? final.line(token.line, ofByte: token.offset, in: file.bytes)
      return Finding(line: line, harm: finding.harm, reason: finding.reason, advice: finding.advice)
    }
    let excluded = file.excluded.filter(\.hasKeyValueCode).map { branch in
      Finding(
        line: final.line(branch.line, ofByte: branch.offset, in: file.bytes), harm: .missing,
        reason: "code under \(branch.directive) is not compiled on Linux",
        advice: "it is left as it is; if it is needed there, move it out of the condition first")
    }
    return MovedSource(
      path: file.path, text: String(decoding: bytes, as: UTF8.self), edits: final,
      findings: Set(found + excluded).sorted {
        ($0.harm, $0.line, $0.reason) < ($1.harm, $1.line, $1.reason)
      },
      modules: addedModules,
      diff: UnifiedDiff(file.bytes, final).text(path: file.path))
  }

  private mutating func move() {
    let isNew = !file.imports.contains { $0.module == "KVORuntime" }
    needsRuntime =
      isNew
      && tokens.indices.contains {
        tokens[$0].text.hasPrefix("NSKeyValue") || file.isObservation($0) || file.isAnnouncement($0)
      }
    changes = isNew ? findChanges() : [:]
    for type in types { moveType(type) }
    moveAttributes()
    moveStrings()
    moveFoundationTypes()
    moveAssociations()
    moveNames()
    findLeftovers()
    summariseLeftovers()
    moveImports()
  }

  // MARK: - Building edits

  var tokens: [Token] { file.tokens }

  func type(around index: Int) -> TypeDeclaration? {
    project.type(around: index, in: self.index)
  }

  func place(_ token: Int) -> Place { Place(file: index, token: token) }

  mutating func replace(_ token: Int, by text: String) {
    edits.append(Edit(tokens[token].offset..<tokens[token].endOffset, text))
  }

  /// Replaces tokens. Comments between them are moved after the new text.
  mutating func replace(_ range: Range<Int>, by text: String) {
    let bytes = tokens[range.lowerBound].offset..<tokens[range.upperBound - 1].endOffset
    edits.append(Edit(bytes, text + file.comments(before: range.dropFirst())))
  }

  /// Replaces tokens and the space before them.
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

  /// Removes tokens and the space after them. Comments stay.
  mutating func remove(_ range: Range<Int>) {
    let next = tokens[range.upperBound]
    let comments = file.comments(before: range.dropFirst()).dropFirst()
    let isBlank = next.leadingTrivia.allSatisfy(\.isWhitespace) && comments.isEmpty
    let end = isBlank ? next.offset : tokens[range.upperBound - 1].endOffset
    edits.append(Edit(tokens[range.lowerBound].offset..<end, String(comments)))
  }

  /// Replaces the white space after the last comment before a token.
  mutating func replaceSpace(before token: Int, by text: String) {
    let trivia = Array(tokens[token].leadingTrivia.utf8)
    let last = Trivia.parts(of: trivia).last
    let length = last.map { $0.kind == .space ? $0.range.count : 0 } ?? 0
    edits.append(Edit(tokens[token].offset - length..<tokens[token].offset, text))
  }

  /// Adds a finding, for a person to look at.
  mutating func report(_ token: Int, _ harm: Harm, _ reason: String, _ advice: String) {
    findings.append((token, harm, reason, advice))
  }

  /// Counts an occurrence of something that is reported once for the whole source.
  mutating func count(_ token: Int, as name: String) { leftovers[name, default: []].append(token) }

  private mutating func summariseLeftovers() {
    guard let first = leftovers.values.joined().min() else { return }
    let counts = leftovers.sorted { $0.key < $1.key }.map { name, tokens in
      "\(tokens.count) \(name)\(tokens.count == 1 ? "" : "s")"
    }
    report(
      first, .refused,
      "\(counts.joined(separator: ", ")): there is no Objective-C runtime and no Interface Builder",
      "call methods and closures: observe(\\.key, target:action:), addObserver(forName:object:queue:using:)"
    )
  }
}

extension SourceFile {
  /// The line end that the source uses.
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
