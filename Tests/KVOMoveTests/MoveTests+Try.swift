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

  @Test("a call that can't throw takes try!", arguments: tries)
  func tries(_ edit: Case) {
    expectEqual(Self.moved(edit.there).text, edit.here)
    expect(Self.moved(edit.here).edits.isEmpty)
  }
}
