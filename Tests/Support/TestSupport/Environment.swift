import Glibc

/// What the environment asks of the tests.
public enum Environment {
  /// A variable's number, or what to take where it is none.
  public static func number(_ variable: String, default otherwise: UInt64) -> UInt64 {
    getenv(variable).flatMap { UInt64(String(cString: $0)) } ?? otherwise
  }

  /// How often to do what is usually done so very often: the part of it that is left where each time takes
  /// `KVO_SLOWNESS` times as long, as with a sanitizer.
  public static func times(_ usual: UInt64) -> UInt64 {
    max(usual / max(number("KVO_SLOWNESS", default: 1), 1), 1)
  }

  /// How many operations random programs have: `KVO_STEPS`, or what is usual.
  public static func steps(_ usual: UInt64) -> UInt64 { number("KVO_STEPS", default: times(usual)) }
}
