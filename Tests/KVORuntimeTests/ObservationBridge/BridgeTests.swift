import Expectations
import Foundation
import Testing

/// O: `@Observed` properties that Swift's Observation tracks. Each case runs `Tests/ObservationBridge`, a separate
/// program, because linking the bridge adds a hook to every read. Its mutants are in `Tests/Mutants/Observation`.
@Suite struct BridgeTests {
  @Test(
    "O1 O2 O3: a read tracked by Observation notifies it of the next change",
    arguments: [
      "fires", "old", "across", "ways", "keys", "nested", "observers", "deaths", "threads",
      "sequence", "log", "threadend", "body", "orders", "kept", "lock", "defaults", "again",
      "prior", "idle", "batch", "removed", "twice", "within", "unended",
    ])
  func runs(_ name: String) throws { try run(name) }

  @Test(
    "O1: a read that is the program's first use of the library is tracked",
    arguments: [
      "first-didset", "first-function", "first-weak", "first-announced", "first-reported",
      "first-observed", "first-untracked",
    ])
  func firstReads(_ name: String) throws { try run(name) }

  @Test("O1 Q2: a first read of a hidden property is tracked as a read of that property")
  func firstReadOfHidden() throws { try run("first-hidden") }

  private func run(_ name: String) throws {
    let program = Process()
    let output = Pipe()
    program.executableURL = URL(filePath: try requireProgram("ObservationBridge"))
    program.arguments = [name]
    program.standardOutput = output
    program.standardError = output
    try program.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    program.waitUntilExit()
    expect(program.terminationStatus == 0 && program.terminationReason == .exit, "\(text)")
  }
}
