// A person's address, as a form edits it.

import KVORuntime

final class Contact: KVOObject {
  @Observed var firstName = ""
  @Observed var lastName = ""
  @Observed var nickname = ""
  @Observed var email = ""
  @Observed var city = ""

  init(_ firstName: String, _ lastName: String, email: String, city: String) {
    self.firstName = firstName
    self.lastName = lastName
    self.email = email
    self.city = city
    super.init()
  }

  /// The name under which the contact is listed.
  var displayName: String {
    if !nickname.isEmpty { return nickname }
    let name = [firstName, lastName].filter { !$0.isEmpty }.joined(separator: " ")
    return name.isEmpty ? "Nobody" : name
  }

  var hasAddress: Bool { email.isEmpty || email.contains("@") }

  override class func registerKeys() {
    declareKeys { keys in
      keys.computed("displayName", \.displayName)
      keys.computed("hasAddress", \.hasAddress)
    }
  }
}
