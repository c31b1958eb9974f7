import Expectations
import Foundation
import Testing

/// The program `kvo-move` on the files of a folder: what it reads, lists and writes.
@Suite final class ProgramTests {
  private static let there = "class A: NSObject { @objc dynamic var x = 0 }\n"
  private static let here = "@KVO class A: KVOObject { var x = 0 }\n"

  private let files = FileManager.default
  private let folder: URL
  private let program: URL

  init() throws {
    program = URL(filePath: try requireProgram("kvo-move"))
    folder = files.temporaryDirectory.appending(path: "kvo-move-\(UUID())")
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? files.removeItem(at: folder) }

  private func file(_ name: String) -> URL { folder.appending(path: name) }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: file(name), encoding: .utf8)
  }

  private func write(_ name: String) throws { try Data(Self.there.utf8).write(to: file(name)) }

  private func link(_ name: String, to other: String) throws {
    try files.createSymbolicLink(atPath: file(name).path, withDestinationPath: other)
  }

  /// The program's output.
  private func run(_ options: String...) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = program
    process.arguments = (options.isEmpty ? ["--write"] : options) + [folder.path]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    expectEqual(process.terminationStatus, 0, "\(text)")
    return text
  }

  @Test("a file keeps its mode", arguments: [0o600, 0o755, 0o444]) func modes(_ mode: Int) throws {
    try write("A.swift")
    try files.setAttributes([.posixPermissions: mode], ofItemAtPath: file("A.swift").path)
    _ = try run()
    expectEqual(try text("A.swift"), Self.here)
    let attributes = try files.attributesOfItem(atPath: file("A.swift").path)
    expect(attributes[.posixPermissions] as? Int == mode)
  }

  @Test("a link stays a link, and its target is moved once") func links() throws {
    try write("real")
    for name in ["A.swift", "B.swift"] { try link(name, to: "real") }
    expect(try run().contains("1 file read, 1 to change"))
    expectEqual(try files.destinationOfSymbolicLink(atPath: file("A.swift").path), "real")
    expectEqual(try text("real"), Self.here)
  }

  @Test("an unreadable file is listed, and a folder with a source's name is a folder")
  func unreadable() throws {
    try files.createDirectory(at: file("X.swift"), withIntermediateDirectories: false)
    try write("X.swift/A.swift")
    try link("B.swift", to: "nowhere")
    try Data([0xFF]).write(to: file("C.swift"))
    let output = try run()
    expect(output.contains("B.swift:1: can't be read"))
    expect(output.contains("C.swift:1: is not UTF-8"))
    expect(output.contains("1 file read, 1 to change"))
    expectEqual(try text("X.swift/A.swift"), Self.here)
  }

  @Test("a summary comes first, and findings are grouped by severity") func report() throws {
    try write("A.swift")
    try Data("let k = change[.kindKey]\nlet s = #selector(f)\n".utf8).write(
      to: file("B.swift"))
    let output = try run("--without-macro")
    expect(
      output.hasPrefix(
        "2 files read, 1 to change, 2 places to look at: 1 where it behaves differently, "
          + "0 without a counterpart, 1 that the compiler reports\n"))
    let parts = [
      "--- ", "Compiles, but behaves differently:", "B.swift:1:",
      "Is reported by the compiler, too:", "B.swift:2:",
    ]
    let places = parts.compactMap { output.range(of: $0)?.lowerBound }
    expectEqual(places.count, parts.count)
    expectEqual(places, places.sorted())
    expectEqual(try text("A.swift"), Self.there)
  }

  @Test("JSON is all that is printed, also if files are written") func writtenJSON() throws {
    try write("A.swift")
    let output = try run("--json", "--write")
    expect(try JSONSerialization.jsonObject(with: Data(output.utf8)) is [String: Any], output)
    expectEqual(try text("A.swift"), Self.here)
  }

  @Test("JSON has the keys that the page lists, and no diff") func json() throws {
    try write("A.swift")
    try Data(
      "import Foundation\nlet k = change[.kindKey]\nlet s = #selector(f)\nvar t: NSKeyValueObservation\n"
        .utf8
    )
    .write(to: file("B.swift"))
    let output = try run("--json")
    let json = try require(
      try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    expectEqual(json.keys.sorted(), ["files", "findings", "modules", "summary", "version"])
    expectEqual(json["version"] as? Int, 1)
    expectEqual(
      json["summary"] as? [String: Int],
      ["filesRead": 2, "filesToChange": 2, "differs": 1, "missing": 0, "refused": 1])
    expectEqual(json["modules"] as? [String], ["KVORuntime"])
    let files = try require(json["files"] as? [[String: Any]])
    expectEqual(files.map { $0["edits"] as? Int }, [4, 1])
    let findings = try require(json["findings"] as? [[String: Any]])
    expectEqual(findings.map { $0["harm"] as? String }, ["differs", "refused"])
    expectEqual(findings.map { $0["line"] as? Int }, [3, 4])
    expectEqual(findings[0].keys.sorted(), ["advice", "harm", "line", "path", "reason"])
    expectEqual(try text("A.swift"), Self.there)
  }
}
