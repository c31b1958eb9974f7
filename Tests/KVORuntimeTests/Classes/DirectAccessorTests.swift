import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// H2: a class's own accessors that notify, called directly and through a proxy.
@Suite(.leakFree) struct DirectAccessorTests {
  @Test("H2: an accessor with a bracketed body notifies once, called directly and by a proxy")
  func ordered() throws {
    let playlist = Playlist()
    let log = Recorder()
    try log.observe(playlist, "songs", [.prior, .old, .new])
    playlist.insertObjects(["a", "b"], inSongsAt: RangeSet(0..<2))
    expectEqual(
      log.take(), ["a prior insertion at 0...1", "a insertion at 0...1 new [\"a\", \"b\"]"])
    playlist.removeObjects(fromSongsAt: RangeSet([0]))
    expectEqual(
      log.take(), ["a prior removal at 0 old [\"a\"]", "a removal at 0 old [\"a\"]"])
    let songs = try playlist.mutableArrayValue(forKey: "songs")
    try songs.append("c")
    expectEqual(log.take(), ["a prior insertion at 1", "a insertion at 1 new [\"c\"]"])
    try songs.removeAll()
    expectEqual(
      log.take(),
      [
        "a prior removal at 0...1 old [\"b\", \"c\"]", "a removal at 0...1 old [\"b\", \"c\"]",
      ])
  }

  @Test("H2, H4: a set's accessors as well")
  func unordered() throws {
    let playlist = Playlist()
    let log = Recorder()
    try log.observe(playlist, "moods", [.old, .new])
    playlist.addMoods(["calm"])
    try playlist.mutableSetValue(forKey: "moods").formUnion(["calm", "loud"])
    expectEqual(log.take(), ["a insertion new {calm}", "a insertion new {loud}"])
  }
}

private final class Playlist: Tracked {
  private var titles: [String] = []
  private var mood: Set<String> = []

  func insertObjects(_ songs: [String], inSongsAt indexes: RangeSet<Int>) {
    withChange(.insertion, at: indexes, forKey: "songs") {
      for (song, index) in zip(songs, indexes.ranges.joined()) { titles.insert(song, at: index) }
    }
  }

  func removeObjects(fromSongsAt indexes: RangeSet<Int>) {
    withChange(.removal, at: indexes, forKey: "songs") { titles.removeSubranges(indexes) }
  }

  func addMoods(_ moods: Set<String>) {
    withChange(.union, using: moods, forKey: "moods") { mood.formUnion(moods) }
  }

  override class func registerKeys() {
    declareKeys { keys in
      keys.orderedToMany(
        "songs", count: { $0.titles.count }, element: { $0.titles[$1] },
        insert: { $0.insertObjects($1, inSongsAt: $2) },
        remove: { $0.removeObjects(fromSongsAt: $1) })
      keys.unorderedToMany(
        "moods", count: { $0.mood.count }, contains: { $0.mood.contains($1) },
        elements: { AnySequence($0.mood) }, add: { $0.addMoods($1) },
        remove: { $0.mood.subtract($1) })
    }
  }
}
