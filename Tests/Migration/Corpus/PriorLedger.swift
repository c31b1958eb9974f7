// Prior notifications, several options and handlers that read values through casts of the change's dictionary.
import Foundation

class LedgerEntry: NSObject {
  @objc dynamic var balance: Decimal = 0
  @objc dynamic var memo: String? = nil
  @objc dynamic var tags: [String] = []
  @objc dynamic var meta: [String: Any] = [:]
  @objc dynamic var bytes = Data()
}

class PriorLedger: NSObject {
  let journal: Journal
  var entry: LedgerEntry? {
    didSet {
      oldValue?.removeObserver(self, forKeyPath: "memo")
      oldValue?.removeObserver(self, forKeyPath: "tags")
      entry?.addObserver(self, forKeyPath: "memo", options: [.prior, .old, .new], context: nil)
      entry?.addObserver(self, forKeyPath: "tags", options: [.old, .new, .initial], context: nil)
    }
  }
  init(_ journal: Journal) { self.journal = journal }
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard let keyPath = keyPath, let change = change else { return }
    let isPrior = change[.notificationIsPriorKey] as? Bool ?? false
    if isPrior {
      journal.write(
        "prior \(keyPath) \(change[.oldKey] as? String ?? "-") \(change[.newKey] == nil)")
      return
    }
    if keyPath == "memo" {
      var isCleared = false
      if isPrior == false && change[.newKey] is NSNull { isCleared = true }
      journal.write("memo \(isCleared)")
      if let old = change[.oldKey], !(old is NSNull) { journal.write("had \(old)") }
    } else {
      let (new, old) = (change[.newKey] as? NSArray, change[.oldKey] as? NSArray)
      journal.write("tags \(new?.count ?? -1) \(old?.count ?? -1)")
    }
  }
}

func priorLedger(_ journal: Journal) {
  let ledger = PriorLedger(journal)
  let entry = LedgerEntry()
  ledger.entry = entry
  entry.memo = "lunch"
  entry.memo = nil
  entry.tags = ["a"]
  ledger.entry = nil
  entry.memo = "x"
  let tokens = [
    entry.observe(\.balance, options: [.old, .new]) { _, change in
      journal.write("balance \(change.oldValue!) \(change.newValue!)")
    },
    entry.observe(\.memo, options: [.prior, .new]) { _, change in
      journal.write("typed \(change.isPrior) \(change.newValue.flatMap { $0 } ?? "nil")")
    },
    entry.observe(\.meta, options: [.new]) { _, change in
      journal.write("meta \(change.newValue!["k"] as! Int)")
    },
    entry.observe(\.bytes) { entry, _ in journal.write("bytes \(entry.bytes.count)") },
  ]
  entry.balance = 12.5
  entry.memo = "y"
  entry.meta["k"] = 3
  entry.bytes.append(7)
  for token in tokens { token.invalidate() }
}
