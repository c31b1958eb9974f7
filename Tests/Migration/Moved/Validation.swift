// Validation: asked for by a form before it sets, answered by a method for each key, which may mend
// the value or refuse it.
import KVORuntime

enum ContactError: Error, Equatable {
  case noAddress(String)
}

final class Contact: KVOObject {
  @Observed var name = ""
  @Observed var email = ""

  func validName(_ name: String?) -> String? {
    name?.split(separator: " ").joined(separator: " ") ?? "nameless"
  }

  func validEmail(_ email: String?) throws -> String? {
    guard let email, email.contains("@") else { throw ContactError.noAddress(email ?? "nothing") }
    return email.lowercased()
  }

  override class func registerKeys() {
    declareKeys { keys in
      keys.validator("name") { contact, value in value = contact.validName(value) }
      keys.validator("email") { contact, value in value = try contact.validEmail(value) }
    }
  }
}

final class ContactForm {
  private let contact: Contact
  private let journal: Journal

  init(_ contact: Contact, _ journal: Journal) {
    self.contact = contact
    self.journal = journal
  }

  /// Stores the typed text in the contact, if the contact accepts it.
  func commit(_ text: String?, as key: String) {
    var value = text as AnyObject?
    do {
      try contact.validateValue(&value, forKey: key)
      try contact.setValue(value, forKey: key)
    } catch ContactError.noAddress(let text) {
      journal.write("\(text) is no address")
    } catch {
      journal.write("\(error)")
    }
  }
}

func validation(_ journal: Journal) {
  let contact = Contact()
  let form = ContactForm(contact, journal)
  let tokens = [
    contact.observe(\.name, options: .new) { _, change in
      journal.write("name: \(change.newValue!).")
    },
    contact.observe(\.email, options: .new) { _, change in
      journal.write("email: \(change.newValue!)")
    },
  ]

  form.commit("  Ada   Lovelace ", as: "name")
  form.commit(nil, as: "name")
  form.commit("Ada@Example.org", as: "email")
  form.commit("ada at home", as: "email")
  form.commit(nil, as: "email")
  journal.write("\(contact.name), \(contact.email)")

  // Key-value coding does not validate by itself.
  try! contact.setValue("nonsense", forKey: "email")
  withExtendedLifetime(tokens) {}
}
