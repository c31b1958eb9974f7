/// The word `dynamic`, which may be a name, and attributes that are present already.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  static let names = [
    "struct Style { init(dynamic provider: Int) {} }",
    "func resize(dynamic: Bool) -> Int { guard dynamic else { return 0 }; return 1 }",
    "let i = dynamic is Int",
    "switch v { case let dynamic as Int: f(dynamic)\ndefault: break }",
    "enum E { case dynamic\n  case other }",
    "func f() {\n  let old = dynamic\n  let new = a.dynamic\n  var x = 1\n}",
    "func f() -> Bool { return dynamic\n}; class B {}",
  ]

  @Test("a name that is also a modifier stays", arguments: names)
  func name(_ source: String) {
    expectEqual(Self.moved(source).text, source)
    // Also in a class from which the modifiers of that name are removed.
    let inside = Case(
      "class A: NSObject { @objc dynamic var x = 0\nfunc g() {\n\(source)\n} }",
      "class A: KVOObject { @Observed var x = 0\nfunc g() {\n\(source)\n} }")
    expectEqual(Self.moved(inside.there).text, inside.here)
  }

  static let modifierEdits = [
    Case("{\n  @objc dynamic\n  var x = 1\n}", "{\n  @Observed var x = 1\n}"),
    Case(
      "{\n  @objc dynamic  // c\n  var x = 1\n}", "{\n  @Observed   // c\n  var x = 1\n}"),
    Case("{\n  dynamic\n  @objc var x = 1\n}", "{\n  @Observed var x = 1\n}"),
    Case("{ let r = 0...\n  dynamic\n  func f() {} }", "{ let r = 0...\n  func f() {} }"),
    Case("{ dynamic init() {}; dynamic func g() {} }", "{ init() {}; func g() {} }"),
    Case("{ @Observed @objc dynamic var x = 1 }", "{ @Observed var x = 1 }"),
    Case("{ public dynamic var x = 1 }", "{ @Observed public var x = 1 }"),
    Case("{ private(set) dynamic var x = 1 }", "{ @Observed private(set) var x = 1 }"),
    Case("{ @P(q) public @objc dynamic var x = 1 }", "{ @P(q) @Observed public var x = 1 }"),
  ].map { Case("class A: NSObject " + $0.there, "class A: KVOObject " + $0.here) }

  @Test("modifiers are left out on any line", arguments: modifierEdits)
  func modifier(_ edit: Case) {
    expectEqual(Self.moved(edit.there).text, edit.here)
  }

  @Test(
    "an attribute is not added twice",
    arguments: ["@KVO", "@KVORuntime.KVO", "@KVO @MainActor"])
  func marked(_ attribute: String) {
    let moved = Self.moved("\(attribute) class A: KVOObject { @objc dynamic var x = 1 }", .macro)
    expectEqual(moved.text, "\(attribute) class A: KVOObject { var x = 1 }")
  }

  @Test("a property that the macro observes is recognised when the source is moved again")
  func integers() {
    let source =
      "class A: NSObject { @objc dynamic var n = 3 }; let s = a.value(forKeyPath: \"b.@sum.n\") as! Double"
    for style in [ObservableStyle.macro, .wrapper] {
      let once = Self.moved(source, style)
      expectEqual(Self.moved(once.text, style).findings, once.findings)
    }
  }

  @Test(
    "a computed property visible to Objective-C keeps its key where it is used by key",
    arguments: [("", "@objc "), ("@objcMembers ", "")])
  func key(_ attributes: (String, String)) {
    let source =
      "\(attributes.0)class A: NSObject { let m = M(); @objc dynamic var t = 0; "
      + "\(attributes.1)var i: Int { get { m.i } set { m.i = newValue } } }"
    let ignored =
      "@KVO class A: KVOObject { let m = M(); var t = 0; "
      + "@KVOIgnored var i: Int { get { m.i } set { m.i = newValue } }"
    expectEqual(Self.moved(source, .macro).text, ignored + " }")
    let coded = Self.moved(source + "\nfunc f(a: A) { a.setValue(1, forKey: k) }", .macro).text
    expect(coded.hasPrefix(ignored) && coded.contains("keys.computed(\"i\", \\.i)"))
  }

  @Test("a computed property that announces its changes stays recognised by the macro")
  func byHand() {
    let setters = [
      "willChangeValue(forKey: \"i\"); m.i = newValue; didChangeValue(forKey: \"i\")",
      "withChange(of: \\.i) { m.i = newValue }",
    ]
    for setter in setters {
      let property = "var i: Int { get { m.i } set { \(setter) } }"
      let moved = Self.moved(
        "class A: NSObject { let m = M(); @objc dynamic var t = \"\"; @objc \(property) }", .macro)
      expectEqual(moved.text, "@KVO class A: KVOObject { let m = M(); var t = \"\"; \(property) }")
    }
  }
}
