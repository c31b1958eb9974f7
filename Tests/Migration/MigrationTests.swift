import Glibc
import KVORuntime
import Testing

/// Code from projects on Apple's platforms (Originals), moved by just the edits that Documentation/MovingOver.md
/// lists (Moved; `Scripts/check pages` compares the two), has the same output as there (Expected).
struct MigrationTests {
  struct Program: Sendable, CustomTestStringConvertible {
    let name: String
    let run: @Sendable (Journal) -> Void

    var testDescription: String { name }
  }

  static let programs = [
    Program(name: "Observing", run: observing),
    Program(name: "Contexts", run: contexts),
    Program(name: "DependentKeys", run: dependentKeys),
    Program(name: "Customization", run: customization),
    Program(name: "AutomaticOff", run: automaticOff),
    Program(name: "ManualPairs", run: manualPairs),
    Program(name: "Coding", run: coding),
    Program(name: "Collections", run: collections),
    Program(name: "Validation", run: validation),
  ]

  @Test(
    "B2 B3 B6 B9 B10 B11 C3 D4 D5 D10 D11 E1 E3 F1 F2 G1 G2 H1 H4: moved code notifies as before",
    arguments: programs)
  func moved(_ program: Program) throws {
    let journal = Journal()
    program.run(journal)
    let expected = try expectedLines(of: program.name)
    #expect(journal.lines == expected)
  }

  private func expectedLines(of name: String) throws -> [String] {
    let folder = #filePath.prefix(upTo: #filePath.lastIndex(of: "/")!)
    let file = try #require(fopen("\(folder)/Expected/\(name).txt", "r"))
    defer { fclose(file) }
    var lines: [String] = []
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let line {
      lines.append(String(String(cString: line).dropLast()))
    }
    return lines
  }
}
