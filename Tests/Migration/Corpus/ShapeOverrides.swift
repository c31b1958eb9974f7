// Subclasses that override observable properties: with observers, with a setter, and with a getter alone.
import Foundation

class ShapeBase: NSObject {
  @objc dynamic var size = 1.0
  @objc dynamic var label: String { return "shape" }
  @objc dynamic var color: String? = "red"
  func reset() { size = 1 }
}

class ShapeCircle: ShapeBase {
  var log: [String] = []
  override var size: Double {
    didSet { log.append("size \(oldValue)-\(size)") }
  }
  override var label: String { return "circle \(size)" }
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    if key == "label" { return ["size"] }
    return super.keyPathsForValuesAffectingValue(forKey: key)
  }
}

final class ShapeSquare: ShapeBase {
  override var size: Double {
    get { return super.size }
    set {
      if newValue > 10 { super.size = 10 } else { super.size = newValue }
    }
  }
  override var color: String? {
    willSet { journal?.write("will \(newValue ?? "nil")") }
  }
  var journal: Journal?
  override func willChangeValue(forKey key: String) {
    journal?.write("willChange \(key)")
    super.willChangeValue(forKey: key)
  }
}

func shapeOverrides(_ journal: Journal) {
  let circle = ShapeCircle()
  let square = ShapeSquare()
  let shapes: [ShapeBase] = [circle, square]
  var tokens = shapes.map { shape in
    shape.observe(\.size, options: [.old, .new]) { shape, change in
      journal.write("\(type(of: shape)) \(change.oldValue!) \(change.newValue!)")
    }
  }
  tokens.append(
    circle.observe(\.label, options: .new) { _, change in journal.write(change.newValue!) })
  circle.size = 2
  circle.setValue(3, forKey: "size")
  circle.reset()
  journal.write("\(circle.log)")
  square.journal = journal
  square.size = 50
  square.setValue(4.5, forKey: "size")
  square.color = nil
  journal.write("\(square.size) \(square.color ?? "nil")")
  tokens.removeAll()
  square.journal = nil
  square.size = 2
}
