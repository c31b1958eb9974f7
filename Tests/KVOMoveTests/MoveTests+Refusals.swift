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
    proxied("func f() { g(rows as? [Int]) }"), proxied("func f() { take(rows) }"),
    proxied("class C: B { override var rows: NSMutableArray { NSMutableArray() } }"),
    proxied("protocol P { var rows: NSMutableArray { get } }"),
    Refusal(
      observed + "func f(a: A) { let r: NSMutableArray = a.mutableArrayValue(forKey: \"x\") }",
      keeps: "let r: NSMutableArray", "mutable proxy"),
    Refusal(
      observed + "func f(a: A) -> NSMutableArray { return a.mutableArrayValue(forKey: \"x\") }",
      keeps: "-> NSMutableArray", "mutable proxy"),
    Refusal(
      observed
        + "func f(a: A) { let r = a.mutableArrayValue(forKey: \"x\")\ntake(r) }\nfunc take(_ l: NSMutableArray) {}",
      keeps: "take(r)", "mutable proxy"),
    Refusal(
      operation
        + "func f(q: OperationQueue) { for case let f as F in q.operations { f.cancel() } }",
      keeps: "as F in q.operations", "a queue's operations"),
    Refusal(
      operation + "func f(q: OperationQueue) { let n = q.operations.count }",
      keeps: "q.operations.count", nil),
    Refusal(
      defaults + "func f() { UserDefaults.standard.addSuite(named: s) }", keeps: "addSuite",
      "a KVOUserDefaults has no addSuite"),
    Refusal(
      defaults + "func f(n: Notification) { g(n.object as? UserDefaults) }", keeps: "n.object as?",
      "a notification's object"),
    Refusal(
      defaults
        + "let t = c.addObserver(forName: UserDefaults.didChangeNotification, object: d, queue: q) {}",
      keeps: "object: d", "the notification's object"),
    Refusal(
      "let t = p.observe(\\.fractionCompleted) { _, _ in }\nlet p = Progress()\nfunc f(s: S) { g(s.progress) }",
      keeps: "let p = KVOProgress(parent: nil)", "this progress is one of Foundation's"),
    Refusal(
      observed + "extension A { override func copy() -> Any { 1 } }", keeps: "override func copy",
      "no copy to be overridden"),
    Refusal(
      "class A: NSObject { @objc dynamic var x = 0\noverride var hash: Int { super.hash ^ x } }",
      keeps: "super.hash ^ x", "hash is a function"),
    Refusal(
      "func f<O: NSObject>(_ o: O) -> Any { o.observe(\\.x, options: []) { _, _ in } }\nlet a = f(DateFormatter())",
      keeps: "f(DateFormatter())", "takes a KVOObject"),
    Refusal(
      "class B { func f<T: NSObject>(_ o: T) {} }\nclass A { func f(_ t: Any) {}\n"
        + "func g<O: NSObject>(_ o: O) { f(o.observe(\\.x, options: []) { _, _ in }) } }",
      keeps: "class B { func f<T: NSObject>", nil),
    Refusal(
      "extension NSObject { var label: String { \"\" } }\nextension NSObject { func f(_ o: NSObject) {\n"
        + "print(label); addObserver(o, forKeyPath: k, options: [], context: nil) } }\n"
        + "func g(d: DateFormatter) { print(d.label) }",
      keeps: "func f(_ o: KVOObject)", "a DateFormatter has no label"),
    Refusal(
      "private var key = 0\n" + observed + "extension A { func f() { g(&key) } }",
      keeps: "private var key = 0", "hides this variable"),
    Refusal(
      observed
        + "extension A { func f(_ o: NSObject?) {}\nfunc g(change: [NSKeyValueChangeKey: Any]) {\n"
        + "f(change[.newKey] as? NSObject) } }",
      keeps: "f(change[.newKey] as? NSObject)", "no NSObject here"),
    Refusal(
      observed + "extension A { func g(change: [NSKeyValueChangeKey: Any]) -> NSObject? {\n"
        + "let new = change[.newKey] as? NSObject\nreturn new } }",
      keeps: "change[.newKey] as? NSObject", "no NSObject here"),
    Refusal(
      observed
        + "extension A { func f(_ o: NSObject?) {}\nfunc g(change: [NSKeyValueChangeKey: Any]) {\n"
        + "let old = change[.oldKey] as? NSObject, new = change[.newKey] as? NSObject\nif old != new { f(new) } } }",
      keeps: "change[.oldKey] as? NSObject", "no NSObject here"),
    Refusal(
      "class A: NSObject, Codable {\n  @objc dynamic var x = 0\n}\n#if DEBUG\nextension A {\n"
        + "  enum CodingKeys: String, CodingKey {\n    case x\n  }\n}\n#endif\n",
      keeps: "extension A {\n  enum CodingKeys", "writes CodingKeys"),
  ]

  private static func watching(_ body: String) -> String {
    "class W: NSObject { override func observeValue(forKeyPath p: String?, of o: Any?, "
      + "change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?) { \(body) } }"
  }

  private static let defaults =
    "let d = UserDefaults.standard\nlet t = d.observe(\\.x, options: []) { _, _ in }\n"

  private static func proxied(_ use: String) -> Refusal {
    Refusal(
      "class B: NSObject { @objc dynamic var x = [1]\n"
        + "var rows: NSMutableArray { mutableArrayValue(forKey: \"x\") } }\n\(use)",
      keeps: "var rows: NSMutableArray", "mutable proxy")
  }

  @Test(
    "a use of a change as a whole is listed",
    arguments: [
      "for (k, v) in change ?? [:] { g(v) }", "for (i, e) in change!.enumerated() { g(e) }",
      "change?.forEach { g($0.value) }",
      "let all = change ?? [:]\ng(all.mapValues { $0 as? NSNumber })",
      "(change ?? [:]).forEach { g($0) }",
      "for (k, v) in zip(change!.keys, change!.values) { g(v) }",
      "print(change!)", "g(Array(change!))", "for case let (k, v as Int) in change! { g(k, v) }",
      "log(\"\\(String(describing: change))\")", "g(change as NSDictionary?)",
    ])
  func wholeChange(_ use: String) {
    let found = move([(path: "A.swift", text: Self.watching(use))])[0].findings
    expect(found.contains { $0.reason.contains("their own types") }, "\(found)")
  }

  @Test(
    "a use of one of a change's values, and passing the change on, are not listed",
    arguments: [
      "g(change?[.newKey])",
      "super.observeValue(forKeyPath: p, of: o, change: change, context: context)",
      "guard let change = change else { return }\ng(change[.newKey])", "handler?(change)",
      "if change == nil { g(change?.count) }",
    ])
  func partOfChange(_ use: String) {
    let found = move([(path: "A.swift", text: Self.watching(use))])[0].findings
    expect(found.isEmpty, "\(found)")
  }

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

  @Test(
    "code that an edit would change in meaning stays, and is listed", arguments: refusals)
  func refusal(_ refusal: Refusal) {
    let moved = move([(path: "A.swift", text: refusal.source)])[0]
    expect(moved.text.contains(refusal.kept), "\(moved.text)")
    if let reason = refusal.reason {
      expect(moved.findings.contains { $0.reason.contains(reason) }, "\(moved.findings)")
    }
  }
}
