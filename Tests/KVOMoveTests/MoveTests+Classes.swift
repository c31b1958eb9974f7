/// The class that a name means, if several classes have the name or if it is written with its enclosing types.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  static let nested = [
    Case(
      "class Menu { class Item: NSObject { @objc dynamic var t = 0 } }\n"
        + "class Order { class Item: NSObject { var p = 0 } }",
      "class Menu { @KVO class Item: KVOObject { var t = 0 } }\n"
        + "class Order { class Item: KVOObject { var p = 0 } }"),
    Case(
      "class Menu { class Item: UIView { var t = 0 } }\n"
        + "class Order { class Item: NSObject { @objc dynamic var p = 0 } }",
      "class Menu { class Item: UIView { var t = 0 } }\n"
        + "class Order { @KVO class Item: KVOObject { var p = 0 } }"),
    Case(
      "class Item: NSObject { @objc dynamic var t = 0 }\n"
        + "enum E { class Item: UIView {}; class A: Item { override var description: String { \"\" } } }",
      "@KVO class Item: KVOObject { var t = 0 }\n"
        + "enum E { class Item: UIView {}; class A: Item { override var description: String { \"\" } } }"
    ),
    Case(
      "func f() { class A: NSObject { @objc dynamic var x = 0 } }\n"
        + "func g() { class A: NSObject {}; class B: A {} }",
      "func f() { @KVO class A: KVOObject { var x = 0 } }\n"
        + "func g() { class A: KVOObject {}; class B: A {} }"),
    Case(
      "class A { class B: NSObject {} }\nextension A.B { @objc func f() {} }\n"
        + "class C: A.B { @objc dynamic var x = 0 }",
      "class A { class B: KVOObject {} }\nextension A.B { func f() {} }\n"
        + "@KVO class C: A.B { var x = 0 }"),
    Case(
      "#if A\nclass A: NSObject { @objc dynamic var x = 0 }\n#else\nclass A: NSObject {}\n#endif",
      "#if A\n@KVO class A: KVOObject { var x = 0 }\n#else\nclass A: KVOObject {}\n#endif"),
    Case("class A: Foundation.NSObject {}", "class A: KVOObject {}"),
    Case(
      "class A: Foundation.NSObject, P { var o: Foundation.NSObject?; func f() { o!.observe(keyPath: k) {} } }",
      "class A: KVOObject, P { var o: KVOObject?; func f() { o!.observe(keyPath: k) {} } }"),
    Case("let o: My.NSObject?", "let o: My.NSObject?"),
    Case(
      "class A: Foundation.Operation { func f() { willChangeValue(forKey: \"isFinished\") } }",
      "class A: KVOOperation, @unchecked Sendable { func f() { willChangeValue(forKey: \"isFinished\") } }"
    ),
  ]

  @Test("a name means the nearest class that has it", arguments: nested)
  func nested(_ edit: Case) {
    let moved = Self.moved(edit.there, .macro)
    expectEqual(moved.text, edit.here)
    expect(moved.findings.isEmpty)
    expect(Self.moved(edit.here, .macro).edits.isEmpty)
  }

  @Test("a class of the root's name in another module is another class") func otherRoot() {
    let source = "class A: My.NSObject { @objc dynamic var x = 0 }"
    let moved = Self.moved(source)
    expectEqual(moved.text, source)
    expect(moved.findings.contains { $0.reason.hasSuffix("not a KVOObject (My.NSObject)") })
  }

  @Test("classes of one name in two files are kept apart") func sameName() {
    let sources = [
      ("A.swift", "class T: UIView {}"),
      ("B.swift", "class T: NSObject { @objc dynamic var x = 0 }"),
      ("C.swift", "private class T: NSObject { @objc dynamic var y = 0 }; class U: T {}"),
    ]
    for order in [sources, sources.reversed()] {
      let moved = Dictionary(uniqueKeysWithValues: move(order).map { ($0.path, $0) })
      expectEqual(moved["A.swift"]!.text, "class T: UIView {}")
      expectEqual(moved["B.swift"]!.text, "@KVO class T: KVOObject { var x = 0 }")
      expectEqual(
        moved["C.swift"]!.text, "@KVO private class T: KVOObject { var y = 0 }; class U: T {}")
      expect(moved.values.allSatisfy { $0.findings.isEmpty })
    }
  }

  @Test(
    "an ambiguous reference to one of several classes is reported",
    arguments: [
      "class U: T { @objc dynamic var y = 0 }", "extension T { @objc dynamic var y: Int { 0 } }",
    ])
  func ambiguous(_ source: String) {
    let moved = move([
      ("A.swift", "class T: UIView {}"), ("B.swift", "class T: NSObject {}"), ("C.swift", source),
    ])
    expectEqual(moved[2].text, source)
    expect(
      moved[2].findings.contains {
        $0.reason == "there are several classes T, and which is meant can't be seen"
      })
  }

  @Test("a private class of another file is ignored") func privateClass() {
    let moved = move([
      ("A.swift", "private class T: UIView {}"), ("B.swift", "class T: NSObject {}"),
      ("C.swift", "class U: T { @objc dynamic var y = 0 }"),
    ])
    expectEqual(moved[2].text, "@KVO class U: T { var y = 0 }")
  }
}
