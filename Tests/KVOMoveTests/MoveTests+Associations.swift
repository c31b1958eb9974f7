/// Associated objects, and the import of the runtime that has them.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  private static let observers = """
    import Foundation
    import ObjectiveC
    private var observersKey: UInt8 = 0
    extension NSObject {
      var all: [Observer] {
        get { objc_getAssociatedObject(self, &observersKey) as? [Observer] ?? [] }
        set { objc_setAssociatedObject(self, &observersKey, newValue, .OBJC_ASSOCIATION_RETAIN) }
      }
      func f(_ o: NSObject) { addObserver(o, forKeyPath: k, options: [], context: nil) }
    }

    """

  @Test("an associated object of a KVOObject is kept with it") func associated() {
    let moved = Self.moved(Self.observers, .macro)
    expect(
      moved.text.hasPrefix(
        """
        import Foundation
        import KVORuntime
        private let observersKey = KVOAssociation<[Observer]>()
        extension KVOObject {
          var all: [Observer] {
            get { self[observersKey] ?? [] }
            set { self[observersKey] = newValue }
          }

        """), moved.text)
    expect(moved.findings.isEmpty, "\(moved.findings)")
    expect(Self.moved(moved.text, .macro).edits.isEmpty)
  }

  @Test("a value that is there is unwrapped, and a static key stays static") func unwrapped() {
    let moved = Self.moved(
      "class A: NSObject { @objc dynamic var x = 0; private static var key = 0\n"
        + "var b: B { objc_getAssociatedObject(self, &A.key) as! B } }", .macro)
    expect(moved.text.contains("private static let key = KVOAssociation<B>()"), moved.text)
    expect(moved.text.contains("var b: B { self[A.key]! }"), moved.text)
  }

  @Test(
    "an associated object of a variable that is observed, and in an extension that such a one uses, is kept"
  )
  func associatedOfOthers() {
    let moved = Self.moved(
      """
      private var ownKey = 0
      extension NSObject { var own: [O]? { objc_getAssociatedObject(self, &ownKey) as? [O] } }
      extension NSObject { func f(o: O) { print(own); addObserver(o, forKeyPath: k, options: [], context: nil) } }
      func g(item: NSObject) { item.removeObserver(o, forKeyPath: k); objc_setAssociatedObject(item, &ownKey, nil, .OBJC_ASSOCIATION_RETAIN) }
      """, .macro)
    expect(
      moved.text.contains("extension KVOObject { var own: [O]? { self[ownKey] } }"), moved.text)
    expect(moved.text.contains("item[ownKey] = nil }"), moved.text)
  }

  @Test(
    "an associated object is left and listed if its type or its object is not known, or the key is used elsewhere",
    arguments: [
      (
        "as? [Observer] ?? []",
        "as? [Observer] ?? objc_getAssociatedObject(self, &observersKey) as? [String] ?? []"
      ),
      ("(self, &observersKey) as?", "(self.other, &observersKey) as?"),
      (".OBJC_ASSOCIATION_RETAIN", ".OBJC_ASSOCIATION_ASSIGN"),
      ("forKeyPath: k", "forKeyPath: \"\\(observersKey)\""), (" as? [Observer] ?? []", ""),
      ("newValue,", "newValue as NSArray,"), ("var all: [Observer]", "var all: [Other]"),
      ("var all", "static var all"), ("observersKey", "key"),
    ])
  func associatedLeft(_ part: String, _ other: String) {
    let moved = Self.moved(Self.observers.replacing(part, with: other), .macro)
    expect(moved.text.contains("objc_"), moved.text)
    expect(moved.findings.contains { $0.reason.contains("associated") }, "\(moved.findings)")
  }
}
