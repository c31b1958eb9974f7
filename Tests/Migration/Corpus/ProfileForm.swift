// A form that validates by key, with validators in an extension, and has private members that are not keys.
import Foundation

enum ProfileProblem: Error { case empty, tooYoung }

final class Profile: NSObject {
  @objc dynamic var nick = ""
  @objc dynamic var age = 0
  var visits = [Int]()
}

extension Profile {
  @objc func validateNick(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    guard let text = value.pointee as? String, !text.isEmpty else { throw ProfileProblem.empty }
    value.pointee = text.lowercased() as AnyObject
  }
  @objc func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    if let age = value.pointee as? Int, age < 18 { throw ProfileProblem.tooYoung }
  }
}

extension Profile {
  override var description: String { return "\(nick), \(age)" }
}

func profileForm(_ journal: Journal) {
  let profile = Profile()
  let token = profile.observe(\.nick, options: [.new]) { _, change in
    journal.write("nick \(change.newValue!)")
  }
  for (key, entered) in [("nick", "ADA" as Any), ("nick", ""), ("age", 12), ("age", 36)] {
    var value = entered as AnyObject?
    do {
      try profile.validateValue(&value, forKey: key)
      profile.setValue(value, forKey: key)
      journal.write("set \(key)")
    } catch {
      journal.write("\(key): \(error)")
    }
  }
  token.invalidate()
  profile.visits.append(1)
  journal.write("\(profile)")
}
