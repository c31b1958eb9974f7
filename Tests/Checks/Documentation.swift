// The findings that the check `modules` must report, and no others: a line's last comment names
// each. Only the check compiles this file, as a separate module.

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
