internal import KVORuntime

// A test's expectations of one change (S2). Only what is specified is compared.

/// A change as a test expects it. Only what is specified is compared.
///
/// ```swift
/// changes.expect([.setting(from: 0, to: 1), .insertion(of: ["Ada"], at: RangeSet(0..<1))])
/// ```
public struct ExpectedChange<Value: Equatable>: CustomStringConvertible {
  let kind: KeyValueChange
  var old: Value?
  var new: Value?
  var indexes: RangeSet<Int>?
  var isPrior = false

  /// Expects that the property was set.
  public static func setting(from old: Value? = nil, to new: Value? = nil) -> Self {
    Self(kind: .setting, old: old, new: new)
  }

  /// Expects that elements were inserted. The indexes are those after the change.
  public static func insertion(of new: Value? = nil, at indexes: RangeSet<Int>? = nil) -> Self {
    Self(kind: .insertion, new: new, indexes: indexes)
  }

  /// Expects that elements were removed. The indexes are those before the change.
  public static func removal(of old: Value? = nil, at indexes: RangeSet<Int>? = nil) -> Self {
    Self(kind: .removal, old: old, indexes: indexes)
  }

  /// Expects that elements were replaced.
  public static func replacement(
    of old: Value? = nil, with new: Value? = nil, at indexes: RangeSet<Int>? = nil
  ) -> Self {
    Self(kind: .replacement, old: old, new: new, indexes: indexes)
  }

  /// Expects the same change in its prior notification, which observers with the option `prior` get before
  /// the change.
  public var prior: Self {
    var expected = self
    expected.isPrior = true
    return expected
  }

  /// The first difference, as the text of a failure; nil if there is none.
  func difference(from found: KeyValueObservedChange<Value>) -> String? {
    if isPrior != found.isPrior {
      return isPrior ? "expected one before the change" : "expected one after the change"
    }
    if kind != found.kind { return "expected kind \(kind), found \(found.kind)" }
    return Self.difference("indexes", indexes, found.indexes)
      ?? Self.difference("old value", old, found.oldValue)
      ?? Self.difference("new value", new, found.newValue)
  }

  private static func difference<T: Equatable>(_ name: String, _ expected: T?, _ found: T?)
    -> String?
  {
    guard let expected, !(found.map { areEqual(values: expected, $0) } ?? false) else { return nil }
    let said = found.map { described($0) } ?? "none, which the options do not ask for"
    return "expected \(name) \(described(expected)), found \(said)"
  }

  /// The change as failures show it: `setting from 0 to 1`.
  public var description: String {
    Self.text(kind, old, new, indexes, isPrior: isPrior)
  }

  static func text(_ change: KeyValueObservedChange<Value>) -> String {
    text(change.kind, change.oldValue, change.newValue, change.indexes, isPrior: change.isPrior)
  }

  private static func text(
    _ kind: KeyValueChange, _ old: Value?, _ new: Value?, _ indexes: RangeSet<Int>?, isPrior: Bool
  ) -> String {
    var words = isPrior ? ["prior \(kind)"] : ["\(kind)"]
    if let old { words.append("from \(described(old))") }
    if let new { words.append("to \(described(new))") }
    if let indexes { words.append("at \(described(indexes))") }
    return words.joined(separator: " ")
  }
}

extension ExpectedChange: Sendable where Value: Sendable {}

/// A value as failures show it: strings in quotation marks, indexes as ranges.
func described<T>(_ value: T) -> String {
  guard let indexes = value as? RangeSet<Int> else { return String(reflecting: value) }
  return indexes.ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0)" }.joined(separator: ", ")
}
