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
      "sequence", "log", "threadend",
    ])
  func runs(_ name: String) throws {
    let file = try require(
      Self.program, "Build it first: swift build --product ObservationBridge")
    let program = Process()
    let output = Pipe()
    program.executableURL = file
    program.arguments = [name]
    program.standardOutput = output
    program.standardError = output
    try program.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    program.waitUntilExit()
    expect(program.terminationStatus == 0 && program.terminationReason == .exit, "\(text)")
  }

  private static let program = builtProgram("ObservationBridge")
}

/// Beside the tests' own program, where `swift build` puts both; or in the debug build whose folder that program is in, if
/// it has been linked anew.
private func builtProgram(_ name: String) -> URL? {
  var folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
  while folder.path != "/" {
    folder.deleteLastPathComponent()
    for place in [name, "debug/\(name)"] {
      let program = folder.appending(path: place)
      if FileManager.default.isExecutableFile(atPath: program.path) { return program }
    }
  }
  return nil
}
