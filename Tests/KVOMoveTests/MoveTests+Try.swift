/// Where `try` is put, and where it takes an exclamation mark.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  static let tries = [
    Case("defer { a.value(forKey: k) }", "defer { try! a.value(forKey: k) }"),
    Case(
      "defer { if b { a.setValue(1, forKey: k) } }",
      "defer { if b { try! a.setValue(1, forKey: k) } }"),
    Case(
      "defer { do { a.value(forKey: k) } catch {} }",
      "defer { do { try a.value(forKey: k) } catch {} }"),
    Case("assert(a.value(forKey: k) != nil)", "assert(try! a.value(forKey: k) != nil)"),
    Case(
      "Swift.precondition(b, \"\\(a.value(forKey: k))\")",
      "Swift.precondition(b, \"\\(try! a.value(forKey: k))\")"),
    Case("b.assert(a.value(forKey: k))", "b.assert(try a.value(forKey: k))"),
    Case("try XCTAssertNil(a.value(forKey: k))", "try XCTAssertNil(a.value(forKey: k))"),
    Case("if b { a.value(forKey: k) }", "if b { try a.value(forKey: k) }"),
  ].map { Case("func f() throws { \($0.there) }", "func f() throws { \($0.here) }") }

  static let untried = [
    // A method of the source that does not throw, though it overrides one that does.
    (
      "class B: A { override func setValue(_ v: Any?, forKey k: String) {}; func f() { setValue(1, forKey: k) } }",
      "class B: A { override func setValue(_ v: Any?, forKey k: String) {}; func f() { setValue(1, forKey: k) } }"
    ),
    (
      "class B: A { override func setValue(_ v: Any?, forKey k: String) { super.setValue(v, forKey: k) } }",
      "class B: A { override func setValue(_ v: Any?, forKey k: String) { try! super.setValue(v, forKey: k) } }"
    ),
    (
      "class B: A { override func setValue(_ v: Any?, forKey k: String) {}; func f() { setValue(1, forKeyPath: k) } }",
      "class B: A { override func setValue(_ v: Any?, forKey k: String) {}; func f() { try! setValue(1, forKeyPath: k) } }"
    ),
    // A variable that has a proxy's name in another function.
    (
      "func f(a: A) { let p = a.mutableArrayValue(forKey: k)\np.add(1) }\nfunc g(p: Bag) { p.add(1) }",
      "func f(a: A) { let p = try! a.mutableArrayValue(forKey: k)\ntry! p.add(1) }\nfunc g(p: Bag) { p.add(1) }"
    ),
    (
      "func f(a: A) { let q = NSMutableArray()\nq.add(a.mutableArrayValue(forKey: k)) }",
      "func f(a: A) { let q = NSMutableArray()\nq.add(try! a.mutableArrayValue(forKey: k)) }"
    ),
  ]

  @Test("a call of a method that does not throw gets no try", arguments: untried)
  func untried(_ there: String, _ here: String) {
    let head = "class A: NSObject { var x = 0 }\n"
    expectEqual(Self.moved(head + there).text, Self.moved(head).text + here)
  }

  @Test("a call that can't throw takes try!", arguments: tries)
  func tries(_ edit: Case) {
    expectEqual(Self.moved(edit.there).text, edit.here)
    expect(Self.moved(edit.here).edits.isEmpty)
  }
}
