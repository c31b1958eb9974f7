// Superclasses, extended classes and roots that are named by an alias.
import Foundation

class AliasedModel: NSObject { @objc dynamic var name = "m" }
typealias AliasedBase = AliasedModel

class AliasedItem: AliasedBase {
  @objc dynamic var size = 1
  override var name: String { didSet { trace.append(oldValue) } }
  var trace: [String] = []
}
func useAliased(_ journal: Journal) {
  let item = AliasedItem()
  let tokens = [
    item.observe(\.size, options: .new) { _, c in journal.write("size \(c.newValue!)") },
    item.observe(\.name, options: .new) { i, c in journal.write("name \(c.newValue!) \(i.trace)") },
  ]
  item.size = 2
  item.name = "n"
  item.setValue("o", forKey: "name")
  for token in tokens { token.invalidate() }
}

typealias RootedRoot = NSObject
class RootedItem: RootedRoot { @objc dynamic var size = 1 }
func useRooted(_ journal: Journal) {
  let item = RootedItem()
  let token = item.observe(\.size, options: .new) { _, c in journal.write("size \(c.newValue!)") }
  item.size = 2
  token.invalidate()
}

class ExtendedModel: NSObject {
  @objc dynamic var name = "m"
  @objc dynamic var parts = 1
}
typealias ExtendedBase = ExtendedModel

extension ExtendedBase {
  @objc dynamic var label: String { return ExtendedText.of(self) }
  @objc class func keyPathsForValuesAffectingLabel() -> Set<String> { return ["parts"] }
}
enum ExtendedText {
  static func of(_ m: ExtendedModel) -> String { return m.name + String(m.parts) }
}
func useExtended(_ journal: Journal) {
  let m: ExtendedBase = ExtendedModel()
  let token = m.observe(\.label, options: [.old, .new]) { _, c in
    journal.write("\(c.oldValue!) \(c.newValue!)")
  }
  m.name = "n"
  m.setValue(2, forKey: "parts")
  token.invalidate()
}

typealias BoxedBox = BoxedContainer<Int>
class BoxedContainer<T>: NSObject {
  @objc dynamic var mark = 0
  var content: T?
}
class BoxedSub: BoxedBox {
  override var mark: Int {
    get { return super.mark }
    set { super.mark = newValue * 2 }
  }
}
func useBoxed(_ journal: Journal) {
  let s = BoxedSub()
  let token = s.observe(\.mark, options: [.new]) { _, c in journal.write("\(c.newValue!)") }
  s.mark = 2
  s.setValue(3, forKey: "mark")
  token.invalidate()
}

func aliasedModels(_ journal: Journal) {
  useAliased(journal)
  useRooted(journal)
  useExtended(journal)
  useBoxed(journal)
}
