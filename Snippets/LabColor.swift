// A colour in the Lab space: red, green and blue depend on lightness and the two axes, and the
// colour depends on those. A view shows the colour of the object that it is given.
import KVORuntime

final class LabColor: KVOObject {
  // Notifies manually, and only if the value changes.
  private var lightness = 50.0
  var lComponent: Double {
    get { lightness }
    set {
      guard newValue != lightness else { return }
      willChangeValue(forKey: "lComponent")
      lightness = newValue
      didChangeValue(forKey: "lComponent")
    }
  }
  @Observed var aComponent = 0.0
  @Observed var bComponent = 0.0

  // An approximation: only the dependencies matter here.
  var redComponent: Double { channel(lComponent + aComponent) }
  var greenComponent: Double { channel(lComponent - aComponent) }
  var blueComponent: Double { channel(lComponent - bComponent) }
  var color: String { "rgb(\(redComponent), \(greenComponent), \(blueComponent))" }

  private func channel(_ value: Double) -> Double { min(max(value, 0), 100).rounded() }

  override class func registerKeys() {
    declareKeys { keys in
      keys.accessors("lComponent", \.lComponent, get: \.lComponent) { $0.lComponent = $1 }
      keys.automaticallyNotifies("lComponent", false)
      keys.computed("redComponent", \.redComponent, affectedBy: ["lComponent", "aComponent"])
      keys.computed("greenComponent", \.greenComponent, affectedBy: ["lComponent", "aComponent"])
      keys.computed("blueComponent", \.blueComponent, affectedBy: ["lComponent", "bComponent"])
      keys.computed(
        "color", \.color, affectedBy: ["redComponent", "greenComponent", "blueComponent"])
    }
  }
}

final class ColorView {
  private var colorToken: KeyValueObservation?

  var labColor: LabColor? {
    didSet {
      // Assigning the new token releases the old one, which ends the old registration.
      colorToken = labColor?.observe(\.color, options: .initial, target: self) { view in
        { _ in view.colorDidChange() }
      }
    }
  }

  private func colorDidChange() {
    print("  shows \(labColor!.color)")
  }
}

let view = ColorView()
let grey = LabColor()
let other = LabColor()
print("a colour to show")
view.labColor = grey
print("its lightness")
grey.lComponent = 60
grey.lComponent = 60
try grey.setValue(70, forKey: "lComponent")
print("its axes")
grey.aComponent = 20
grey.bComponent = -10
print("another colour")
other.lComponent = 30
view.labColor = other
grey.lComponent = 10
other.bComponent = 15
