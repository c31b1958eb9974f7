// A name that depends on two other properties, declared in three ways: by the class method for all
// keys, by a declaration, and from an extension.
import KVORuntime

class Person: KVOObject {
  @Observed var firstName = "Ada"
  @Observed var lastName = "Byron"

  var fullName: String { "\(firstName) \(lastName)" }
}

/// The class method names the keys that affect each key, and leaves other keys to the superclass.
final class Employee: Person {
  override class func registerKeys() {
    declareKeys { $0.accessors("fullName", get: \.fullName) }
  }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    let keyPaths = super.keyPathsForValuesAffectingValue(forKey: key)
    return key == "fullName" ? keyPaths.union(["firstName", "lastName"]) : keyPaths
  }
}

/// A declaration for one key.
final class Customer: Person {
  override class func registerKeys() {
    declareKeys { $0.computed("fullName", \.fullName, affectedBy: ["firstName", "lastName"]) }
  }
}

/// An extension can't override a class method, but it can declare keys at any time.
extension Person {
  var initials: String { "\(firstName.prefix(1)).\(lastName.prefix(1))." }

  static func declareInitials() {
    declareKeys { $0.computed("initials", \.initials, affectedBy: ["firstName", "lastName"]) }
  }
}

func watch(_ person: Person, _ key: String) throws -> KeyValueObservation {
  try person.observe(keyPath: key, options: [.old, .new]) { person, change in
    print("\(type(of: person)): \(change.oldValue!) -> \(change.newValue!)")
  }
}

let employee = Employee()
let customer = Customer()
let person = Person()
var tokens = [try watch(employee, "fullName"), try watch(customer, "fullName")]
employee.lastName = "Lovelace"
customer.firstName = "Augusta"

Person.declareInitials()
tokens.append(try watch(person, "initials"))
person.firstName = "Mary"

// By typed key path, no declaration is needed: the properties that the getter reads are observed.
tokens = [
  person.observe(\.fullName, options: .new) { _, change in
    print("undeclared: \(change.newValue!)")
  }
]
person.lastName = "Somerville"
