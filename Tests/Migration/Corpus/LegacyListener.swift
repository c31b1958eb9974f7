// An observer from before Swift 4: any object, a list of keys, options, removal in deinit; and code for a Mac only.
import Foundation

class LegacyListener: NSObject {
  private let target: NSObject
  private let keys: [String]
  private let block: (String, Any?) -> Void

  init(target: NSObject, keys: [String], block: @escaping (String, Any?) -> Void) {
    self.target = target
    self.keys = keys
    self.block = block
    super.init()
    for key in keys {
      target.addObserver(self, forKeyPath: key, options: [.initial, .new], context: nil)
    }
  }

  deinit {
    for key in keys { target.removeObserver(self, forKeyPath: key) }
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard let keyPath = keyPath else { return }
    block(keyPath, change?[.newKey])
  }
}

class LegacySensor: NSObject {
  @objc dynamic var reading = 1.5
  @objc dynamic var unit: String? = "m"
  #if os(macOS)
    func beep() { NSSound.beep() }
  #endif
}

func legacyListener(_ journal: Journal) {
  let sensor = LegacySensor()
  var listener: LegacyListener? = LegacyListener(target: sensor, keys: ["reading", "unit"]) {
    key, value in
    if let number = value as? Double {
      journal.write("\(key) \(number)")
    } else {
      journal.write("\(key) \(value as? String ?? "none")")
    }
  }
  sensor.reading = 2
  sensor.unit = nil
  sensor.setValue("km", forKey: "unit")
  journal.write(listener == nil ? "gone" : "there")
  listener = nil
  sensor.reading = 3
}
