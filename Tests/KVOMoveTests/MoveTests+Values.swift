/// Values that are read by key or from changes, and what Apple's key-value coding finds by name.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  private static func macro(_ source: String) -> MovedSource {
    move([(path: "A.swift", text: source)])[0]
  }

  private static let valueClass = """
    class A: NSObject { @objc dynamic var n = 0; @objc dynamic var d = -0.5; @objc dynamic var b = false
    @objc dynamic var f: CGFloat = 0; @objc dynamic var s = CGSize.zero; @objc dynamic var i: Int32? }

    """

  private static func observing(_ body: String) -> String {
    "class B: NSObject { override func observeValue(forKeyPath p: String?, of o: Any?, "
      + "change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?) { \(body) } }"
  }

  @Test(
    "a cast of a change's value to another kind of number is listed, with the property's type",
    arguments: [
      ("if p == \"n\" { use(change?[.newKey] as? Double) }", "n has the Int itself, no Double"),
      ("if p == #keyPath(A.n) { use(change![.oldKey] as! CGFloat) }", "n has the Int itself"),
      ("if p == \"n\" {} else if p == \"d\" { use(change?[.newKey] as? Int) }", "d has the Double"),
      ("if \"d\" == p, let x = change?[.newKey] as? Float { use(x) }", "d has the Double"),
      (
        "switch p { case \"d\": break; case \"b\", \"k\": use(change?[.newKey] as? Int)\n default: g() }",
        "b has the Bool"
      ),
      ("guard p == \"f\" else { return }; use(change?[.newKey] as? NSNumber)", "f has the CGFloat"),
      ("if p == \"s\" { if c { use(change?[.newKey] as? NSValue) } }", "s has the CGSize"),
      ("if p == \"i\" { let c = { use(change?[.newKey] as? Int) } }", "i has the Int32"),
      ("if p == \"n\" { use(change?[.newKey] as? Int, change?[.newKey] as? NSNumber) }", ""),
      ("if p == \"d\" { use(change?[.newKey] as? TimeInterval) }", ""),
      ("if p == \"n\" { return }; use(change?[.newKey] as? Double)", ""),
      ("use(\"n\"); use(change?[.newKey] as? Double)", ""),
    ])
  func casts(_ body: String, _ reason: String) {
    let found = Self.macro(Self.valueClass + Self.observing(body)).findings
    expectEqual(found.map(\.harm), reason.isEmpty ? [] : [.differs], "\(found)")
    expect(reason.isEmpty || found.first?.reason.contains(reason) == true, "\(found)")
  }

  @Test("if no key is compared, the cast must fit each of the keys that the source observes")
  func castsOfObserved() {
    let cast = Self.observing("use(change?[.newKey] as? Double)")
    func call(_ key: String) -> String {
      "\nfunc f(a: A) { a.addObserver(b, forKeyPath: \"\(key)\", options: .new, context: nil) }"
    }
    expectEqual(Self.macro(Self.valueClass + cast + call("n")).findings.count, 1)
    expectEqual(Self.macro(Self.valueClass + cast + call("n") + call("d")).findings.count, 1)
    expect(Self.macro(Self.valueClass + cast + call("d")).findings.isEmpty)
    // An unknown key is compared, so the cast may be for the one that fits.
    let unknown = Self.observing("if p == other { use(change?[.newKey] as? Double) }")
    expect(Self.macro(Self.valueClass + unknown + call("n") + call("d")).findings.isEmpty)
    expectEqual(Self.macro(Self.valueClass + unknown + call("n") + call("b")).findings.count, 1)
    for subject in ["change![.newKey]!", "new!"] {
      let pattern = Self.observing(
        "let new = change?[.newKey]\nswitch \(subject) { case let x as Double: use(x)\ndefault: g() }"
      )
      expectEqual(Self.macro(Self.valueClass + pattern + call("n")).findings.count, 1)
      expect(Self.macro(Self.valueClass + pattern + call("d")).findings.isEmpty)
    }
    let loop =
      "\nfunc f(a: A) { for k in [\"n\", #keyPath(A.d)] { a.addObserver(b, forKeyPath: k, options: .new, context: nil) } }"
    expectEqual(Self.macro(Self.valueClass + cast + loop).findings.count, 1)
    let later = Self.observing("if let v = change?[.newKey] { if let x = v as? Double { use(x) } }")
    expectEqual(Self.macro(Self.valueClass + later + call("n")).findings.count, 1)
    expect(Self.macro(Self.valueClass + later + call("d")).findings.isEmpty)
  }

  @Test(
    "the key of a change is known by constants and by the context that are compared",
    arguments: [
      ("if p == K.rate { use(change?[.newKey] as? Double) }", "n has the Int itself"),
      (
        "switch p { case K.rate?: use(change?[.newKey] as? Double)\ndefault: g() }", "n has the Int"
      ),
      ("switch p { case K.rate: use(change?[.newKey] as? Double)\ndefault: g() }", "n has the Int"),
      ("if p == K.size { use(change?[.newKey] as? Double) }", ""),
      ("guard context == &c else { return }; use(change?[.newKey] as? Double)", "n has the Int"),
      ("guard context == &e else { return }; use(change?[.newKey] as? Double)", ""),
      ("if context != &e { f(); return }; use(change?[.newKey] as? Double)", ""),
      ("if context != &c { return }; use(change?[.newKey] as? Double)", "n has the Int"),
      ("if context != &e { f() }; use(change?[.newKey] as? Double)", "n has the Int"),
      ("if p != \"d\" { return }; use(change?[.newKey] as? Double)", ""),
      ("use([\"n\": 1], change?[.newKey] as? Bool)", "d has the Double itself"),
    ])
  func namedKeys(_ body: String, _ reason: String) {
    let calls = """

      enum K { static let rate = "n"; static let size: String = #keyPath(A.d) }
      private var c = 0
      private var e = 0
      func f(a: A) {
        a.addObserver(b, forKeyPath: K.rate, options: .new, context: &c)
        a.addObserver(b, forKeyPath: "d", options: .new, context: &e)
      }
      """
    let found = Self.macro(Self.valueClass + Self.observing(body) + calls).findings
    expectEqual(found.map(\.harm), reason.isEmpty ? [] : [.differs], "\(found)")
    expect(reason.isEmpty || found.first?.reason.contains(reason) == true, "\(found)")
  }

  @Test(
    "a number of a change of an enumeration is its raw value",
    arguments: [
      (
        "change?[.newKey] as? NSNumber",
        "(change?[.newKey] as? A.E).map({ NSNumber(value: $0.rawValue) })"
      ),
      ("change![.oldKey] as! Int", "(change![.oldKey] as! A.E).rawValue"),
      ("change?[.newKey] as? Int", "(change?[.newKey] as? A.E)?.rawValue"),
      ("change![.newKey] as! NSNumber", "NSNumber(value: (change![.newKey] as! A.E).rawValue)"),
      ("change?[.newKey] as? UInt", nil), ("o.change?[.newKey] as? Int", nil),
    ])
  func enumerations(_ cast: String, _ here: String?) {
    func model(_ raw: String) -> String {
      "class A: NSObject { @objc enum E: \(raw) { case a }; @objc dynamic var e = E.a }\n"
    }
    let use = "if p == \"e\" { use(\(cast)) }"
    let moved = Self.macro(model("Int").replacing("= E.a", with: ": E") + Self.observing(use))
    expect(moved.text.contains("use(\(here ?? cast))"), moved.text)
    expectEqual(moved.findings.count, here == nil ? 1 : 0, "\(moved.findings)")
    let other = Self.macro(model("Int32").replacing("= E.a", with: ": E") + Self.observing(use))
    expect(other.text.contains("use(\(cast))") && other.findings.count == 1, other.text)
  }

  @Test("a Bool of a change that is printed is listed")
  func texts() {
    for (body, count) in [
      ("print(\"new\", change![.newKey]!)", 1),
      ("if let v = change?[.oldKey] { print(\"\\(p ?? k): \\(v)\") }", 1),
      ("var v: Any? = change?[.oldKey]; print(v!)", 1),
      ("let v: Any = change![.oldKey]!; print(v)", 1),
      ("print(change?[.newKey] ?? \"nothing\")", 1),
      ("print(change?[.newKey] as? Bool ?? false)", 0), ("use(change![.newKey]!)", 0),
      ("if p == \"n\" { print(change![.newKey]!) }", 0),
    ] {
      let call = "\nfunc f(a: A) { a.addObserver(c, forKeyPath: \"b\", options: [], context: nil) }"
      let found = Self.macro(Self.valueClass + Self.observing(body) + call).findings
      expectEqual(found.count, count, "\(found)")
    }
  }

  @Test(
    "a value that is printed behind a cast to a collection of any values, or by a variable, is listed",
    arguments: [
      ("print(a.value(forKey: \"bs\") as! [Any])", "bs is printed as true or false here"),
      ("print(a.value(forKey: \"bs\") as! NSArray)", "bs is printed as true or false here"),
      ("print(\"\\(a.value(forKey: \"bs\") as? [Any] ?? [])\")", "bs is printed as true or false"),
      ("let v = a.value(forKey: \"bs\") as! [Any]; print(v)", "bs is printed as true or false"),
      ("let v = a.value(forKey: \"b\")!; print(v)", "b is printed as true or false"),
      ("if let v = a.value(forKeyPath: \"as.b\") as? [Any] { print(v) }", "b is printed as true"),
      ("print(a.value(forKey: \"ns\") as! [Any])", nil),
      ("print(a.value(forKey: \"bs\") as! [Bool])", nil),
      ("let v = a.value(forKey: \"b\") as! Bool; print(v)", nil),
      ("let v = a.value(forKey: \"bs\") as! [Any]; print(v.count)", nil),
      ("print(a.value(forKeyPath: \"as.@avg.n\")!)", "@avg is printed as 1.0 here, and as 1 there"),
      ("print(a.value(forKeyPath: \"as.@avg.n\") as! NSNumber)", nil),
    ])
  func castTexts(_ body: String, _ reason: String?) {
    let model =
      "class A: NSObject { @objc dynamic var bs: [Bool] = []; @objc dynamic var ns: [Int] = []\n"
      + "@objc dynamic var n = 0; @objc dynamic var b = false }\n"
    let found = Self.macro(model + "func f(a: A) { \(body) }").findings.map(\.reason)
    expectEqual(found.count, reason == nil ? 0 : 1, "\(found)")
    expect(found.first?.hasPrefix(reason ?? "") ?? true, "\(found)")
    let change = body.replacing(#/a\.value\(forKey: "bs"\)/#, with: "change![.newKey]")
    guard change != body, let reason else { return }
    let observer = Self.macro(model + Self.observing("if p == \"bs\" { \(change) }")).findings
    expectEqual(observer.count, 1, change)
    expect(observer.first?.reason.hasPrefix("a change of " + reason.prefix(20)) ?? false)
  }

  @Test("a cast of an entry of dictionaryWithValues to another type of number is listed")
  func entries() {
    let values = "let values = a.dictionaryWithValues(forKeys: [\"n\", \"i\"]); use("
    for (cast, type) in [
      ("values[\"n\"] as? Double", "Int"), ("values[#keyPath(A.i)]! as! Int", "Int32"),
      ("values[\"n\"] as! Int", nil), ("values[k] as? Double", nil), ("row[\"n\"] as? Double", nil),
    ] {
      let found = Self.macro(Self.valueClass + "func f(a: A) { \(values)\(cast)) }").findings
      expectEqual(found.map(\.harm), type == nil ? [] : [.differs], "\(found)")
      expect(found.first?.reason.contains("is of \(type ?? ""), which is no") ?? true, "\(found)")
    }
  }

  @Test(
    "a cast to an ordered set of what is read through one, or of a mutable proxy, is listed",
    arguments: [
      ("use(a.value(forKeyPath: \"o.name\") as! NSOrderedSet)", "o.name is an array here"),
      ("let v = a.value(forKeyPath: \"o.name\"); use(v as? NSOrderedSet)", "o.name is an array"),
      ("use(a.value(forKey: \"o\") as! NSOrderedSet)", nil),
      ("use(a.value(forKeyPath: \"o.name\") as! [Any])", nil),
      ("use(a.value(forKeyPath: \"l.name\") as? NSOrderedSet)", nil),
      (
        "use(a.mutableOrderedSetValue(forKey: \"o\") as NSOrderedSet)",
        "mutableOrderedSetValue gives a MutableOrderedSetProxy, which is no NSOrderedSet"
      ),
      (
        "let p = a.mutableArrayValue(forKey: \"l\"); use(p as! [Int])",
        "mutableArrayValue gives a MutableArrayProxy"
      ),
      (
        "let p = a.mutableSetValue(forKey: \"l\"); use(p as? NSMutableSet)",
        "mutableSetValue gives a MutableSetProxy, which is no NSMutableSet"
      ),
      ("let p = a.mutableSetValue(forKey: \"l\"); use(p as Any)", nil),
    ])
  func orderedSets(_ body: String, _ reason: String?) {
    let model =
      "class A: NSObject { @objc dynamic var o = NSOrderedSet(); @objc dynamic var l: [A] = [] }\n"
    let found = Self.macro(model + "func f(a: A) { \(body) }").findings
    expectEqual(found.map(\.harm), reason == nil ? [] : [.differs], "\(found)")
    expect(found.first?.reason.hasPrefix(reason ?? "") ?? true, "\(found)")
  }

  @Test(
    "a key of a value that is no object here, and a generic type that does not fit a key, are listed",
    arguments: [
      ("use(a.value(forKeyPath: \"t.length\"))", "t is of String, which has no key length"),
      ("use(a.value(forKeyPath: #keyPath(A.t.count)))", "t is of String, which has no key count"),
      ("use(a.value(forKeyPath: \"ts.@count\"), a.value(forKeyPath: \"t.@max.self\"))", nil),
      ("use(a.rx.observe(Double.self, \"n\"))", "n is of Int, which is no Double"),
      (
        "use(Subject<Double>(object: a, keyPath: #keyPath(A.n)))", "n is of Int, which is no Double"
      ),
      ("use(a.rx.observe(Int.self, \"n\"), Subject<NSNumber>(a, \"n\"))", nil),
    ])
  func passedTypes(_ body: String, _ reason: String?) {
    let model =
      "class A: NSObject { @objc dynamic var t = B(); @objc dynamic var ts: [String] = []\n"
      + "@objc dynamic var n = 0; func f(a: A) { \(body) } }"
    let found = Self.macro(model.replacing("= B()", with: ": String?")).findings
    expectEqual(found.map(\.harm), reason == nil ? [] : [.differs], "\(found)")
    expect(found.first?.reason.hasPrefix(reason ?? "") ?? true, "\(found)")
  }

  @Test("an average is a Double, also of integers")
  func averages() {
    for (type, count) in [("Double", 0), ("NSNumber", 0), ("Int", 1), ("Float", 1)] {
      let use = "func f(a: A) { use(a.value(forKeyPath: \"as.@avg.n\") as! \(type)) }"
      let found = Self.macro(Self.valueClass + use).findings
      expectEqual(found.count, count, "\(found)")
      expect(found.allSatisfy { $0.reason == "an average is a Double" }, "\(found)")
    }
  }

  @Test("a cast of a key's value to another kind of number is listed")
  func castsOfKeys() {
    func use(_ call: String) -> String { "func f(a: A) { use(\(call)) }" }
    for (call, reason) in [
      ("a.value(forKey: \"b\") as? Int", "b is of Bool, which is no Int"),
      ("a.value(forKeyPath: \"x.@max.d\") as! Int", "d is of Double, which is no Int"),
      ("a.value(forKey: \"d\") as? Float", "d is of Double, which is no Float"),
    ] {
      let found = Self.macro(Self.valueClass + use(call)).findings
      expectEqual(found.map(\.reason), [reason])
    }
    for (statements, reason) in [
      ("let v = a.value(forKey: \"n\"); use(v as? Double)", "n is of Int, which is no Double"),
      ("if let v = a.value(forKey: \"b\") { use(v as! Int) }", "b is of Bool, which is no Int"),
      (
        "let v = a.value(forKeyPath: \"xs.@count\")\nuse(v as? Double)",
        "xs.@count is of Int, which is no Double"
      ),
      ("let v = a.value(forKeyPath: \"@avg.n\"); use(v as? Int)", "@avg.n is of Double"),
      ("let v = a.value(forKeyPath: \"@sum.n\"); use(v as? Double)", nil),
      ("let v = a.value(forKey: \"n\") as? Int; use(v as? Double)", nil),
      ("let v = a.value(forKey: \"n\"); let v = 1; use(v as? Double)", nil),
    ] {
      let found = Self.macro(Self.valueClass + "func f(a: A) { \(statements) }").findings
      expectEqual(found.count, reason == nil ? 0 : 1, "\(found)")
      expect(found.first?.reason.hasPrefix(reason ?? "") ?? true, "\(found)")
    }
    for call in ["a.value(forKey: \"b\") as? Bool", "map.value(forKey: \"b\") as? Int"] {
      let found = Self.macro(Self.valueClass + "let map: [String: Int]\n" + use(call)).findings
      expect(found.isEmpty, "\(found)")
    }
  }

  static let byName = [
    // A method that is read as a key.
    Case(
      "@objcMembers class A: NSObject {\n  func isLeaf() -> Bool { true }\n  func other() -> Int { 0 }\n}\n"
        + "func f(a: A) { use(a.value(forKey: \"isLeaf\")) }",
      "class A: KVOObject {\n  func isLeaf() -> Bool { true }\n  func other() -> Int { 0 }\n\n"
        + "  override class func registerKeys() {\n    declareKeys { keys in\n"
        + "      keys.accessors(\"isLeaf\", get: { $0.isLeaf() })\n    }\n  }\n}\n"
        + "func f(a: A) { use(try! a.value(forKey: \"isLeaf\")) }"),
    // Foundation's collections.
    Case(
      "let n = (songs as NSArray).value(forKeyPath: \"@sum.length\") as? Int\nlet t = (a.b as NSSet).value(forKey: k)",
      "let n = try! songs.value(forKeyPath: \"@sum.length\") as? Int\nlet t = try! a.b.value(forKey: k)"
    ),
    Case(
      "let n = (songs + more as NSArray).value(forKey: k)",
      "let n = try! (songs + more).value(forKey: k)"),
    Case(
      "class A: NSObject { @objc dynamic var x = 0\n"
        + "class func keyPathsForValuesAffectingY() -> NSSet { return NSSet(array: [k]) }\n"
        + "class func keyPathsForValuesAffectingZ() -> NSSet { NSSet(objects: \"x\", \"y\") }\n"
        + "class func keyPathsForValuesAffectingW() -> NSSet? { [\"x\"] } }",
      "@KVO class A: KVOObject { var x = 0\n"
        + "class func keyPathsForValuesAffectingY() -> Set<String> { return Set([k]) }\n"
        + "class func keyPathsForValuesAffectingZ() -> Set<String> { [\"x\", \"y\"] }\n"
        + "class func keyPathsForValuesAffectingW() -> Set<String> { [\"x\"] } }"),
    // The context has the type's name.
    Case(
      "private var KVOContext = 0\nfunc f(o: NSObject) { o.removeObserver(s, forKeyPath: k, context: &KVOContext) }",
      "private let KVOContext = KVORuntime.KVOContext()\n"
        + "func f(o: KVOObject) { try! o.removeObserver(s, forKeyPath: k, context: KVOContext) }"),
    // The object is passed on.
    Case(
      "class B: NSObject { init(o: NSObject) { o.addObserver(self, forKeyPath: k, options: [], context: nil) } }\n"
        + "extension NSObject { func b() -> B { B(o: self) } }\nextension NSObject { func c() -> C { C(o: self) } }",
      "class B: KVOObject { init(o: KVOObject) { try! o.addObserver(self, forKeyPath: k, options: [], context: nil) } }\n"
        + "extension KVOObject { func b() -> B { B(o: self) } }\nextension NSObject { func c() -> C { C(o: self) } }"
    ),
    Case(
      "import Foundation\nextension NSObjectProtocol where Self: NSObject { func f() { observe(\\Self.x) { _, _ in } } }",
      "import Foundation\nimport KVOFoundation\nimport KVORuntime\n"
        + "extension NSObjectProtocol where Self: KVOObject { func f() { observe(\\Self.x) { _, _ in } } }"
    ),
    // Whether there is a key.
    Case(
      "class A: NSObject { func f(k: String) { if self.responds(to: NSSelectorFromString(k)) { setValue(1, forKey: k) } } }",
      "class A: KVOObject { func f(k: String) { if type(of: self).keyValueProperty(forKey: k) != nil { try! setValue(1, forKey: k) } } }"
    ),
    Case(
      "class A: NSObject {}\nfunc f(a: A, k: String) { if !a.responds(to: Selector(k)) { return }; a.setValue(1, forKey: k) }",
      "class A: KVOObject {}\nfunc f(a: A, k: String) { if !(type(of: a).keyValueProperty(forKey: k) != nil) { return }; try! a.setValue(1, forKey: k) }"
    ),
    // The indexes of a change.
    Case(
      "let i = change?[.indexesKey] as? IndexSet, j = change![NSKeyValueChangeKey.indexesKey] as! IndexSet",
      "let i = change?.indexSet, j = change!.indexSet!"),
  ]

  @Test("what is found by name there is found here, without a finding", arguments: byName)
  func byName(_ edit: Case) {
    let moved = Self.macro(edit.there)
    let text = moved.text.split(separator: "\n", omittingEmptySubsequences: false)
    let own = text.drop { $0.hasPrefix("import KVO") && !edit.here.hasPrefix("import") }
    expectEqual(own.joined(separator: "\n"), edit.here)
    expect(moved.findings.isEmpty, "\(moved.findings)")
    expect(Self.macro(moved.text).edits.isEmpty)
  }

  @Test(
    "a property that is not observable, and that a subclass overrides, is declared if it is set by key"
  )
  func overridden() {
    func declares(_ words: String, _ override: String) -> Bool {
      let source =
        "class A: NSObject { @objc dynamic var x = 0; \(words) var m = 0 }\n"
        + "class B: A { \(override) }\nfunc f(b: B) { b.setValue(1, forKey: \"m\") }"
      return Self.macro(source).text.contains("keys.stored(\"m\", \\.m)")
    }
    expect(declares("@objc", "override var m: Int { didSet { f() } }"))
    expect(declares("@objc", "override var m: Int { get { 1 } set { f() } }"))
    expect(!declares("@objc", "var y = 1") && !declares("", "override var m: Int { didSet {} }"))
  }

  static let unfound: [(String, String)] = [
    (
      "let k = keyPath._kvcKeyPathString\nfunc f() { willChangeValue(forKey: k) }",
      "nil without Objective-C"
    ),
    (
      "class A: NSObject { @objc enum K: Int { case a }\n@objc var k = K.a }\nfunc f(a: A) { use(a.value(forKey: \"k\") as! Int) }",
      "k is a K, no Int"
    ),
    (
      "class A: NSObject { @objc dynamic var xs = [1]\n"
        + "@objc func removeObjectFromXsAtIndex(_ i: Int) { n = 1; xs.remove(at: i) } }",
      "removeObjectFromXsAtIndex is found by its name there"
    ),
    (
      "class A: NSObject { @objc func f(k: String) { if responds(to: NSSelectorFromString(\"go:\")) { setValue(1, forKey: k) } } }",
      "1 selector"
    ),
  ]

  @Test("what is found by name there, and not here, is listed", arguments: unfound)
  func unfound(_ source: String, _ reason: String) {
    let found = Self.macro(source).findings
    expect(found.contains { $0.reason.contains(reason) }, "\(found)")
  }
}
