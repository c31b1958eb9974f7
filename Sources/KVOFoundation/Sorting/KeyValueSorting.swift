internal import Foundation
internal import KVORuntime

// Reading and comparing values for sorting (R4). Each value is read only once: reading by key costs more than
// comparing, and a value that changed while it is sorted would make the order inconsistent.

enum KeyValueSorting {
  static func value(forKeyPath keyPath: String, of element: Any) throws -> Any? {
    switch element {
    case let object as KVOObject: try object.value(forKeyPath: keyPath)
    case let object as ForeignObject: try object.value(forKeyPath: keyPath)
    case let dictionary as [String: Any]: try dictionary.value(forKeyPath: keyPath)
    case let dictionary as [AnyHashable: Any]: try dictionary.value(forKeyPath: keyPath)
    case _ where keyPath == "self": element
    default:
      throw KeyValueError.invalidKeyPath(
        keyPath: keyPath, component: String(keyPath.prefix { $0 != "." }),
        className: "\(type(of: element))")
    }
  }

  /// Compares two values; nil if they can't be compared.
  static func compare(_ a: Any, _ b: Any) -> ComparisonResult? {
    let (a, b) = (ValueConversion.operand(a), ValueConversion.operand(b))
    // A truth value is the number 0 or 1 beside other numbers, as an `NSNumber` is.
    return operands(a, b) ?? operands(asNumber(a), asNumber(b))
  }

  private static func asNumber(_ value: Any) -> Any {
    (value as? Bool).map { $0 ? 1 : 0 } ?? value
  }

  private static func operands(_ a: Any, _ b: Any) -> ComparisonResult? {
    if let a = a as? Bool, let b = b as? Bool { return result(a ? 1 : 0, b ? 1 : 0) }
    if let a = a as? any Comparable, let found = ordered(a, b) { return found }
    if let a = a as? any BinaryInteger, let b = b as? any BinaryInteger { return integers(a, b) }
    if let a = real(a), let b = real(b) { return result(a, b) }
    return nil
  }

  private static func ordered<C: Comparable>(_ a: C, _ b: Any) -> ComparisonResult? {
    (b as? C).map { result(a, $0) }
  }

  // Exact for any widths: comparing integers of two types can't overflow.
  private static func integers<A: BinaryInteger, B: BinaryInteger>(
    _ a: A, _ b: B
  ) -> ComparisonResult {
    a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
  }

  private static func real(_ value: Any) -> Double? {
    switch value {
    case let number as any BinaryInteger: Double(number)
    case let number as any BinaryFloatingPoint: Double(number)
    case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
    default: nil
    }
  }

  // NaN is less than any number, as for `@min`.
  private static func result<C: Comparable>(_ a: C, _ b: C) -> ComparisonResult {
    guard a == a, b == b else { return result(a == a ? 1 : 0, b == b ? 1 : 0) }
    return a < b ? .orderedAscending : b < a ? .orderedDescending : .orderedSame
  }
}

extension KeyValueSort {
  /// Compares two values that were read.
  func compare(_ a: Any?, _ b: Any?) throws -> ComparisonResult {
    switch (a, b) {
    case (nil, nil): return .orderedSame
    case (nil, _): return nilsComeFirst ? .orderedAscending : .orderedDescending
    case (_, nil): return nilsComeFirst ? .orderedDescending : .orderedAscending
    case (let a?, let b?):
      guard let found = order.compare(a, b) else { throw incomparable(a, b) }
      return ascending ? found : ComparisonResult(rawValue: -found.rawValue) ?? found
    }
  }

  private var nilsComeFirst: Bool {
    switch nils {
    case .least: ascending
    case .first: true
    case .last: false
    }
  }

  private func incomparable(_ a: Any, _ b: Any) -> KeyValueError {
    .typeMismatch(
      key: key ?? "self", className: "\(Element.self)", expected: "values that can be compared",
      found: "\(type(of: a)) and \(type(of: b))")
  }
}
