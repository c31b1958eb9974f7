internal import CKVORuntime

// Index sets: Swift's are `RangeSet<Int>`, the core's `kvo_index_set`. Both store ranges, so the cost of a
// conversion depends on the number of ranges, not of indexes.

/// The ranges of an index set of the core.
package func ranges(of indexes: OpaquePointer) -> [Range<Int>] {
  (0..<kvo_index_set_range_count(indexes)).map {
    let range = kvo_index_set_range(indexes, $0)
    return range.location..<(range.location + range.length)
  }
}

/// Calls a body with the core's form of an index set, none of whose indexes is negative. Passes nil if memory
/// is exhausted.
/// - Complexity: O(*n*) in the number of ranges.
func withIndexSet<R>(_ indexes: RangeSet<Int>, _ body: (OpaquePointer?) -> R) -> R {
  let set = kvo_index_set_create()
  defer { kvo_index_set_destroy(set) }
  let isWhole = indexes.ranges.allSatisfy {
    set != nil && kvo_index_set_add_range(set!, $0.lowerBound, $0.count)
  }
  return body(isWhole ? set : nil)
}

/// The kind of a change of elements at these indexes. If there was no memory for the indexes, it is reported
/// as a plain setting, which is less precise but correct.
func kind(_ kind: KeyValueChange, at indexes: OpaquePointer?) -> kvo_change_kind {
  indexes == nil ? .KVO_SETTING : kind.cKind
}

// MARK: As in Foundation

/// The members of Foundation's `IndexSet`, for code that is moved from there.
extension RangeSet where Bound == Int {
  /// Creates a set of one index.
  public init(integer: Int) { self.init(integer..<integer + 1) }

  /// Creates a set of the indexes in a range.
  public init(integersIn range: Range<Int>) { self.init(range) }

  /// Creates a set of the indexes in a closed range.
  public init(integersIn range: ClosedRange<Int>) { self.init(Range(range)) }

  /// Creates a set of indexes, which may be in any order.
  ///
  /// - Complexity: O(*n* log *n*)
  @_disfavoredOverload  // `RangeSet([])` is to call the standard library's initialiser
  public init(_ integers: some Sequence<Int>) {
    self.init(integers.map { $0..<$0 + 1 } as [Range<Int>])
  }

  /// The number of indexes.
  ///
  /// - Complexity: O(*n*) in the number of ranges.
  public var count: Int { ranges.reduce(0) { $0 + $1.count } }

  /// The lowest index; nil if the set is empty.
  public var first: Int? { ranges.first?.first }

  /// The highest index; nil if the set is empty.
  public var last: Int? { ranges.last?.last }

  /// Calls a function with each index, in ascending order.
  public func forEach(_ body: (Int) throws -> Void) rethrows {
    for range in ranges { try range.forEach(body) }
  }

  /// Returns the results of calling a function with each index, in ascending order.
  public func map<T>(_ transform: (Int) throws -> T) rethrows -> [T] {
    try ranges.flatMap { try $0.map(transform) }
  }

  /// Returns the indexes in descending order, in which elements can be removed one by one.
  /// - Complexity: O(*n*) in the number of indexes.
  public func reversed() -> [Int] { ranges.reversed().flatMap { $0.reversed() } }
}
