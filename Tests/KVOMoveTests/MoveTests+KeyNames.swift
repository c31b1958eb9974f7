/// Names that only Objective-C knows, aliases, overrides, and what a class's `registerKeys` gets from its superclasses.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  /// The moved texts of sources that belong together.
  private static func texts(_ sources: String..., style: ObservableStyle = .macro) -> [String] {
    results(sources, style).map(\.text)
  }

  private static func results(_ sources: [String], _ style: ObservableStyle = .macro)
    -> [MovedSource]
  {
    let named = sources.enumerated().map { (path: "\($0).swift", text: $1) }
    let moved = move(named, style: style)
    let again = move(moved.map { ($0.path, $0.text) }, style: style)
    expect(again.allSatisfy(\.edits.isEmpty), "\(again.map(\.diff))")
    return moved
  }

  @Test(
    "a registerKeys calls super's if a superclass of the sources has or gets one",
    arguments: [
      ("@objc(b) dynamic var a = 0", true), ("@objc dynamic var a = 0", false),
    ])
  func superKeys(_ property: String, _ isCalled: Bool) {
    for style in [ObservableStyle.macro, .wrapper] {
      let moved = Self.texts(
        "class A: NSObject {\n  \(property)\n}", "class B: A {}",
        "class C: B {\n  @objc(d) dynamic var c = 0\n}", style: style)
      expect(!moved[0].contains("super.registerKeys()"), moved[0])
      expect(
        moved[2].contains(
          "registerKeys() {\n" + (isCalled ? "    super.registerKeys()\n" : "")
            + "    declareKeys { keys in\n"), moved[2])
    }
    let own = Self.texts(
      "class A: KVOObject { override class func registerKeys() {} }",
      "class C: A {\n  @objc(d) dynamic var c = 0\n}")
    expect(!own[1].contains("super.registerKeys()") == !own[1].contains("registerKeys"), own[1])
  }

  static let accessorUses = [
    "let keys = [\"isOn\"]\nfunc f(a: A) { for key in keys { a.value(forKey: key) } }",
    "enum Key: String { case other, isOn }\nfunc f(a: A) { a.value(forKey: Key.isOn.rawValue) }",
    "let path = \"lamp.isOn\"\nfunc f(room: Room) { room.value(forKeyPath: path) }",
    "func f(all: NSArray) { all.value(forKeyPath: \"@sum.isOn\") }",
  ]

  @Test(
    "an accessor's own name is declared if a text or a case may be the key",
    arguments: accessorUses)
  func spelledAccessors(_ uses: String) {
    let moved = Self.texts(
      "class A: NSObject {\n  @objc dynamic var on: Bool { @inline(never) @objc(isOn) get { true } set {} }\n}",
      uses)
    expect(moved[0].contains("keys.accessors(\"isOn\", get: { $0.on })"), moved[0])
  }

  @Test("a property has the names of the Objective-C protocol's requirement that it meets")
  func requirementNames() {
    let moved = Self.texts(
      "@objc protocol P: Q {\n  @objc(title) var name: String { get set }\n}\n@objc protocol Q {\n"
        + "  var on: Bool { @objc(isOn) get @objc(setIsOn:) set }\n  var size: Int { get }\n}",
      "class A: NSObject {\n  var name = \"\"\n  var on: Bool { get { true } set {} }\n}\n"
        + "extension A: P {}\nextension A { var size: Int { 1 } }",
      "func f(a: A) { a.setValue(true, forKey: \"isOn\"); a.value(forKey: \"size\") }")
    for line in [
      "keys.computed(\"title\", \\.name, affectedBy: [\"name\"])",
      "keys.computed(\"isOn\", \\.on, affectedBy: [\"on\"])", "keys.computed(\"size\", \\.size)",
    ] { expect(moved[1].contains(line), moved[1]) }
  }

  @Test("a constant with a name of its own in Objective-C can be read by it")
  func renamedConstant() {
    let moved = Self.texts(
      "class A: NSObject {\n  @objc(number) let id = 1\n  @objc dynamic var x = 0\n}")
    expect(moved[0].contains("keys.stored(\"number\", \\.id)"), moved[0])
  }

  @Test("#keyPath has the key of the property of the class that it names")
  func keyPathsOfClasses() {
    let moved = Self.texts(
      "class A: NSObject { @objc(title) dynamic var name = 1 }\nclass S: A { override var name: Int { didSet {} } }",
      "class B: NSObject {\n  @objc dynamic var name = 1\n  @objc dynamic var list: [A] = []\n"
        + "  func f() { g(#keyPath(name), #keyPath(list.name), #keyPath(A.name), #keyPath(B.name), #keyPath(S.name)) }\n}"
    )
    expect(
      moved[1].contains("g(\"name\", \"list.title\", \"title\", \"name\", \"title\")"), moved[1])
    let unknown = Self.results([
      "class A: NSObject { @objc(title) dynamic var name = 1 }\nclass B: NSObject { @objc dynamic var name = 1 }",
      "let k = #keyPath(Other.name)",
    ])
    expectEqual(
      unknown[1].findings.map(\.reason), ["properties named name have several keys: name, title"])
  }

  @Test("a statement is found by its name in Objective-C")
  func renamedStatement() {
    let moved = Self.texts(
      "class A: NSObject {\n  @objc dynamic var x = 0\n  @objc dynamic var y: Int { x }\n"
        + "  @objc(keyPathsForValuesAffectingY) class func keys() -> Set<String> { [\"x\"] }\n"
        + "  @objc(automaticallyNotifiesObserversOfX) static var isAutomatic: Bool { false }\n}")
    expect(moved[0].contains("keys.dependency(\"y\", on: self.keys())"), moved[0])
    expect(moved[0].contains("keys.automaticallyNotifies(\"x\", self.isAutomatic)"), moved[0])
  }

  @Test("a key that begins with several capitals is found by methods' names")
  func capitals() {
    let members =
      "  @objc class func automaticallyNotifiesObserversOfURL() -> Bool { false }\n"
      + "  @objc func validateURL(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}\n}"
    let moved = Self.texts(
      "class A: NSObject {\n  @objc dynamic var URL = \"\"\n}\nextension A {\n\(members)",
      "class B: A {\n  @objc dynamic var x = 0\n  @objc class func automaticallyNotifiesObserversOfURL() -> Bool { true }\n}"
    )
    for line in ["keys.automaticallyNotifies(\"URL\", ", "keys.validator(\"URL\")"] {
      expect(moved[0].contains(line), moved[0])
    }
    expect(moved[1].contains("keys.automaticallyNotifies(\"URL\", "), moved[1])
  }

  @Test("automatic notification that is off for a key is off for its property's name in Swift")
  func renamedAutomatic() {
    let moved = Self.results([
      "class A: NSObject {\n  @objc(lit) dynamic var isLit = false\n"
        + "  @objc class func automaticallyNotifiesObserversOfLit() -> Bool { false }\n}"
    ])[0]
    let line = "keys.automaticallyNotifies(\"isLit\", self.automaticallyNotifiesObserversOfLit())"
    expect(moved.text.contains(line), moved.text)
    expect(moved.findings.isEmpty, "\(moved.findings)")
  }

  @Test(
    "an override that gets the key of a renamed property is listed",
    arguments: [
      "override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != \"lit\" }",
      "override func didChangeValue(forKey key: String) { super.didChangeValue(forKey: key) }",
    ])
  func renamedForMethods(_ method: String) {
    let moved = Self.results([
      "class A: NSObject {\n  @objc(lit) dynamic var isLit = false\n}",
      "class B: A { \(method) }",
    ])
    expectEqual(moved[0].findings.map(\.harm), [.differs])
    expectEqual(moved[0].findings.map(\.line), [2])
  }

  @Test("the superclass and an extended class may be named by an alias")
  func aliasedClasses() {
    let moved = Self.texts(
      "class Box<T>: NSObject {\n  @objc dynamic var x = 0\n}\ntypealias Base = Box<Int>\ntypealias Root = NSObject",
      "class A: Base {\n  @objc dynamic var y = 0\n}\nclass B: Root {\n  @objc dynamic var z = 0\n}",
      "extension Base {\n  @objc class func automaticallyNotifiesObserversOfX() -> Bool { false }\n}"
    )
    expectEqual(
      moved[1],
      "import KVORuntime\n@KVO class A: Base {\n  var y = 0\n}\n@KVO class B: KVOObject {\n  var z = 0\n}"
        .replacing("import KVORuntime\n", with: ""))
    expect(moved[0].contains("keys.automaticallyNotifies(\"x\", "), moved[0])
  }

  @Test("one code base for both platforms is not changed")
  func oneCodeBase() {
    let source = """
      #if canImport(ObjectiveC)
        import Foundation
        typealias Model = NSObject
      #else
        import KVORuntime
        typealias Model = KVOObject
      #endif
      class A: Model { dynamic var x = 0 }
      """
    expect(Self.results([source])[0].edits.isEmpty)
  }

  @Test("@objcMembers also holds for subclasses and their extensions")
  func membersOfSubclasses() {
    let moved = Self.texts(
      "@objcMembers class A: NSObject {\n  dynamic var name = \"\"\n}",
      "class B: A {\n  dynamic var x = 0\n  var count = 0 { didSet {} }\n}\nextension B {\n"
        + "  func validateName(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}\n"
        + "  var shout: Int { 1 }\n}",
      "func f(b: B) { b.setValue(1, forKey: \"count\") }")
    for line in [
      "keys.stored(\"count\", \\.count)", "keys.validator(\"name\")",
      "keys.computed(\"shout\", \\.shout)",
    ] { expect(moved[1].contains(line), moved[1]) }
  }

  @Test("attributes of Interface Builder let Objective-C see a property")
  func inspectable() {
    let moved = Self.texts(
      "class A: NSObject {\n  @IBInspectable var radius = 0.0 { didSet {} }\n}\nfunc f(a: A) { a.setValue(1, forKey: \"radius\") }"
    )
    expect(moved[0].contains("keys.stored(\"radius\", \\.radius)"), moved[0])
  }

  @Test("a method is the getter of the key that its name contains")
  func shortGetters() {
    let moved = Self.texts(
      "class A: NSObject {\n  @objc func isLeaf() -> Bool { true }\n  @objc func getDepth() -> Int { 1 }\n}",
      "func f(a: A) { a.value(forKey: \"leaf\"); a.value(forKey: \"depth\") }")
    for line in [
      "keys.accessors(\"leaf\", get: { $0.isLeaf() })",
      "keys.accessors(\"depth\", get: { $0.getDepth() })",
    ] { expect(moved[0].contains(line), moved[0]) }
  }

  @Test("a setter that announces its key by a method of its own is listed")
  func announcingMethod() {
    func findings(_ more: String) -> [Int] {
      Self.results([
        "class A: NSObject {\n  private var n = 0\n  @objc dynamic var x: Int { get { n } set { put(newValue) } }\n"
          + "  func put(_ v: Int) { willChangeValue(forKey: \"x\"); n = v; didChangeValue(forKey: \"x\") }\n}\n\(more)"
      ])[0].findings.map(\.line)
    }
    expectEqual(findings(""), [3])
    let off = "@objc class func automaticallyNotifiesObserversOfX() -> Bool { false }"
    expectEqual(findings("extension A {\n  \(off)\n}"), [])
  }

  @Test("an extension with @objc gives its members keys") func exposingExtension() {
    let moved = Self.texts(
      "class A: NSObject {}\n@objc extension A { var x: Int { 1 } }",
      "func f(a: A) { a.value(forKey: \"x\") }")
    expect(moved[0].contains("keys.computed(\"x\", \\.x)"), moved[0])
  }

  @Test("a property that is observed, and does not notify by itself, is declared")
  func observedPlainly() {
    let uses = "func f(a: A) { a.observe(\\.n) { _, _ in }; a.observe(\\.x) { _, _ in } }"
    let source = "class A: NSObject {\n  @objc var n = 0\n  @objc dynamic var x = 0\n}"
    for style in [ObservableStyle.macro, .wrapper] {
      let moved = Self.texts(source, uses, style: style)
      expect(
        moved[0].contains("declareKeys { keys in\n      keys.stored(\"n\", \\.n)\n    }"), moved[0])
    }
  }

  @Test("an override that can be set is declared if the superclass's property can't")
  func settableOverrides() {
    let base =
      "class A: NSObject {\n  DECLARATION var x: Int { 1 }\n"
      + "  @objc class func keyPathsForValuesAffectingX() -> Set<String> { [] }\n}"
    let sub = "class B: A {\n  override var x: Int { get { 2 } set {} }\n}"
    let uses = "func f(b: B) { b.setValue(1, forKey: \"x\") }"
    let line = "keys.computed(\"x\", \\.x, affectedBy: self.keyPathsForValuesAffectingX())"
    for declaration in ["@objc dynamic", "@objc"] {
      for style in [ObservableStyle.macro, .wrapper] {
        let source = base.replacing("DECLARATION", with: declaration)
        let moved = Self.texts(source, sub, uses, style: style)
        expect(moved[1].contains(line), moved[1])
        let settable = source.replacing("{ 1 }", with: "{ get { 1 } set {} }")
        let other = Self.texts(settable, sub, uses, style: style)
        expect(!other[1].contains("registerKeys"), other[1])
      }
    }
  }

  @Test("an override of an observable property takes no wrapper") func wrappedOverride() {
    let moved = Self.texts(
      "class A: NSObject { @objc dynamic var x = 0 }",
      "class B: A { @objc dynamic override var x: Int { didSet {} } }", style: .wrapper)
    expectEqual(moved[1], "class B: A { override var x: Int { didSet {} } }")
  }

  @Test("an override of a validator passes the value on") func inheritedValidator() {
    let method = "func validateX(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws"
    let moved = Self.texts(
      "class A: NSObject {\n  @objc dynamic var x = 0\n  @objc \(method) {}\n}",
      "class B: A { override \(method) { try super.validateX(v) } }")
    expect(moved[1].contains("{ try super.validateX(&v) }"), moved[1])
  }

  @Test("each variable of one declaration is a property")
  func variablesOfOneDeclaration() {
    let moved = Self.results([
      "class A: NSObject {\n  @objc dynamic var a, b: Int\n  @objc dynamic var c: Int { b }\n}\n"
        + "class B: A { override var b: Int { get { 1 } set { super.b = newValue } } }",
      "func f(a: A) { a.observe(\\.c) { _, _ in } }",
    ])[0]
    expectEqual(moved.findings.map(\.line), [4])
    expect(moved.text.contains("set { withAutomaticChange(of: \\.b) {"), moved.text)
  }

  @Test("without the macro, an answer that does not begin with the superclass's is listed")
  func narrowerAnswer() {
    func reasons(_ answer: String, _ style: ObservableStyle = .wrapper) -> [String] {
      let source = """
        class A: NSObject {
          @objc dynamic var x = 0, y = 0
          @objc dynamic var z: Int { x + y }
          @objc class func keyPathsForValuesAffectingZ() -> Set<String> { ["x", "y"] }
        }
        class B: A {
          override class func keyPathsForValuesAffectingZ() -> Set<String> { \(answer) }
        }
        """
      return Self.results([source], style)[0].findings.map(\.reason)
    }
    expectEqual(
      reasons("[\"y\"]"),
      ["keyPathsForValuesAffectingZ replaces the superclass's answer there, and adds to it here"]
    )
    expectEqual(reasons("super.keyPathsForValuesAffectingZ().union([\"w\"])"), [])
    expectEqual(reasons("[\"y\"]", .macro), [])
  }

  @Test("without the macro, an override that alone is dynamic is listed")
  func dynamicOverride() {
    let moved = Self.results(
      [
        "class A: NSObject { @objc var x = 0 }\nclass B: A { @objc dynamic override var x: Int { willSet {} } }"
      ],
      .wrapper)[0]
    expectEqual(
      moved.findings.map(\.reason),
      ["x overrides a property that is not observable, and is not observed"])
  }
}
