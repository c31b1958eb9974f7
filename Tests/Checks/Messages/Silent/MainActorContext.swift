// The code that kvo-move writes, as shown in MovingOver.md.
import KVORuntime

final class Playlist: KVOObject {
  @Observed var title: String? = ""
}

@MainActor class Panel: KVOObject {
  private nonisolated static let context = KVOContext()
  let playlist = Playlist()
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if context == Self.context { print(keyPath!) }
  }
  isolated deinit {
    try! playlist.removeObserver(self, forKeyPath: "title", context: Self.context)
  }
}

@MainActor func show(_ playlist: Playlist) -> NSKeyValueObservation {
  playlist.observe(\.title, options: .new) { _, change in
    if let title = change.newValue ?? nil { print(title.count) }
    let title: String? = change.newValue ?? nil
    print(title ?? "")
  }
}
