/// A page with pictures of the figures, which `Benchmarks/pictures` draws: that program lies in the package that this
/// one was built from.
import Glibc

struct Page {
  private let path: String

  /// Finds out, before minutes are spent on measuring, that the page can be written and that what draws is there.
  init(path: String) throws {
    self.path = path
    _ = try OutputFile(path: path)
    guard system("\(quoted(Self.script)) --prepare") == 0 else { throw PageError(path: path) }
  }

  /// - Parameter figures: as `--json` writes them.
  func write(_ figures: String) throws {
    let command = "\(quoted(Self.script)) --from - --html \(quoted(path))"
    guard let pipe = popen(command, "w") else { throw PageError(path: path) }
    let isWritten = fputs(figures, pipe) >= 0
    guard pclose(pipe) == 0, isWritten else { throw PageError(path: path) }
  }

  /// Two folders above this file's own name.
  private static let script =
    (#filePath as String).split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(2).joined(separator: "/") + "/pictures"
}

private struct PageError: Error, CustomStringConvertible {
  let path: String
  var description: String { "Benchmarks/pictures could not draw \(path)" }
}

/// As a shell reads one word.
private func quoted(_ word: String) -> String {
  "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    + "'"
}
