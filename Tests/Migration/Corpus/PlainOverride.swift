// Properties that are not dynamic, overridden in a subclass and set by key; a private variable behind a computed property.
import Foundation

class PlainBase: NSObject {
  @objc dynamic var observed = 0
  @objc var plain = 0
  @objc var doubled: Int {
    get { return plain * 2 }
    set { plain = newValue / 2 }
  }
  private var stored = "a"
  @objc dynamic var name: String {
    get { return stored }
    set { stored = newValue }
  }
  func reset() { stored = "reset" }
}

class PlainOverride: PlainBase {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  override var plain: Int { didSet { journal.write("plain \(oldValue) \(plain)") } }
  override var observed: Int { didSet { journal.write("did \(observed)") } }
}

func plainOverride(_ journal: Journal) {
  let object = PlainOverride(journal)
  let tokens = [
    object.observe(\.observed, options: .new) { _, change in
      journal.write("observed \(change.newValue!)")
    },
    object.observe(\.name, options: [.old, .new]) { _, change in
      journal.write("name \(change.oldValue!) \(change.newValue!)")
    },
  ]
  object.observed = 1
  object.setValue(3, forKey: "plain")
  object.setValue(10, forKey: #keyPath(PlainBase.doubled))
  journal.write("\(object.value(forKey: "plain") as! Int)")
  object.name = "b"
  object.reset()
  object.name = "c"
  for token in tokens { token.invalidate() }
}
