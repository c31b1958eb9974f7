// Overrides in extensions, a property that is a mutable proxy, and generic functions that pass objects on.
import Foundation

final class Roster: NSObject {
  @objc dynamic private(set) var names: [String] = []
  private var all: NSMutableArray {
    return mutableArrayValue(forKey: "names")
  }
  private let journal: Journal

  init(_ journal: Journal) {
    self.journal = journal
    super.init()
    addObserver(self, forKeyPath: "names", options: [], context: nil)
  }

  deinit {
    removeObserver(self, forKeyPath: "names")
  }

  func add(_ name: String) {
    all.add(name)
  }

  func removeFirst() {
    all.removeObject(at: 0)
  }
}

extension Roster {
  // One line for each change.
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard let kind = change?[.kindKey] as? UInt else { return }
    journal.write("\(kind == NSKeyValueChange.insertion.rawValue ? "in" : "out") \(names.count)")
  }
}

private func watch<Object: NSObject, Value>(
  _ object: Object, _ keyPath: KeyPath<Object, Value>, _ body: @escaping (Value) -> Void
) -> NSKeyValueObservation {
  return object.observe(keyPath, options: [.initial]) { object, _ in body(object[keyPath: keyPath])
  }
}

private func watchCount<Object: NSObject>(
  _ object: Object, _ keyPath: KeyPath<Object, [String]>, _ journal: Journal
) -> NSKeyValueObservation {
  return watch(object, keyPath) { value in journal.write("count \(value.count)") }
}

func splitOverrides(_ journal: Journal) {
  let roster = Roster(journal)
  roster.add("Ada")
  roster.add("Bob")
  let token = watchCount(roster, \.names, journal)
  roster.removeFirst()
  token.invalidate()
  journal.write("\([4, 6].average) \(roster.names[0])")
}

extension Array where Element == Int {
  var average: Double {
    let numbers: [Int] = self
    return (numbers as NSArray).value(forKeyPath: "@avg.floatValue") as? Double ?? 0
  }
}
