// Settings with clamping, caches that didSet clears, and values that depend on others.
import Foundation

@objcMembers final class SliderSettings: NSObject {
  dynamic var minimum = 0.0 { didSet { if minimum > maximum { minimum = maximum } } }
  dynamic var maximum = 10.0
  dynamic var value = 5.0 {
    willSet { previous = value }
    didSet {
      value = min(max(value, minimum), maximum)
      cache = nil
    }
  }
  private var previous = 0.0
  private var cache: String?

  dynamic var text: String {
    if cache == nil { cache = "\(value) of \(maximum)" }
    return cache!
  }
  class func keyPathsForValuesAffectingText() -> Set<String> { return ["value"] }

  func last() -> Double { return previous }
}

func sliderSettings(_ journal: Journal) {
  let settings = SliderSettings()
  let tokens = [
    settings.observe(\.value, options: [.old, .new]) { _, change in
      journal.write("\(change.oldValue!) -> \(change.newValue!)")
    },
    settings.observe(\.text, options: [.new]) { _, change in journal.write(change.newValue!) },
  ]
  settings.value = 7
  settings.value = 99
  settings.setValue(-4, forKey: "value")
  settings.minimum = 20
  journal.write("\(settings.minimum), before \(settings.last())")
  for token in tokens { token.invalidate() }
}
