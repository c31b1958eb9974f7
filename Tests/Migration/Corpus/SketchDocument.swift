// A document in the style of AppKit's samples: undo by observing its graphics' own keys.
import Foundation

private var undoContext = 0

@objcMembers
class Graphic: NSObject {
  dynamic var xPosition = 0.0
  dynamic var yPosition = 0.0
  dynamic var fillColor: String? = "white"
  dynamic var isDrawingStroke = true

  /// The steps that a document can undo.
  class var keysForUndo: [String] {
    [#keyPath(xPosition), #keyPath(yPosition), #keyPath(fillColor), #keyPath(isDrawingStroke)]
  }

  override var description: String {
    "\(type(of: self)) at \(xPosition), \(yPosition)"
  }
}

@objcMembers
final class Circle: Graphic {
  dynamic var radius = 1.0

  override class var keysForUndo: [String] {
    super.keysForUndo + [#keyPath(radius)]
  }

  override var description: String {
    super.description + ", radius \(radius)"
  }
}

/// One change that can be taken back.
private struct UndoStep {
  let graphic: Graphic
  let key: String
  let value: Any?
}

final class SketchDocument: NSObject {
  @objc dynamic private(set) var graphics: [Graphic] = []
  @objc dynamic private(set) var isEdited = false
  private var steps: [UndoStep] = []
  private var isUndoing = false

  func add(_ graphic: Graphic) {
    graphics.append(graphic)
    for key in type(of: graphic).keysForUndo {
      graphic.addObserver(self, forKeyPath: key, options: [.new, .old], context: &undoContext)
    }
  }

  func remove(_ graphic: Graphic) {
    for key in type(of: graphic).keysForUndo {
      graphic.removeObserver(self, forKeyPath: key, context: &undoContext)
    }
    graphics.removeAll { $0 === graphic }
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == &undoContext else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      return
    }
    guard !isUndoing, let graphic = object as? Graphic, let keyPath else { return }
    switch change?[.oldKey] {
    case is NSNull: steps.append(UndoStep(graphic: graphic, key: keyPath, value: nil))
    case let old: steps.append(UndoStep(graphic: graphic, key: keyPath, value: old))
    }
    if !isEdited { isEdited = true }
  }

  func undo() {
    guard let step = steps.popLast() else { return }
    isUndoing = true
    defer { isUndoing = false }
    step.graphic.setValue(step.value, forKey: step.key)
    if steps.isEmpty { isEdited = false }
  }
}

func sketchDocument(_ journal: Journal) {
  let document = SketchDocument()
  let edited = document.observe(\.isEdited, options: [.new]) { _, change in
    journal.write("edited: \(change.newValue!)")
  }
  let circle = Circle()
  document.add(circle)
  circle.xPosition = 3
  circle.radius = 2
  circle.fillColor = nil
  circle.fillColor = "red"
  journal.write(circle.description)
  document.undo()
  journal.write("fill: \(circle.fillColor ?? "none")")
  document.undo()
  journal.write("fill: \(circle.fillColor ?? "none")")
  document.undo()
  document.undo()
  journal.write("\(circle)")
  document.remove(circle)
  circle.radius = 9
  journal.write("graphics: \(document.graphics.count), edited: \(document.isEdited)")
  edited.invalidate()
}
