/// Tests for NSNull, which represents nil in changes there.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  static let nullTests = [
    Case(
      "func f(_ v: Any) { if !(v is NSNull) {} }",
      "func f(_ v: Any) { if case Optional<Any>.some = v {} }"),
    Case(
      "guard let v = c?[.oldKey], !(v is NSNull) else { return }",
      "guard let v = c?[.oldKey], case Optional<Any>.some = v else { return }"),
    Case(
      "func f(_ v: Any) { if a?.b == 1 && !(v is NSNull) && c {} }",
      "func f(_ v: Any) { if a?.b == 1, case Optional<Any>.some = v, c {} }"),
    Case(
      "func f(_ v: Any, _ w: Any) { if !(v is NSNull) && !(w is NSNull) {} }",
      "func f(_ v: Any, _ w: Any) { if case Optional<Any>.some = v, case Optional<Any>.some = w {} }"
    ),
    Case(
      "if b && c?[.oldKey] is NSNull {}", "if b, case .some(Optional<Any>.none) = c?[.oldKey] {}"),
    Case(
      "func f(_ v: Any) { while b\n  && (v is NSNull) {} }",
      "func f(_ v: Any) { while b, case Optional<Any>.none = v {} }"),
  ]

  @Test(
    "a test for NSNull that is a value, or chooses between nil and the value, is an if expression",
    arguments: [
      Case(
        "isEmpty = c![.newKey] is NSNull",
        "isEmpty = if case .some(Optional<Any>.none) = c![.newKey] { true } else { false }"),
      Case(
        "func f() -> Bool { let v = c[.newKey]!; return !(v is NSNull) }",
        "func f() -> Bool { let v = c[.newKey]!; return if case Optional<Any>.none = v { false } else { true } }"
      ),
      Case(
        "let old = (c[.oldKey] is NSNull) ? nil : c[.oldKey]",
        "let old: Any? = if case .some(Optional<Any>.none) = c[.oldKey] { nil } else { c[.oldKey] }"
      ),
      Case(
        "old = c[.oldKey] is NSNull ? nil : c[.oldKey]",
        "old = if case .some(Optional<Any>.none) = c[.oldKey] { nil } else { c[.oldKey] }"),
    ])
  func nullChoice(_ edit: Case) {
    let moved = Self.moved(edit.there + Self.evidence, .macro)
    expect(moved.text.hasSuffix(edit.here + Self.evidence), moved.text)
    expect(moved.findings.isEmpty, "\(moved.findings)")
  }

  @Test("a test for NSNull is a pattern, also negated and joined by &&", arguments: nullTests)
  func null(_ edit: Case) {
    let moved = Self.moved(edit.there + Self.evidence, .macro)
    expect(moved.text.hasSuffix(edit.here + Self.evidence), moved.text)
    expect(moved.findings.isEmpty, "\(moved.findings)")
  }

  @Test("a test of a loop's value for NSNull is left without a finding, since it is from JSON")
  func nullInPairs() {
    let loop =
      "func f(j: [String: Any]) { for (k, v) in j { if v is NSNull { continue }; a.setValue(v, forKey: k) } }"
    let moved = Self.moved("import Foundation\n" + loop + Self.evidence, .macro)
    expect(moved.text.contains("if v is NSNull { continue }"), moved.text)
    expect(moved.text.contains("import KVOFoundation"), moved.text)
    expect(moved.findings.isEmpty, "\(moved.findings)")
    let ofChange = loop.replacing("in j", with: "in change")
    expectEqual(Self.moved(ofChange + Self.evidence, .macro).findings.count, 1)
    let ofPairs = loop.replacing("in j", with: "in all.enumerated()")
    expectEqual(Self.moved(ofPairs + Self.evidence, .macro).findings.count, 1)
  }

  @Test(
    "a test for NSNull of what is no change's value is left and listed, if a source reads JSON or makes an NSNull",
    arguments: [
      "let j = JSONSerialization.f()", "let p = PropertyListSerialization()", "let n = NSNull()",
    ])
  func nullOfOtherSource(_ other: String) {
    for (test, isEdited) in [
      ("func f(_ v: Any) { if v is NSNull {} }", false),
      ("func f(_ v: Any) { switch v { case is NSNull: g()\ndefault: h() } }", false),
      ("func f() { if let v = c?[.oldKey], v is NSNull {} }", true),
      ("func f() { if c?[.oldKey] is NSNull {} }", true),
    ] {
      let text = test + Self.evidence
      let moved = move([(path: "A.swift", text: text), (path: "B.swift", text: other)])[0]
      expectEqual(moved.text.hasSuffix(text), !isEdited, moved.text)
      expectEqual(moved.findings.map(\.harm), isEdited ? [] : [.differs], "\(moved.findings)")
    }
  }

  @Test(
    "a test for NSNull that can't be a pattern, or whose value may be from JSON, is left and listed",
    arguments: [
      "let old = c[.oldKey] is NSNull ? 0 : c[.oldKey]",
      "let old = c[.oldKey] is NSNull ? nil : c[.newKey]",
      "func f(_ v: Any) { if b || !(v is NSNull) {} }", "func f(_ v: Any) { g(!(v is NSNull)) }",
      "func f(_ v: Any) { if b ? c : d && v is NSNull {} }",
      "func f(_ v: Any?) { if !(v is NSNull) {} }",
      "func f(_ v: Any) { if g(b && v is NSNull) {} }",
      "if let v = row[\"name\"], !(v is NSNull) { g(v) }",
      "func f(_ row: [String: Any], k: String) { guard let v = row[k], !(v is NSNull) else { return } }",
      "func setValue(_ v: Any?, forName n: String) { if v is NSNull {} }",
    ])
  func nullLeft(_ source: String) {
    let moved = Self.moved(source + Self.evidence, .macro)
    expect(moved.text.hasSuffix(source + Self.evidence), moved.text)
    expectEqual(moved.findings.map(\.harm), [.differs], "\(moved.findings)")
  }
}
