// A player's item: the state is behind a concurrent queue, and an observer under a context watches it.
import Foundation

private var meterContext = UInt8(7)

final class MeterItem: NSObject {
  private let queue = DispatchQueue(label: "meter", attributes: .concurrent)
  private var rawState = 0
  private var history: [Int] = []

  @objc dynamic var state: Int {
    get { return queue.sync { rawState } }
    set {
      queue.sync(flags: .barrier) {
        rawState = newValue
        history.append(newValue)
      }
    }
  }

  var changes: Int { return queue.sync { history.count } }
}

final class MeterWatcher: NSObject {
  let journal: Journal
  let item: MeterItem

  init(_ item: MeterItem, _ journal: Journal) {
    self.item = item
    self.journal = journal
    super.init()
    item.addObserver(
      self, forKeyPath: #keyPath(MeterItem.state), options: [.old, .new], context: &meterContext)
  }

  deinit {
    item.removeObserver(self, forKeyPath: #keyPath(MeterItem.state), context: &meterContext)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == &meterContext, let item = object as? MeterItem else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      return
    }
    let old = change?[.oldKey] as? Int ?? -1
    let new = change?[.newKey] as? Int ?? -1
    journal.write("state \(old) -> \(new), \(item.changes) so far, is \(item.state)")
  }
}

func meterItem(_ journal: Journal) {
  let item = MeterItem()
  var watcher: MeterWatcher? = MeterWatcher(item, journal)
  item.state = 1
  item.setValue(2, forKey: "state")
  item.state = 2
  journal.write("watched \(watcher != nil)")
  watcher = nil
  item.state = 3
  journal.write("changes \(item.changes)")
}
