import Glibc

/// How long tests with many threads go on, as the environment says; see `Scripts/stress`.
public enum Stress {
  /// `KVO_STRESS_SECONDS`, for all scenarios of a suite together; 0, unless it is set, for a moment of each.
  public static let seconds = Environment.number("KVO_STRESS_SECONDS", default: 0)

  /// `KVO_SEED`: what the random numbers begin with.
  public static let seed = Environment.number("KVO_SEED", default: 1)

  /// Says how much was done where it goes on for long.
  public static func tell(_ text: @autoclosure () -> String) {
    guard seconds > 0 else { return }
    let line = "  \(text())\n"
    write(STDERR_FILENO, line, line.utf8.count)
  }
}
