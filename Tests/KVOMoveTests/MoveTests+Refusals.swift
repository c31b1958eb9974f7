/// Code that looks like what an edit is for, and would mean something else after it. It is left alone, and listed.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  /// A source, a line of it that stays, and what the finding says; nil if there is nothing to say.
  struct Refusal: CustomTestStringConvertible {
    let source: String
    let kept: String
    let reason: String?

    init(_ source: String, keeps kept: String, _ reason: String?) {
      (self.source, self.kept, self.reason) = (source, kept, reason)
    }

    var testDescription: String { source }
  }

  private static let account = "class A: NSObject {\n  @objc dynamic var x = 0\n}\n"
  private static let override =
    "extension A {\n  override func setNilValueForKey(_ key: String) {}\n}\n"

  static let refusals = [
    Refusal(
      account + "#if DEBUG\n" + override + "#endif\n",
      keeps: "#if DEBUG\nextension A {\n  override func setNil", "extension"),
    Refusal(
      "enum B {\n" + account
        + "}\nextension B.A {\n  override func setNilValueForKey(_ key: String) {}\n}\n",
      keeps: "extension B.A {\n  override", "extension"),
    Refusal(
      "class A: NSObject { @objc dynamic var x = 0 }\n" + override,
      keeps: "extension A {\n  override", "extension"),
    Refusal(
      "class A: NSObject, Codable {\n  @objc dynamic var x = 0\n}\nextension A {\n  struct S: Codable {\n"
        + "    enum CodingKeys: String, CodingKey {\n      case x\n    }\n  }\n}\n",
      keeps: "struct S: Codable {\n    enum CodingKeys", nil),
    setter("if key == \"b\" { if let json = value as? [String: Any] { b = B(json) } }"),
    setter("if key == \"b\" { b = b ?? B([:]) }"),
    setter("switch key { case \"b\": b = B(value as! [String: Any])\ndefault: break }"),
    setter("for key in others { if key == \"b\" { b = B(value as! [String: Any]) } }"),
    Refusal(
      observed + "func clean(_ value: Any) -> Any? { return value is NSNull ? nil : value }",
      keeps: "return value is NSNull", "always false"),
    Refusal(
      observed + "func old(_ change: [NSKeyValueChangeKey: Any]) -> Any? {\n"
        + "guard let old = change[.oldKey] is NSNull ? nil : change[.oldKey]\nelse { return nil }\nreturn old }",
      keeps: "guard let old = change[.oldKey] is NSNull", "always false"),
    Refusal(
      observed + "enum Column { case kindKey, sizeKey }\nlet kind = cells[.kindKey] as? Int\n",
      keeps: "cells[.kindKey] as? Int", "not a number"),
    Refusal(
      "enum Store { case file, UserDefaults }\nclass W: NSObject { func start() {\n"
        + "UserDefaults.standard.addObserver(self, forKeyPath: \"x\", options: [], context: nil) } }",
      keeps: "case file, UserDefaults", "notifies no observer"),
    Refusal(
      operation
        + "func stop() { for case let one as Operation in queue.operations { one.cancel() } }",
      keeps: "one as Operation", nil),
    Refusal(
      operation + "extension F { func f() { willChangeValue(for: \\.child.isFinished) } }",
      keeps: "willChangeValue(for: \\.child.isFinished)", nil),
    Refusal(
      observed
        + "class H: A { override var hash: Int { var h = Hasher(); h.combine(super.hash); return h.finalize() } }",
      keeps: "override var hash", "hash is a function"),
    Refusal(
      "var key = 0\nextension A { var note: NSString? {\n"
        + "get { return objc_getAssociatedObject(self, &key) as? NSString }\n"
        + "set { objc_setAssociatedObject(self, &key, newValue, .OBJC_ASSOCIATION_COPY) } } }\n"
        + observed,
      keeps: "objc_setAssociatedObject(self, &key, newValue", "associated"),
  ]

  private static let observed = "class A: NSObject { @objc dynamic var x = 0 }\n"
  private static let operation =
    "class F: Operation { @objc dynamic var state = 0\noverride var isFinished: Bool { get { true } set {} } }\n"

  private static func setter(_ statement: String) -> Refusal {
    Refusal(
      "class B: NSObject { @objc dynamic var x = 0\ninit(_ json: [String: Any]) {} }\n"
        + "class A: NSObject { @objc dynamic var b: B?\noverride func setValue(_ value: Any?, forKey key: String) {\n"
        + "super.setValue(value, forKey: key)\n\(statement)\n} }",
      keeps: "super.setValue(value, forKey: key)\n", "only one of its type")
  }

  @Test("code that an edit would change in meaning stays, and is listed", arguments: refusals)
  func refusal(_ refusal: Refusal) {
    let moved = move([(path: "A.swift", text: refusal.source)])[0]
    expect(moved.text.contains(refusal.kept), "\(moved.text)")
    if let reason = refusal.reason {
      expect(moved.findings.contains { $0.reason.contains(reason) }, "\(moved.findings)")
    }
  }
}
