// Notes which properties have really changed: it compares the old with the new value as objects, whatever their types are.
import Foundation

@objc enum NoteMode: Int { case plain, rich }

class NoteRecord: NSObject {
  @objc dynamic var name: String? = "a"
  @objc dynamic var count = 0
  @objc dynamic var ratio = CGFloat(1)
  @objc dynamic var mode = NoteMode.plain
  @objc dynamic var next: NoteRecord?
  @objc dynamic var lines: [String] = []
}

class DirtyFlags: NSObject {
  static let keys = ["name", "count", "ratio", "mode", "next", "lines"]
  let record: NoteRecord
  private(set) var dirty: [String] = []
  private(set) var equal = 0

  init(_ record: NoteRecord) {
    self.record = record
    super.init()
    for key in DirtyFlags.keys {
      record.addObserver(self, forKeyPath: key, options: [.old, .new], context: nil)
    }
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    let old = change?[.oldKey] as? NSObject
    let new = change?[.newKey] as? NSObject
    if let a = old, let b = change?[.newKey] as? NSObject, a == b { equal += 1 }
    guard old != new else { return }
    dirty.append(keyPath!)
  }

  func take() -> String {
    defer { (dirty, equal) = ([], 0) }
    return "\(dirty.joined(separator: " ")); \(equal) equal"
  }

  deinit { for key in DirtyFlags.keys { record.removeObserver(self, forKeyPath: key) } }
}

func dirtyFlags(_ journal: Journal) {
  let record = NoteRecord()
  let flags = DirtyFlags(record)
  func set(to next: NoteRecord?) {
    record.name = "b"
    record.count = 1
    record.ratio = 2
    record.mode = .rich
    record.next = next
    record.lines = ["x"]
    journal.write(flags.take())
  }
  let next = NoteRecord()
  set(to: next)
  set(to: next)
  record.name = nil
  record.next = nil
  journal.write(flags.take())
}
