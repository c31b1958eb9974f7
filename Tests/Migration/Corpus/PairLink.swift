// Two objects that observe each other, each under a context of its own.
import Foundation

final class PairLink: NSObject {
  @objc dynamic var left = 0
  private var context = 1
  private let journal: Journal
  private let name: String
  private weak var other: PairLink?

  init(_ name: String, _ journal: Journal) {
    self.name = name
    self.journal = journal
  }

  func watch(_ other: PairLink) {
    self.other = other
    other.addObserver(self, forKeyPath: "left", options: [], context: &context)
  }

  func stop() { other?.removeObserver(self, forKeyPath: "left", context: &context) }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == &self.context else {
      return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
    journal.write("\(name) hears \((object as! PairLink).left)")
  }
}

func pairLink(_ journal: Journal) {
  let (a, b) = (PairLink("a", journal), PairLink("b", journal))
  a.watch(b)
  b.watch(a)
  a.left = 1
  b.left = 2
  a.stop()
  b.left = 3
  a.left = 4
  b.stop()
  a.left = 5
}
