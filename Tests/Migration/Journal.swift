/// What a program and its observers write down, the same on either platform.
final class Journal {
  private(set) var lines: [String] = []

  func write(_ line: String) {
    lines.append(line)
  }
}
