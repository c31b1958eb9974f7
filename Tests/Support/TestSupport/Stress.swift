import Glibc

/// How much tests with many threads do, set by environment variables; see `Scripts/stress`.
public enum Stress {
  /// `KVO_STRESS_ROUNDS`: the number of runs of each scenario, each with another seed. `KVO_EFFORT` unless it is set.
  public static let rounds = Environment.number("KVO_STRESS_ROUNDS", default: Environment.times(1))

  /// `KVO_SEED`: the seed of the first run.
  public static let seed = Environment.number("KVO_SEED", default: 1)

  /// Reports progress of long runs.
  public static func tell(_ text: @autoclosure () -> String) {
    guard getenv("KVO_STRESS_ROUNDS") != nil else { return }
    let line = "  \(text())\n"
    write(STDERR_FILENO, line, line.utf8.count)
  }
}
