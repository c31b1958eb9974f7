// Automatic notification turned off: for all keys by name, and by a class method for one key.
import KVORuntime

class Thermostat: KVOObject {
  @Observed var target = 20.0
  @Observed var reading = 18.0
  @Observed var mode = "eco"

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    if key == "reading" { return false }
    return super.automaticallyNotifiesObservers(forKey: key)
  }

  /// Takes a reading, and notifies unless it is equal.
  func measure(_ value: Double) {
    guard value != reading else { return }
    willChangeValue(forKey: "reading")
    reading = value
    didChangeValue(forKey: "reading")
  }
}

final class SilentThermostat: Thermostat {
  @Observed var fan = 0

  override class func registerKeys() {
    declareKeys { keys in
      keys.automaticallyNotifies("fan", false)
    }
  }

  func blow(_ speed: Int) {
    willChangeValue(for: \.fan)
    fan = speed
    didChangeValue(for: \.fan)
  }
}

func automaticOff(_ journal: Journal) {
  let thermostat = SilentThermostat()
  let tokens = [
    thermostat.observe(\.target, options: [.new]) { _, change in
      journal.write("target \(change.newValue!)")
    },
    thermostat.observe(\.reading, options: [.old, .new]) { _, change in
      journal.write("reading \(change.oldValue!) -> \(change.newValue!)")
    },
    thermostat.observe(\.fan, options: [.old, .new]) { _, change in
      journal.write("fan \(change.oldValue!) -> \(change.newValue!)")
    },
  ]

  thermostat.target = 21
  thermostat.reading = 18.5
  thermostat.measure(18.5)
  thermostat.measure(19)
  try! thermostat.setValue(19.5, forKey: "reading")
  try! thermostat.setValue(22, forKey: "target")
  thermostat.fan = 1
  thermostat.blow(2)
  withExtendedLifetime(tokens) {}
}
