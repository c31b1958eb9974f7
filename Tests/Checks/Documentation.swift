// What the check `modules` must find, and no more: a line's last comment names it. Only compiled
// by the check, as a module of its own.

/// Documented.
public struct Documented {
  public var size: Int  // finds size
  public init() { size = 0 }  // finds init()
  /// Documented as well.
  public static func _make() -> Documented { Documented() }
  func hidden() {}
}
public func _underscored() {}  // finds _underscored()
public enum Kind {  // finds Kind
  case first  // finds Kind.first
}
extension Array {
  public var greatest: Element? { first }  // finds greatest
}
open class Open {  // finds Open
  /// Of the protocol's kind.
  public protocol Part {
    func take()  // finds take()
  }
}
extension Documented: CustomStringConvertible {
  public var description: String { "its protocol's comment is its own" }
}
