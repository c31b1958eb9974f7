// Keys that depend on others: by a class method for each key, by the one for all keys, in a chain,
// and on a key of another object.
import KVORuntime

final class Address: KVOObject {
  @Observed var city: String

  init(city: String) {
    self.city = city
    super.init()
  }
}

class Person: KVOObject {
  @Observed var firstName = "Ada"
  @Observed var lastName = "Byron"
  @Observed var address: Address?

  var fullName: String { "\(firstName) \(lastName)" }

  var label: String { "\(fullName), \(address?.city ?? "unknown")" }

  override class func registerKeys() {
    declareKeys { keys in
      keys.computed("fullName", \.fullName, affectedBy: ["firstName", "lastName"])
      keys.computed("label", \.label, affectedBy: ["fullName", "address.city"])
    }
  }
}

final class Doctor: Person {
  @Observed var title = "Dr."

  override var label: String { "\(title) \(super.label)" }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    let keyPaths = super.keyPathsForValuesAffectingValue(forKey: key)
    return key == "label" ? keyPaths.union(["title"]) : keyPaths
  }
}

final class NameBadge: KVOObject {
  private let journal: Journal

  init(_ journal: Journal) {
    self.journal = journal
    super.init()
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    let old = change?[.oldKey] as? String
    let new = change?[.newKey] as? String
    journal.write("\(keyPath!): \(old!) -> \(new!)")
  }
}

func dependentKeys(_ journal: Journal) {
  let person = Person()
  let token = person.observe(\.fullName, options: [.old, .new]) { _, change in
    journal.write("full name: \(change.oldValue!) -> \(change.newValue!)")
  }
  person.lastName = "Lovelace"
  person.address = Address(city: "London")
  token.invalidate()
  person.lastName = "King"

  let doctor = Doctor()
  let badge = NameBadge(journal)
  try! doctor.addObserver(badge, forKeyPath: "label", options: [.old, .new], context: nil)
  doctor.firstName = "Mary"
  doctor.title = "Prof."
  let home = Address(city: "Paris")
  doctor.address = home
  home.city = "Rome"
  doctor.address = nil
  home.city = "Bern"
  try! doctor.removeObserver(badge, forKeyPath: "label")
  doctor.title = "Dr."
}
