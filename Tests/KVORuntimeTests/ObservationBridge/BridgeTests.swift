import Expectations
import Foundation
import Testing

/// O: `@Observed` properties that Swift's Observation tracks. Each case is one of `Tests/ObservationBridge`, a program
/// of its own: what links the bridge has every read asked about. It lies where `swift build` puts the tests; a test
/// program that is linked elsewhere (coverage, mutants) does without: `Scripts/checks/bridge` has the sabotages.
@Suite struct BridgeTests {
  @Test(
    "O1 O2 O3: what is read while Observation tracks tells it of its next change",
    .enabled(if: FileManager.default.isExecutableFile(atPath: program.path)),
    arguments: [
      "fires", "old", "across", "ways", "keys", "nested", "observers", "deaths", "threads",
      "sequence", "log", "threadend",
    ])
  func runs(_ name: String) throws {
    let program = Process()
    let output = Pipe()
    program.executableURL = Self.program
    program.arguments = [name]
    program.standardOutput = output
    program.standardError = output
    try program.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    program.waitUntilExit()
    expect(program.terminationStatus == 0 && program.terminationReason == .exit, "\(text)")
  }

  // Beside the test's own program.
  private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "ObservationBridge")
}
