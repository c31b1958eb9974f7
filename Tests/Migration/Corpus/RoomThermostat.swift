// Dependent keys by the method for all keys, with the superclass's, and automatic notification by key.
import Foundation

class RoomSensor: NSObject {
  @objc dynamic var celsius: Double = 20
  @objc dynamic var label = "sensor"
}

class RoomBase: NSObject {
  @objc dynamic var sensor = RoomSensor()
  @objc dynamic var name = "room"
  @objc dynamic var caption: String { return "\(name)/\(sensor.label)" }
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    var keyPaths = super.keyPathsForValuesAffectingValue(forKey: key)
    if key == #keyPath(caption) {
      keyPaths.insert("name")
      keyPaths.insert("sensor.label")
    }
    return keyPaths
  }
}

class RoomThermostat: RoomBase {
  @objc dynamic var target: Double = 21
  @objc dynamic var isHeating: Bool { return sensor.celsius < target }
  private var _mode = "auto"
  @objc dynamic var mode: String {
    get { return _mode }
    set {
      guard newValue != _mode else { return }
      willChangeValue(forKey: #keyPath(mode))
      _mode = newValue
      didChangeValue(forKey: #keyPath(mode))
    }
  }
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    switch key {
    case #keyPath(mode): return false
    default: return super.automaticallyNotifiesObservers(forKey: key)
    }
  }
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    let keyPaths = super.keyPathsForValuesAffectingValue(forKey: key)
    switch key {
    case "isHeating": return keyPaths.union([#keyPath(sensor.celsius), "target"])
    case "caption": return keyPaths.union(["mode"])
    default: return keyPaths
    }
  }
  override var caption: String { return super.caption + " " + mode }
}

func roomThermostat(_ journal: Journal) {
  let room = RoomThermostat()
  let tokens = [
    room.observe(\.isHeating, options: [.new]) { room, _ in
      journal.write("heating \(room.isHeating)")
    },
    room.observe(\.caption, options: [.new]) { _, change in
      journal.write("caption \(change.newValue!)")
    },
    room.observe(\.mode, options: [.old, .new]) { _, change in
      journal.write("mode \(change.oldValue!)->\(change.newValue!)")
    },
  ]
  room.sensor.celsius = 22
  room.target = 25
  room.name = "hall"
  room.mode = "auto"
  room.mode = "off"
  let other = RoomSensor()
  room.sensor = other
  other.label = "new"
  for token in tokens { token.invalidate() }
}
