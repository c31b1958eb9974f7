internal import Foundation
internal import KVORuntime

// Converts values for Foundation's serialisations, mainly `JSONSerialization`, and back (R3). All other
// conversions are in the conversion table (FoundationTable.swift).

enum FoundationValue {
  /// The value to set: nil for `NSNull`, otherwise unchanged.
  static func value(_ value: Any?) -> Any? {
    objectCast(value, to: NSNull.self) == nil ? value : nil
  }

  /// The value for Foundation's serialisations, also inside collections: `NSNull` for nil, the raw value of an enumeration
  /// or an option set, a string for a substring or a character, and a number of a type that they know.
  static func object(_ value: Any?) -> Any {
    guard let value = value.flatMap(flattened).map(ValueConversion.base) else { return NSNull() }
    if let rawValue = ValueConversion.rawValue(of: value) { return number(rawValue) ?? rawValue }
    switch value {
    case let array as [Any?]: return array.map(object)
    case let dictionary as [String: Any?]: return dictionary.mapValues(object)
    case let dictionary as [AnyHashable: Any?]: return object(ofPairs: dictionary)
    case let text as Substring: return String(text)
    case let character as Character: return String(character)
    default: return number(value) ?? anySet(value).map { Set($0.map(hashable)) } ?? value
    }
  }

  /// The number for one of a type that Foundation does not make objects of, such as `CGFloat` and `Int128`; nil for any
  /// other value.
  private static func number(_ value: Any) -> Any? {
    guard !PropertyList.isNumber(value), !(type(of: value) is AnyClass), let number = Number(value)
    else { return nil }
    guard case .integer = number else { return number.real(Double.self) }
    let (signed, unsigned) = (number.integer(Int.self), number.integer(UInt.self))
    if number == .integer(signed) { return signed }
    return number == .integer(unsigned) ? unsigned : FoundationLink.decimal(number)
  }

  private static func hashable(_ value: AnyHashable) -> AnyHashable {
    object(value.base) as? AnyHashable ?? value
  }

  /// A dictionary with string keys if all keys become strings.
  private static func object(ofPairs dictionary: [AnyHashable: Any?]) -> Any {
    let pairs = dictionary.map { (hashable($0.key), object($0.value)) }
    let named = pairs.compactMap { key, value in (key as? String).map { ($0, value) } }
    return named.count == pairs.count
      ? Dictionary(named) { first, _ in first } as Any : Dictionary(pairs) { first, _ in first }
  }
}
