internal import CKVORuntime

// Sets of indexes: Swift's are `RangeSet<Int>`, the core's `kvo_index_set`. Both keep ranges, so
// that converting costs nothing for each index.

/// The ranges of a core's index set.
func ranges(of indexes: OpaquePointer) -> [Range<Int>] {
  (0..<kvo_index_set_range_count(indexes)).map {
    let range = kvo_index_set_range(indexes, $0)
    return range.location..<(range.location + range.length)
  }
}

/// Hands over the core's form of a set of indexes, of which none is negative.
/// - Complexity: O(*n*) in the number of ranges.
func withIndexSet<R>(_ indexes: RangeSet<Int>, _ body: (OpaquePointer) -> R) -> R {
  guard let set = kvo_index_set_create() else { fatalError("KVORuntime: no memory for indexes.") }
  defer { kvo_index_set_destroy(set) }
  for range in indexes.ranges where !kvo_index_set_add_range(set, range.lowerBound, range.count) {
    fatalError("KVORuntime: no memory for indexes.")
  }
  return body(set)
}
