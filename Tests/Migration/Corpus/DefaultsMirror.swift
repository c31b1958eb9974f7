// Settings kept in UserDefaults by key-value coding, beside a model that observes.
import Foundation

final class DefaultsMirror: NSObject {
  @objc dynamic var fontName: String
  private let defaults: UserDefaults
  private var fallback = ["fontName": "Menlo"]
  private var token: NSKeyValueObservation?

  init(_ defaults: UserDefaults) {
    self.defaults = defaults
    fontName = fallback["fontName"]!
    super.init()
    if let stored = defaults.value(forKey: "mirror.fontName") as? String { fontName = stored }
    token = observe(\.fontName, options: [.new]) { object, change in
      object.defaults.setValue(change.newValue!, forKey: "mirror.fontName")
    }
  }
}

func defaultsMirror(_ journal: Journal) {
  let defaults = UserDefaults(suiteName: "kvo-corpus-mirror")!
  defaults.removeObject(forKey: "mirror.fontName")
  let mirror = DefaultsMirror(defaults)
  journal.write(mirror.fontName)
  mirror.fontName = "Monaco"
  journal.write(defaults.string(forKey: "mirror.fontName") ?? "none")
  let second = DefaultsMirror(defaults)
  journal.write(second.fontName)
  defaults.removeObject(forKey: "mirror.fontName")
}
