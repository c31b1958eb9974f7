// Automatic notification that is off, coalesced manually, and a computed property with nothing observable behind it.
import Foundation

final class QuietStorage { var total = 0 }

final class QuietCounter: NSObject {
  private let storage = QuietStorage()
  private var pending = 0

  @objc dynamic var total: Int {
    get { return storage.total }
    set {
      guard newValue >= 0 else { return }
      storage.total = newValue
    }
  }

  @objc dynamic var batch = 0
  @objc class func automaticallyNotifiesObserversOfBatch() -> Bool { return false }

  func flush() {
    willChangeValue(for: \.batch)
    batch += pending
    pending = 0
    didChangeValue(for: \.batch)
  }

  func add(_ count: Int) { pending += count }
}

func quietCounter(_ journal: Journal) {
  let counter = QuietCounter()
  let tokens = [
    counter.observe(\.total, options: [.old, .new]) { _, change in
      journal.write("total \(change.oldValue!) -> \(change.newValue!)")
    },
    counter.observe(\.batch) { counter, _ in journal.write("batch \(counter.batch)") },
  ]
  counter.total = 3
  counter.total = -1
  counter.add(1)
  counter.add(2)
  counter.batch = 10
  counter.flush()
  withExtendedLifetime(tokens) {}
}
