public import Foundation

// Sort criteria, in place of `NSSortDescriptor` (R4). `KeyValueOrder` compares the values that were read.

/// A sort criterion: compares elements by the value of a key path, like an `NSSortDescriptor`.
///
/// ```swift
/// try people.sorted(using: [KeyValueSort("name"), KeyValueSort(\.age, ascending: false)])
/// ```
public struct KeyValueSort<Element> {
  /// The key path as a string; nil for a typed key path.
  public let key: String?
  /// Whether the least value comes first.
  public var ascending: Bool
  /// The position of elements whose value is nil.
  public var nils: KeyValueNils
  let read: (Element) throws -> Any?
  let order: KeyValueOrder

  /// Creates a criterion with a string key path, which may contain operators. Elements are `KVOObject`s or
  /// anything else that has keys.
  ///
  /// - Parameters:
  ///   - key: a key path for `value(forKeyPath:)`; `"self"` is the element itself.
  ///   - ascending: whether the least value comes first.
  ///   - order: compares two values that are not nil. The standard order compares `Comparable` values of one
  ///     type, numbers of any types, and `Bool`.
  ///   - nils: the position of elements whose value is nil.
  public init(
    _ key: String, ascending: Bool = true, comparing order: KeyValueOrder = .standard,
    nils: KeyValueNils = .least
  ) {
    self.key = key
    self.ascending = ascending
    self.nils = nils
    self.order = order
    read = { try KeyValueSorting.value(forKeyPath: key, of: $0) }
  }

  /// Creates a criterion with a typed key path, for elements of any type.
  ///
  /// - Parameters:
  ///   - keyPath: the values to compare.
  ///   - ascending: whether the least value comes first.
  ///   - order: compares two values.
  public init<Value: Comparable>(
    _ keyPath: KeyPath<Element, Value>, ascending: Bool = true,
    comparing order: KeyValueOrder = .standard
  ) {
    self.init(ascending, .least, order) { $0[keyPath: keyPath] }
  }

  /// Creates a criterion with a typed key path to an optional, for elements of any type.
  ///
  /// - Parameters:
  ///   - keyPath: the values to compare.
  ///   - ascending: whether the least value comes first.
  ///   - order: compares two values that are not nil.
  ///   - nils: the position of elements whose value is nil.
  public init<Value: Comparable>(
    _ keyPath: KeyPath<Element, Value?>, ascending: Bool = true,
    comparing order: KeyValueOrder = .standard, nils: KeyValueNils = .least
  ) {
    self.init(ascending, nils, order) { $0[keyPath: keyPath] }
  }

  private init(
    _ ascending: Bool, _ nils: KeyValueNils, _ order: KeyValueOrder,
    _ read: @escaping (Element) throws -> Any?
  ) {
    key = nil
    self.ascending = ascending
    self.nils = nils
    self.order = order
    self.read = read
  }

  /// The criterion in the opposite order, like `reversedSortDescriptor`. Nils that are first or last stay
  /// there.
  public var reversed: KeyValueSort {
    var sort = self
    sort.ascending.toggle()
    return sort
  }
}

/// The position of elements whose value is nil.
public enum KeyValueNils: Sendable, Hashable {
  /// Nil is less than any value, as on Apple's platforms: first in ascending, last in descending order.
  case least
  /// Nil comes before all values, in ascending and descending order.
  case first
  /// Nil comes after all values, in ascending and descending order.
  case last
}

/// A comparison of two values, in place of a sort descriptor's selector or comparator.
public struct KeyValueOrder: Sendable {
  let compare: @Sendable (Any, Any) -> ComparisonResult?

  /// Creates an order from a function that returns nil for values that it can't compare. Sorting then throws
  /// an error.
  init(optional compare: @escaping @Sendable (Any, Any) -> ComparisonResult?) {
    self.compare = compare
  }

  /// Creates an order from a comparator. It gets values that are neither nil nor optionals.
  public init(_ compare: @escaping @Sendable (Any, Any) -> ComparisonResult) {
    self.compare = compare
  }

  /// Compares values of one type by `<`, numbers of different types by value, and false before true.
  public static let standard = KeyValueOrder(optional: { KeyValueSorting.compare($0, $1) })
  /// Compares strings by `caseInsensitiveCompare(_:)`, ignoring case.
  public static let caseInsensitive = strings { $0.caseInsensitiveCompare($1) }
  /// Compares strings by `localizedCompare(_:)`, by the rules of the current locale.
  public static let localized = strings { $0.localizedCompare($1) }
  /// Compares strings by `localizedCaseInsensitiveCompare(_:)`, by the rules of the current locale, ignoring
  /// case.
  public static let localizedCaseInsensitive = strings { $0.localizedCaseInsensitiveCompare($1) }
  /// Compares strings by `localizedStandardCompare(_:)`, as lists of files are sorted: "2" before "10".
  public static let localizedStandard = strings { $0.localizedStandardCompare($1) }

  private static func strings(
    _ compare: @escaping @Sendable (String, String) -> ComparisonResult
  ) -> KeyValueOrder {
    KeyValueOrder(optional: { a, b in
      guard let a = a as? String, let b = b as? String else { return nil }
      return compare(a, b)
    })
  }
}
