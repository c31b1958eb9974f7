// Overrides of observable properties with setters of their own.
import Foundation

class LayerBase: NSObject {
  @objc dynamic var width = 0
  @objc dynamic var name = ""
  @objc dynamic var level = 0
}

final class LayerText: LayerBase {
  private(set) var layoutWidth = 0
  private var isChanged = false
  private var ownLevel = 7

  override var width: Int {
    get { return super.width }
    set {
      super.width = newValue
      layoutWidth = newValue - 8
    }
  }

  override var name: String {
    get { return super.name + (isChanged ? "*" : "") }
    set {
      super.name = newValue
      isChanged = true
    }
  }

  override var level: Int {
    get { return ownLevel }
    set { ownLevel = newValue }
  }
}

func layerText(_ journal: Journal) {
  let text = LayerText()
  let base: LayerBase = text
  let tokens: [NSKeyValueObservation] = [
    text.observe(\.width) { text, _ in journal.write("width \(text.width) \(text.layoutWidth)") },
    text.observe(\.name, options: [.old, .new]) { _, change in
      journal.write("name \(change.oldValue!) -> \(change.newValue!)")
    },
    text.observe(\.level, options: [.old, .new]) { _, change in
      journal.write("level \(change.oldValue!) -> \(change.newValue!)")
    },
  ]
  text.width = 108
  base.name = "a"
  text.level = 4
  base.level = 5
  withExtendedLifetime(tokens) {}
}
