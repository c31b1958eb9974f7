internal import Foundation
package import KVORuntime

// The part of the conversion table that concerns Foundation's types (B12, B13). Linking this library adds it
// to key-value coding in the whole program.

extension FoundationLink: FoundationValues {
  package static func isNull(_ value: Any) -> Bool { value is NSNull }

  // MARK: Numbers

  package static func number(_ value: Any) -> Number? {
    if type(of: value) == Decimal.self, let decimal = value as? Decimal {
      return number(of: decimal)
    }
    guard type(of: value) is AnyClass, let number = value as? NSNumber else { return nil }
    return self.number(of: number)
  }

  // Uses the type that the number was created from, since other accessors might convert it.
  private static func number(of number: NSNumber) -> Number {
    if let decimal = number as? NSDecimalNumber { return self.number(of: decimal.decimalValue) }
    switch String(cString: number.objCType) {
    case "f": return .real(number.floatValue)
    case "d": return .real(number.doubleValue)
    case "Q": return .integer(number.uint64Value)
    default: return .integer(number.int64Value)
    }
  }

  private static func number(of decimal: Decimal) -> Number {
    guard !decimal.isNaN else { return .decimal("NaN") }
    var compact = decimal  // without zeros at the end of its fraction
    NSDecimalCompact(&compact)
    return .decimal(compact.description)
  }

  /// Converts an `NSNumber` to a Swift number, an `NSDecimalNumber` to a `Decimal`, and a boolean one to a
  /// `Bool`.
  package static func content(_ value: Any) -> Any? {
    guard type(of: value) is AnyClass else { return nil }
    switch value {
    case let decimal as NSDecimalNumber: return decimal.decimalValue
    case let number as NSNumber: return isTruth(number) ? number.boolValue : swiftNumber(number)
    case let text as NSString: return text as String
    case let date as NSDate: return date as Date
    default: return nil
    }
  }

  package static func hasContent(_ type: Any.Type) -> Bool {
    type is NSNumber.Type || type is NSString.Type || type is NSDate.Type
  }

  private static func isTruth(_ number: NSNumber) -> Bool {
    type(of: number) == type(of: NSNumber(value: true))
  }

  private static func swiftNumber(_ number: NSNumber) -> Any {
    switch String(cString: number.objCType) {
    case "f": number.floatValue
    case "d": number.doubleValue
    case "Q": Int(exactly: number.uint64Value) ?? UInt(number.uint64Value)
    default: Int(number.int64Value)
    }
  }

  package static func isDecimal(_ type: Any.Type) -> Bool { type == Decimal.self }

  package static func decimal(_ number: Number) -> Any { decimalNumber(number) }

  /// A floating-point number becomes the decimal number of its shortest description: 0.1 becomes 0.1.
  private static func decimalNumber(_ number: Number) -> Decimal {
    switch number {
    case .truth(let truth): truth ? 1 : 0
    case .integer(let integer): Decimal(string: "\(integer)") ?? .nan
    case .real(let real): decimalNumber(real)
    case .decimal(let text): Decimal(string: text) ?? .nan
    }
  }

  // `Decimal(string: "-inf")` is 0, and a number whose exponent is too small for it is nil.
  private static func decimalNumber(_ real: some BinaryFloatingPoint) -> Decimal {
    guard real.isFinite else { return .nan }
    return Decimal(string: "\(real)") ?? (real.magnitude < 1 ? 0 : .nan)
  }

  package static func sum(_ decimal: Any, _ other: Any?, over count: Int) -> Any? {
    guard let decimal = decimal as? Decimal else { return nil }
    guard let other = other.flatMap(flattened) else { return decimal }
    guard let number = Number(other) else { return nil }
    return (decimal + decimalNumber(number)) / Decimal(count)
  }

  package static func decimal(leading text: Substring) -> Any {
    text.isEmpty ? Decimal.nan : Decimal(string: String(text)) ?? .nan
  }

  // MARK: Objects

  /// An enumeration or an option set becomes its raw value.
  package static func object(_ type: Any.Type, from value: Any) -> Any? {
    let value = ValueConversion.rawValue(of: value) ?? value
    return switch type {
    case is NSDecimalNumber.Type: Number(value).map { NSDecimalNumber(decimal: decimalNumber($0)) }
    case is NSNumber.Type: Number(value).map { object(of: $0) }
    case is NSMutableString.Type: text(value).map { NSMutableString(string: $0) }
    case is NSString.Type: text(value).map { NSString(string: $0) }
    default: nil
    }
  }

  private static func text(_ value: Any) -> String? {
    switch value {
    case let text as String: text
    case let text as Substring: String(text)
    case let character as Character: String(character)
    default: nil
    }
  }

  private static func object(of number: Number) -> NSNumber {
    switch number {
    case .truth(let truth): NSNumber(value: truth)
    case .integer(let integer):
      Int64(exactly: integer).map { NSNumber(value: $0) }
        ?? UInt64(exactly: integer).map { NSNumber(value: $0) }
        ?? NSDecimalNumber(decimal: decimalNumber(number))
    case .real(let real): NSNumber(value: Double(real))
    case .decimal: NSDecimalNumber(decimal: decimalNumber(number))
    }
  }

  package static func mayBeMutable(_ type: Any.Type) -> Bool {
    type is NSObject.Type && !(type is NSValue.Type)
  }

  package static func copy(ofMutable value: Any) -> Any? {
    guard type(of: value) is AnyClass, let object = value as? NSObject, object is NSCopying else {
      return nil
    }
    switch object {
    case is NSMutableArray, is NSMutableOrderedSet, is NSMutableSet, is NSMutableDictionary,
      is NSMutableString, is NSMutableAttributedString, is NSMutableData, is NSMutableIndexSet:
      return object.mutableCopy()
    case is NSDateComponents, is NSURLComponents, is NSPersonNameComponents, is NSCalendar:
      return object.copy()
    default: return isOfProgram(object) ? equalCopy(of: object) : nil
    }
  }

  private static let modules: Set<Substring> = [
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking",
    "FoundationXML",
  ]

  // Whether the program has written how objects of the class are copied. Some classes of Foundation stop the program.
  private static func isOfProgram(_ object: NSObject) -> Bool {
    let classes = sequence(first: type(of: object) as AnyClass, next: { _getSuperclass($0) })
    return classes.first { modules.contains(String(reflecting: $0).prefix { $0 != "." }) }
      == NSObject.self
  }

  // Nil for an object that is compared by its identity, and for one that is its own copy.
  private static func equalCopy(of object: NSObject) -> Any? {
    guard let copy = object.copy() as? NSObject, copy !== object, copy.isEqual(object) else {
      return nil
    }
    return copy
  }

  // MARK: Collections

  package static func collection(_ type: Any.Type) -> FoundationCollection? {
    switch type {
    case is NSArray.Type: .array
    case is NSOrderedSet.Type: .orderedSet
    case is NSSet.Type: .set
    case is NSDictionary.Type: .dictionary
    default: nil
    }
  }

  package static func elements(of value: Any) -> (elements: [Any], isOrdered: Bool)? {
    switch value {
    case let array as NSArray: (array.map { $0 }, true)
    case let ordered as NSOrderedSet: (ordered.map { $0 }, true)
    case let set as NSSet: (set.map { $0 }, false)
    default: nil
    }
  }

  package static func pairs(of value: Any) -> [(key: Any, value: Any)]? {
    (value as? NSDictionary)?.map { ($0.key, $0.value) }
  }

  package static func member(_ key: String, of dictionary: Any) -> Any? {
    (dictionary as? NSDictionary)?.object(forKey: key)
  }

  package static func collection(_ type: Any.Type, of elements: [Any]) -> Any? {
    let elements = elements.map { flattened($0) ?? NSNull() }
    guard elements.allSatisfy(type is NSArray.Type ? canBridge : canHash) else { return nil }
    return switch type {
    case is NSMutableArray.Type: NSMutableArray(array: elements)
    case is NSArray.Type: NSArray(array: elements)
    case is NSMutableOrderedSet.Type: orderedSet(of: elements)
    case is NSOrderedSet.Type: NSOrderedSet(orderedSet: orderedSet(of: elements))
    case is NSCountedSet.Type: NSCountedSet(array: elements)
    case is NSMutableSet.Type: NSMutableSet(array: elements)
    case is NSSet.Type: NSSet(array: elements)
    default: nil
    }
  }

  package static func form(of member: AnyHashable) -> AnyHashable {
    guard canHash(member) else { return member }
    let value = flattened(member.base) ?? NSNull()
    guard let object = value as? NSObject ?? value as AnyObject as? NSObject else { return member }
    return AnyHashable(SetMember(object: object))
  }

  /// A member as Foundation's sets store it. In an `AnyHashable`, an `NSNumber` would be compared as a Swift number.
  private struct SetMember: Hashable {
    let object: NSObject
  }

  package static func countedSet(_ value: Any, with members: Set<AnyHashable>) -> Any? {
    guard let copy = (value as? NSCountedSet)?.mutableCopy() as? NSCountedSet else { return nil }
    let kept = NSSet(array: members.map { flattened($0.base) ?? NSNull() })
    for gone in copy.allObjects where !kept.contains(gone) {
      while copy.contains(gone) { copy.remove(gone) }
    }
    for member in kept where !copy.contains(member) { copy.add(member) }
    return copy
  }

  package static func countsAreEqual(_ first: Any, _ second: Any) -> Bool {
    guard let first = first as? NSCountedSet, let second = second as? NSCountedSet else {
      return true
    }
    return first.allSatisfy { first.count(for: $0) == second.count(for: $0) }
  }

  // On Linux, the initialiser from an array keeps elements that occur twice.
  private static func orderedSet(of elements: [Any]) -> NSMutableOrderedSet {
    let made = NSMutableOrderedSet()
    for element in elements { made.add(element) }
    return made
  }

  package static func dictionary(_ type: Any.Type, of pairs: [(key: Any, value: Any)]) -> Any? {
    var members: [AnyHashable: Any] = [:]
    for pair in pairs {
      guard let key = pair.key as? AnyHashable, canHash(key) else { return nil }
      let value = flattened(pair.value) ?? NSNull()
      guard canBridge(value) else { return nil }
      members[key] = value
    }
    return switch type {
    case is NSMutableDictionary.Type: NSMutableDictionary(dictionary: members)
    case is NSDictionary.Type: NSDictionary(dictionary: members)
    default: nil
    }
  }
}
