/// A page with pictures of the figures. `Benchmarks/pictures` draws them: it is in the source package from
/// which this program was built.
import Glibc

struct Page {
  private let path: String

  /// Checks before the measurements that the page can be written and that the drawing program is available.
  init(path: String) throws {
    self.path = path
    _ = try OutputFile(path: path)
    guard system("\(quoted(Self.script)) --prepare") == 0 else { throw PageError(path: path) }
  }

  /// - Parameter figures: the text that `--json` writes.
  func write(_ figures: String) throws {
    let command = "\(quoted(Self.script)) --from - --html \(quoted(path))"
    guard let pipe = popen(command, "w") else { throw PageError(path: path) }
    let isWritten = fputs(figures, pipe) >= 0
    guard pclose(pipe) == 0, isWritten else { throw PageError(path: path) }
  }

  /// The path of `pictures`, two folders above this source file.
  private static let script =
    (#filePath as String).split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(2).joined(separator: "/") + "/pictures"
}

private struct PageError: Error, CustomStringConvertible {
  let path: String
  var description: String { "Benchmarks/pictures could not draw \(path)" }
}

/// Quotes a string as one word for the shell.
private func quoted(_ word: String) -> String {
  "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    + "'"
}
