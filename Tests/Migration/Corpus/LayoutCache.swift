// A layout whose caches are cleared in didSet, and filled by getters.
import Foundation

class LayoutBox: NSObject {
  @objc dynamic var width: CGFloat = 10 { didSet { invalidate() } }
  @objc dynamic var height: CGFloat = 4 {
    didSet {
      if height < 0 { height = 0 }
      if oldValue != height { invalidate() }
    }
  }
  @objc dynamic var spacing: CGFloat = 1 {
    willSet { journal.write("will \(newValue)") }
    didSet { journal.write("did \(oldValue)") }
  }
  private var cachedArea: CGFloat?
  private(set) var computations = 0
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }

  private func invalidate() { cachedArea = nil }

  @objc dynamic var area: CGFloat {
    if let cached = cachedArea { return cached }
    computations += 1
    let area = width * height
    cachedArea = area
    return area
  }
  @objc class func keyPathsForValuesAffectingArea() -> Set<String> { return ["width", "height"] }
}

class LayoutView: NSObject {
  @objc dynamic var box: LayoutBox
  var needsLayout = false
  private var token: NSKeyValueObservation?
  init(_ box: LayoutBox) {
    self.box = box
    super.init()
    token = observe(\.box.area, options: [.old, .new]) { view, change in
      guard change.oldValue != change.newValue else { return }
      view.needsLayout = true
      view.box.journal.write("area \(Int(change.oldValue ?? -1)) \(Int(change.newValue ?? -1))")
    }
  }
}

func layoutCache(_ journal: Journal) {
  let box = LayoutBox(journal)
  let view = LayoutView(box)
  box.width = 5
  box.height = -3
  box.height = 2
  box.setValue(7, forKey: "width")
  box.setValue(2 as CGFloat, forKey: "spacing")
  journal.write(
    "\(Int(box.area)) \(view.needsLayout) \(Int(box.value(forKey: "height") as! CGFloat))")
  view.box = LayoutBox(journal)
}
