// Members that @objcMembers and an extension with @objc expose, also in subclasses and extensions.
import Foundation

@objcMembers class BelowBase: NSObject { dynamic var name = "n" }

class BelowSub: BelowBase {
  var count = 0 { didSet { log.append(count) } }
  var log: [Int] = []
  dynamic var extra = "e"
}
extension BelowSub {
  dynamic var full: String { return name + extra }
  class func keyPathsForValuesAffectingFull() -> Set<String> { return ["extra"] }
  var shout: String { return name.uppercased() }
  func validateName(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    value.pointee = "valid" as NSString
  }
}
func useBelow(_ journal: Journal) {
  let sub = BelowSub()
  sub.setValue(3, forKey: "count")
  journal.write("\(sub.count) \(sub.log) \(sub.value(forKey: "shout") as! String)")
  let token = sub.observe(\.full, options: .new) { _, c in journal.write(c.newValue!) }
  sub.name = "m"
  sub.extra = "f"
  token.invalidate()
  var value: AnyObject? = "x" as NSString
  try? sub.validateValue(&value, forKey: "name")
  journal.write(value as! String)
}

class ExposingItem: NSObject {
  var store: [String: Int] = [:]
  @objc dynamic var id = 0
}
extension ExposingItem {
  @objc dynamic var weight: Int {
    get { return store["weight"] ?? 0 }
    set { store["weight"] = newValue }
  }
}
@objc extension ExposingItem {
  dynamic var height: Int {
    get { return store["height"] ?? 0 }
    set { store["height"] = newValue }
  }
  var depth: Int { return 3 }
}
func useExposing(_ journal: Journal) {
  let i = ExposingItem()
  let tokens = [
    i.observe(\.weight, options: [.old, .new]) { _, c in
      journal.write("weight \(c.oldValue!) \(c.newValue!)")
    },
    i.observe(\.height, options: [.old, .new]) { _, c in
      journal.write("height \(c.oldValue!) \(c.newValue!)")
    },
  ]
  i.weight = 1
  i.setValue(2, forKey: "weight")
  i.height = 3
  journal.write("\(i.value(forKey: "depth") as! Int)")
  for token in tokens { token.invalidate() }
}

func membersBelow(_ journal: Journal) {
  useBelow(journal)
  useExposing(journal)
}
