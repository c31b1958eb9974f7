// Settings that store themselves: one observer for all keys, which a loop registers, and values that become nil.
import Foundation

@objcMembers final class StoredSettings: NSObject {
  dynamic var username: String? = nil
  dynamic var launchCount: Int = 0
  dynamic var volume: Float = 0.5
  dynamic var isDark: Bool = false
  dynamic var recent: [String] = []
  @nonobjc var store: [String: Any] = [:]
  @nonobjc var log: [String] = []
  private static let keys = ["username", "launchCount", "volume", "isDark", "recent"]
  private var isLoading = false

  override init() {
    super.init()
    for key in StoredSettings.keys {
      addObserver(self, forKeyPath: key, options: [.new], context: nil)
    }
  }
  deinit { for key in StoredSettings.keys { removeObserver(self, forKeyPath: key) } }

  func load(from dictionary: [String: Any]) {
    isLoading = true
    defer { isLoading = false }
    for (key, value) in dictionary where StoredSettings.keys.contains(key) {
      setValue(value, forKey: key)
    }
  }
  override func setValue(_ value: Any?, forUndefinedKey key: String) {
    log.append("ignored \(key)")
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard !isLoading, let key = keyPath else { return }
    let new = change?[.newKey]
    if new is NSNull {
      store.removeValue(forKey: key)
      log.append("removed \(key)")
    } else {
      store[key] = new
      log.append("stored \(key)")
    }
  }

  subscript(key: String) -> Any? {
    get { return value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }
}

func storedSettings(_ journal: Journal) {
  let settings = StoredSettings()
  settings.load(from: [
    "username": "ann", "launchCount": 4, "volume": 1, "other": 2, "isDark": true,
  ])
  journal.write(
    "\(settings.username!) \(settings.launchCount) \(Int(settings.volume)) \(settings.isDark)")
  settings.launchCount += 1
  settings["username"] = "bob"
  settings.username = nil
  settings["recent"] = ["x"]
  settings.recent.append("y")
  settings.setValue(1, forKey: "nothing")
  for line in settings.log { journal.write(line) }
  journal.write("\(settings.store["launchCount"] as! Int) \(settings.store.keys.sorted())")
}
