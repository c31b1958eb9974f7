// The rows of the conversion table for Foundation's types (B12), which this library does not import: KVOFoundation
// adds them to every program that links it.

/// Knowledge of Foundation's values, which KVOFoundation supplies.
package protocol FoundationValues {
  /// An `NSNumber` or a `Decimal`; nil for another value.
  static func number(_ value: Any) -> Number?
  /// Swift's number or text for one of Foundation's classes; nil for another value.
  static func content(_ value: Any) -> Any?
  /// Whether objects of a class may have such content.
  static func hasContent(_ type: Any.Type) -> Bool
  static func isNull(_ value: Any) -> Bool
  static func isDecimal(_ type: Any.Type) -> Bool
  /// A `Decimal`.
  static func decimal(_ number: Number) -> Any
  /// A `Decimal` and another number, or nil, added and divided by a count; nil for what is no number.
  static func sum(_ decimal: Any, _ other: Any?, over count: Int) -> Any?
  /// The `Decimal` that a text begins with, not a number without one.
  static func decimal(leading text: Substring) -> Any
  /// An object of a class of Foundation's for a value that Swift does not cast to it; nil if there is none.
  static func object(_ type: Any.Type, from value: Any) -> Any?

  // Collections

  /// The kind of collection that a class is; nil for another type.
  static func collection(_ type: Any.Type) -> FoundationCollection?
  /// The elements of an array or a set, none of them nil; nil for another value.
  static func elements(of value: Any) -> (elements: [Any], isOrdered: Bool)?
  /// The keys and values of a dictionary; nil for another value.
  static func pairs(of value: Any) -> [(key: Any, value: Any)]?
  /// The value of a dictionary for a key.
  static func member(_ key: String, of dictionary: Any) -> Any?
  /// An object of a class of arrays or sets; nil is an `NSNull` there.
  static func collection(_ type: Any.Type, of elements: [Any]) -> Any?
  /// An object of a class of dictionaries.
  static func dictionary(_ type: Any.Type, of pairs: [(key: Any, value: Any)]) -> Any?
}

/// KVOFoundation makes this a `FoundationValues`.
package enum FoundationLink {
  /// Nil where the program does not link KVOFoundation.
  static var linked: (any FoundationValues.Type)? {
    (FoundationLink.self as Any.Type) as? any FoundationValues.Type
  }

  /// A sentence for an error about types that KVOFoundation serves, a space before it; empty where it is linked, and for
  /// other types.
  static func advice(onTypesNamed names: String...) -> String {
    guard linked == nil,
      let name = names.lazy.compactMap({ classes.first(where: words($0).contains) }).first
    else { return "" }
    let known = name == "__NSCFBoolean" ? "NSNumber" : name
    return " \(known) is Foundation's: link KVOFoundation, with which it has values and keys."
  }

  static func advice(onTypeAtEndOf sentence: String) -> String {
    sentence.hasSuffix(".") ? advice(onTypesNamed: String(sentence.dropLast())) : ""
  }

  /// Whether a type is one of those collections, and KVOFoundation is missing.
  static func lacksCollection(_ type: Any.Type) -> Bool {
    let type = (type as? any OptionalType.Type)?.wrappedType ?? type
    return type is AnyClass && linked == nil && collections.contains(className(of: type))
  }

  private static func words(_ name: String) -> [Substring] {
    name.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
  }

  private static let collections = [
    "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet",
    "NSCountedSet", "NSOrderedSet", "NSMutableOrderedSet",
  ]
  private static let classes: [Substring] =
    ["NSNumber", "NSDecimalNumber", "__NSCFBoolean", "NSNull", "Decimal"]
    + collections.map { $0[...] }
}
