import CKVORuntime
import Expectations
import TestSupport
import Testing

/// The index sets that changes of ordered to-many keys carry (H1).
@Suite struct IndexSetTests {
  @Test("H1: indexes are in order, each once, as ranges that don't touch")
  func ranges() {
    withIndexes([5..<7, 0..<1, 1..<2, 7..<7, 6..<9, 20..<21]) { set in
      expectEqual(CKVORuntimeTests.ranges(set), [0..<2, 5..<9, 20..<21])
      expectEqual(kvo_index_set_count(set), 7)
      expectEqual((0..<8).map { kvo_index_set_index(set, $0) }, [0, 1, 5, 6, 7, 8, 20, notFound])
      expectEqual(kvo_index_set_range(set, 3).length, 0)
    }
  }

  @Test("H1: indexes added in any order make the same index set")
  func againstSwift() {
    var random = Random(seed: 7)
    for _ in 0..<300 {
      var expected: Set<Int> = []
      let set = kvo_index_set_create()!
      for _ in 0..<random.next(12) {
        let location = random.next(40)
        let length = random.next(6)
        expect(kvo_index_set_add_range(set, location, length))
        expected.formUnion(location..<(location + length))
        let single = random.next(50)
        expect(kvo_index_set_add(set, single))
        expected.insert(single)
      }
      expectEqual(Self.indexes(set), expected.sorted())
      expectEqual((0..<60).filter { kvo_index_set_contains(set, $0) }, expected.sorted())
      expectEqual(kvo_index_set_count(set), expected.count)
      Self.expectEqualCopy(of: set, adding: random.next(60))
      kvo_index_set_destroy(set)
    }
  }

  @Test("H1: the n-th index is found among many ranges, added in any order")
  func nth() {
    let set = kvo_index_set_create()!
    let starts = Array(0..<500)
    for start in starts.filter({ $0 % 3 == 1 }) + starts.filter({ $0 % 3 != 1 }).reversed() {
      expect(kvo_index_set_add_range(set, start * 4, 2))
    }
    let expected = starts.flatMap { [$0 * 4, $0 * 4 + 1] }
    expectEqual((0..<1000).map { kvo_index_set_index(set, $0) }, expected)
    expectEqual(kvo_index_set_index(set, 1000), notFound)
    // Indexes that join two ranges.
    expect(kvo_index_set_add_range(set, 2, 2))
    expectEqual((0..<7).map { kvo_index_set_index(set, $0) }, [0, 1, 2, 3, 4, 5, 8])
    kvo_index_set_destroy(set)
  }

  @Test("H1: indexes beyond the last possible one are refused and change nothing")
  func limits() {
    expect(kvo_index_set_create_range(notFound, 1) == nil)
    withIndexes([(Int.max - 1)..<Int.max]) { set in
      expect(!kvo_index_set_add(set, notFound))
      expect(!kvo_index_set_add_range(set, notFound - 1, 2))
      expect(kvo_index_set_add(set, notFound - 1))
      expect(kvo_index_set_contains(set, notFound - 1))
      expect(!kvo_index_set_contains(set, notFound))
      expectEqual(kvo_index_set_count(set), 2)
    }
    kvo_index_set_destroy(nil)
  }

  private static func indexes(_ set: OpaquePointer) -> [Int] {
    (0..<kvo_index_set_count(set)).map { kvo_index_set_index(set, $0) }
  }

  /// A copy is equal until an index is added to it.
  private static func expectEqualCopy(of set: OpaquePointer, adding index: Int) {
    let copy = kvo_index_set_copy(set)!
    expect(kvo_index_set_equal(set, copy) && indexes(set) == indexes(copy))
    let isNew = !kvo_index_set_contains(set, index)
    expect(kvo_index_set_add(copy, index))
    expect(kvo_index_set_equal(set, copy) != isNew)
    kvo_index_set_destroy(copy)
  }
}
