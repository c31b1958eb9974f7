// A model whose plain properties announce manually, in the observers of the property and in a method.
import Foundation

final class ToggleModel: NSObject {
  @objc dynamic var title = "off"

  var flags = 0 {
    willSet { willChangeValue(forKey: "flags") }
    didSet { didChangeValue(forKey: "flags") }
  }

  @objc private(set) var count = 0

  func increment(by amount: Int) {
    guard amount != 0 else { return }
    willChangeValue(forKey: #keyPath(count))
    count += amount
    didChangeValue(forKey: #keyPath(count))
  }

  // Is set without an announcement, and notifies no observer.
  var silent = 0
}

final class ToggleObserver: NSObject {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    journal.write("\(keyPath ?? "") changed")
  }
}

func toggleModel(_ journal: Journal) {
  let model = ToggleModel()
  let observer = ToggleObserver(journal)
  for key in ["title", "flags", "count"] {
    model.addObserver(observer, forKeyPath: key, options: [], context: nil)
  }
  model.flags = 3
  model.increment(by: 2)
  model.increment(by: 0)
  model.title = "on"
  model.silent = 1
  for key in ["title", "flags", "count"] { model.removeObserver(observer, forKeyPath: key) }
  journal.write("\(model.title) \(model.flags) \(model.count) \(model.silent)")
}
