internal import Foundation
internal import KVORuntime

// What Foundation hands over, `JSONSerialization` above all, as the Swift values that properties have (R3). On Linux
// that is `NSNull` and `NSNumber`, with arrays and dictionaries of Swift around them; strings are Swift's already, and
// so are numbers that fit, which the language's own casts convert.

enum FoundationValue {
  /// The value as one that a property of a type takes: nil for an `NSNull`; what fits as it is, so that properties of
  /// Foundation's types, and of any, get what they were given; else what is inside, in collections too.
  ///
  /// - Parameter type: nil where the class does not have the key.
  static func value(_ value: Any?, for type: Any.Type?) -> Any? {
    guard let value, !isNull(value) else { return nil }
    guard let type else { return value }
    return fits(value, type) ? value : content(of: value)
  }

  /// What an object of Foundation has inside, as deep as there is any.
  private static func content(of value: Any) -> Any? {
    switch value {
    case is NSNull: nil
    case let number as NSNumber where Swift.type(of: value) is NSNumber.Type: swiftNumber(number)
    case let array as NSArray: array.map(element)
    case let array as [Any]: array.map(element)
    case let dictionary as NSDictionary: members(of: Array(dictionary))
    case let dictionary as [AnyHashable: Any]: members(of: Array(dictionary))
    case let set as NSSet: Set(set.compactMap { content(of: $0) as? AnyHashable })
    default: value
    }
  }

  // Nil stays in its place.
  private static func element(_ value: Any) -> Any { content(of: value) ?? (Any?.none as Any) }

  private static func members(of pairs: [(key: AnyHashable, value: Any)]) -> [AnyHashable: Any] {
    Dictionary(pairs.map { ($0.key, element($0.value)) }) { first, _ in first }
  }

  private static func members(of pairs: [(key: Any, value: Any)]) -> [AnyHashable: Any] {
    Dictionary(
      pairs.compactMap { pair in
        (pair.key as? AnyHashable).map { ($0, element(pair.value)) }
      }
    ) { first, _ in first }
  }

  private static func swiftNumber(_ number: NSNumber) -> Any {
    switch String(cString: number.objCType) {
    case "c", "B": number as? Bool ?? number.intValue
    case "f", "d": number.doubleValue
    case "Q": number.uint64Value
    default: number.intValue
    }
  }

  private static func isNull(_ value: Any) -> Bool { value is NSNull }

  private static func fits(_ value: Any, _ type: Any.Type) -> Bool {
    func open<T>(_ type: T.Type) -> Bool { value is T }
    return _openExistential(type, do: open)
  }

  /// The value as Foundation's serialisations take it: `NSNull` for nil, in collections too.
  static func object(_ value: Any?) -> Any {
    guard let value = value.flatMap(flattened) else { return NSNull() }
    switch value {
    case let array as [Any?]: return array.map(object)
    case let dictionary as [String: Any?]: return dictionary.mapValues(object)
    default: return value
    }
  }
}
