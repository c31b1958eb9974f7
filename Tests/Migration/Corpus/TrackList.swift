// A list whose elements are reached by methods that are spelled as Objective-C spells them, and a method that is read
// as a key.
import Foundation

private var trackContext = 0

final class ListedTrack: NSObject {
  @objc dynamic var title: String
  @objc dynamic var seconds: Int

  init(_ title: String, _ seconds: Int) {
    self.title = title
    self.seconds = seconds
  }

  @objc func isLong() -> Bool { return seconds > 100 }
}

final class TrackList: NSObject {
  private var storage: [ListedTrack] = []
  @objc dynamic var name = "all"
  @objc dynamic var tracks: [ListedTrack] {
    get { return storage }
    set { storage = newValue }
  }
  @objc dynamic var summary: String { return "\(name) \(storage.count)" }

  @objc func countOfTracks() -> Int { return storage.count }
  @objc func objectInTracksAtIndex(_ index: Int) -> ListedTrack { return storage[index] }
  @objc func insertObject(_ track: ListedTrack, inTracksAtIndex index: Int) {
    storage.insert(track, at: index)
  }
  @objc func removeObjectFromTracksAtIndex(_ index: Int) { storage.remove(at: index) }
  @objc func replaceObjectInTracksAtIndex(_ index: Int, withObject track: ListedTrack) {
    storage[index] = track
  }

  @objc class func keyPathsForValuesAffectingSummary() -> NSSet {
    return NSSet(objects: "name", "tracks")
  }
}

final class TrackListWatcher: NSObject {
  private let list: TrackList
  private let journal: Journal

  init(_ list: TrackList, _ journal: Journal) {
    self.list = list
    self.journal = journal
    super.init()
    list.addObserver(self, forKeyPath: "tracks", options: [.new, .old], context: &trackContext)
  }

  deinit { list.removeObserver(self, forKeyPath: "tracks", context: &trackContext) }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == &trackContext else { return }
    if let indexes = change?[.indexesKey] as? IndexSet {
      journal.write("\(keyPath!) at \(indexes.map { $0 })")
    } else {
      journal.write("\(keyPath!) set")
    }
  }
}

func trackList(_ journal: Journal) {
  let list = TrackList()
  let watcher = TrackListWatcher(list, journal)
  let token = list.observe(\.summary, options: [.new]) { _, change in
    journal.write(change.newValue!)
  }
  withExtendedLifetime(watcher) {
    let proxy = list.mutableArrayValue(forKey: "tracks")
    proxy.add(ListedTrack("a", 90))
    proxy.insert(ListedTrack("b", 110), at: 0)
    proxy.replaceObject(at: 1, with: ListedTrack("c", 120))
    proxy.removeObject(at: 0)
    list.name = "new"
    list.tracks = [ListedTrack("d", 50), ListedTrack("e", 200)]
  }
  token.invalidate()
  journal.write("\((list.tracks as NSArray).value(forKey: "title") as! [String])")
  journal.write("\((list.tracks as NSArray).value(forKeyPath: "@sum.seconds") as! Int)")
  journal.write(list.tracks[1].value(forKey: "isLong") as! Bool ? "long" : "short")
}
