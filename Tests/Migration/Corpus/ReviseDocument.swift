// A document that records the inverse of each change by observing its records, and undoes and redoes by key path.
import Foundation

private var reviseContext = 0

class ReviseRecord: NSObject {
  @objc dynamic var name: String? = "New"
  @objc dynamic var raise: Float = 0.05
  @objc dynamic var isHidden = false
}

class ReviseStack: NSObject {
  private var undos: [() -> Void] = []
  private var redos: [() -> Void] = []
  private(set) var isUndoing = false
  @objc dynamic var canUndo: Bool { return !undos.isEmpty }
  func register(_ action: @escaping () -> Void) {
    willChangeValue(forKey: "canUndo")
    if isUndoing { redos.append(action) } else { undos.append(action) }
    didChangeValue(forKey: "canUndo")
  }
  func undo() {
    guard let action = undos.popLast() else { return }
    isUndoing = true
    action()
    isUndoing = false
  }
  func redo() { redos.popLast()?() }
}

class ReviseDocument: NSObject {
  let stack = ReviseStack()
  let journal: Journal
  @objc dynamic var records: [ReviseRecord] = [] {
    willSet { for record in records { stopObserving(record) } }
    didSet { for record in records { startObserving(record) } }
  }
  private let keyPaths = ["name", "raise", "hidden"].map { $0 == "hidden" ? "isHidden" : $0 }
  init(_ journal: Journal) { self.journal = journal }
  deinit { for record in records { stopObserving(record) } }

  func startObserving(_ record: ReviseRecord) {
    for keyPath in keyPaths {
      record.addObserver(self, forKeyPath: keyPath, options: .old, context: &reviseContext)
    }
  }
  func stopObserving(_ record: ReviseRecord) {
    for keyPath in keyPaths {
      record.removeObserver(self, forKeyPath: keyPath, context: &reviseContext)
    }
  }
  func changeKeyPath(_ keyPath: String, of object: NSObject, to value: Any?) {
    object.setValue(value, forKeyPath: keyPath)
  }
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == &reviseContext else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      return
    }
    guard let keyPath = keyPath, let object = object as? NSObject, let change = change else {
      return
    }
    var oldValue: Any? = change[.oldKey]
    if oldValue is NSNull {
      oldValue = nil
    }
    journal.write("old \(keyPath) \(oldValue == nil ? "none" : "some")")
    stack.register { [weak self] in
      self?.changeKeyPath(keyPath, of: object, to: oldValue)
    }
  }
}

func reviseDocument(_ journal: Journal) {
  let document = ReviseDocument(journal)
  let record = ReviseRecord()
  document.records = [record]
  let token = document.stack.observe(\.canUndo, options: [.new]) { _, change in
    journal.write("can undo \(change.newValue! ? "yes" : "no")")
  }
  record.name = nil
  record.raise = 0.5
  record.isHidden = true
  document.stack.undo()
  document.stack.undo()
  document.stack.undo()
  journal.write("\(record.name ?? "nil") \(record.raise) \(record.isHidden)")
  document.stack.redo()
  journal.write("\(record.name ?? "nil") \(record.raise) \(record.isHidden)")
  document.records = []
  token.invalidate()
}
