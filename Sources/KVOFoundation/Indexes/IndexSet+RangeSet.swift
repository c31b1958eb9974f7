public import Foundation
public import KVORuntime

// `RangeSet<Int>`, as the library has indexes, and Foundation's `IndexSet`, each made of the other by its ranges; and
// what a change tells of indexes as the latter (R2).

extension IndexSet {
  /// The same indexes. A negative one stops the program: an `IndexSet` has none.
  /// - Complexity: O(*n*) in the number of ranges.
  public init(_ indexes: RangeSet<Int>) {
    self.init()
    for range in indexes.ranges { insert(integersIn: range) }
  }
}

extension RangeSet where Bound == Int {
  /// The same indexes.
  /// - Complexity: O(*n*) in the number of ranges.
  public init(_ indexes: IndexSet) {
    self.init(Array(indexes.rangeView) as [Range<Int>])
  }
}

extension KeyValueObservedChange {
  /// `indexes`, as Foundation has them: where, for changes of ordered to-many properties.
  /// - Complexity: O(*n*) in the number of ranges.
  public var indexSet: IndexSet? { indexes.map { IndexSet($0) } }
}

extension Dictionary where Key == KeyValueChangeKey, Value == Any {
  /// What stands under `indexesKey`, as Foundation has it: the stand-in for `change[.indexesKey] as? IndexSet`.
  /// - Complexity: O(*n*) in the number of ranges.
  public var indexSet: IndexSet? { (self[.indexesKey] as? RangeSet<Int>).map { IndexSet($0) } }
}
