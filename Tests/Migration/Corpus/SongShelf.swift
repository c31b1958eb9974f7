// A shelf with accessors under Objective-C's names, called by proxies and directly.
import Foundation

final class ShelfSong: NSObject {
  @objc dynamic var title: String
  init(_ title: String) { self.title = title }
}

final class SongShelf: NSObject {
  @objc dynamic private(set) var songs: [ShelfSong] = []

  @objc(insertObject:inSongsAtIndex:) func put(_ song: ShelfSong, at index: Int) {
    songs.insert(song, at: index)
  }

  @objc(removeObjectFromSongsAtIndex:) func take(at index: Int) {
    songs.remove(at: index)
  }

  override var description: String { return songs.map { $0.title }.joined(separator: "+") }
}

func songShelf(_ journal: Journal) {
  let shelf = SongShelf()
  let token = shelf.observe(\.songs) { shelf, _ in journal.write("\(shelf.songs.count): \(shelf)") }
  let proxy = shelf.mutableArrayValue(forKey: "songs")
  proxy.add(ShelfSong("a"))
  shelf.put(ShelfSong("b"), at: 0)
  proxy.insert(ShelfSong("c"), at: 1)
  shelf.take(at: 2)
  proxy.removeObject(at: 0)
  token.invalidate()
  journal.write("\(shelf.value(forKeyPath: "songs.title") as! [String])")
}
