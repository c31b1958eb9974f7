internal import Glibc

// Without Foundation: importing modules would see it too, and under it no string contains the empty one.

/// Returns the path of a product's program: in the folder of the running tests, where SwiftPM puts both, or in the
/// debug build around this folder, if the tests have been relinked. Ends the running test with a failure if the
/// program is not built.
public func requireProgram(_ product: String) throws -> String {
  var folder = ownPath()[...]
  while let end = folder.lastIndex(of: "/") {
    folder = folder[..<end]
    for program in ["\(folder)/\(product)", "\(folder)/debug/\(product)"]
    where access(program, X_OK) == 0 && !isFolder(program) { return program }
  }
  return try require(nil as String?, "Build it first: swift build --product \(product)")
}

private func ownPath() -> String {
  guard let path = realpath("/proc/self/exe", nil) else { return "" }
  defer { free(path) }
  return String(cString: path)
}

private func isFolder(_ path: String) -> Bool {
  guard let folder = opendir(path) else { return false }
  closedir(folder)
  return true
}
