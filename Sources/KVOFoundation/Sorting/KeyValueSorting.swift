internal import Foundation
internal import KVORuntime

// Reading and comparing values for sorting (R4). Each value is read only once: reading by key costs more than
// comparing, and a value that changed while it is sorted would make the order inconsistent.

enum KeyValueSorting {
  static func value(forKeyPath keyPath: String, of element: Any) throws -> Any? {
    if let object = objectCast(element, to: KVOObject.self) {
      return try object.value(forKeyPath: keyPath)
    }
    if let object = objectCast(element, to: ForeignObject.self) {
      return try object.value(forKeyPath: keyPath)
    }
    switch element {
    case let dictionary as [String: Any]: return try dictionary.value(forKeyPath: keyPath)
    case let dictionary as [AnyHashable: Any]: return try dictionary.value(forKeyPath: keyPath)
    case _ where keyPath == "self": return element
    case let collection as any KeyValueCollection:
      return try collection.value(forKeyPath: keyPath)
    default:
      if let elements = AnyElements(element) {
        return try elements.all.value(forKeyPath: keyPath)
      }
      throw KeyValueError.invalidKeyPath(
        keyPath: keyPath, component: String(keyPath.prefix { $0 != "." }),
        className: typeName(of: element))
    }
  }

  /// Compares two values; nil if they can't be compared.
  static func compare(_ a: Any, _ b: Any) -> ComparisonResult? {
    let (a, b) = (ValueConversion.operand(a), ValueConversion.operand(b))
    if let a = a as? any Comparable, let found = ordered(a, b) { return found }
    // A truth value is the number 0 or 1, as an `NSNumber` is. NaN is less than any number, as for `@min`.
    guard let a = Number(a), let b = Number(b) else { return nil }
    return result(a.order(b) ?? (a.isNaN ? 0 : 1) - (b.isNaN ? 0 : 1), 0)
  }

  private static func ordered<C: Comparable>(_ a: C, _ b: Any) -> ComparisonResult? {
    (b as? C).map { result(a, $0) }
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
      key: key ?? "self", className: swiftName(of: Element.self),
      expected: "values that can be compared", found: "\(typeName(of: a)) and \(typeName(of: b))")
  }
}
