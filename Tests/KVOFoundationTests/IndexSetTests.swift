import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import Testing

/// R2: Foundation's index sets.
@Suite(.leakFree) struct IndexSetTests {
  @Test(
    "R2: RangeSet and IndexSet convert to each other",
    arguments: [
      [], [0..<1], [0..<3, 5..<6], [2..<3, 1_000_000..<2_000_000], [0..<Int(Int32.max)],
    ])
  func conversion(ranges: [Range<Int>]) {
    let indexes = RangeSet(ranges)
    let set = IndexSet(indexes)
    expectEqual(Array(set.rangeView), Array(indexes.ranges))
    expectEqual(RangeSet(set), indexes)
    expectEqual(set.count, indexes.count)
  }

  final class Playlist: Tracked {
    var songs = ["a", "b", "c", "d"]
    var announced: [RangeSet<Int>] = []

    override func willChange(
      _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
    ) {
      announced.append(indexes)
      super.willChange(kind, valuesAt: indexes, forKey: key)
    }

    override class func registerKeys() { declareKeys { $0.stored("songs", \.songs) } }
  }

  @Test("R2: manual changes take an IndexSet, through the class's own override")
  func byHand() throws {
    let list = Playlist()
    var notified: [IndexSet?] = []
    let token = try list.observe(keyPath: "songs", options: [.old]) { _, change in
      notified.append(change.indexSet)
    }
    let indexes: IndexSet = [1, 3]
    list.willChange(.removal, valuesAt: indexes, forKey: "songs")
    list.songs = ["a", "c"]
    list.didChange(.removal, valuesAt: indexes, forKey: "songs")
    list.withChange(.insertion, at: IndexSet(integer: 0), forKey: "songs") {
      list.songs.insert("z", at: 0)
    }
    list.willChange(.replacement, valuesAt: [2], for: \.songs)
    list.songs[2] = "y"
    list.didChange(.replacement, valuesAt: [2], for: \.songs)
    expectEqual(notified, [[1, 3], [0], [2]])
    expectEqual(list.announced.map { IndexSet($0) }, [[1, 3], [0], [2]])
    withExtendedLifetime(token) {}
  }

  @Test("R2: code compiled without the library keeps its meaning")
  func ambiguity() {
    let list = Playlist()
    list.withChange(.insertion, at: .init(integer: 0), forKey: "songs") {
      list.songs.insert("z", at: 0)
    }
    expectEqual(list.announced, [RangeSet(0..<1)])
  }

  final class Watching: Tracked {
    var indexes: [IndexSet?] = []
    override func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) { indexes.append(change?.indexSet) }
  }

  @Test("R2: a proxy's mutations take an IndexSet, each is one change, also in dictionaries")
  func proxies() throws {
    let (shelf, watching) = (Shelf(), Watching())
    shelf.numbers = [1, 2, 3]
    try shelf.addObserver(watching, forKeyPath: "numbers", options: [.new])
    let proxy = try shelf.mutableArrayValue(forKey: "numbers")
    try proxy.insert([10, 20], at: [0, 2])
    expectEqual(shelf.numbers, [10, 1, 20, 2, 3])
    expect(proxy.objects(at: [0, 2] as IndexSet) as? [Int] == [10, 20])
    try proxy.replaceObjects(at: [0, 4] as IndexSet, with: [11, 33])
    try proxy.replace(at: IndexSet(integer: 1), with: [12])
    try proxy.removeObjects(at: IndexSet(integersIn: 0..<2))
    try proxy.remove(at: IndexSet(integer: 0))
    expectEqual(shelf.numbers, [2, 33])
    shelf.numbers = []
    expectEqual(watching.indexes, [[0, 2], [0, 4], [1], [0, 1], [0], nil])
    #expect(throws: KeyValueError.self) { try proxy.remove(at: IndexSet(integer: 7)) }
  }

  @Test("R2: an ordered set's proxy and a handle take an IndexSet")
  func orderedSetsAndHandles() throws {
    let shelf = Shelf()
    shelf.numbers = [1, 2, 3, 4]
    let proxy = try shelf.mutableOrderedSetValue(forKey: "numbers")
    expect(proxy.objects(at: IndexSet([1, 2])) as? [Int] == [2, 3])
    try proxy.insert([9], at: IndexSet(integer: 0))
    try proxy.moveObjects(at: IndexSet(integer: 0), to: 4)
    expectEqual(shelf.numbers, [1, 2, 3, 4, 9])
    try proxy.replaceObjects(at: IndexSet(integer: 0), with: [8])
    try proxy.removeObjects(at: IndexSet(integer: 1))
    try proxy.remove(at: IndexSet(integer: 1))
    expectEqual(shelf.numbers, [8, 4, 9])
    let handle = shelf.mutableArray(\.numbers)
    handle.insert([5, 6], at: IndexSet([0, 2]))
    expectEqual(handle.objects(at: IndexSet([0, 2])), [5, 6])
    handle.replaceObjects(at: IndexSet(integer: 4), with: [7])
    handle.removeObjects(at: IndexSet(integer: 0))
    expectEqual(shelf.numbers, [8, 6, 4, 7])
    let lazy = try require(try shelf.value(forKey: "numbers") as? [Int])
    expectEqual(lazy, [8, 6, 4, 7])
  }
}
