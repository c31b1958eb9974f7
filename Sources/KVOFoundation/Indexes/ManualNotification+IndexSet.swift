public import Foundation
public import KVORuntime

// Manual changes of elements, with an `IndexSet` as in code that is moved from Apple's platforms (R2). Each
// calls the function of the same name that takes a `RangeSet<Int>`, including overrides. They are
// disfavoured, so that code such as `at: .init(integer: 0)` still compiles when this library is linked.

extension KVOObject {
  /// Announces a manual change of elements at some indexes of a to-many key. Follow it by
  /// `didChange(_:valuesAt:forKey:)` with the same arguments. Calls the function that takes a
  /// `RangeSet<Int>`.
  @_disfavoredOverload
  public final func willChange(
    _ kind: KeyValueChange, valuesAt indexes: IndexSet, forKey key: String
  ) {
    willChange(kind, valuesAt: RangeSet(indexes), forKey: key)
  }

  /// Ends a manual change of elements at some indexes of a to-many key, and notifies observers. It must
  /// follow `willChange(_:valuesAt:forKey:)` with the same arguments. Calls the function that takes a
  /// `RangeSet<Int>`.
  @_disfavoredOverload
  public final func didChange(
    _ kind: KeyValueChange, valuesAt indexes: IndexSet, forKey key: String
  ) {
    didChange(kind, valuesAt: RangeSet(indexes), forKey: key)
  }
}

/// Manual notification of changes at the indexes of an `IndexSet`.
extension KeyValueObserving where Self: KVOObject {
  /// Announces a manual change of elements at some indexes of a to-many property. Follow it by
  /// `didChange(_:valuesAt:for:)` with the same arguments. Calls the function that takes a `RangeSet<Int>`.
  @_disfavoredOverload
  public func willChange<Value>(
    _ kind: KeyValueChange, valuesAt indexes: IndexSet, for keyPath: KeyPath<Self, Value>
  ) {
    willChange(kind, valuesAt: RangeSet(indexes), for: keyPath)
  }

  /// Ends a manual change of elements at some indexes of a to-many property, and notifies observers. It must
  /// follow `willChange(_:valuesAt:for:)` with the same arguments. Calls the function that takes a
  /// `RangeSet<Int>`.
  @_disfavoredOverload
  public func didChange<Value>(
    _ kind: KeyValueChange, valuesAt indexes: IndexSet, for keyPath: KeyPath<Self, Value>
  ) {
    didChange(kind, valuesAt: RangeSet(indexes), for: keyPath)
  }

  /// Runs a body as a manual change of elements at some indexes of a to-many key, and notifies observers
  /// afterwards. Calls the function that takes a `RangeSet<Int>`.
  @_disfavoredOverload
  public func withChange<R>(
    _ kind: KeyValueChange, at indexes: IndexSet, forKey key: String, _ body: () throws -> R
  ) rethrows -> R {
    try withChange(kind, at: RangeSet(indexes), forKey: key, body)
  }
}
