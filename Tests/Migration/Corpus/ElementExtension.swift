// Methods for the elements of a key in an extension; registrations that are counted; rows that are set together.
import Foundation

@objc protocol CountedTarget: NSObjectProtocol {
  var registrations: Int { get }
}

@objcMembers class CountedShelf: NSObject, CountedTarget {
  dynamic var title = ""
  fileprivate var storage: [String] = ["a", "b"]
  fileprivate(set) var calls: [String] = []
  dynamic var songs: [String] {
    get { return storage }
    set {
      calls.append("set")
      storage = newValue
    }
  }
  var registrations = 0

  override func addObserver(
    _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer?
  ) {
    registrations += 1
    super.addObserver(observer, forKeyPath: keyPath, options: options, context: context)
  }
  override func removeObserver(_ observer: NSObject, forKeyPath keyPath: String) {
    registrations -= 1
    super.removeObserver(observer, forKeyPath: keyPath)
  }
}

extension CountedShelf {
  func insertObject(_ song: String, inSongsAtIndex index: Int) {
    calls.append("insert")
    storage.insert(song, at: index)
  }
  func removeObjectFromSongsAtIndex(_ index: Int) {
    calls.append("remove")
    storage.remove(at: index)
  }
}

class ShelfRow: NSObject {
  @objc dynamic var isMarked = false
  @objc dynamic var weight = 2
}

private class ShelfWatcher: NSObject {
  var lines: [String] = []
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    lines.append(
      "\(keyPath!) \(((object as AnyObject).value(forKeyPath: keyPath!) as! [String]).count)")
  }
}

func elementExtension(_ journal: Journal) {
  let shelf = CountedShelf()
  let watcher = ShelfWatcher()
  let other = CountedShelf()
  shelf.addObserver(watcher, forKeyPath: "songs", options: [], context: nil)
  shelf.mutableArrayValue(forKey: "songs").add("c")
  shelf.mutableArrayValue(forKey: "songs").removeObject(at: 0)
  other.mutableArrayValue(forKey: "songs").add("d")
  shelf.songs = []
  journal.write("\(shelf.calls) \(watcher.lines) \(shelf.registrations) \(other.songs)")
  shelf.removeObserver(watcher, forKeyPath: "songs")
  journal.write("\((shelf as CountedTarget).registrations)")
  let rows = [ShelfRow(), ShelfRow()]
  (rows as NSArray).setValue(true, forKey: "isMarked")
  let sum = (rows as AnyObject).value(forKeyPath: "@sum.weight") as! Int
  journal.write("\(rows.map { $0.isMarked }) \(sum)")
}
