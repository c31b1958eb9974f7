public import Foundation
public import KVORuntime

// Conversion between `RangeSet<Int>`, which this library uses for indexes, and Foundation's `IndexSet`. A
// change also offers its indexes as an `IndexSet` (R2).

/// Conversion from the sets of indexes of this library.
extension IndexSet {
  /// Creates an index set from a range set. Stops the program for a negative index, which an `IndexSet` can't
  /// contain.
  /// - Complexity: O(*n*) in the number of ranges.
  public init(_ indexes: RangeSet<Int>) {
    self.init()
    for range in indexes.ranges { insert(integersIn: range) }
  }
}

/// Conversion from Foundation's sets of indexes.
extension RangeSet where Bound == Int {
  /// Creates a range set from an index set.
  /// - Complexity: O(*n*) in the number of ranges.
  public init(_ indexes: IndexSet) {
    self.init(Array(indexes.rangeView) as [Range<Int>])
  }
}

/// The indexes of a change in Foundation's type.
extension KeyValueObservedChange {
  /// The indexes of a change of an ordered to-many property, as an `IndexSet`; nil for other changes.
  /// - Complexity: O(*n*) in the number of ranges.
  public var indexSet: IndexSet? { indexes.map { IndexSet($0) } }
}

/// The indexes of a change dictionary in Foundation's type.
extension Dictionary where Key == KeyValueChangeKey, Value == Any {
  /// The value for `indexesKey` as an `IndexSet`, in place of `change[.indexesKey] as? IndexSet`; nil if
  /// there is none.
  /// - Complexity: O(*n*) in the number of ranges.
  public var indexSet: IndexSet? { (self[.indexesKey] as? RangeSet<Int>).map { IndexSet($0) } }
}
