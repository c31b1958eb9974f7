/// A module without reflection metadata: it has only the keys that it declares.
import KVORuntime

class Sensor: KVOObject {
  @Observed var reading = 0.0
  @Observed var unit: String? = "K"
  var place = "lab"
  var label: String { "\(reading) \(unit ?? "")" }

  override class func registerKeys() {
    declareKeys { keys in
      keys.stored("reading", \.reading)
      keys.stored("unit", \.unit)
      keys.stored("place", \.place)
    }
  }
}

/// Declares nothing.
final class Forgotten: KVOObject {
  @Observed var count = 0
}

/// The macro declares what the class names by strings, and manual changes.
@KVO class Meter: KVOObject {
  private var value = 1
  @KVOIgnored private var stored = 1
  var manual: Int {
    get {
      access(keyPath: \.manual)
      return stored
    }
    set { withChange(of: \.manual) { stored = newValue } }
  }
  var isHigh: Bool { value > 1 }
  class func keyPathsForValuesAffectingIsHigh() -> Set<String> { ["value"] }
  func set(_ value: Int) { self.value = value }
  func watch() -> KeyValueObservation {
    observe(\.value, options: [.old, .new]) {
      print("Meter.value from \($1.oldValue!) to \($1.newValue!)")
    }
  }
}

/// Its property hides the superclass's.
@KVO final class Gauge: Meter {
  private var value = 5
  func setOwn(_ value: Int) { self.value = value }
}

func use(_ meter: Meter) {
  let tokens = [
    meter.observe(\.isHigh, options: .new) { print("isHigh to \($1.newValue!)") },
    meter.observe(\.manual, options: .new) { print("manual to \($1.newValue!)") },
  ]
  meter.set(2)
  meter.manual = 3
  let own = meter.watch()
  meter.set(3)
  (meter as? Gauge)?.setOwn(6)
  withExtendedLifetime((tokens, own)) {}
}

let sensor = Sensor()
let tokens = [
  sensor.observe(\.reading, options: [.old, .new]) {
    print("reading from \($1.oldValue!) to \($1.newValue!)")
  },
  sensor.observe(\.unit, options: .new) { print("unit to \($1.newValue! ?? "nil")") },
  sensor.observe(\.label, options: [.old, .new]) {
    print("label from \($1.oldValue!) to \($1.newValue!)")
  },
  sensor.observe(\.place, options: .new) { print("place to \($1.newValue!)") },
]
sensor.reading = 1
sensor.reading += 1
sensor.unit?.append("!")
sensor.unit = nil
try sensor.setValue(5, forKey: "reading")
try sensor.setValue("roof", forKey: "place")
print(try sensor.value(forKey: "reading")!, try sensor.value(forKey: "place")!)
withExtendedLifetime(tokens) {}
use(Meter())
use(Gauge())
print("isObserved:", sensor.isObserved(forKey: "reading"))

switch CommandLine.arguments.dropFirst().first {
case "key": _ = try Forgotten().value(forKey: "count")
case "key-path": _ = Forgotten().observe(\.count) { _, _ in }
default: break
}
