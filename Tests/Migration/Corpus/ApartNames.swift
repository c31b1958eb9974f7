// Statements and properties whose names in Objective-C are others than in Swift.
import Foundation

class StatedPerson: NSObject {
  @objc dynamic var first = "a"
  @objc dynamic var last = "b"
  @objc dynamic var full: String { return helper() }
  private func helper() -> String { return StatedBox.join(self) }
  @objc(keyPathsForValuesAffectingFull) class func keysOfFull() -> Set<String> { return ["first"] }
  @objc(automaticallyNotifiesObserversOfLast) static var notifiesLast: Bool { return false }
}
enum StatedBox { static func join(_ p: StatedPerson) -> String { return p.first + p.last } }
func useStated(_ journal: Journal) {
  let p = StatedPerson()
  let tokens = [
    p.observe(\.full, options: .new) { _, c in journal.write("full \(c.newValue!)") },
    p.observe(\.last, options: .new) { _, c in journal.write("last \(c.newValue!)") },
  ]
  p.first = "x"
  p.last = "y"
  for token in tokens { token.invalidate() }
}

class LitLamp: NSObject {
  private var raw = false
  @objc(lit) dynamic var isLit: Bool {
    get { return raw }
    set {
      willChangeValue(for: \.isLit)
      raw = newValue
      didChangeValue(for: \.isLit)
    }
  }
  @objc class func automaticallyNotifiesObserversOfLit() -> Bool { return false }
  @objc dynamic var label: String { return LitText.of(self) }
  @objc class func keyPathsForValuesAffectingLabel() -> Set<String> { return ["lit"] }
  func flip() {
    raw.toggle()
    willChangeValue(forKey: "lit")
    didChangeValue(forKey: "lit")
  }
}
enum LitText { static func of(_ l: LitLamp) -> String { return l.isLit ? "on" : "off" } }
class LitObserver: NSObject {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    journal.write("\(keyPath!) \(change![.newKey] as! Bool)")
  }
}
func useLit(_ journal: Journal) {
  let l = LitLamp()
  let o = LitObserver(journal)
  let tokens = [
    l.observe(\.isLit, options: [.new]) { _, c in journal.write("isLit \(c.newValue!)") },
    l.observe(\.label, options: [.new]) { _, c in journal.write("label \(c.newValue!)") },
  ]
  l.addObserver(o, forKeyPath: #keyPath(LitLamp.isLit), options: .new, context: nil)
  l.isLit = true
  l.flip()
  l.removeObserver(o, forKeyPath: #keyPath(LitLamp.isLit))
  for token in tokens { token.invalidate() }
}

class PowerBase: NSObject {
  @objc(lit) dynamic var isLit: Bool { return PowerText.lit(self) }
  @objc(power) dynamic var watts = 1
}
enum PowerText { static func lit(_ b: PowerBase) -> Bool { return b.watts > 5 } }

class PowerSub: PowerBase {
  @objc dynamic var extra = 0
  @objc class func keyPathsForValuesAffectingLit() -> Set<String> { return ["extra"] }
  @objc class func automaticallyNotifiesObserversOfPower() -> Bool { return false }
}
func usePower(_ journal: Journal) {
  let s = PowerSub()
  let tokens = [
    s.observe(\.isLit) { _, _ in journal.write("lit") },
    s.observe(\.watts, options: .new) { _, c in journal.write("watts \(c.newValue!)") },
  ]
  s.watts = 9
  s.extra = 1
  for token in tokens { token.invalidate() }
  let b = PowerBase()
  let token = b.observe(\.watts, options: .new) { _, c in journal.write("watts \(c.newValue!)") }
  b.watts = 3
  token.invalidate()
}

class RowRow: NSObject {
  @objc(identifier) let id: Int
  @objc dynamic var n = 0
  init(_ id: Int) { self.id = id }
}
func useRow(_ journal: Journal) {
  let rows = [RowRow(3), RowRow(5)]
  journal.write(
    "\((rows as NSArray).value(forKeyPath: "@sum.identifier") as! Int) \(rows[0].value(forKey: "identifier") as! Int)"
  )
}

class PathA: NSObject { @objc(title) dynamic var name = "a" }

class PathB: NSObject {
  @objc dynamic var name = "b"
  @objc dynamic var title = "t"
  @objc dynamic var a = PathA()
}
func usePath(_ journal: Journal) {
  let b = PathB()
  let a = PathA()
  journal.write("\(#keyPath(PathB.name)) \(b.value(forKey: #keyPath(PathB.name)) as! String)")
  journal.write("\(#keyPath(PathA.name)) \(a.value(forKey: #keyPath(PathA.name)) as! String)")
  journal.write(
    "\(#keyPath(PathB.a.name)) \(b.value(forKeyPath: #keyPath(PathB.a.name)) as! String)")
}

func apartNames(_ journal: Journal) {
  useStated(journal)
  useLit(journal)
  usePower(journal)
  useRow(journal)
  usePath(journal)
}
