/// Methods by which key-value coding reaches a key's elements.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  private static func macro(_ source: String, _ style: ObservableStyle = .macro) -> MovedSource {
    move([(path: "A.swift", text: source)], style: style)[0]
  }

  /// - Parameter property: the property with the elements.
  private static func shelf(_ property: String, _ methods: String, after: String = "") -> String {
    """
    @objcMembers class A: NSObject {
      dynamic var title = ""
      var all = [""]
      \(property)
    }
    extension A {
      \(methods)
    }
    \(after)
    """
  }

  private static let methods = """
    func insertObject(_ x: String, inXsAtIndex i: Int) { all.insert(x, at: i) }
      @objc(removeObjectFromXsAtIndex:) func take(fromXsAt i: Int) -> String { all.remove(at: i) }
    """

  @Test(
    "accessors of elements in an extension are declared",
    arguments: [ObservableStyle.macro, .wrapper])
  func extensionElements(_ style: ObservableStyle) {
    let methods = Self.methods.replacing("func take", with: "func removeObject")
    let moved = Self.macro(
      Self.shelf("dynamic var xs: [String] { get { all } set { all = newValue } }", methods), style)
    let lines = """
            keys.orderedToMany("xs", count: { $0.xs.count }, element: { $0.xs[$1] }, insert: { object, elements, indexes in
              for (element, index) in zip(elements, indexes.ranges.joined()) { object.insertObject(element, inXsAtIndex: index) }
            }, remove: { object, indexes in
              for index in Array(indexes.ranges.joined()).reversed() { _ = object.removeObject(fromXsAt: index) }
            })
      """
    expect(moved.text.contains("      keys.computed(\"xs\", \\.xs)\n" + lines), moved.text)
    let named = methods + "\n@objc class func keyPathsForValuesAffectingXs() -> Set<String> { [] }"
    expect(
      Self.macro(Self.shelf("dynamic var xs: [String] { all }", named), style).text
        .contains("keys.computed(\"xs\", \\.xs, affectedBy: self.keyPathsForValuesAffectingXs())"))
    expect(moved.findings.isEmpty, "\(moved.findings)")
  }

  @Test("a stored property that is not observable keeps its getter beside its elements' accessors")
  func plainElements() {
    let methods = Self.methods.replacing("func take", with: "func removeObject")
    let moved = Self.macro(Self.shelf("var xs = [\"\"]; let n: [String] = []", methods)).text
    expect(!moved.contains("orderedToMany"), "the type is unknown")
    let typed = Self.macro(Self.shelf("var xs: [String] = []", methods)).text
    expect(typed.contains("keys.stored(\"xs\", \\.xs)\n      keys.orderedToMany(\"xs\""), typed)
    let hidden = Self.macro(Self.shelf("private var xs: [String] = []", methods)).text
    expect(hidden.contains("keys.orderedToMany(\"xs\"") && !hidden.contains("keys.stored"), hidden)
  }

  @Test("indexes of Foundation are converted, with its module")
  func foundationIndexes() {
    let methods = """
      func insertXs(_ x: [String], at i: IndexSet) {}
        func removeXs(at i: IndexSet) {}
      """
    let moved = Self.macro("import Foundation\n" + Self.shelf("var xs: [String] { all }", methods))
    expect(moved.text.contains("insert: { $0.insertXs($1, at: IndexSet($2)) }"), moved.text)
    expectEqual(moved.modules, ["KVOFoundation", "KVORuntime"])
  }

  @Test(
    "accessors that can't be declared are listed",
    arguments: [
      // Too few, a stored property, a method that Objective-C does not see, a registerKeys of the author's.
      ("var xs: [String] { all }", "func insertObject(_ x: String, inXsAtIndex i: Int) {}"),
      ("dynamic var xs = [\"\"]", methods.replacing("func take", with: "func removeObject")),
      (
        "var xs: [String] { all }",
        "func insertObject(_ x: String, inXsAtIndex i: Int) {}\n"
          + "@nonobjc func removeObject(fromXsAt i: Int) {}"
      ),
      (
        "var xs: [String] { all }; override class func registerKeys() {}",
        methods.replacing("func take", with: "func removeObject")
      ),
    ])
  func undeclaredElements(_ property: String, _ methods: String) {
    let moved = Self.macro(Self.shelf(property, methods))
    expect(!moved.text.contains("keys.orderedToMany"), moved.text)
    expect(moved.findings.contains { $0.reason.contains("is found by its name there") })
  }

  @Test("a method that only another file sees is not called by the class")
  func otherFiles() {
    let parts = Self.shelf("var xs: [String] { all }", "fileprivate " + Self.methods)
      .replacing("func take", with: "func removeObject").split(separator: "extension")
    let files = move([
      (path: "A.swift", text: String(parts[0])),
      (path: "B.swift", text: "@objc extension" + parts[1]),
    ])
    expect(!files[0].text.contains("orderedToMany"))
    expect(files[1].findings.contains { $0.reason.contains("insertObject is found by its name") })
  }

  @Test(
    "a direct call of an accessor that Objective-C dispatches is listed, unless the accessor announces",
    arguments: [
      ("a.insertObject(x, inXsAtIndex: 0)", "", true),
      ("a.insertObject(x, inYsAtIndex: 0)", "", false),
      ("a.all = []", "", false),
      ("a.insertObject(x, inXsAtIndex: 0)", "willChangeValue(forKey: k); ", false),
    ])
  func calls(_ call: String, _ start: String, _ isListed: Bool) {
    let methods = Self.methods.replacing("func take", with: "func removeObject")
      .replacing("{ all.insert", with: "{ \(start)all.insert")
    let source = Self.shelf("var xs: [String] { all }", methods, after: "func f(a: A) { \(call) }")
    let found = Self.macro(source).findings.filter { $0.reason.contains("a call of insertObject") }
    expectEqual(found.count, isListed ? 1 : 0, call + start)
  }

  @Test("a cast to an array of a collection that accessors give is listed, since it is a proxy")
  func proxies() {
    func sheet(_ more: String = "") -> String {
      "class A: NSObject { @objc func countOfCells() -> Int { 1 }\n"
        + "@objc func objectInCellsAtIndex(_ i: Int) -> String { \"\" }\n\(more) }\n"
    }
    let set =
      "class A: NSObject { @objc func countOfCells() -> Int { 1 }\n"
      + "@objc func memberOfCells(_ x: Any) -> Any? { x } }\n"
    let cases = [
      (sheet(), "use(a.value(forKey: \"cells\") as? [String])", "an ArrayProxy"),
      (sheet(), "use(a.value(forKeyPath: \"next.cells\") as! NSArray)", "an ArrayProxy"),
      (sheet(), "let v = a.value(forKey: \"cells\")\nuse(v as! [Any])", "an ArrayProxy"),
      (set, "use(a.value(forKey: \"cells\") as! Set<String>)", "a SetProxy"),
      (sheet(), "use(a.value(forKeyPath: \"cells.@count\") as! Int)", nil),
      (sheet(), "use(a.value(forKeyPath: \"cells.@distinctUnionOfObjects.x\") as! [Any])", nil),
      (
        sheet("@objc var cells: [String] = []"), "use(a.value(forKey: \"cells\") as? [String])", nil
      ),
    ]
    for (head, body, proxy) in cases {
      let found = Self.macro(head + "func f(a: A) {\n\(body)\n}").findings
        .filter { $0.reason.contains("Proxy") }
      expectEqual(found.map(\.harm), proxy == nil ? [] : [.differs], "\(body): \(found)")
      expect(
        proxy.map { found.first?.reason.contains("read as \($0)") == true } ?? true, "\(found)")
    }
  }

  @Test("an accessor that the macro finds by its name in Swift is not listed")
  func renamedAccessors() {
    let head =
      "class A: NSObject { @objc dynamic var x = 0\n@objc func countOfRows() -> Int { 1 }\n"
    let seen = "@objc(objectInRowsAtIndex:) func object(inRowsAt i: Int) -> Any { i } }"
    expect(Self.macro(head + seen).findings.isEmpty)
    let unseen = "@objc(objectInRowsAtIndex:) func row(_ i: Int) -> Any { i } }"
    expectEqual(Self.macro(head + unseen).findings.map(\.harm), [.differs])
  }
}
