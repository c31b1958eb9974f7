// A table that observes rows of several types, keeps its registrations in tuples, and validates titles.
import Foundation

protocol RowStyled {}
extension RowStyled { var styleName: String { return "plain" } }
extension NSObject: RowStyled {}

protocol RowTitled: AnyObject { var title: String { get set } }
typealias TableRow = NSObject & RowTitled

class FileRow: NSObject, RowTitled {
  @objc dynamic var title: String
  @objc dynamic var size: Int
  init(_ title: String, _ size: Int) {
    self.title = title
    self.size = size
    super.init()
  }
  override func validateValue(
    _ ioValue: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey inKey: String
  ) throws {
    if inKey == "title", let title = ioValue.pointee as? String {
      ioValue.pointee = title.uppercased() as AnyObject
      return
    }
    try super.validateValue(ioValue, forKey: inKey)
  }
}

class RowTable: NSObject {
  private let journal: Journal
  private var registrations: [(NSObject, String)] = []
  @objc var first: FileRow?
  init(_ journal: Journal) { self.journal = journal }

  func watch(_ object: NSObject, _ key: String) {
    object.addObserver(self, forKeyPath: key, options: .new, context: nil)
    registrations.append((object, key))
  }
  func add(_ row: TableRow) {
    row.addObserver(self, forKeyPath: "title", options: .new, context: nil)
    registrations.append((row, "title"))
    row.title += "!"
  }
  func stop() {
    for (object, key) in registrations { object.removeObserver(self, forKeyPath: key) }
    registrations = []
  }
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    journal.write("\(keyPath!) \(change![.newKey]!)")
  }
}

func rowTable(_ journal: Journal) {
  let table = RowTable(journal)
  let (a, b) = (FileRow("a", 1), FileRow("b", 4))
  table.add(a)
  table.watch(b, "size")
  b.size = 6
  let all = [a, b] as NSArray
  journal.write("sum \(all.value(forKeyPath: "@sum.size") as! Int)")
  all.setValue(2, forKey: "size")
  table.first = a
  var title: AnyObject? = "z" as NSString
  do {
    try table.validateValue(&title, forKeyPath: "first.title")
    journal.write("valid \(title as! String) \(a.styleName)")
  } catch { journal.write("invalid") }
  table.stop()
  a.title = "c"
  journal.write("end")
}
