// Values that are validated before they are set, by a method for a key and by the method for all keys.
import Foundation

class GateUser: NSObject {
  @objc dynamic var age: Int = 0
  @objc dynamic var email: String? = nil
  @objc dynamic var level = 1

  @objc func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    guard let number = value.pointee as? NSNumber else {
      throw NSError(domain: "gate", code: 1, userInfo: [NSLocalizedDescriptionKey: "no number"])
    }
    if number.intValue < 0 { value.pointee = NSNumber(value: 0) }
    if number.intValue > 150 {
      throw NSError(domain: "gate", code: 2, userInfo: [NSLocalizedDescriptionKey: "too old"])
    }
  }
  @objc func validateEmail(_ ioValue: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    guard let text = ioValue.pointee as? String else { return }
    let trimmed = text.trimmingCharacters(in: .whitespaces).lowercased()
    guard trimmed.contains("@") else {
      throw NSError(domain: "gate", code: 3, userInfo: nil)
    }
    ioValue.pointee = trimmed as NSString
  }
  override func setNilValueForKey(_ key: String) {
    if key == "level" {
      level = 0
    } else {
      super.setNilValueForKey(key)
    }
  }
}

class GateForm {
  let user = GateUser()
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  @discardableResult
  func enter(_ raw: Any?, for key: String) -> Bool {
    var value = raw as AnyObject?
    do {
      try user.validateValue(&value, forKey: key)
      user.setValue(value, forKey: key)
      return true
    } catch let error as NSError {
      journal.write("\(key) error \(error.code)")
      return false
    }
  }
}

func gateValidation(_ journal: Journal) {
  let form = GateForm(journal)
  let token = form.user.observe(\.email, options: [.old, .new]) { _, change in
    journal.write("email \((change.oldValue ?? nil) ?? "nil") \((change.newValue ?? nil) ?? "nil")")
  }
  form.enter(-5, for: "age")
  journal.write("age \(form.user.age)")
  form.enter(42, for: "age")
  form.enter(200, for: "age")
  form.enter("x", for: "age")
  form.enter(" Ann@Example.ORG ", for: "email")
  form.enter("without-at", for: "email")
  form.enter(nil, for: "email")
  form.user.setValue(nil, forKey: "level")
  journal.write("\(form.user.age) \(form.user.email ?? "nil") \(form.user.level)")
  token.invalidate()
}
