// A window that shows any observed object: its keys, their values, their observers, and each
// change.

import KVORuntime
import Widgets

/// Shows one object, of which it knows only the keys.
public final class InspectorWindow {
  private let object: KVOObject
  private let rows: [String: (value: Label, observers: Label)]
  private let log = Label()
  private var lines: [String] = []
  private var observations: [String: KeyValueObservation] = [:]
  private let window: Window

  private static let shownLines = 15

  /// - Parameter object: the object to show, retained as long as the inspector lives.
  public init(_ object: KVOObject) {
    self.object = object
    let properties = type(of: object).keyValueProperties
    var cells: [[Widget]] = [["key", "type", "value", "observers"].map(InspectorWindow.heading)]
    var rows: [String: (value: Label, observers: Label)] = [:]
    for property in properties {
      let row = (value: Label(), observers: Label())
      rows[property.key] = row
      cells.append([Label(property.key), Label("\(property.valueType)"), row.value, row.observers])
    }
    self.rows = rows
    window = Window(
      "Inspector: \(type(of: object))", width: 400, height: 580,
      Stack(
        .column, spacing: 12, margin: 16,
        [Grid(cells), InspectorWindow.heading("changes"), Scroller(log, height: 160)]))
    for key in rows.keys {
      // A key that can't be observed still has its value shown.
      observations[key] = try? object.observe(keyPath: key, options: [.old, .new, .distinct]) {
        [unowned self] _, change in
        tell(key, change.oldValue ?? nil, change.newValue ?? nil)
      }
    }
    for key in rows.keys { refresh(key) }
  }

  public func show() {
    for key in rows.keys { refresh(key) }
    window.show()
  }

  private static func heading(_ text: String) -> Label { Label(text, style: "dim-label") }

  private func tell(_ key: String, _ old: Any?, _ new: Any?) {
    lines.append("\(key): \(InspectorWindow.text(old)) → \(InspectorWindow.text(new))")
    log.text = lines.suffix(InspectorWindow.shownLines).reversed().joined(separator: "\n")
    refresh(key)
  }

  private func refresh(_ key: String) {
    guard let row = rows[key] else { return }
    row.value.text = InspectorWindow.text((try? object.value(forKey: key)) ?? nil)
    let registrations = object.observationInfo.registrations.filter { $0.keyPath == key }
    let own = observations[key] == nil ? 0 : 1
    row.observers.text = "\(registrations.count - own)"
  }

  private static func text(_ value: Any?) -> String {
    switch value {
    case nil: "nil"
    case let text as String where text.isEmpty: "\"\""
    case let number as Double: "\((number * 1000).rounded() / 1000)"
    case let value?: "\(value)"
    }
  }
}
