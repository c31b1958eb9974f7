// Properties that are observed, and announced manually.
import Foundation

class TotalBase: NSObject {
  @objc var total = 0
  @objc dynamic var name = ""
}

class TotalSub: TotalBase {
  func bump() {
    willChangeValue(forKey: #keyPath(total))
    total += 1
    didChangeValue(forKey: #keyPath(total))
  }
}
func useTotal(_ journal: Journal) {
  let s = TotalSub()
  let token = s.observe(\.total, options: [.old, .new]) { _, c in
    journal.write("\(c.oldValue!) \(c.newValue!)")
  }
  s.bump()
  s.total = 9
  s.setValue(5, forKey: "total")
  token.invalidate()
}

class AnnouncedAccount: NSObject {
  @objc private(set) var total = 0
  @objc var half: Int { return total / 2 }
  @objc class func keyPathsForValuesAffectingHalf() -> Set<String> { return ["total"] }
  func add(_ n: Int) {
    willChangeValue(for: \.total)
    total += n
    didChangeValue(for: \.total)
  }
}
func useAnnounced(_ journal: Journal) {
  let a = AnnouncedAccount()
  let tokens = [
    a.observe(\.total, options: [.old, .new]) { _, c in
      journal.write("total \(c.oldValue!) \(c.newValue!)")
    },
    a.observe(\.half, options: [.old, .new]) { _, c in
      journal.write("half \(c.oldValue!) \(c.newValue!)")
    },
  ]
  a.add(4)
  for token in tokens { token.invalidate() }
}

func observedPlainly(_ journal: Journal) {
  useTotal(journal)
  useAnnounced(journal)
}
