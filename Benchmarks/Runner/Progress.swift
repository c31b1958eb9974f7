/// A line on the terminal that shows the progress and is erased at the end. It prints nothing if standard
/// error is not a terminal.
import Glibc

struct Progress {
  private let total: Int
  private var begun = 0
  private let isOnTerminal = isatty(STDERR_FILENO) == 1

  /// - Parameter total: the number of cases.
  init(total: Int) {
    self.total = total
  }

  /// Shows that a case is being set up.
  mutating func show(_ name: String) {
    begun += 1
    write("[\(begun)/\(total)] \(name)")
  }

  /// Shows that cases are taking their turns.
  func show(_ step: String, of cases: Int) {
    guard cases > 0 else { return }
    write("[\(begun)/\(total)] \(cases) cases, \(step)")
  }

  func clear() {
    write("")
  }

  private func write(_ line: String) {
    guard isOnTerminal else { return }
    writeToStandardError("\r\u{1B}[K\(line)")
  }
}

func writeToStandardError(_ text: String) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    guard count > 0 else { return }
    rest = rest.dropFirst(count)
  }
}
