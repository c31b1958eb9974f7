/// Values that are cast to NSObject, and types of objects that are named in another place than the class.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  private static func macro(_ source: String) -> MovedSource {
    move([(path: "A.swift", text: source)])[0]
  }

  private static func observing(_ body: String) -> String {
    "class B: NSObject { override func observeValue(forKeyPath p: String?, of o: Any?, "
      + "change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?) { \(body) } }"
  }

  static let comparisons: [Case] = [
    Case(
      "let old = change?[.oldKey] as? NSObject, new = change?[.newKey] as? NSObject; if old != new { g() }",
      "let old = change?[.oldKey] as? AnyHashable, new = change?[.newKey] as? AnyHashable; if old != new { g() }"
    ),
    Case(
      "let old: NSObject? = change?[.oldKey] as? NSObject; use(old)",
      "let old: AnyHashable? = change?[.oldKey] as? AnyHashable; use(old)"),
    Case("use(change![.oldKey] as! NSObject)", "use(change![.oldKey] as! AnyHashable)"),
    Case(
      "let new = change?[.newKey]; if new is NSObject { g() }",
      "let new = change?[.newKey]; if new is AnyHashable { g() }"),
    Case(
      "guard let new = change?[.newKey], let n = new else { return }; use(n as? NSObject)",
      "guard let new = change?[.newKey], let n = new else { return }; use(n as? AnyHashable)"),
    Case(
      "switch change?[.newKey] { case let x as NSObject: use(x)\ndefault: g() }",
      "switch change?[.newKey] { case let x as AnyHashable: use(x)\ndefault: g() }"),
    Case(
      "if let a = change?[.oldKey] as? NSObject, let b = change?[.newKey] as? NSObject, a.isEqual(b) { return }",
      "if let a = change?[.oldKey] as? AnyHashable, let b = change?[.newKey] as? AnyHashable, a == b { return }"
    ),
    Case(
      "let a = change![.oldKey] as! NSObject, b = change![.newKey] as! NSObject; if c && !a.isEqual(b) { g() }",
      "let a = change![.oldKey] as! AnyHashable, b = change![.newKey] as! AnyHashable; if c && a != b { g() }"
    ),
    // The observed object is a KVOObject.
    Case("guard o as? NSObject == a else { return }", "guard o as? KVOObject == a else { return }"),
    Case("let view = sender as? NSObject; use(view)", "let view = sender as? NSObject; use(view)"),
  ]

  @Test(
    "a change's value that is cast to NSObject is compared as an AnyHashable",
    arguments: comparisons)
  func comparisons(_ edit: Case) {
    let moved = Self.macro(Self.observing(edit.there))
    expect(moved.text.contains("{ \(edit.here) }"), "\(moved.text)")
    expect(moved.findings.isEmpty, "\(moved.findings)")
    expect(Self.macro(moved.text).edits.isEmpty)
  }

  @Test(
    "a value by key that is cast to NSObject becomes an AnyHashable, or a KVOObject for a call by key"
  )
  func valuesAsObjects() {
    let head = "class A: NSObject { @objc dynamic var a: A? }\n"
    let cases = [
      ("use(a.value(forKey: \"a\") as? NSObject)", "as? AnyHashable)"),
      ("let v = a.value(forKey: \"a\")\nuse(v as? NSObject)", "use(v as? AnyHashable)"),
      (
        "(a.value(forKey: \"a\") as? NSObject)?.setValue(nil, forKey: \"a\")", "as? KVOObject)?.set"
      ),
      ("watch(a.value(forKey: \"a\") as! NSObject)", "as! KVOObject)"),
    ]
    let taker = "\nfunc watch(_ o: NSObject) { o.setValue(1, forKey: k) }"
    for (body, here) in cases {
      let moved = Self.macro(head + "func f(a: A) {\n\(body)\n}" + taker)
      expect(moved.text.contains(here), "\(moved.text)")
    }
  }

  @Test("isEqual of a value that is cast to NSObject is listed where it is no plain comparison")
  func listedEquality() {
    let head = "let a = change?[.oldKey] as? NSObject, b = change?[.newKey] as? NSObject; "
    for body in [
      "if a!.isEqual(b) { g() }", "if a?.isEqual(b) ?? false { g() }", "use(a!.isEqual(1))",
      "use((change?[.oldKey] as! NSObject).isEqual(b))",
    ] {
      let found = Self.macro(Self.observing(head + body)).findings
      expectEqual(found.map(\.harm), [.refused], "\(body): \(found)")
      expect(found.first?.reason.contains("no isEqual") == true, "\(found)")
    }
  }

  @Test("the type of a variable changes with that of the objects that are put into it")
  func containers() {
    let cases = [
      (
        "var all: [(NSObject, String)] = []", "all.append((o, \"k\"))",
        "var all: [(KVOObject, String)]"
      ),
      (
        "var all = [(String, NSObject)]()", "self.all.append((\"k\", o))", "[(String, KVOObject)]()"
      ),
      ("var all: [String: NSObject] = [:]", "all[\"k\"] = o", "var all: [String: KVOObject]"),
      ("var all: [NSObject: [String]] = [:]", "all[o] = [\"k\"]", "var all: [KVOObject: [String]]"),
      ("var all: Set<NSObject> = []", "all.insert(o)", "var all: Set<KVOObject>"),
      ("weak var last: NSObject?", "last = o", "weak var last: KVOObject?"),
      ("var all: [(NSObject, String)] = []", "all.append((other, \"k\"))", "[(NSObject, String)]"),
    ]
    for (variable, statement, here) in cases {
      let moved = Self.macro(
        "class A { \(variable)\nfunc f(_ o: NSObject) {\n"
          + "o.addObserver(self, forKeyPath: k, options: [], context: nil)\n\(statement)\n} }")
      expect(moved.text.contains(here), "\(moved.text)")
      expect(moved.text.contains("_ o: KVOObject"), "\(moved.text)")
    }
  }

  @Test("NSObject changes in the alias of a type whose values are used by key")
  func aliases() {
    let use = "\nfunc f(rows: [Row]) { for row in rows { row.setValue(1, forKey: k) } }"
    for (there, here) in [
      ("typealias Row = NSObject & Titled", "typealias Row = KVOObject & Titled"),
      ("typealias Row = Titled & NSObject", "typealias Row = Titled & KVOObject"),
      ("typealias Row = NSObject", "typealias Row = KVOObject"),
      ("typealias Other = NSObject & Titled", "typealias Other = NSObject & Titled"),
    ] {
      expect(Self.macro(there + use).text.contains(here), "\(there)")
    }
    let direct = "protocol Titled {}\nfunc f(row: Titled & NSObject) { row.setValue(1, forKey: k) }"
    expect(Self.macro(direct).text.contains("row: Titled & KVOObject"))
  }

  @Test(
    "KVOObject gets an empty conformance of NSObject to an own protocol; one with members is listed"
  )
  func conformances() {
    let head = "protocol P {}\nclass A: NSObject { @objc dynamic var x = 0 }\n"
    let moved = Self.macro(head + "public extension NSObject: P {}\nlet a = 1")
    expect(
      moved.text.contains(
        "public extension NSObject: P {}\npublic extension KVOObject: P {}\nlet a = 1"),
      "\(moved.text)")
    expect(moved.findings.isEmpty, "\(moved.findings)")
    expect(Self.macro(moved.text).edits.isEmpty)
    let listed = Self.macro(head + "extension NSObject: P { var p: Int { 1 } }").findings
    expectEqual(listed.map(\.harm), [.refused])
    expect(listed.first?.reason.contains("conformance of NSObject to P") == true, "\(listed)")
    expect(!Self.macro(head + "extension NSObject: Other {}").text.contains("extension KVOObject"))
  }

  @Test(
    "an NSArray or NSSet in a variable is cast for a call by key; a call of a dictionary is listed")
  func foundationCollections() {
    let head = "class A: NSObject { @objc var x = 0 }\n"
    for (there, here) in [
      (
        "let all = people as NSArray\nuse(all.value(forKeyPath: \"@avg.x\"))",
        "use(try! (all as! [Any]).value(forKeyPath: \"@avg.x\"))"
      ),
      ("let s: NSSet = g()\ns.setValue(1, forKey: k)", "try! (s as! Set<AnyHashable>).setValue(1,"),
      (
        "let v = NSArray(array: people).value(forKey: \"x\")",
        "let v = try! (NSArray(array: people) as! [Any]).value(forKey: \"x\")"
      ),
    ] {
      let moved = Self.macro(head + "func f() {\n\(there)\n}")
      expect(moved.text.contains(here), "\(moved.text)")
      expect(Self.macro(moved.text).edits.isEmpty)
    }
    for there in ["(d as NSDictionary)", "d"] {
      let found = Self.macro(
        head + "func f(d: NSDictionary, a: A) { a.setValue(1, forKey: \"x\"); "
          + "use(\(there).value(forKeyPath: \"a.b\")) }"
      ).findings.filter { $0.reason.contains("dictionary") }
      expectEqual(found.map(\.harm), [.refused])
    }
    let moved = Self.macro(head + "func f(l: NSArray) { use(l.value(forKey: \"x\")) }")
    expect(moved.text.contains("class A: KVOObject"), "\(moved.text)")
  }

  @Test("a member of a change's value as an AnyObject is listed")
  func membersOfAnyObject() {
    let head =
      "class A: NSObject { @objc enum K: Int { case a }\n@objc dynamic var k = K.a\n"
      + "@objc dynamic var n = 0 }\n"
    for (body, advice) in [
      ("if p == \"k\", let new = change?[.newKey] { use((new as AnyObject).intValue) }", "A.K"),
      ("if p == \"n\" { use((change![.newKey] as AnyObject).doubleValue!) }", "the type that"),
      ("use((value(forKey: k) as AnyObject).isEqual(1))", "the type that"),
      ("use((sender as AnyObject).intValue)", nil),
      ("let new = change?[.newKey]; if (new as AnyObject) === a { g() }", nil),
    ] {
      let found = Self.macro(head + Self.observing(body)).findings
      expectEqual(found.map(\.harm), advice == nil ? [] : [.refused], "\(body): \(found)")
      expect(advice.map { found.first?.advice.contains($0) == true } ?? true, "\(found)")
    }
  }

  @Test(
    "the indexes of a typed change become Foundation's, also where the source does not name their type"
  )
  func indexesOfTypedChange() {
    let call =
      "let t = a.observe(\\A.list) { [weak self] a, c in use(c.INDEXES.map { Array($0) }) }"
    let head = "class A: NSObject { @objc dynamic var list = [1] }\n"
    func source(_ imports: String, _ name: String) -> String {
      imports + head + call.replacing("INDEXES", with: name)
    }
    let moved = Self.macro(source("import Foundation\n", "indexes"))
    expect(moved.text.contains("c.indexSet.map"), "\(moved.text)")
    expectEqual(moved.modules, ["KVOFoundation", "KVORuntime"])
    expect(Self.macro(source("", "indexes")).text.contains("c.indexes.map"))
    let runtime = "import Foundation\nimport KVORuntime\n"
    expect(Self.macro(source(runtime, "indexes")).text.contains("c.indexes.map"))
    let other = Self.macro("import Foundation\n" + head + "let t = a.f { a, c in use(c.indexes) }")
    expect(other.text.contains("c.indexes)"))
  }
}
