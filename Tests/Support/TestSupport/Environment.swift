import Glibc

/// The tests' environment variables.
public enum Environment {
  /// A variable's number, or the default if it has none.
  public static func number(_ variable: String, default otherwise: UInt64) -> UInt64 {
    getenv(variable).flatMap { UInt64(String(cString: $0)) } ?? otherwise
  }

  /// The number of repetitions: the usual one times `KVO_EFFORT`, a whole number, 1 by default.
  public static func times(_ usual: UInt64) -> UInt64 {
    usual * max(number("KVO_EFFORT", default: 1), 1)
  }

  /// The number of operations of random programs: `KVO_STEPS`, or the usual one times `KVO_EFFORT`.
  public static func steps(_ usual: UInt64) -> UInt64 { number("KVO_STEPS", default: times(usual)) }
}
