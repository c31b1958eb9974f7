// Bindings by key, with any object at either end, and transformers in a table.
import Foundation

final class BindingTable {
  private struct Entry {
    weak var source: NSObject?
    var path: String
    weak var target: NSObject?
    var key: String
  }
  private var entries: [Entry] = []
  private var transforms: [String: (Any?) -> Any?] = [:]

  func bind(
    _ source: NSObject, _ path: String, to target: NSObject, _ key: String,
    _ transform: ((Any?) -> Any?)? = nil
  ) {
    entries.append(Entry(source: source, path: path, target: target, key: key))
    transforms[path] = transform
  }

  func update() {
    for entry in entries {
      let value = entry.source?.value(forKeyPath: entry.path)
      entry.target?.setValue(transforms[entry.path]?(value) ?? value, forKey: entry.key)
    }
  }
}

final class BindingSource: NSObject {
  @objc dynamic var amount = 3
  @objc dynamic var place: BindingPlace?
}

final class BindingPlace: NSObject {
  @objc var town = "Pisa"
}

final class BindingView: NSObject {
  @objc var text = "" {
    didSet { updates += 1 }
  }
  @objc var detail: String?
  var updates = 0
}

func bindingTable(_ journal: Journal) {
  let (table, source, view) = (BindingTable(), BindingSource(), BindingView())
  table.bind(source, "amount", to: view, "text") { "\($0 as! Int) pieces" }
  table.bind(source, "place.town", to: view, "detail")
  table.update()
  journal.write("\(view.text), \(view.detail ?? "-"), \(view.updates)")
  source.place = BindingPlace()
  source.amount = 4
  table.update()
  journal.write("\(view.text), \(view.detail ?? "-"), \(view.updates)")
}
