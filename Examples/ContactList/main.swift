// A mutable collection over storage that Swift doesn't own: a std::vector in C++, behind C
// functions (Examples/ContactStore). `mutableContacts` is a proxy for the key `wrappedContacts`,
// whose accessors call those functions. Observers are notified of which elements were inserted or
// removed, and where.
import ContactStore
import KVORuntime

final class ContactList: KVOObject {
  private let store = contact_store_create()

  deinit {
    contact_store_destroy(store)
  }

  /// The contacts, which can be read and changed.
  var mutableContacts: MutableArrayProxy {
    get throws { try mutableArrayValue(forKey: "wrappedContacts") }
  }

  override class func registerKeys() {
    declareKeys { keys in
      keys.orderedToMany(
        "wrappedContacts", count: { contact_store_count($0.store) },
        element: { String(cString: contact_store_name($0.store, $1)) },
        insert: { $0.insert($1, at: $2) }, remove: { $0.remove(at: $1) })
    }
  }

  // The indexes are those that the names have after the insertion.
  private func insert(_ names: [String], at indexes: RangeSet<Int>) {
    for (index, name) in zip(indexes.ranges.joined(), names) {
      contact_store_insert(store, name, index)
    }
  }

  // From the end, so that the remaining indexes stay valid.
  private func remove(at indexes: RangeSet<Int>) {
    for index in indexes.reversed() { contact_store_remove(store, index) }
  }
}

let list = ContactList()
let token = try list.observe(keyPath: "wrappedContacts", options: [.old, .new]) { list, change in
  let names = (change.newValue ?? change.oldValue) as! [String]
  print("\(change.kind) of \(names) at \(change.indexes!.map(\.self))")
}

let contacts = try list.mutableContacts
try contacts.append("Ada")
try contacts.append("Mary")
try contacts.insert("Grace", at: 1)
try contacts.insert(["Emmy", "Rosa"], at: RangeSet([0..<1, 4..<5]))
print(contacts.map { $0 as! String })
try contacts.remove(at: 0)
try contacts.remove(at: RangeSet(1..<3))
// Without an accessor of its own, a replacement is a removal and an insertion, reported as one
// change.
try contacts.replace(at: 0, with: "Augusta")
print(contacts.count, "left:", contacts.map { $0 as! String })

do {
  try contacts.remove(at: 7)
} catch {
  print(error)
}
