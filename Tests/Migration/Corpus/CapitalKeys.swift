// Keys that begin with several capitals, and methods whose names contain them.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

class PagePage: NSObject {
  @objc dynamic var host = "h"
  @objc dynamic var URL = "u"
  @objc dynamic var HTML: String { return PageText.of(self) }
}
extension PagePage {
  @objc class func automaticallyNotifiesObserversOfURL() -> Bool { return false }
  @objc class func keyPathsForValuesAffectingHTML() -> Set<String> { return ["host"] }
  @objc func validateURL(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    value.pointee = "checked" as NSString
  }
}
enum PageText { static func of(_ p: PagePage) -> String { return p.host + p.URL } }
func usePage(_ journal: Journal) {
  let p = PagePage()
  let tokens = [
    p.observe(\.URL, options: .new) { _, c in journal.write("URL \(c.newValue!)") },
    p.observe(\.HTML, options: .new) { _, c in journal.write("HTML \(c.newValue!)") },
  ]
  p.URL = "v"
  p.host = "i"
  for token in tokens { token.invalidate() }
  var value: AnyObject? = "x" as NSString
  try? p.validateValue(&value, forKey: "URL")
  journal.write(value as! String)
}

class HostBase: NSObject {
  @objc dynamic var URL = "u"
  @objc dynamic var host = "h"
}
class HostSub: HostBase {
  @objc dynamic var extra = 1
  @objc class func automaticallyNotifiesObserversOfURL() -> Bool { return false }
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    return super.automaticallyNotifiesObservers(forKey: key)
  }
}
func useHost(_ journal: Journal) {
  let s = HostSub()
  let tokens = [
    s.observe(\.URL, options: .new) { _, c in journal.write("URL \(c.newValue!)") },
    s.observe(\.extra, options: .new) { _, c in journal.write("extra \(c.newValue!)") },
  ]
  s.URL = "v"
  s.extra = 2
  for token in tokens { token.invalidate() }
}

func capitalKeys(_ journal: Journal) {
  usePage(journal)
  useHost(journal)
}
