internal import Foundation
internal import KVORuntime

// Converts values for Foundation's serialisations, mainly `JSONSerialization`, and back (R3). All other
// conversions are in the conversion table (FoundationTable.swift).

enum FoundationValue {
  /// The value to set: nil for `NSNull`, otherwise unchanged.
  static func value(_ value: Any?) -> Any? { value is NSNull ? nil : value }

  /// The value for Foundation's serialisations, also inside collections: `NSNull` for nil, the raw value of
  /// an enumeration or an option set, and a string for a substring or a character.
  static func object(_ value: Any?) -> Any {
    guard let value = value.flatMap(flattened) else { return NSNull() }
    if let rawValue = ValueConversion.rawValue(of: value) { return rawValue }
    switch value {
    case let array as [Any?]: return array.map(object)
    case let dictionary as [String: Any?]: return dictionary.mapValues(object)
    case let text as Substring: return String(text)
    case let character as Character: return String(character)
    default: return value
    }
  }
}
