// Changes by hand: nested pairs, a test before the pair, and changes of to-many properties with
// indexes and with a set.
import Foundation

final class Ledger: NSObject {
  @objc dynamic private(set) var itemsChanged = 0
  @objc dynamic private(set) var entries = ["rent", "food", "tea", "books"]
  @objc dynamic private(set) var tags: Set<String> = ["home"]
  @objc dynamic private(set) var total = 0.0

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    false
  }

  /// One operation that changes two keys, and notifies of neither if nothing changes.
  func setTotal(_ newTotal: Double) {
    guard newTotal != total else { return }
    willChangeValue(forKey: "total")
    willChangeValue(forKey: "itemsChanged")
    total = newTotal
    itemsChanged += 1
    didChangeValue(forKey: "itemsChanged")
    didChangeValue(forKey: "total")
  }

  func removeEntries(at indexes: IndexSet) {
    willChange(.removal, valuesAt: indexes, forKey: "entries")
    entries = entries.indices.filter { !indexes.contains($0) }.map { entries[$0] }
    didChange(.removal, valuesAt: indexes, forKey: "entries")
  }

  func append(_ entry: String) {
    let indexes = IndexSet(integer: entries.count)
    willChange(.insertion, valuesAt: indexes, for: \.entries)
    entries.append(entry)
    didChange(.insertion, valuesAt: indexes, for: \.entries)
  }

  func tag(_ added: Set<String>) {
    willChangeValue(forKey: "tags", withSetMutation: .union, using: added)
    tags.formUnion(added)
    didChangeValue(forKey: "tags", withSetMutation: .union, using: added)
  }
}

func manualPairs(_ journal: Journal) {
  let ledger = Ledger()
  let tokens = [
    ledger.observe(\.total, options: [.old, .new]) { _, change in
      journal.write("total \(change.oldValue!) -> \(change.newValue!)")
    },
    ledger.observe(\.itemsChanged, options: .new) { _, change in
      journal.write("items changed \(change.newValue!)")
    },
    ledger.observe(\.entries, options: [.old, .new]) { _, change in
      let indexes: IndexSet? = change.indexes
      let places = (0..<9).filter { indexes!.contains($0) }
      if change.kind == .removal {
        journal.write("removed \(change.oldValue!) from \(places)")
      } else if change.kind == .insertion {
        journal.write("inserted \(change.newValue!) at \(places)")
      }
    },
    ledger.observe(\.tags, options: .new) { _, change in
      let verb = change.kind == .insertion ? "added" : "changed"
      journal.write("\(verb) \(change.newValue!.sorted())")
    },
  ]

  ledger.setTotal(12)
  ledger.setTotal(12)
  ledger.removeEntries(at: IndexSet([0, 2]))
  ledger.removeEntries(at: IndexSet(integersIn: 0..<1))
  ledger.append("travel")
  ledger.tag(["work", "abroad"])
  withExtendedLifetime(tokens) {}
}
