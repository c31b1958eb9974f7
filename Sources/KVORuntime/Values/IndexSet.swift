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

/// Hands over the core's form of a set of indexes, of which none is negative; nil if memory is out.
/// - Complexity: O(*n*) in the number of ranges.
func withIndexSet<R>(_ indexes: RangeSet<Int>, _ body: (OpaquePointer?) -> R) -> R {
  let set = kvo_index_set_create()
  defer { kvo_index_set_destroy(set) }
  let isWhole = indexes.ranges.allSatisfy {
    set != nil && kvo_index_set_add_range(set!, $0.lowerBound, $0.count)
  }
  return body(isWhole ? set : nil)
}

/// The kind of a change of elements at these indexes: without memory for them it is told as a setting,
/// which says less but nothing wrong.
func kind(_ kind: KeyValueChange, at indexes: OpaquePointer?) -> kvo_change_kind {
  indexes == nil ? .KVO_SETTING : kind.cKind
}
