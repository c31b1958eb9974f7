public import Foundation
public import KVORuntime

// `KVOObject` where Foundation asks for an `NSObjectProtocol`: as a delegate, say. Relies on the object's own
// `isEqual(_: KVOObject)` and `hash(into:)`, which stay the ones to override (R1).
//
// The conformance's members stand in an extension of the protocol: a member of the class itself could not be
// declared by a subclass, and many have a `description` or a `hash` of their own.

/// Objects are delegates of Foundation's classes, whose protocols are refined from `NSObjectProtocol`.
///
/// ```swift
/// final class Downloads: KVOObject, URLSessionDelegate, @unchecked Sendable {
///   @Observed var received = 0
/// }
/// ```
extension KVOObject: NSObjectProtocol {}

extension NSObjectProtocol where Self: KVOObject {
  /// Whether an object counts as the same: what `isEqual(_:)` of `KVOObject` says of another of these, false for
  /// anything else and for nil. Any thread, as far as the override allows.
  public func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KVOObject else { return false }
    return isEqual(other)
  }

  /// What `hash(into:)` comes to: equal objects have equal ones, within one run of the program.
  public var hash: Int { hashValue }

  /// The object.
  public func `self`() -> Self { self }

  /// False: it stands for no other object.
  public func isProxy() -> Bool { false }

  /// The object's class and address; a subclass that is `CustomStringConvertible` has its own.
  public var description: String {
    let address = UInt(bitPattern: ObjectIdentifier(self))
    return "<\(type(of: self)): 0x\(String(address, radix: 16))>"
  }

  /// What the object is described as.
  public var debugDescription: String { String(describing: self) }
}
