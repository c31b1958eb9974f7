import Glibc

/// What the environment asks of the tests.
public enum Environment {
  /// A variable's number, or what to take where it is none.
  public static func number(_ variable: String, default otherwise: UInt64) -> UInt64 {
    getenv(variable).flatMap { UInt64(String(cString: $0)) } ?? otherwise
  }
}
