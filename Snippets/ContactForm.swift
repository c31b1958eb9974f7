// A form whose fields are found by key: each key of the model, followed by "Field", is a key of the
// form. The model validates the typed text before it is set.
import KVORuntime

final class Contact: KVOObject {
  struct InvalidAddress: Error {}

  @Observed var name = ""
  @Observed var nickname = ""
  @Observed var email = ""
  @Observed var city = ""

  override class func registerKeys() {
    declareKeys { keys in
      keys.validator("name") { (_, name: inout String?) in
        name = name?.split(separator: " ").joined(separator: " ") ?? ""
      }
      keys.validator("email") { (_, email: inout String?) in
        guard let address = email, address.contains("@") else { throw InvalidAddress() }
        email = address.lowercased()
      }
    }
  }
}

final class TextField {
  var text = ""
}

/// Owns the fields; the form does not.
struct Window {
  let nameField = TextField(), nicknameField = TextField()
  let emailField = TextField(), cityField = TextField()
}

final class DetailForm: KVOObject {
  weak var nameField: TextField?
  weak var nicknameField: TextField?
  weak var emailField: TextField?
  weak var cityField: TextField?

  private let contactKeys = ["name", "nickname", "email", "city"]

  var contact: Contact? {
    didSet { try! updateFields() }
  }

  // From outside the class, these properties can't be recognised as weak, so they are declared.
  override class func registerKeys() {
    declareKeys { keys in
      keys.stored("nameField", \.nameField)
      keys.stored("nicknameField", \.nicknameField)
      keys.stored("emailField", \.emailField)
      keys.stored("cityField", \.cityField)
    }
  }

  init(_ window: Window) {
    super.init()
    nameField = window.nameField
    nicknameField = window.nicknameField
    emailField = window.emailField
    cityField = window.cityField
  }

  /// Called when the user leaves a field.
  func editingDidEnd(_ field: TextField) throws {
    for key in contactKeys where try self.field(for: key) === field {
      var value: Any? = field.text
      do {
        try contact?.validateValue(&value, forKey: key)
        try contact?.setValue(value, forKey: key)
      } catch is Contact.InvalidAddress {
        print("\"\(field.text)\" is no address")
      }
    }
    try updateFields()
  }

  private func updateFields() throws {
    for key in contactKeys {
      try field(for: key)?.text = contact?.value(forKey: key) as? String ?? ""
    }
  }

  private func field(for key: String) throws -> TextField? {
    try value(forKey: key + "Field") as? TextField
  }
}

let window = Window()
let form = DetailForm(window)
let contact = Contact()
contact.city = "London"
form.contact = contact
print("shown: \(window.cityField.text)")

for (field, text) in [
  (window.nameField, "  Ada  Lovelace"), (window.nicknameField, "Countess"),
  (window.emailField, "Ada@Example.org"), (window.emailField, "ada at home"),
] {
  field.text = text
  try form.editingDidEnd(field)
}
print("model: \(contact.name), \(contact.nickname), \(contact.email), \(contact.city)")
print("shown: \(window.nameField.text), \(window.emailField.text)")

do {
  let another = Window()
  form.nameField = another.nameField
}
print(try form.value(forKey: "nameField") == nil ? "the field has gone" : "the field is there")
