// The part of the conversion table that concerns Foundation's types (B12). This library does not import
// Foundation; KVOFoundation supplies the functions in every program that links it.

/// Operations on Foundation's values, implemented by KVOFoundation.
package protocol FoundationValues {
  /// The number in an `NSNumber` or a `Decimal`; nil for any other value.
  static func number(_ value: Any) -> Number?
  /// The Swift number or text in an object of a Foundation class; nil for any other value.
  static func content(_ value: Any) -> Any?
  /// Whether objects of a class may contain such a number or text.
  static func hasContent(_ type: Any.Type) -> Bool
  static func isNull(_ value: Any) -> Bool
  static func isDecimal(_ type: Any.Type) -> Bool
  /// Converts a number to a `Decimal`.
  static func decimal(_ number: Number) -> Any
  /// The sum of a `Decimal` and another number (nothing if nil), divided by `count`; nil if `other` is not a
  /// number.
  static func sum(_ decimal: Any, _ other: Any?, over count: Int) -> Any?
  /// The `Decimal` at the beginning of a text; `Decimal`'s NaN if there is none.
  static func decimal(leading text: Substring) -> Any
  /// An object of a Foundation class for a value that Swift does not cast to it; nil if there is none.
  static func object(_ type: Any.Type, from value: Any) -> Any?

  /// Whether objects of a class may be changed in place, and be copied.
  static func mayBeMutable(_ type: Any.Type) -> Bool
  /// A copy of an object that can be changed in place, if it is equal; nil for any other value.
  static func copy(ofMutable value: Any) -> Any?

  // Collections

  /// The kind of a Foundation collection class; nil for any other type.
  static func collection(_ type: Any.Type) -> FoundationCollection?
  /// The elements of an array or a set, none of them nil; nil for any other value.
  static func elements(of value: Any) -> (elements: [Any], isOrdered: Bool)?
  /// The keys and values of a dictionary; nil for any other value.
  static func pairs(of value: Any) -> [(key: Any, value: Any)]?
  /// The value for a key of a dictionary.
  static func member(_ key: String, of dictionary: Any) -> Any?
  /// Makes an object of an array or set class; nil elements become `NSNull`.
  static func collection(_ type: Any.Type, of elements: [Any]) -> Any?
  /// A value that is equal to that of another one if Foundation's sets take the two for the same member, such as `true`
  /// and 1.
  static func form(of member: AnyHashable) -> AnyHashable
  /// A copy of a counted set with other members, in which those that stay keep their counts; nil for any other value.
  static func countedSet(_ value: Any, with members: Set<AnyHashable>) -> Any?
  /// Whether two sets with equal members count each of them equally often; true if one of them does not count.
  static func countsAreEqual(_ first: Any, _ second: Any) -> Bool
  /// Makes an object of a dictionary class.
  static func dictionary(_ type: Any.Type, of pairs: [(key: Any, value: Any)]) -> Any?
}

extension FoundationValues {
  /// Whether Foundation can make an object of a value. On Linux its hash of a decimal number calls itself without end,
  /// so there can be no sets of decimal numbers, and no dictionaries with such keys.
  package static func canBridge(_ value: Any) -> Bool {
    if let pairs = AnyPairs(value) {
      return pairs.all.allSatisfy { canHash($0.key) && canBridge($0.value) }
    }
    guard let elements = AnyElements(value) else { return true }
    return elements.all.allSatisfy {
      (elements.isOrdered || canHash($0)) && flattened($0).map(canBridge) ?? true
    }
  }

  /// Whether a value can be a member of Foundation's sets and a key of its dictionaries.
  package static func canHash(_ value: Any) -> Bool {
    guard let value = flattened(ValueConversion.base(of: value)) else { return true }
    if case .decimal = number(value) { return false }
    return canBridge(value)
  }
}

/// KVOFoundation extends this type with a conformance to `FoundationValues`.
package enum FoundationLink {
  /// The implementation; nil if the program does not link KVOFoundation.
  static var linked: (any FoundationValues.Type)? {
    (FoundationLink.self as Any.Type) as? any FoundationValues.Type
  }

  /// A sentence that advises to link KVOFoundation, with a leading space. Empty if it is linked, or serves
  /// none of the named types.
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

  /// Whether a type is one of Foundation's collection classes, and KVOFoundation is not linked.
  static func lacksCollection(_ type: Any.Type) -> Bool {
    let type = unwrapped(type)
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
