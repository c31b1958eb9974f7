// Tests for NSNull whose result is a value: assigned, returned, and chosen by a conditional operator.
import Foundation

final class Locker: NSObject {
  @objc dynamic var content: String?
}

final class LockerGuard: NSObject {
  private(set) var isEmpty: Bool = true
  private let locker: Locker
  private let journal: Journal

  init(_ locker: Locker, _ journal: Journal) {
    self.locker = locker
    self.journal = journal
    super.init()
    locker.addObserver(self, forKeyPath: "content", options: [.old, .new], context: nil)
  }

  deinit {
    locker.removeObserver(self, forKeyPath: "content")
  }

  private func isGone(_ change: [NSKeyValueChangeKey: Any]) -> Bool {
    return !(change[.oldKey] is NSNull)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    isEmpty = change![.newKey] is NSNull
    guard let change = change else { return }
    let before = (change[.oldKey] is NSNull) ? nil : change[.oldKey]
    let after = change[.newKey] is NSNull ? nil : change[.newKey]
    journal.write("\(before as? String ?? "-") \(after as? String ?? "-")")
    if before == nil { journal.write("from nothing") }
    if after == nil { journal.write("to nothing") }
    journal.write("\(isEmpty) \(isGone(change))")
  }
}

func emptySlot(_ journal: Journal) {
  let locker = Locker()
  let watcher = LockerGuard(locker, journal)
  withExtendedLifetime(watcher) {
    locker.content = "coat"
    locker.content = nil
  }
}
