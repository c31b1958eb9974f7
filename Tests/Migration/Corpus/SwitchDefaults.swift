// Settings in an extension of UserDefaults, which are observed by key paths.
import Foundation

extension UserDefaults {
  @objc dynamic var lampIsOn: Bool {
    get { return bool(forKey: "lampIsOn") }
    set { set(newValue, forKey: "lampIsOn") }
  }
  @objc dynamic var lampColor: String? {
    get { return string(forKey: "lampColor") }
    set { set(newValue, forKey: "lampColor") }
  }
}

final class LampSettings {
  private let defaults: UserDefaults
  private var tokens: [NSKeyValueObservation] = []

  init(_ defaults: UserDefaults, _ journal: Journal) {
    self.defaults = defaults
    tokens.append(
      defaults.observe(\.lampColor, options: [.new]) { defaults, _ in
        journal.write("color \(defaults.lampColor ?? "none")")
      })
    tokens.append(
      defaults.observe(\.lampIsOn, options: [.new]) { _, change in
        journal.write("on \(change.newValue ?? false)")
      })
  }

  func toggle() {
    defaults.lampIsOn = !defaults.lampIsOn
  }
}

func switchDefaults(_ journal: Journal) {
  let defaults = UserDefaults(suiteName: "kvo.move.switch")!
  defaults.removeObject(forKey: "lampIsOn")
  defaults.removeObject(forKey: "lampColor")
  let settings = LampSettings(defaults, journal)
  settings.toggle()
  defaults.lampColor = "red"
  defaults.setValue("blue", forKey: "lampColor")
  defaults.removeObject(forKey: "lampColor")
  withExtendedLifetime(settings) {}
}
