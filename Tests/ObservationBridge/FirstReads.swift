// Reads that are a program's first use of the library.
import KVORuntime

/// A class with properties that can't have a wrapper.
@KVO class Diary: KVOObject {
  // Hidden by a property of `Journal`.
  private var pages = 1 { didSet {} }
  var title = "" { didSet {} }
  var greeting: () -> String = { "" }
  weak var owner: Diary?

  @KVOIgnored private var raw = 0
  var level: Int {
    get {
      access(keyPath: \.level)
      return raw
    }
    set { withChange(of: \.level) { raw = newValue } }
  }

  // As the classes of KVOFoundation report their reads.
  @KVOIgnored private var kept = 0
  var size: Int {
    get {
      _readsKey("size")
      return kept
    }
    set { withChange(forKey: "size") { kept = newValue } }
  }

  func readPages() -> Int { pages }
  func setPages(_ pages: Int) { self.pages = pages }
}
