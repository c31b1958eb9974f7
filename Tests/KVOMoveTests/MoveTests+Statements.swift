/// Declarations of several variables, bodies of several statements, comments in what is replaced, and members whose names
/// say something about a key.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  static let splits = [
    Case("var d = 1, // one\n    e = 2", "@KVOIgnored var d = 1 // one\n  @KVOIgnored var e = 2"),
    Case("var d = 1, /* one */ e = 2", "@KVOIgnored var d = 1 /* one */\n  @KVOIgnored var e = 2"),
    Case(
      "var d = 1,\n    /// Of e.\n    e = 2",
      "@KVOIgnored var d = 1\n    /// Of e.\n  @KVOIgnored var e = 2"),
    Case("var d = 1 /* a */, e = 2", "@KVOIgnored var d = 1 /* a */\n  @KVOIgnored var e = 2"),
    Case(
      "var n = 1, o = 2 { didSet {} }",
      "@KVOIgnored var n = 1\n  @KVOIgnored var o = 2 { didSet {} }"),
    Case(
      "var n = 1 { didSet {} }, o: Int { 2 }, p = 3",
      "@KVOIgnored var n = 1 { didSet {} }\n  @KVOIgnored var o: Int { 2 }\n  @KVOIgnored var p = 3"
    ),
  ].map {
    Case(
      "class A: NSObject {\n  @objc dynamic var x = 0\n  \($0.there)\n}",
      "@KVO class A: KVOObject {\n  var x = 0\n  \($0.here)\n}")
  }

  @Test("each variable is declared by itself", arguments: splits)
  func split(_ edit: Case) {
    expectEqual(Self.moved(edit.there, .macro).text, edit.here)
    expect(Self.moved(edit.here, .macro).edits.isEmpty)
  }

  static let several = [
    "list.insert(o, at: i); print(1)", "list.insert(o, at: i)\nprint(1)",
  ]

  @Test("an accessor that does more than one change is left and listed", arguments: several)
  func several(_ body: String) {
    let moved = Self.moved(
      "class A: NSObject { @objc dynamic var list = [1]\n"
        + "@objc func insertObject(_ o: Int, inListAt i: Int) { \(body) } }", .macro)
    expect(moved.text.contains("{ \(body) }"))
    expect(moved.findings.contains { $0.reason.contains("found by its name") })
  }

  @Test("methods of an @objcMembers class that are no accessors are not listed")
  func noAccessors() {
    let moved = Self.moved(
      "@objcMembers class A: NSObject { func draw(inRect r: Int) {}\n"
        + "private func countOfSongs() -> Int { 0 } }", .macro)
    expect(!moved.findings.contains { $0.reason.contains("found by its name") })
  }

  @Test("a setter of two statements gets one bracket, and such a hash is listed") func statements()
  {
    let setter = "{ get { m.i } set { m.i = newValue; f() } }"
    let moved = Self.moved(
      "class A: NSObject { let m = M()\n@objc dynamic var x: Int \(setter)\n"
        + "override var hash: Int { f(); return 1 } }", .macro)
    let bracket = "{ get { m.i } set { withAutomaticChange(of: \\.x) { m.i = newValue; f() } } }"
    expect(moved.text.contains(bracket) && moved.text.contains("hash: Int { f(); return 1 }"))
    expect(moved.findings.contains { $0.reason.contains("hash is a function") })
  }

  static let comments = [
    Case("let k = #keyPath(A.x /* c */)", "let k = \"x\" /* c */"),
    Case("let k = f(#keyPath(x // c\n))", "let k = f(\"x\" // c\n)"),
    Case(
      "class A: NSObject { override var /* c */ hash: Int { /* d */ return /* e */ x } }",
      "class A: KVOObject { override func hash(into hasher: inout Hasher) /* c */ { /* d */  /* e */ hasher.combine(x) } }"
    ),
    Case(
      "private var c /* a */: Int = /* b */ 0\nfunc f() { if context == &c {} }",
      "private let c = KVOContext() /* a */ /* b */\nfunc f() { if context == c {} }"),
    Case(
      "if case is /* q */ NSNull = c[k]!, b {}", "if case Optional<Any>.none /* q */ = c[k]!, b {}"),
    Case(
      "class A: NSObject { @objc func validateX(_ p: AutoreleasingUnsafeMutablePointer</* c */ AnyObject?>) throws { p /* d */ .pointee = 1 } }",
      "class A: KVOObject { func validateX(_ p: inout Any? /* c */) throws { p /* d */ = 1 } }"),
    Case(
      "class A: NSObject { @objc /* c */ dynamic /* d */ func f() {} }",
      "class A: KVOObject {  /* c */  /* d */ func f() {} }"),
    Case(
      "nonisolated /* n */ (unsafe) private var c = 0\nfunc f() { if context == &c {} }",
      "/* n */ private let c = KVOContext()\nfunc f() { if context == c {} }"),
    Case("class A: Foundation /* c */ .NSObject {}", "class A: KVOObject /* c */ {}"),
  ]

  @Test("no comment is lost", arguments: comments)
  func comment(_ edit: Case) {
    expectEqual(Self.moved(edit.there + Self.evidence).text, edit.here + Self.evidence)
  }

  @Test("a key path's types are left out", arguments: ["_Foo.x", "A._B.x", "foo.x", "x"])
  func keyPathTypes(_ path: String) {
    expect(Self.moved("struct foo {}; let k = #keyPath(\(path))").text.hasSuffix("= \"x\""))
    expectEqual(Self.moved("let k = #keyPath(_x.y)").text, "let k = \"_x.y\"")
  }

  @Test("an optional requirement of a protocol is listed") func optional() {
    let moved = Self.moved("@objc protocol P { @objc optional var x: Int { get } }" + Self.evidence)
    expectEqual(moved.text, "protocol P { optional var x: Int { get } }" + Self.evidence)
    expectEqual(
      moved.findings.map(\.reason),
      [
        "what a protocol has optionally is there with Objective-C only"
      ])
  }

  static let affecting = [
    ("@objc class func keyPathsForValuesAffectingY() -> Set<String> { [\"x\"] }", "()"),
    ("@objc class var keyPathsForValuesAffectingY: Set<String> { [\"x\"] }", ""),
    ("@objc static var keyPathsForValuesAffectingY: Set<String> { get { [\"x\"] } }", ""),
    ("@objc static let keyPathsForValuesAffectingY: Set<String> = [\n\"x\",\n]", ""),
    ("@objc private static let keyPathsForValuesAffectingY = Set([\"x\"])", ""),
  ]

  @Test(
    "a method or a property of the type that names what affects a key is declared",
    arguments: affecting)
  func affecting(_ member: String, _ call: String) {
    let value = "self.keyPathsForValuesAffectingY\(call)"
    let model = "class A: NSObject { @objc dynamic var x = 0; "
    let computed = "keys.computed(\"y\", \\.y, affectedBy: \(value))"
    let property = "@objc dynamic var y: Int { x }"
    for source in [
      "\(model)}\nextension A { \(property)\n\(member) }",
      "\(model)\(member) }\nextension A { \(property) }",
      "class A: NSObject { @objc var y: Int { 1 }\n\(member) }\nlet v = a.value(forKey: \"y\")",
    ] {
      let moved = Self.moved(source, .macro)
      expect(moved.text.contains(computed), moved.text)
      expect(Self.moved(moved.text, .macro).edits.isEmpty)
    }
    expect(Self.moved("\(model)\(property)\n\(member) }").text.contains(computed))
    let stored = Self.moved("\(model)@objc dynamic var y = 0 { didSet {} }\n\(member) }").text
    expect(stored.contains("keys.stored(\"y\", \\.y)"), stored)
    expect(stored.contains("keys.dependency(\"y\", on: \(value))"), stored)
    expect(!Self.moved("\(model)\(property)\n\(member) }", .macro).text.contains("registerKeys"))
  }

  @Test(
    "a method or a property of the type that turns automatic changes off is declared",
    arguments: [
      ("class func automaticallyNotifiesObserversOfX() -> Bool { false }", "()"),
      ("static let automaticallyNotifiesObserversOfX = false", ""),
      ("class var automaticallyNotifiesObserversOfX: Bool { false }", ""),
    ])
  func automatic(_ member: String, _ call: String) {
    let value = "self.automaticallyNotifiesObserversOfX\(call)"
    for source in [
      "class A: NSObject { @objc var x = 0 }\nextension A { @objc \(member) }",
      "class A: NSObject { @objc var x = 0\n@objc \(member) }",
    ] {
      let text = Self.moved(source, .macro).text
      expect(text.contains("class A: KVOObject"), text)
      expect(text.contains("keys.automaticallyNotifies(\"x\", \(value))"), text)
    }
    let members = ["func automaticallyNotifiesObserversOfX() -> Bool { false }", ""]
    for other in members {
      let text = Self.moved("class A: NSObject { @objc var x = 0\n\(other) }", .macro).text
      expect(!text.contains("automaticallyNotifies(\"x\""), text)
    }
  }

  @Test(
    "what affects a key becomes a set of strings",
    arguments: [
      Case(
        "func kY() -> NSSet { return NSSet(object: \"x\") }",
        "func kY() -> Set<String> { return [\"x\"] }"),
      Case(
        "var kY: NSSet { NSSet(objects: \"x\", \"z\") }", "var kY: Set<String> { [\"x\", \"z\"] }"),
      Case("let kY: NSSet = NSSet(array: [\"x\"])", "let kY: Set<String> = Set([\"x\"])"),
      Case("let kY = NSSet(array: [\"x\"])", "let kY: Set<String> = Set([\"x\"])"),
      Case("let kY: Set = [\"x\"]", "let kY: Set<String> = [\"x\"]"),
      Case("let kY: Set<String> = [\"x\"]", "let kY: Set<String> = [\"x\"]"),
      Case("let kY = all.union([\"x\"])", "let kY = all.union([\"x\"])"),
    ])
  func setOfStrings(_ edit: Case) {
    let there = edit.there.replacing("kY", with: "keyPathsForValuesAffectingY")
    let here = edit.here.replacing("kY", with: "keyPathsForValuesAffectingY")
    let moved = Self.moved(
      "class A: NSObject { @objc dynamic var x = 0\n@objc static \(there) }", .macro)
    expectEqual(moved.text, "@KVO class A: KVOObject { var x = 0\nstatic \(here) }")
  }
}
