/// The output of a program and its observers, equal on both platforms.
final class Journal {
  private(set) var lines: [String] = []

  func write(_ line: String) {
    lines.append(line)
  }
}
