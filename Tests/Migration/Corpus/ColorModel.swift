// A view model with settable computed properties: some set observable ones, some a plain model behind it.
import Foundation

/// Stores the numbers, without observers.
final class ColorStorage {
  var red = 0.0
  var alpha = 1.0
}

final class ColorModel: NSObject {
  private let storage = ColorStorage()
  private var _name: String = "black"
  @objc dynamic var lightness: Double = 0.5
  @objc dynamic var isGray = false

  /// Sets observable properties.
  @objc dynamic var percent: Int {
    get { Int(lightness * 100) }
    set { lightness = Double(newValue) / 100 }
  }

  @objc class func keyPathsForValuesAffectingPercent() -> Set<String> {
    [#keyPath(ColorModel.lightness)]
  }

  /// Sets properties that are not observable.
  @objc dynamic var red: Double {
    get { storage.red }
    set { storage.red = newValue }
  }

  @objc dynamic var name: String {
    get {
      _name
    }
    set {
      _name = newValue
    }
  }

  @objc dynamic var summary: String { "\(name): \(red), \(percent)%" }

  @objc class func keyPathsForValuesAffectingSummary() -> Set<String> {
    ["name", "red", "percent"]
  }
}

/// Shows a model in a row of fields.
final class ColorView {
  private let model: ColorModel
  private let journal: Journal
  private var observations: [NSKeyValueObservation] = []

  init(_ model: ColorModel, _ journal: Journal) {
    self.model = model
    self.journal = journal
    show(\.percent, as: "percent")
    show(\.red, as: "red")
    show(\.name, as: "name")
  }

  private func show<Value>(_ keyPath: KeyPath<ColorModel, Value>, as label: String) {
    let observation = model.observe(keyPath, options: [.old, .new]) { [journal] _, change in
      journal.write("\(label): \(change.oldValue!) -> \(change.newValue!)")
    }
    observations.append(observation)
  }

  func close() {
    for observation in observations { observation.invalidate() }
    observations.removeAll()
  }
}

func colorModel(_ journal: Journal) {
  let model = ColorModel()
  let view = ColorView(model, journal)
  journal.write("red")
  model.red = 0.25
  journal.write("name")
  model.name = "rust"
  journal.write("by key")
  model.setValue(1, forKey: "red")
  view.close()
  journal.write("summary")
  let summary = model.observe(\.summary, options: [.old, .new]) { _, change in
    journal.write("\(change.oldValue!) -> \(change.newValue!)")
  }
  model.red = 0
  summary.invalidate()
  model.setValue(75, forKey: "percent")
  journal.write("lightness \(model.lightness), \(model.value(forKey: "summary") as! String)")
}
