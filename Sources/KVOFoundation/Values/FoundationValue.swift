internal import Foundation
internal import KVORuntime

// Values for Foundation's serialisations, `JSONSerialization` above all, and back (R3). The conversion table does the
// rest (FoundationTable.swift).

enum FoundationValue {
  /// A value that is to be set: nil for an `NSNull`, to a property of any type.
  static func value(_ value: Any?) -> Any? { value is NSNull ? nil : value }

  /// The value as Foundation's serialisations take it, in collections too: `NSNull` for nil, the raw value of an
  /// enumeration or an option set, a string for what is a part of one.
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
