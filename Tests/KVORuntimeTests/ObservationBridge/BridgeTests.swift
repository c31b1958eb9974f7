import Expectations
import Foundation
import Testing

/// O: `@Observed` properties that Swift's Observation tracks. Each case is one of `Tests/ObservationBridge`, a program
/// of its own, since a program that links the bridge has a hook on every read. `Tests/Mutants/Observation` has its mutants.
@Suite struct BridgeTests {
  @Test(
    "O1 O2 O3: what is read while Observation tracks tells it of its next change",
    arguments: [
      "fires", "old", "across", "ways", "keys", "nested", "observers", "deaths", "threads",
      "sequence", "log", "threadend", "body", "orders", "kept",
    ])
  func runs(_ name: String) throws {
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
