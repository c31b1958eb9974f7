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
