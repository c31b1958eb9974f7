public import Foundation
public import KVORuntime

// Changes of elements by hand, with indexes as moved code has them (R2). Each is what its namesake with a
// `RangeSet<Int>` is, and calls that, also where a class overrides it. They are disfavoured, so that what compiled
// without this library, `at: .init(integer: 0)`, compiles with it.

extension KVOObject {
  /// As `willChange(_:valuesAt:forKey:)` with a `RangeSet<Int>`.
  @_disfavoredOverload
  public final func willChange(
    _ kind: KeyValueChange, valuesAt indexes: IndexSet, forKey key: String
  ) {
    willChange(kind, valuesAt: RangeSet(indexes), forKey: key)
  }

  /// As `didChange(_:valuesAt:forKey:)` with a `RangeSet<Int>`.
  @_disfavoredOverload
  public final func didChange(
    _ kind: KeyValueChange, valuesAt indexes: IndexSet, forKey key: String
  ) {
    didChange(kind, valuesAt: RangeSet(indexes), forKey: key)
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// As `willChange(_:valuesAt:for:)` with a `RangeSet<Int>`.
  @_disfavoredOverload
  public func willChange<Value>(
    _ kind: KeyValueChange, valuesAt indexes: IndexSet, for keyPath: KeyPath<Self, Value>
  ) {
    willChange(kind, valuesAt: RangeSet(indexes), for: keyPath)
  }

  /// As `didChange(_:valuesAt:for:)` with a `RangeSet<Int>`.
  @_disfavoredOverload
  public func didChange<Value>(
    _ kind: KeyValueChange, valuesAt indexes: IndexSet, for keyPath: KeyPath<Self, Value>
  ) {
    didChange(kind, valuesAt: RangeSet(indexes), for: keyPath)
  }

  /// As `withChange(_:at:forKey:_:)` with a `RangeSet<Int>`.
  @_disfavoredOverload
  public func withChange<R>(
    _ kind: KeyValueChange, at indexes: IndexSet, forKey key: String, _ body: () throws -> R
  ) rethrows -> R {
    try withChange(kind, at: RangeSet(indexes), forKey: key, body)
  }
}
