// One file for Linux and Apple's platforms: only the imports and the attribute before a class differ.
#if canImport(ObjectiveC)
  import Foundation

  typealias Model = NSObject
#else
  import KVORuntime

  typealias Model = KVOObject
#endif

#if canImport(ObjectiveC)
  @objcMembers
#else
  @KVO
#endif
class Thermostat: Model {
  dynamic var celsius = 20.0 {
    didSet { if celsius > 30 { celsius = 30 } }
  }
  dynamic var name: String?
  dynamic weak var neighbour: Thermostat?
  dynamic private(set) var alarms: [String] = []

  dynamic var title: String { "\(name ?? "unnamed"): \(celsius)" }

  class func keyPathsForValuesAffectingTitle() -> Set<String> { ["name", "celsius"] }

  func raise(_ alarm: String) { alarms.append(alarm) }
}

#if canImport(ObjectiveC)
  @objcMembers
#else
  @KVO
#endif
final class Counter: Model {
  private var stored = 0

  dynamic var count: Int {
    get { stored }
    set {
      willChangeValue(forKey: "count")
      stored = max(newValue, 0)
      didChangeValue(forKey: "count")
    }
  }

  class func automaticallyNotifiesObserversOfCount() -> Bool { false }
}

private nonisolated(unsafe) var celsiusContext = 0

/// Observes with a context.
final class Display: Model {
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == &celsiusContext else {
      return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
    if let celsius = change?[.newKey] as? Double { print("display:", celsius) }
  }
}

let kitchen = Thermostat()
let cellar = Thermostat()
let display = Display()
let counter = Counter()
var tokens: [NSKeyValueObservation] = []
tokens.append(
  kitchen.observe(\.title, options: [.old, .new]) { _, change in
    print("title:", change.oldValue!, "->", change.newValue!)
  })
tokens.append(
  kitchen.observe(\.alarms) { kitchen, _ in print("alarms:", kitchen.alarms) })
tokens.append(
  counter.observe(\.count, options: .new) { _, change in print("count:", change.newValue!) })
try cellar.addObserver(display, forKeyPath: "celsius", options: .new, context: &celsiusContext)

kitchen.celsius = 35
kitchen.name = "Kitchen"
kitchen.raise("window open")
counter.count = -2
cellar.celsius = 12
try cellar.setValue(99, forKey: "celsius")
print("by key:", try cellar.value(forKey: "celsius") as? Double ?? 0)
try cellar.removeObserver(display, forKeyPath: "celsius", context: &celsiusContext)
for token in tokens { token.invalidate() }
