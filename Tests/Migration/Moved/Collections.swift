// To-many properties changed through mutable proxies: every change has a kind, indexes, and what
// came or went.
import KVOFoundation
import KVORuntime

final class Track: KVOObject {
  @Observed var title: String

  init(_ title: String) {
    self.title = title
    super.init()
  }
}

final class Playlist: KVOObject {
  @Observed var tracks: [Track] = []
  @Observed var genres: Set<String> = []
}

final class PlaylistView {
  private let journal: Journal
  private var observations: [NSKeyValueObservation] = []

  init(_ playlist: Playlist, _ journal: Journal) {
    self.journal = journal
    observations = [
      playlist.observe(\.tracks, options: [.old, .new]) { [unowned self] _, change in
        tracksChanged(change)
      },
      playlist.observe(\.genres, options: [.old, .new]) { [unowned self] _, change in
        genresChanged(change)
      },
    ]
  }

  private func tracksChanged(_ change: NSKeyValueObservedChange<[Track]>) {
    let came = (change.newValue ?? []).map(\.title)
    let went = (change.oldValue ?? []).map(\.title)
    let rows = rows(change.indexes)
    switch change.kind {
    case .insertion: journal.write("insert \(came) at \(rows)")
    case .removal: journal.write("remove \(went) at \(rows)")
    case .replacement: journal.write("replace \(went) by \(came) at \(rows)")
    default: journal.write("show \(came) instead of \(went)")
    }
  }

  private func genresChanged(_ change: NSKeyValueObservedChange<Set<String>>) {
    let came = (change.newValue ?? []).sorted()
    let went = (change.oldValue ?? []).sorted()
    switch change.kind {
    case .insertion: journal.write("genres: insert \(came)")
    case .removal: journal.write("genres: remove \(went)")
    case .replacement: journal.write("genres: replace \(went) by \(came)")
    default: journal.write("genres: show \(came) instead of \(went)")
    }
  }

  private func rows(_ indexes: RangeSet<Int>?) -> [Int] {
    (0..<10).filter { indexes?.contains($0) ?? false }
  }
}

func collections(_ journal: Journal) {
  let playlist = Playlist()
  let view = PlaylistView(playlist, journal)

  let tracks = try! playlist.mutableArrayValue(forKey: "tracks")
  try! tracks.add(Track("Overture"))
  try! tracks.insert(Track("Intro"), at: 0)
  try! tracks.insert([Track("Aria"), Track("Finale")], at: RangeSet<Int>([1, 3]))
  try! tracks.replaceObject(at: 0, with: Track("Prelude"))
  try! tracks.removeObject(at: 2)
  try! tracks.removeObjects(at: RangeSet<Int>(integersIn: 1..<3))
  journal.write("\(tracks.count) left, \(playlist.tracks.map(\.title))")
  playlist.tracks = [Track("Encore"), Track("Coda")]

  let genres = try! playlist.mutableSetValue(forKey: "genres")
  try! genres.add("opera")
  try! genres.union(["opera", "jazz"])
  try! genres.minus(["opera"])
  try! genres.remove("jazz")
  try! genres.setSet(["rock"])
  journal.write("\(genres.count) left, \(playlist.genres.sorted())")
  withExtendedLifetime(view) {}
}
