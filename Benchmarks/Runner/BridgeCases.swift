/// The cost of reads for Swift's Observation in a program that links KVOObservation. A separate program
/// measures it, since linking installs a read hook for every thread. If that program has not been built,
/// these cases are left out. (Scripts/run builds it: `swift build -c release --product BridgeReads`.)
import Glibc

/// A tracked read with the set that notifies of it, and a read that is not tracked.
var bridgeFamily: Family {
  guard access("\(folder())/BridgeReads", X_OK) == 0 else { return Family(cases: []) }
  return Family(
    cases: [
      ("floor.observation.read", .floor), ("observation.bridge.read", .uniform),
      ("observation.bridge.untracked", .none),
    ].map { name, way in
      Case(name: name, way: way, measure: .program { try samples(of: name, repetitions: $0) })
    })
}

/// Runs the case in the program in the same folder as this one.
private func samples(of name: String, repetitions: Int) throws -> [Double] {
  guard let pipe = popen("'\(folder())/BridgeReads' \(name) \(repetitions)", "r") else {
    throw ProgramError(name: name)
  }
  var samples: [Double] = []
  while let line = readLine(of: pipe) { samples.append(Double(line) ?? 0) }
  guard pclose(pipe) == 0, samples.count == repetitions else { throw ProgramError(name: name) }
  return samples
}

private struct ProgramError: Error, CustomStringConvertible {
  let name: String
  var description: String { "BridgeReads, which measures \(name), has failed" }
}

private func folder() -> String {
  var path = [CChar](repeating: 0, count: Int(PATH_MAX))
  let length = readlink("/proc/self/exe", &path, path.count)
  let program = String(
    decoding: path.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  return String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
}

private func readLine(of pipe: UnsafeMutablePointer<FILE>) -> String? {
  var line = [CChar](repeating: 0, count: 64)
  guard fgets(&line, Int32(line.count), pipe) != nil else { return nil }
  return String(decoding: line.prefix { $0 > 32 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
