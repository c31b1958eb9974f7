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
print("isObserved:", sensor.isObserved(forKey: "reading"))

switch CommandLine.arguments.dropFirst().first {
case "key": _ = try Forgotten().value(forKey: "count")
case "key-path": _ = Forgotten().observe(\.count) { _, _ in }
default: break
}
