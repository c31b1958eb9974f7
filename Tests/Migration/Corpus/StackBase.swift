// A chain of classes: an abstract one, overrides of observable properties, and a subclass that adds none.
import Foundation

public class StackBase: NSObject {
  @objc public dynamic var name: String { return "base" }
  @objc public dynamic var depth = 0
  fileprivate var touched = 0
  @objc public class func keyPathsForValuesAffectingName() -> Set<String> { return ["depth"] }
}

public class StackMiddle: StackBase {
  public override var name: String { return "middle \(depth)" }
  public override var depth: Int {
    didSet { touched += 1 }
  }
}

public final class StackTop: StackMiddle {
  public override var name: String { return "top " + super.name }
}

func stackBase(_ journal: Journal) {
  for object in [StackBase(), StackMiddle(), StackTop()] {
    let token = object.observe(\.name, options: [.new]) { _, change in
      journal.write(change.newValue!)
    }
    object.depth = 1
    object.setValue(2, forKey: "depth")
    token.invalidate()
    journal.write("touched \(object.touched)")
  }
}
