// Overrides that can be set, of properties that can only be read; overrides of properties that are not dynamic.
import Foundation

class DynamicBase: NSObject {
  @objc dynamic var title: String { return "base" }
  @objc dynamic var label: String { return "<" + title + ">" }
  @objc class func keyPathsForValuesAffectingLabel() -> Set<String> { return ["title"] }
}
class DynamicSub: DynamicBase {
  private var text = "sub"
  override var title: String {
    get { return text }
    set { text = newValue }
  }
}
func useDynamic(_ journal: Journal) {
  let sub = DynamicSub()
  let tokens = [
    sub.observe(\.title, options: [.old, .new]) { _, c in
      journal.write("title \(c.oldValue!) \(c.newValue!)")
    },
    sub.observe(\.label, options: [.old, .new]) { _, c in
      journal.write("label \(c.oldValue!) \(c.newValue!)")
    },
  ]
  sub.title = "x"
  sub.setValue("y", forKey: "title")
  journal.write(sub.value(forKey: "label") as! String)
  for token in tokens { token.invalidate() }
}

class ExposedBase: NSObject {
  @objc var title: String { return "base" }
  @objc var size: Int {
    get { return 1 }
    set {}
  }
  @objc dynamic var n = 0
}

class ExposedSub: ExposedBase {
  var log: [String] = []
  override var title: String {
    get { return "sub" + log.joined() }
    set { log.append(newValue) }
  }
  override var size: Int { didSet { log.append("s") } }
}
func useExposed(_ journal: Journal) {
  let s: ExposedBase = ExposedSub()
  s.setValue("!", forKey: "title")
  s.setValue(4, forKey: "size")
  journal.write("\(s.value(forKey: "title") as! String)")
}

class CountedBase: NSObject {
  @objc var count = 0
  @objc dynamic var other = 0
}
class CountedMid: CountedBase {
  override var count: Int { didSet { log.append(count) } }
  var log: [Int] = []
}
class CountedSub: CountedMid {
  override var count: Int {
    get { return super.count * 10 }
    set { super.count = newValue }
  }
}
func useCounted(_ journal: Journal) {
  let sub = CountedSub()
  sub.setValue(4, forKey: "count")
  journal.write("\(sub.value(forKey: "count") as! Int) \(sub.log)")
}

class LockedBase: NSObject {
  @objc dynamic var value = 1
  @objc dynamic var text: String { return "v\(value)" }
  @objc class func keyPathsForValuesAffectingText() -> Set<String> { return ["value"] }
}
class LockedSub: LockedBase {
  private let lock = NSLock()
  private var inner = 10
  override var value: Int {
    get {
      lock.lock()
      defer { lock.unlock() }
      return inner
    }
    set {
      lock.lock()
      inner = newValue
      lock.unlock()
    }
  }
  override var text: String { return "sub \(value)" }
}
class LockedLeaf: LockedSub {}
class LockedObserver: NSObject {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    journal.write("\(keyPath!) \(change![.oldKey]!) \(change![.newKey]!)")
  }
}
func useLocked(_ journal: Journal) {
  let s = LockedLeaf()
  let o = LockedObserver(journal)
  for key in ["text", "value"] {
    s.addObserver(o, forKeyPath: key, options: [.old, .new], context: nil)
  }
  s.value = 20
  s.setValue(30, forKey: "value")
  for key in ["text", "value"] { s.removeObserver(o, forKeyPath: key) }
  journal.write("\(s.value(forKey: "text") as! String) \((s as LockedBase).value)")
}

func settableOverride(_ journal: Journal) {
  useDynamic(journal)
  useExposed(journal)
  useCounted(journal)
  useLocked(journal)
}
