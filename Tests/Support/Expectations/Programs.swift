import Foundation

/// Returns the program of a product: in the folder of the running tests, where SwiftPM puts both, or in the debug build that
/// has this folder, if the tests have been linked anew. Fails the running test and ends it if the program is not built.
public func requireProgram(_ product: String) throws -> URL {
  var folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
  while folder.path != "/" {
    folder.deleteLastPathComponent()
    for place in [product, "debug/\(product)"] {
      let program = folder.appending(path: place)
      if FileManager.default.isExecutableFile(atPath: program.path) { return program }
    }
  }
  return try require(nil as URL?, "Build it first: swift build --product \(product)")
}
