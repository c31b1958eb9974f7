// The findings that the check `modules` must report, and no others: a line's last comment names
// each. Only the check compiles this file, as a separate module.
public import CKVORuntime
public import Foundation

public func failed(_ status: kvo_status) {}  // finds kvo_status
public func list(_ objects: [Int: kvo_object?]...) {}  // finds kvo_object
public func _underscored() -> kvo_value { kvo_value() }  // finds kvo_value
public nonisolated(unsafe) let inferred = kvo_value()  // finds kvo_value
public typealias Status = kvo_status  // finds kvo_status
public func throwing() throws(Failure) -> OpaquePointer? { nil }  // finds OpaquePointer
public func make() -> UnsafePointer<kvo_object>? { nil }  // finds UnsafePointer kvo_object
public func context(_ take: (UnsafeRawPointer) -> Void) {}  // finds UnsafeRawPointer
public var length: CInt { 0 }  // finds CInt
public var width: Int32 { 0 }  // finds Int32
public func moment() -> Date { Date() }  // finds Date
public func encode(_ encoding: String.Encoding) {}  // finds Encoding
public func tell<Told: LocalizedError>(_ error: Told) {}  // finds LocalizedError
public struct Failure: LocalizedError {}  // finds LocalizedError
public struct Generic<Element> {
  public var element: Element
  public func value() -> Element where Element == kvo_status { element }  // finds kvo_status
}
extension Generic where Element: LocalizedError {
  public var localized: String { "" }  // finds LocalizedError
}
extension kvo_status {
  public var isFailure: Bool { false }  // finds kvo_status
}
public enum Wrapped {
  case status(kvo_status)  // finds kvo_status
}

// None of these.
public struct Plain {
  public var name: String, part: Substring?, ranges: RangeSet<Int>, number: UInt, ratio: Double
  var kind: kvo_kind
  @usableFromInline var pointer: OpaquePointer?
}
public class Character8 { public init() {} }
public func plain(_ keys: [String: Any?], _ done: @escaping @Sendable (Plain.Type) throws -> Void) {
}
public func own(_ character: Character8, _ kind: KeyValuePairs<CollectionOfOne<Int>, AnyHashable>) {
}
extension Array where Element: Comparable { public var greatest: Element? { self.max() } }
func hidden(_ status: kvo_status, at date: Date) {}
extension Plain: CustomStringConvertible { public var description: String { name } }
