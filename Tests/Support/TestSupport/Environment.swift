import Glibc

/// What the environment asks of the tests.
public enum Environment {
  /// A variable's number, or what to take where it is none.
  public static func number(_ variable: String, default otherwise: UInt64) -> UInt64 {
    getenv(variable).flatMap { UInt64(String(cString: $0)) } ?? otherwise
  }

  /// How often to do what may be done any number of times: `KVO_EFFORT` times what is usual. A whole number, 1 unless the
  /// environment says otherwise.
  public static func times(_ usual: UInt64) -> UInt64 {
    usual * max(number("KVO_EFFORT", default: 1), 1)
  }

  /// How many operations random programs have: `KVO_STEPS`, or `KVO_EFFORT` times what is usual.
  public static func steps(_ usual: UInt64) -> UInt64 { number("KVO_STEPS", default: times(usual)) }
}
