import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// Q4: methods that Apple's key-value coding finds by their names.
@Suite(.leakFree) struct MacroConventionTests {
  private let log = Recorder()

  @Test("Q4: a key is affected only by what its convention method names")
  func affecting() throws {
    let album = Album()
    try log.observe(album, "label", [.new], as: "label")
    album.artist = "B"
    album.withChange(of: \.year) { album.year = 2000 }
    expectEqual(log.take(), ["label new B 1999"])
    expectEqual(Album.keyPathsForValuesAffectingValue(forKey: "credits"), ["artist"])
  }

  @Test("Q4 F5: a key whose convention method names nothing is notified by its setter alone")
  func unaffected() throws {
    let sheet = Sheet()
    try log.observe(sheet, "shown", [.old, .new], as: "key")
    log.observe(sheet, \.shown, [.old, .new], as: "path")
    sheet.width = 2
    expectEqual(log.take(), [])
    sheet.shown = 5
    expectEqual(log.take(), ["key old 2 new 5", "path old 2 new 5"])
    try sheet.setValue(6, forKey: "shown")
    expectEqual(log.take(), ["key old 5 new 6", "path old 5 new 6"])
    expectEqual(sheet.width, 6)
  }

  @Test("Q4: a subclass without the macro has its own answer, its superclass the old one")
  func overridden() throws {
    let (album, single) = (Album(), Single())
    try log.observe(single, "label", [.new], as: "single")
    try log.observe(album, "label", [.new], as: "album")
    for each in [album, single] {
      log.observe(each, \.artist, [.new], as: "artist")
      log.observe(each, \.year, [.new], as: "year")
      each.year = 2000
      each.artist = "B"
    }
    let notified = log.take().sorted()
    expectEqual(
      notified,
      [
        "album new B 2000", "artist new B", "single new A 2000",
        "year new 2000",
      ].sorted())
    expect(!Album.automaticallyNotifiesObservers(forKey: "year"))
    expect(Single.automaticallyNotifiesObservers(forKey: "year"))
    expect(!Single.automaticallyNotifiesObservers(forKey: "artist"))
    expect(Album.automaticallyNotifiesObservers(forKey: "artist"))
  }

  @Test(
    "Q4: a class below another one has its own answers, whichever of the two has the macro",
    arguments: [
      BelowMarkedQuota.self, BelowBareQuota.self, MarkedBelowMarkedQuota.self,
      MarkedBelowBareQuota.self,
    ] as [Quota.Type])
  func overriddenBelow(_ type: Quota.Type) throws {
    expectEqual(try changes(of: type), ["total new 5", "third new 2"])
    expectEqual(try changes(of: Quota.self), ["total new 4"])
  }

  @Test(
    "Q4: an answer as that of the topmost class replaces the one of a class between",
    arguments: [ReclosedQuota.self, ReclosedBareQuota.self] as [Quota.Type])
  func overriddenBack(_ type: Quota.Type) throws {
    expectEqual(try changes(of: type), ["total new 4"])
    expectEqual(try changes(of: ReopenedQuota.self), ["third new 2"])
  }

  /// The notifications of a new object whose three parts are set.
  private func changes(of type: Quota.Type) throws -> [String] {
    let quota = type.init()
    for key in ["total", "third"] { try log.observe(quota, key, [.new], as: key) }
    (quota.first, quota.second) = (2, 2)
    quota.third = 2
    return log.take()
  }

  @Test("Q4: a key whose method turns automatic notification off does not notify by itself")
  func automatic() throws {
    let album = Album()
    log.observe(album, \.year, [.new])
    album.year = 1
    expect(log.take().isEmpty)
    expect(!Album.automaticallyNotifiesObservers(forKey: "year"))
  }

  @Test("Q4: validators are called for their keys, take nil if declared so, and throw their errors")
  func validators() throws {
    let album = Album()
    var value: Any? = "abba"
    try album.validateValue(&value, forKey: "artist")
    expect(value as? String == "ABBA")
    value = nil
    #expect(throws: AlbumError.noArtist) { try album.validateValue(&value, forKey: "artist") }
    value = 3
    try album.validateValue(&value, forKey: "year")
    expect(value as? Int == 1900)
    value = nil
    #expect(throws: KeyValueError.nilValue(key: "year", className: "Album")) {
      try album.validateValue(&value, forKey: "year")
    }
    expect(value == nil)
  }

  @Test("Q4: a key with only counting and element methods is read lazily")
  func lazily() throws {
    let album = Album()
    expect(try album.value(forKeyPath: "primes.@sum.self") as? Int == 17)
    expect(try album.value(forKeyPath: "primes.@count") as? Int == 4)
  }

  @Test("Q4: proxies call insertion, removal and replacement methods, each notifies once")
  func ordered() throws {
    let album = Album()
    try log.observe(album, "songs", [.new], as: "songs")
    let proxy = try album.mutableArrayValue(forKey: "songs")
    try proxy.insert(Song(title: "a"), at: 0)
    album.insertObject(Song(title: "b"), inSongsAt: 1)
    try proxy.replace(at: 0, with: Song(title: "c"))
    try proxy.remove(at: 1)
    expectEqual(album.songs.map(\.title), ["c"])
    expectEqual(log.take().count, 4)
  }

  @Test("Q4: so do those of sets, one member at a time where the method takes one")
  func unordered() throws {
    let album = Album()
    try log.observe(album, "tags", [.new], as: "tags")
    let proxy = try album.mutableSetValue(forKey: "tags")
    try proxy.formUnion(["x", "y", "z"])
    try proxy.subtract(["x", "y"])
    expect(album.tags == ["z"] && log.take().count == 2)
  }

  @Test("Q4: a subclass may override some of a key's accessors; the others are its superclass's")
  func overriddenElements() throws {
    let list = LoudList()
    try log.observe(list, "songs", [.new], as: "songs")
    let proxy = try list.mutableArrayValue(forKey: "songs")
    try proxy.insert(Song(title: "a"), at: 0)
    expectEqual((proxy.first as? Song)?.title, "A")
    try proxy.remove(at: 0)
    expectEqual(log.take().count, 2)
  }

  @Test(
    "Q4: a subclass may also add accessors to those of its superclass, which go on being called")
  func addedElements() throws {
    let list = BatchList()
    try log.observe(list, "songs", [.new], as: "songs")
    let proxy = try list.mutableArrayValue(forKey: "songs")
    try proxy.insert([Song(title: "a"), Song(title: "b")], at: RangeSet(0..<2))
    expectEqual(log.take().count, 1)
    expectEqual(list.batches, 1)
    try proxy.remove(at: 0)
    expectEqual(list.countOfSongs(), 1)
    expectEqual(log.take().count, 1)
  }

  @Test("Q4: overridden accessors may return a narrower type, and the superclass's change the key")
  func narrowerElements() throws {
    let rack = SingleRack()
    let proxy = try rack.mutableArrayValue(forKey: "discs")
    try proxy.append(SingleDisc())
    expectEqual(proxy.count, 1)
    expect(proxy.first is SingleDisc)
  }

  @Test("Q4: accessors of a set that a subclass overrides keep those that it does not")
  func overriddenMembers() throws {
    let box = LoudBox()
    let proxy = try box.mutableSetValue(forKey: "tags")
    try proxy.formUnion(["x", "y", "z"])
    try proxy.formIntersection(["x"])
    expect(box.storage == ["x"] && box.additions == 1 && box.intersections == 1)
  }

  @Test(
    "Q4: an observed property's accessors change its elements in place, and notify once")
  func observedElements() throws {
    let album = Album()
    try log.observe(album, "tracks", [.new], as: "tracks")
    try album.mutableArrayValue(forKey: "tracks").insert(Song(title: "a"), at: 0)
    album.insertObject(Song(title: "b"), inTracksAt: 1)
    expect(album.tracks.count == 2 && log.take().count == 2)
  }
}

@KVO class SongList: KVOObject {
  @KVOIgnored fileprivate var storage: [Song] = []

  func countOfSongs() -> Int { storage.count }
  func objectInSongs(at index: Int) -> Song { storage[index] }
  func insertObject(_ song: Song, inSongsAt index: Int) {
    withChange(.insertion, at: RangeSet(integer: index), forKey: "songs") {
      storage.insert(song, at: index)
    }
  }
  func removeObject(fromSongsAt index: Int) {
    withChange(.removal, at: RangeSet(integer: index), forKey: "songs") {
      _ = storage.remove(at: index)
    }
  }
}

/// Overrides the accessors that read.
@KVO final class LoudList: SongList {
  override func countOfSongs() -> Int { super.countOfSongs() }
  override func objectInSongs(at index: Int) -> Song {
    Song(title: super.objectInSongs(at: index).title.uppercased())
  }
}

class Disc: KVOObject {}

final class SingleDisc: Disc {}

@KVO class DiscRack: KVOObject {
  @KVOIgnored fileprivate var storage: [Disc] = []

  func countOfDiscs() -> Int { storage.count }
  func objectInDiscs(at index: Int) -> Disc { storage[index] }
  func insertObject(_ disc: Disc, inDiscsAt index: Int) { storage.insert(disc, at: index) }
  func removeObject(fromDiscsAt index: Int) { storage.remove(at: index) }
}

@KVO final class SingleRack: DiscRack {
  override func countOfDiscs() -> Int { super.countOfDiscs() }
  override func objectInDiscs(at index: Int) -> SingleDisc { storage[index] as! SingleDisc }
}

/// Overrides the accessors that read, and adds one that inserts.
@KVO private final class BatchList: SongList {
  @KVOIgnored var batches = 0

  override func countOfSongs() -> Int { super.countOfSongs() }
  override func objectInSongs(at index: Int) -> Song { super.objectInSongs(at: index) }
  func insertSongs(_ songs: [Song], at indexes: RangeSet<Int>) {
    batches += 1
    for (song, index) in zip(songs, indexes.ranges.joined()) { storage.insert(song, at: index) }
  }
}

@KVO class TagBox: KVOObject {
  @KVOIgnored fileprivate var storage: Set<String> = []
  @KVOIgnored fileprivate var intersections = 0

  func countOfTags() -> Int { storage.count }
  func memberOfTags(_ tag: String) -> String? { storage.contains(tag) ? tag : nil }
  func enumeratorOfTags() -> Set<String> { storage }
  func addTags(_ tags: Set<String>) { storage.formUnion(tags) }
  func removeTags(_ tags: Set<String>) { storage.subtract(tags) }
  func intersectTags(_ tags: Set<String>) {
    intersections += 1
    storage.formIntersection(tags)
  }
}

@KVO final class LoudBox: TagBox {
  @KVOIgnored fileprivate var additions = 0

  override func countOfTags() -> Int { super.countOfTags() }
  override func memberOfTags(_ tag: String) -> String? { super.memberOfTags(tag) }
  override func enumeratorOfTags() -> Set<String> { super.enumeratorOfTags() }
  override func addTags(_ tags: Set<String>) {
    additions += 1
    super.addTags(tags)
  }
  override func removeTags(_ tags: Set<String>) { super.removeTags(tags) }
}

@KVO private final class Sheet: KVOObject {
  var width = 1
  var shown: Int {
    get { width }
    set { withAutomaticChange(of: \.shown) { width = newValue } }
  }

  class func keyPathsForValuesAffectingShown() -> Set<String> { [] }
}

@KVO class Quota: KVOObject {
  var first = 1
  var second = 1
  var third = 1
  var total: Int { first + second + third }
  required override init() {}

  class func keyPathsForValuesAffectingTotal() -> Set<String> { ["first"] }
  class func automaticallyNotifiesObserversOfThird() -> Bool { false }
}

@KVO class MarkedQuota: Quota { var note = "" }

class BareQuota: Quota {}

final class BelowMarkedQuota: MarkedQuota {
  override class func keyPathsForValuesAffectingTotal() -> Set<String> { ["second"] }
  override class func automaticallyNotifiesObserversOfThird() -> Bool { true }
}

final class BelowBareQuota: BareQuota {
  override class func keyPathsForValuesAffectingTotal() -> Set<String> { ["second"] }
  override class func automaticallyNotifiesObserversOfThird() -> Bool { true }
}

@KVO final class MarkedBelowMarkedQuota: MarkedQuota {
  var more = 1
  override class func keyPathsForValuesAffectingTotal() -> Set<String> { ["second"] }
  override class func automaticallyNotifiesObserversOfThird() -> Bool { true }
}

@KVO final class MarkedBelowBareQuota: BareQuota {
  var more = 1
  override class func keyPathsForValuesAffectingTotal() -> Set<String> { ["second"] }
  override class func automaticallyNotifiesObserversOfThird() -> Bool { true }
}

/// Turns off again what its superclass has turned on.
class ReopenedQuota: MarkedQuota {
  override class func keyPathsForValuesAffectingTotal() -> Set<String> { [] }
  override class func automaticallyNotifiesObserversOfThird() -> Bool { true }
}

@KVO final class ReclosedQuota: ReopenedQuota {
  var more = 1
  override class func keyPathsForValuesAffectingTotal() -> Set<String> { ["first"] }
  override class func automaticallyNotifiesObserversOfThird() -> Bool { false }
}

final class ReclosedBareQuota: ReopenedQuota {
  override class func keyPathsForValuesAffectingTotal() -> Set<String> { ["first"] }
  override class func automaticallyNotifiesObserversOfThird() -> Bool { false }
}
