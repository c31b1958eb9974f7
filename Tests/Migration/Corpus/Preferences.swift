// Preferences of an editor: clamped by didSet, set by key from a window's controls, kept in a dictionary.
import Foundation

@objc protocol PreferencesDelegate: NSObjectProtocol {
  func preferencesDidChange(_ key: String)
}

final class Preferences: NSObject {
  @objc dynamic var fontName = "Menlo"
  @objc dynamic var fontSize = 12.0 {
    didSet {
      if fontSize > 48 { fontSize = 48 }
    }
  }
  @objc dynamic var tabWidth: Int = 4
  @objc dynamic var wrapsLines: Bool = true
  @objc dynamic var theme: String?

  /// The text in the window.
  @objc dynamic var fontDescription: String {
    "\(fontName) \(Int(fontSize))"
  }

  @objc class func keyPathsForValuesAffectingFontDescription() -> Set<String> {
    [#keyPath(Preferences.fontName), #keyPath(Preferences.fontSize)]
  }

  static let keys = ["fontName", "fontSize", "tabWidth", "wrapsLines", "theme"]

  override func setNilValueForKey(_ key: String) {
    switch key {
    case #keyPath(fontSize): fontSize = 12
    case #keyPath(tabWidth): tabWidth = 4
    default: super.setNilValueForKey(key)
    }
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) {
    // Files of newer versions have keys that this one does not know.
  }
}

final class PreferencesStore: NSObject {
  weak var delegate: PreferencesDelegate?
  private let preferences: Preferences
  private var observations = [NSKeyValueObservation]()

  init(_ preferences: Preferences) {
    self.preferences = preferences
    super.init()
    observations.append(
      preferences.observe(\.fontDescription) { [weak self] _, _ in
        self?.delegate?.preferencesDidChange("fontDescription")
      })
    observations.append(
      preferences.observe(\.tabWidth, options: [.old, .new]) { [weak self] _, change in
        guard change.oldValue != change.newValue else { return }
        self?.delegate?.preferencesDidChange("tabWidth")
      })
  }

  var snapshot: [String: Any] {
    preferences.dictionaryWithValues(forKeys: Preferences.keys)
  }

  func restore(_ values: [String: Any]) {
    preferences.setValuesForKeys(values)
  }
}

final class PreferencesWindow: NSObject, PreferencesDelegate {
  let journal: Journal
  let preferences: Preferences

  init(_ preferences: Preferences, _ journal: Journal) {
    self.preferences = preferences
    self.journal = journal
  }

  func preferencesDidChange(_ key: String) {
    journal.write("\(key): \(preferences.value(forKey: key) ?? "nothing")")
  }
}

func preferences(_ journal: Journal) {
  let preferences = Preferences()
  let store = PreferencesStore(preferences)
  let window = PreferencesWindow(preferences, journal)
  store.delegate = window
  preferences.setValue("Monaco", forKey: "fontName")
  preferences.setValue(8, forKey: #keyPath(Preferences.tabWidth))
  preferences.setValue(8, forKey: #keyPath(Preferences.tabWidth))
  preferences.setValue(nil, forKey: "tabWidth")
  preferences.tabWidth = 2
  store.delegate = nil
  preferences.setValue(96, forKey: "fontSize")
  journal.write("size \(preferences.fontSize)")
  let saved = store.snapshot
  journal.write("saved \(saved.count), width \(saved["tabWidth"] as! Int)")
  store.restore(["fontName": "Courier", "wrapsLines": false, "zoom": 3])
  journal.write("\(preferences.fontDescription), wraps \(preferences.wrapsLines)")
  window.preferencesDidChange("theme")
}
