// A switch whose property has another name in Objective-C: that is its key.
import Foundation

final class RenamedSwitch: NSObject {
  @objc(shown) dynamic var isShown = false
  @objc(level) dynamic var currentLevel: Double = 0
  func hide() { setValue(false, forKey: "shown") }
}

final class RenamedObserver: NSObject {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard let object = object as? RenamedSwitch else { return }
    journal.write("\(keyPath!): \(object.isShown), \(object.currentLevel)")
  }
}

func renamedSwitch(_ journal: Journal) {
  let object = RenamedSwitch()
  let observer = RenamedObserver(journal)
  let keys = [#keyPath(RenamedSwitch.isShown), #keyPath(RenamedSwitch.currentLevel)]
  for key in keys { object.addObserver(observer, forKeyPath: key, options: .new, context: nil) }
  object.isShown = true
  object.hide()
  object.setValue(0.5, forKey: "level")
  for key in keys { object.removeObserver(observer, forKeyPath: key) }
  journal.write("\(object.value(forKey: "shown") as! Bool) \(keys)")
}
