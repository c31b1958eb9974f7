import Glibc

/// How much tests with many threads do, as the environment says; see `Scripts/stress`.
public enum Stress {
  /// `KVO_STRESS_ROUNDS`: how often each scenario is run, every time from another seed. `KVO_EFFORT` unless it is set.
  public static let rounds = Environment.number("KVO_STRESS_ROUNDS", default: Environment.times(1))

  /// `KVO_SEED`: what the random numbers begin with.
  public static let seed = Environment.number("KVO_SEED", default: 1)

  /// Says how much was done where it goes on for long.
  public static func tell(_ text: @autoclosure () -> String) {
    guard getenv("KVO_STRESS_ROUNDS") != nil else { return }
    let line = "  \(text())\n"
    write(STDERR_FILENO, line, line.utf8.count)
  }
}
