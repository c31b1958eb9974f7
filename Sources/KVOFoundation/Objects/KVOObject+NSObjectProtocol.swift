public import Foundation
public import KVORuntime

// Conforms `KVOObject` to `NSObjectProtocol`, for instance for delegates. The conformance calls the object's
// own `isEqual(_: KVOObject)` and `hash(into:)`, which remain the methods to override (R1).
//
// Its members are in an extension of the protocol. If they were members of the class, a subclass could not
// declare its own `description` or `hash`, as many do.

/// Makes objects usable as delegates of Foundation's classes, whose protocols refine `NSObjectProtocol`.
///
/// ```swift
/// final class Downloads: KVOObject, URLSessionDelegate, @unchecked Sendable {
///   @Observed var received = 0
/// }
/// ```
extension KVOObject: NSObjectProtocol {}

/// The members by which a `KVOObject` is an `NSObjectProtocol`.
extension NSObjectProtocol where Self: KVOObject {
  /// Returns whether another object is equal: the result of `isEqual(_:)` of `KVOObject`. False for nil, and
  /// for anything that is no `KVOObject`. May be called on any thread, unless an override restricts that.
  public func isEqual(_ object: Any?) -> Bool {
    guard let other = objectCast(object, to: KVOObject.self) else { return false }
    return isEqual(other)
  }

  /// The hash value that `hash(into:)` produces. Equal objects have equal values, within one run of the
  /// program.
  public var hash: Int { hashValue }

  /// Returns the object itself.
  public func `self`() -> Self { self }

  /// Returns false: a `KVOObject` is not a proxy for another object.
  public func isProxy() -> Bool { false }

  /// The object's class and address, unless the subclass is `CustomStringConvertible`.
  public var description: String {
    let address = UInt(bitPattern: ObjectIdentifier(self))
    return "<\(type(of: self)): 0x\(String(address, radix: 16))>"
  }

  /// The object's description.
  public var debugDescription: String { String(describing: self) }
}
