import Expectations
import Foundation
import Testing

/// The program `kvo-move` with the files of a folder: what it reads, lists and writes.
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

  /// What the program says.
  private func run() throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = program
    process.arguments = ["--write", folder.path]
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

  @Test("a link stays one, and what it leads to is moved, once") func links() throws {
    try write("real")
    for name in ["A.swift", "B.swift"] { try link(name, to: "real") }
    expect(try run().contains("1 file read, 1 to change"))
    expectEqual(try files.destinationOfSymbolicLink(atPath: file("A.swift").path), "real")
    expectEqual(try text("real"), Self.here)
  }

  @Test("what can't be read is listed, and a folder of a source's name is one")
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
}
