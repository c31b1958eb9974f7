// Computed keys in an extension of a class in the same file, with dependencies, and class properties.
import Foundation

class Temperature: NSObject {
  static var count = 0
  @objc dynamic var celsius = 0.0
  var samples = [Double](), limit = 3
  override init() {
    super.init()
    Temperature.count += 1
  }
}

extension Temperature {
  @objc dynamic var fahrenheit: Double {
    get { return celsius * 9 / 5 + 32 }
    set { celsius = (newValue - 32) * 5 / 9 }
  }
  @objc class func keyPathsForValuesAffectingFahrenheit() -> Set<String> {
    return [#keyPath(celsius)]
  }

  func sample() {
    guard samples.count < limit else { return }
    samples.append(celsius)
  }
}

final class TemperatureView: NSObject {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    journal.write("\(keyPath!) \(change![.newKey] as! Double)")
  }
}

func extensionKeys(_ journal: Journal) {
  let (temperature, view) = (Temperature(), TemperatureView(journal))
  temperature.addObserver(view, forKeyPath: "fahrenheit", options: .new, context: nil)
  temperature.celsius = 100
  temperature.sample()
  temperature.setValue(25, forKey: "celsius")
  temperature.removeObserver(view, forKeyPath: "fahrenheit")
  journal.write(
    "\(temperature.value(forKey: "fahrenheit") as! Double) \(temperature.samples) \(Temperature.count)"
  )
}
