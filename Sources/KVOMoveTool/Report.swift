/// The report of a run: a summary, and the findings left for a person, by descending harm. Documentation/KVOMove.md
/// has the schema of the JSON. No rule of Behaviour is kept here.
import Foundation
import KVOMove

func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

struct ListedFinding {
  var path: String
  var finding: Finding
}

struct Report {
  private let files: [MovedSource]
  private let filesRead: Int
  /// The findings, ordered by harm, then by file.
  private let findings: [ListedFinding]

  init(_ files: [MovedSource], filesRead: Int, _ unreadable: [ListedFinding]) {
    (self.files, self.filesRead) = (files, filesRead)
    let all =
      unreadable
      + files.flatMap { file in
        file.findings.map { ListedFinding(path: file.path, finding: $0) }
      }
    findings = Harm.allCases.flatMap { harm in all.filter { $0.finding.harm == harm } }
  }

  private var changedFiles: Int { files.count { !$0.edits.isEmpty } }
  private var modules: [String] { Set(files.flatMap(\.modules)).sorted() }

  private func count(_ harm: Harm) -> Int { findings.count { $0.finding.harm == harm } }

  private static let titles: [Harm: String] = [
    .differs: "Compiles, but behaves differently",
    .missing: "Has no counterpart, or is left as it is",
    .refused: "Is reported by the compiler, too",
  ]

  // MARK: - Text

  var summary: String {
    let start = "\(counted(filesRead, "file")) read, \(changedFiles) to change, "
    guard !findings.isEmpty else { return start + "nothing to look at" }
    return start
      + "\(counted(findings.count, "place")) to look at: \(count(.differs)) where it behaves differently, "
      + "\(count(.missing)) without a counterpart, \(count(.refused)) that the compiler reports"
  }

  /// The findings as text. It ends with a line end, unless it is empty.
  var list: String {
    var text = ""
    for harm in Harm.allCases where count(harm) > 0 {
      text += "\n\(Self.titles[harm]!):\n"
      for entry in findings where entry.finding.harm == harm {
        let finding = entry.finding
        text += "\(entry.path):\(finding.line): \(finding.reason): \(finding.advice)\n"
      }
    }
    guard !modules.isEmpty else { return text }
    let products = modules.count == 1 ? "product of that name" : "products of these names"
    return text
      + "\nTargets that import \(modules.joined(separator: " and ")) from now on have to depend on the "
      + "\(products) in Package.swift.\n"
  }

  // MARK: - JSON

  private struct Document: Encodable {
    struct Summary: Encodable {
      var filesRead, filesToChange, differs, missing, refused: Int
    }
    struct File: Encodable {
      var path: String
      var edits: Int
    }
    struct Place: Encodable {
      var path: String
      var line: Int
      var harm, reason, advice: String
    }

    var version = 1
    var summary: Summary
    var files: [File]
    var findings: [Place]
    var modules: [String]
  }

  func json() throws -> String {
    let document = Document(
      summary: .init(
        filesRead: filesRead, filesToChange: changedFiles, differs: count(.differs),
        missing: count(.missing), refused: count(.refused)),
      files: files.filter { !$0.edits.isEmpty }.map { .init(path: $0.path, edits: $0.edits.count) },
      findings: findings.map { entry in
        let finding = entry.finding
        return .init(
          path: entry.path, line: finding.line, harm: finding.harm.rawValue, reason: finding.reason,
          advice: finding.advice)
      },
      modules: modules)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(document), as: UTF8.self)
  }
}
