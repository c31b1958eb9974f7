// quoted: cannot access property 'playlist' with a non-Sendable type 'Playlist' from nonisolated deinit
import KVORuntime

final class Playlist: KVOObject {
  @Observed var title = ""
}

@MainActor class Panel: KVOObject {
  let playlist = Playlist()
  deinit {
    try! playlist.removeObserver(self, forKeyPath: "title")
  }
}
