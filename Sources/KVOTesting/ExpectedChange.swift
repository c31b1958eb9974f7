internal import KVORuntime

// What a test expects of one change: as much as it says, and nothing of the rest (S2).

/// A change as a test expects it. What is not said is not compared.
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

  /// The property was set.
  public static func setting(from old: Value? = nil, to new: Value? = nil) -> Self {
    Self(kind: .setting, old: old, new: new)
  }

  /// These elements came, at these indexes.
  public static func insertion(of new: Value? = nil, at indexes: RangeSet<Int>? = nil) -> Self {
    Self(kind: .insertion, new: new, indexes: indexes)
  }

  /// These elements went, from these indexes.
  public static func removal(of old: Value? = nil, at indexes: RangeSet<Int>? = nil) -> Self {
    Self(kind: .removal, old: old, indexes: indexes)
  }

  /// Elements were put in the places of others.
  public static func replacement(
    of old: Value? = nil, with new: Value? = nil, at indexes: RangeSet<Int>? = nil
  ) -> Self {
    Self(kind: .replacement, old: old, new: new, indexes: indexes)
  }

  /// The same, told before it happened, to an observer that asked for `prior`.
  public var prior: Self {
    var expected = self
    expected.isPrior = true
    return expected
  }

  /// The first part that differs, as a failure says it; nil if none does.
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
    guard let expected, expected != found else { return nil }
    let told = found.map { described($0) } ?? "none, which the options do not ask for"
    return "expected \(name) \(described(expected)), found \(told)"
  }

  /// As a failure shows it: `setting from 0 to 1`.
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

/// A value as a failure shows it: strings in quotation marks, indexes as ranges.
func described<T>(_ value: T) -> String {
  guard let indexes = value as? RangeSet<Int> else { return String(reflecting: value) }
  return indexes.ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0)" }.joined(separator: ", ")
}
