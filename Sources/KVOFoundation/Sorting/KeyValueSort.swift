public import Foundation

// By what a sequence is sorted, as an `NSSortDescriptor` says it (R4). `KeyValueOrder` compares what is read.

/// One of the criteria by which a sequence is sorted: the value of a key path, as `NSSortDescriptor` has it.
///
/// ```swift
/// try people.sorted(using: [KeyValueSort("name"), KeyValueSort(\.age, ascending: false)])
/// ```
public struct KeyValueSort<Element> {
  /// The key path as a string; nil of a typed one.
  public let key: String?
  /// Whether the least comes first.
  public var ascending: Bool
  /// Where elements go whose value is nil.
  public var nils: KeyValueNils
  let read: (Element) throws -> Any?
  let order: KeyValueOrder

  /// By a key path that is a string, with operators or without, of a sequence of `KVOObject`s or of anything else that
  /// has keys. What values can be compared is what is `Comparable`, of one type, numbers of any types, and `Bool`.
  ///
  /// - Parameters:
  ///   - key: as `value(forKeyPath:)` takes it; `"self"` is the element.
  ///   - ascending: whether the least comes first.
  ///   - order: how two values, of which neither is nil, are compared.
  ///   - nils: where elements go whose value is nil.
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

  /// By a typed key path, of elements of any kind.
  public init<Value: Comparable>(
    _ keyPath: KeyPath<Element, Value>, ascending: Bool = true,
    comparing order: KeyValueOrder = .standard
  ) {
    self.init(ascending, .least, order) { $0[keyPath: keyPath] }
  }

  /// By a typed key path to what may be nil.
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

  /// The same the other way round, as `reversedSortDescriptor`. Nils that are first or last stay there.
  public var reversed: KeyValueSort {
    var sort = self
    sort.ascending.toggle()
    return sort
  }
}

/// Where elements go whose value is nil.
public enum KeyValueNils: Sendable, Hashable {
  /// Nil is less than any value, as on Apple's platforms: first of what ascends, last of what descends.
  case least
  /// Before all others, whichever way those are sorted.
  case first
  /// Behind all others, whichever way those are sorted.
  case last
}

/// How two values are compared: the stand-in for a sort descriptor's selector or comparator.
public struct KeyValueOrder: Sendable {
  let compare: @Sendable (Any, Any) -> ComparisonResult?

  /// By what is given: a value that it can't compare is nil to it, which sorting throws as an error.
  init(optional compare: @escaping @Sendable (Any, Any) -> ComparisonResult?) {
    self.compare = compare
  }

  /// By a comparator of one's own. It is given values, none of them nil or an optional.
  public init(_ compare: @escaping @Sendable (Any, Any) -> ComparisonResult) {
    self.compare = compare
  }

  /// `<` of values of one type; numbers of different types by their value; false before true.
  public static let standard = KeyValueOrder(optional: { KeyValueSorting.compare($0, $1) })
  /// `String.compare(_:)` without regard to case.
  public static let caseInsensitive = strings { $0.caseInsensitiveCompare($1) }
  /// `localizedCompare(_:)`: by the rules of the current locale.
  public static let localized = strings { $0.localizedCompare($1) }
  /// `localizedCaseInsensitiveCompare(_:)`: the same without regard to case.
  public static let localizedCaseInsensitive = strings { $0.localizedCaseInsensitiveCompare($1) }
  /// `localizedStandardCompare(_:)`: as lists of files are sorted, "2" before "10".
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
