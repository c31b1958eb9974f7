/// Small inputs that testers have reported. Each represents a class of bugs.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  /// Moves one source on its own.
  private static func macro(_ source: String) -> MovedSource {
    move([(path: "A.swift", text: source)])[0]
  }

  static let reported = [
    // A private variable with a locking setter.
    Case(
      "class A: NSObject { private var raw = 0; @objc dynamic var x: Int { get { q.sync { raw } } "
        + "set { q.sync(flags: .barrier) { raw = newValue } } } }",
      "@KVO class A: KVOObject { @KVOIgnored private var raw = 0; var x: Int { get { q.sync { raw } } "
        + "set { withAutomaticChange(of: \\.x) { q.sync(flags: .barrier) { raw = newValue } } } } }"
    ),
    Case(
      "class A: NSObject { var r = 0; @objc dynamic var x: Int { get { r } set { store(newValue) } }; "
        + "func store(_ v: Int) { r = v } }",
      "@KVO class A: KVOObject { @KVOIgnored var r = 0; var x: Int { get { r } "
        + "set { withAutomaticChange(of: \\.x) { store(newValue) } } }; func store(_ v: Int) { r = v } }"
    ),
    // The setter sets a property that is observable already.
    Case(
      "class A: NSObject { @objc dynamic var r = 0; @objc dynamic var x: Int { get { r } "
        + "set { store(newValue) } }; func store(_ v: Int) { r = v } }",
      "@KVO class A: KVOObject { var r = 0; var x: Int { get { r } "
        + "set { withAutomaticChange(of: \\.x) { store(newValue) } } }; func store(_ v: Int) { r = v } }"
    ),
    // An overriding setter, with and without `super`, and one that does nothing.
    Case(
      "class A: NSObject { @objc dynamic var x = 0, y = 0 }; class B: A { var n = 0\n"
        + "override var x: Int { get { super.x } set { super.x = newValue; n += 1 } } }",
      "@KVO class A: KVOObject { var x = 0\nvar y = 0 }; class B: A { var n = 0\n"
        + "override var x: Int { get { super.x } set { withAutomaticChange(of: \\.x) { super.x = newValue; n += 1 } } } }"
    ),
    Case(
      "class A: NSObject { @objc dynamic var x = 0 }; class B: A { override var x: Int { get { 1 } set(v) {} } }",
      "@KVO class A: KVOObject { var x = 0 }; class B: A { override var x: Int { get { 1 } "
        + "set(v) { withAutomaticChange(of: \\.x) {} } } }"),
    // A setter that also sets an observable property, which its getter does not read, by itself or by a method.
    Case(
      "class A: NSObject { @objc dynamic var d = 0; let m = M(); @objc dynamic var x: Int { get { m.i } "
        + "set { m.i = newValue; d = 1 } } }",
      "@KVO class A: KVOObject { var d = 0; let m = M(); var x: Int { get { m.i } "
        + "set { withAutomaticChange(of: \\.x) { m.i = newValue; d = 1 } } } }"),
    // A property that was not observable, and whose setter sets nothing that its getter reads.
    Case(
      "class A: NSObject { @objc dynamic var d = 0; let m = M(); var x: Int { get { m.d } set { m.d = newValue; d = 1 } } }",
      "@KVO class A: KVOObject { var d = 0; let m = M(); @KVOIgnored var x: Int { get { m.d } set { m.d = newValue; d = 1 } } }"
    ),
    // Property observers that announce.
    Case(
      "class A: NSObject { @objc dynamic var x = 0\n"
        + "var f = 0 { willSet { willChangeValue(forKey: \"f\") } didSet { didChangeValue(forKey: \"f\") } } }",
      "@KVO class A: KVOObject { var x = 0\n"
        + "@KVOIgnored var f = 0 { willSet { willChangeValue(forKey: \"f\") } didSet { didChangeValue(forKey: \"f\") } } }"
    ),
    // NSObject as any object, as a token, and as an object used by key.
    Case("let j = d as? [String: NSObject]\nlet t: NSObject = NSObject()", nil),
    Case(
      "func f(o: NSObject, p: NSObject) { o.setValue(1, forKey: k) }",
      "func f(o: KVOObject, p: NSObject) { try! o.setValue(1, forKey: k) }"),
    Case(
      "func f(x: Any) { (x as? NSObject)?.setValue(1, forKey: k); let y = x as? NSObject }",
      "func f(x: Any) { try! (x as? KVOObject)?.setValue(1, forKey: k); let y = x as? NSObject }"),
    Case(
      "func f<T: NSObject>(o: T) { o.observe(\\T.hash) { _, _ in } }\nfunc g<T: NSObject>(o: T) {}",
      "func f<T: KVOObject>(o: T) { o.observe(\\T.hash) { _, _ in } }\nfunc g<T: NSObject>(o: T) {}"
    ),
    Case(
      "extension NSObject { func f() { setValue(1, forKey: k) } }\nextension NSObject { func g() {} }",
      "extension KVOObject { func f() { try! setValue(1, forKey: k) } }\nextension NSObject { func g() {} }"
    ),
    Case(
      "class W { let o: NSObject; init(p: NSObject) { o = p }; func f() { o.setValue(1, forKey: k) } }",
      "class W { let o: KVOObject; init(p: KVOObject) { o = p }; func f() { try! o.setValue(1, forKey: k) } }"
    ),
    // An override in an extension.
    Case(
      "class A: NSObject { @objc dynamic var t = 1 }\nextension A { override var description: String { \"\\(t)\" } }",
      "@KVO class A: KVOObject { var t = 1 }\nextension A: CustomStringConvertible { var description: String { \"\\(t)\" } }"
    ),
    // A property that is not observable may be read before super.init().
    Case(
      "class A: NSObject { @objc dynamic var n: Int; private var d = [1]; override init() { n = d[0]; super.init() } }",
      "@KVO class A: KVOObject { var n: Int; @KVOIgnored private var d = [1]; override init() { n = d[0]; super.init() } }"
    ),
    // A source that only observes.
    Case(
      "import Foundation\nclass S { var t: Any?; func f(_ j: Job) { t = j.observe(\\.state) { _, _ in } } }",
      "import Foundation\nimport KVORuntime\nclass S { var t: Any?; func f(_ j: Job) { t = j.observe(\\.state) { _, _ in } } }"
    ),
    // The project's own class with the name of one of Foundation's.
    Case(
      "class Operation: Foundation.Operation { func f() { willChangeValue(forKey: k) } }\nclass D: Operation {}",
      "class Operation: KVOOperation, @unchecked Sendable { func f() { willChangeValue(forKey: k) } }\n"
        + "class D: Operation, @unchecked Sendable {}"),
    // An Objective-C name.
    Case(
      "class A: NSObject { @objc dynamic var xs = [1]; "
        + "@objc(insertObject:inXsAtIndex:) func add(_ x: Int, at i: Int) { xs.insert(x, at: i) } }",
      "@KVO class A: KVOObject { var xs = [1]; "
        + "func add(_ x: Int, at i: Int) { mutableArray(\\.xs).insert(x, at: i) } }"),
    Case(
      "class A: NSObject {\n  @objc(shown) dynamic var isShown = false\n}\nlet k = #keyPath(A.isShown)",
      "@KVO class A: KVOObject {\n  var isShown = false\n\n  override class func registerKeys() {\n"
        + "    declareKeys { keys in\n      keys.computed(\"shown\", \\.isShown, affectedBy: [\"isShown\"])\n    }\n  }\n}\nlet k = \"shown\""
    ),
    // A context per object, and with any literal.
    Case(
      "class A: NSObject { private var c = 1; func f() { addObserver(self, forKeyPath: k, options: [], context: &c) } }",
      "class A: KVOObject { private let c = KVOContext(); "
        + "func f() { try! addObserver(self, forKeyPath: k, options: [], context: c) } }"),
    Case(
      "private var c = UInt8(3)\nfunc f(o: NSObject) { o.removeObserver(s, forKeyPath: k, context: &c) }",
      "private let c = KVOContext()\nfunc f(o: KVOObject) { try! o.removeObserver(s, forKeyPath: k, context: c) }"
    ),
    // Access.
    Case(
      "final class A: NSObject { @objc open dynamic var x = 0 }",
      "@KVO final class A: KVOObject { public var x = 0 }"),
    Case(
      "public class A: NSObject {\n  @objc class func keyPathsForValuesAffectingX() -> Set<String> { [] }\n}",
      "public class A: KVOObject {\n  class func keyPathsForValuesAffectingX() -> Set<String> { [] }\n\n"
        + "  public override class func registerKeys() {\n    declareKeys { keys in\n"
        + "      keys.dependency(\"x\", on: self.keyPathsForValuesAffectingX())\n    }\n  }\n}"),
    // A moved class nested in one that is not moved.
    Case(
      "class S: Thread { @objc class E: NSObject { @objc dynamic var x = 0 } }",
      "class S: Thread { @KVO class E: KVOObject { var x = 0 } }"),
    // Methods of other types.
    Case(
      "func f(t: [String: Int], u: UserDefaults) { t.setValue(value: 1, forKeyPath: k); _ = t.value(forKey: k); "
        + "u.setValue(1, forKey: k); _ = u.value(forKey: k) }\(evidence)",
      "func f(t: [String: Int], u: UserDefaults) { t.setValue(value: 1, forKeyPath: k); _ = t.value(forKey: k); "
        + "u.set(1, forKey: k); _ = u.object(forKey: k) }\(evidence)"),
    // Dictionaries.
    Case(
      "class A: NSObject { @objc dynamic var x = 0; func f() { print(dictionaryWithValues(forKeys: [k])) } }",
      "@KVO class A: KVOObject { var x = 0; func f() { print(try! dictionaryWithFoundationValues(forKeys: [k])) } }"
    ),
    // A convention method without `@objc` is found as well.
    Case(
      "class A: NSObject { @objc dynamic var x = 0; class func keyPathsForValuesAffectingX() -> Set<String> { [] } }",
      "@KVO class A: KVOObject { var x = 0; class func keyPathsForValuesAffectingX() -> Set<String> { [] } }"
    ),
  ]

  @Test("an input that testers have reported is moved without a finding", arguments: reported)
  func reported(_ edit: Case) {
    let moved = Self.macro(edit.there)
    expectEqual(moved.text, edit.here)
    expect(moved.findings.isEmpty, "\(moved.findings)")
    expect(Self.macro(edit.here).edits.isEmpty)
  }

  static let reportedFindings: [(String, Int, Harm, String)] = [
    (
      "@objc enum P: Int { case a }; class A: NSObject { @objc dynamic var phase = P.a }\n"
        + "let n = change?[.newKey] as? Int", 3, .differs,
      "a change of phase has the P itself, no Int"
    ),
    (
      "@objc enum P: Int { case a }; class A: NSObject { @objc dynamic var phase: P = .a }\n"
        + "func f(a: A) { _ = a.value(forKey: \"phase\") as! NSNumber }", 3, .differs,
      "phase is a P, no NSNumber"
    ),
    (
      "class A: NSObject { @objc dynamic var x = 0 }\n"
        + "extension A { override func value(forKey k: String) -> Any? { nil } }", 3, .refused,
      "value is overridden in an extension"
    ),
    (
      "class A: NSObject { @objc dynamic var a: Int\n@objc dynamic var b = 0\n"
        + "init(c: Int) { a = c; b = a; super.init() } }", 4, .refused,
      "a is read or changed in place before super.init()"
    ),
    (
      "class A: NSObject { @objc dynamic var xs = [1]\n"
        + "@objc(removeObjectFromXsAtIndex:) func take(at i: Int) { n = 1; xs.remove(at: i) } }", 3,
      .differs,
      "take is found by its name there"
    ),
    (
      "class A: NSObject { @objc dynamic var x = 0; @objc dynamic var y: Int { x } }\n"
        + "func f(a: A) { t = a.observe(\\.y) { _, _ in } }", 2, .differs,
      "no method names what affects y"
    ),
    (
      "class A: NSObject { @objc dynamic var xs = [1]\n"
        + "@objc func insertObject(_ x: Int, inXsAtIndex i: Int) { n = 1; xs.insert(x, at: i) } }",
      3, .differs,
      "here proxies change xs itself, because it is observed"
    ),
    (
      "class V: NSView { func f() {\nbind(NSBindingName(\"needle\"), to: m, withKeyPath: \"x\") } }",
      3, .missing,
      "bindings of AppKit are not there"
    ),
    // The macro sees no extensions.
    (
      "@objcMembers class A: NSObject { dynamic var xs: [Int] { [] } }\n"
        + "extension A { func insertObject(_ x: Int, inXsAtIndex i: Int) {} }", 3, .differs,
      "insertObject is found by its name there"
    ),
    (
      "class A: NSObject { @objc dynamic var x = 0\n"
        + "@objc func validateY(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {} }", 3,
      .differs, "validateY is found by its name there"
    ),
    (
      "class B: NSObject { func f(o: AnyObject) { o.setValue(1, forKey: k) }\nfunc g(o: B) {} }", 2,
      .refused,
      "an AnyObject has no keys here"
    ),
    (
      "class A: NSObject { @objc let p = Progress() }\nfunc f(a: A) { t = a.observe(\\.p.fractionCompleted) { _, _ in } }",
      3, .missing, "p holds a Progress of Foundation"
    ),
    (
      "class A { let q = OperationQueue(); func f() { t = q.observe(\\.x) { _, _ in } } }", 2,
      .missing, "OperationQueue"
    ),
    (
      "class A { let q = OperationQueue(); func f() { t = q.observe(\\.operationCount) { _, _ in } } }",
      2, .missing, "OperationQueue"
    ),
    (
      "class A: Operation { @objc dynamic var x = 0 }\nfunc f(a: A) { t = a.observe(\\.x) { _, _ in }\n"
        + "let b = BlockOperation {}; a.addDependency(b) }", 4, .refused,
      "a KVOOperation can't wait for a BlockOperation"
    ),
    (
      "func f(q: OperationQueue) { t = q.observe(\\.progress.fractionCompleted) { _, _ in } }", 2,
      .missing,
      "OperationQueue of Foundation"
    ),
    (
      "#if canImport(ObjectiveC)\nclass A: NSObject { @objc dynamic var x = 0 }\n#endif", 2,
      .missing, "#if canImport(ObjectiveC) is not"
    ),
    (
      "#if !os(Linux)\nlet t: NSKeyValueObservation\n#endif", 2, .missing,
      "code under #if !os(Linux)"
    ),
    ("#if os(Linux) || DEBUG\n#else\ndynamic var x = 0\n#endif", 3, .missing, "code under #else"),
    (
      "#if DEBUG\n#elseif os(iOS) && DEBUG\ndynamic var x = 0\n#endif", 3, .missing,
      "code under #elseif os(iOS) && DEBUG"
    ),
    (
      "override func observeValueForKeyPath(keyPath: String?) { willChangeValue(forKey: k) }", 2,
      .missing,
      "this is Swift 2 (observeValueForKeyPath)"
    ),
    (
      "o.addObserver(self, forKeyPath: \"x\", options: .New, context: nil)", 2, .missing,
      "this is Swift 2 (New)"
    ),
    (
      "o.addObserver(self, forKeyPath: \"x\", options: [.New, .Old], context: nil)", 2, .missing,
      "this is Swift 2 (New)"
    ),
    (
      "class V: UIView { @IBOutlet var a: B!; @IBOutlet var b: B!; @objc func f() {} }\n"
        + "let s = #selector(V.f)\nlet k = #keyPath(A.x)", 2, .refused,
      "1 @objc attribute, 2 outlets, 1 selector: "
    ),
  ]

  @Test(
    "a construct that can't be moved is reported at its line, once", arguments: reportedFindings)
  func reportedFinding(_ source: String, _ line: Int, _ harm: Harm, _ reason: String) {
    let moved = Self.macro("\n" + source)
    let found = moved.findings.filter { $0.reason.contains(reason) }
    expectEqual(found.map(\.harm), [harm], "\(moved.findings)")
    expectEqual(found.map(\.line), [line])
  }

  @Test(
    "a validator is declared, also of an inherited key, and if its class or extension exposes it",
    arguments: [
      ("class B: A {\n  @objc func validateX(\(pointer)) throws {}\n}", "@objc dynamic"),
      ("extension A { func validateX(\(pointer)) throws {} }", "dynamic"),
      ("@objc extension A { func validateX(\(pointer)) throws {} }", "@objc dynamic"),
    ])
  func validators(_ part: String, _ words: String) {
    let head = words == "dynamic" ? "@objcMembers class" : "class"
    let moved = Self.macro("\(head) A: NSObject {\n  \(words) var x = 0\n}\n\(part)")
    let entry = #"keys.validator("x") { object, value in try object.validateX(&value) }"#
    expect(moved.text.contains(entry), moved.text)
    expect(moved.findings.isEmpty, "\(moved.findings)")
  }

  private static let pointer = "_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>"

  @Test(
    "a value that is printed otherwise there is listed",
    arguments: [
      ("Bool", "true or false here, and as 1 or 0 there"), ("TimeInterval", "1.0 here, and as 1"),
      ("CGFloat", "1.0 here, and as 1 there"), ("P", "the name of its case here, and as a number"),
      ("[String]", "[1, 2] here, and as several lines"), ("String", nil), ("Int", nil),
    ])
  func printed(_ type: String, _ texts: String?) {
    let model = "@objc enum P: Int { case a }; class A: NSObject { @objc dynamic var x: \(type) }\n"
    for value in [
      "print(a.value(forKey: \"x\")!)", "s = \"\\(a.value(forKeyPath: \"b.x\")!)\"",
      "print(k, a.value(forKeyPath: \"as.@sum.x\") ?? \"nil\")",
    ] {
      let moved = Self.macro(model + "func f(a: A) { \(value) }")
      expectEqual(
        moved.findings.map(\.reason).filter { $0.contains("printed") },
        texts == nil ? [] : moved.findings.map(\.reason))
      expectEqual(
        moved.findings.first?.reason.contains("x is printed as \(texts ?? "")"),
        texts.map { _ in true })
    }
    let sum = Self.macro(model + "func f(a: A) { print(a.value(forKeyPath: \"x.@count\")!) }")
    expect(sum.findings.isEmpty)
  }

  @Test("code that conditions exclude from Linux, and Swift 2, is unchanged byte for byte")
  func excluded() {
    let there = "class A: NSObject { @objc dynamic var x = 0 }"
    let here = "@KVO class A: KVOObject { var x = 0 }"
    func both(_ a: String, _ b: String) -> String { "#if os(macOS)\n\(a)\n#else\n\(b)\n#endif" }
    expectEqual(Self.macro(both(there, there)).text, both(there, here))
    let condition = "#if canImport(Glibc)\n\(there)\n#else\n\(there)\n#endif"
    expectEqual(
      Self.macro(condition).text, "#if canImport(Glibc)\n\(here)\n#else\n\(there)\n#endif")
    expectEqual(Self.macro("#if DEBUG\n\(there)\n#endif").text, "#if DEBUG\n\(here)\n#endif")
    let older = "\(there)\nfunc f() { willChangeValueForKey(k) }"
    expectEqual(Self.macro(older).text, older)
  }

  @Test("a class without key-value observing is unchanged, except for sources that mention it")
  func bystanders() {
    let files = [
      "class A: NSObject { @objc func f() {}; override var description: String { \"\" } }\nlet m = Mirror(reflecting: a)",
      "class B: C { override var hash: Int { 1 } }",
      "class C: NSObject { @objc var x = 0; @IBOutlet var v: V! }",
      "class V: UIView { func f() { layer.setValue(1, forKey: k) } }",
      "class F { let f = CIFilter(name: n); func g() { f.setValue(1, forKey: kCIInputImageKey) } }",
      "class G { func f(i: UIImageView) { (i as? UIView)?.setValue(i, forKeyPath: k) } }",
    ]
    for (index, moved) in move(files.enumerated().map { ("\($0).swift", $1) }).enumerated() {
      expectEqual(moved.text, files[index])
      expect(moved.findings.isEmpty, "\(moved.findings)")
    }
  }

  @Test("a class takes part if another source uses it, with its superclasses and subclasses")
  func participants() {
    let classes = [
      "class A: NSObject { var x = 0 }", "class B: A { @objc func f() {} }", "class C: B {}",
    ]
    let uses = [
      "func f(c: C) { c.setValue(1, forKey: k) }", "let k = #keyPath(B.x)",
      "func f(bs: [B]) { for b in bs { b.observe(keyPath: k) {} } }",
      "let t = C().observe(\\.x) { _, _ in }", "func f() { let c = C(); use(c.value(forKey: k)) }",
      "func f() { t = keep(\\B.x); o.observe(\\B.x) { _, _ in } }",
    ]
    for use in uses {
      let sources = (classes + [use]).enumerated().map { ("\($0).swift", $1) }
      expectEqual(
        move(sources).dropLast().map(\.text),
        ["class A: KVOObject { var x = 0 }", "class B: A { func f() {} }", "class C: B {}"], use)
    }
  }

  @Test("findings are ordered by severity") func order() {
    let moved = Self.macro(
      "let s = #selector(f)\nlet p = NSPredicate(format: f)\nlet k = change[.kindKey]")
    expectEqual(moved.findings.map(\.harm), [.differs, .missing, .refused])
  }

  @Test("a setter that is a method is declared beside its getter, and is an automatic change")
  func setterMethod() {
    let source = """
      class A: NSObject { private var v = 1
        @objc dynamic func volume() -> Int { v }
        @objc dynamic func setVolume(_ n: Int) { v = n }
      }
      func f(a: A) { a.setValue(2, forKey: "volume") }
      """
    let moved = Self.macro(source).text
    expect(
      moved.contains(
        "func setVolume(_ n: Int) { withAutomaticChange(forKey: \"volume\") { v = n } }"))
    expect(
      moved.contains("keys.accessors(\"volume\", get: { $0.volume() }, set: { $0.setVolume($1) })"))
    let plain = Self.macro(source.replacing("dynamic func set", with: "func set")).text
    expect(plain.contains("{ v = n }\n") && plain.contains("set: { $0.setVolume($1) }"))
    let unnamed = Self.macro(source.replacing("\"volume\"", with: "\"other\"")).text
    expect(!unnamed.contains("withAutomaticChange"))
  }

  @Test(
    "a getter is listed unless something names what affects its key",
    arguments: [
      ("", "a", true), ("", "read()", true), ("", "\"\\(a)\".count", true),
      ("@objc class func keyPathsForValuesAffectingX() -> Set<String> { [] }", "a", false),
      ("@objc class var keyPathsForValuesAffectingX: Set<String> { [] }", "a", false),
      ("@objc static let keyPathsForValuesAffectingX: Set<String> = []", "a", false),
      (
        "override class func keyPathsForValuesAffectingValue(forKey k: String) -> Set<String> "
          + "{ k == \"x\" ? [] : [] }", "a", false
      ),
      (
        "override class func keyPathsForValuesAffectingValue(forKey k: String) -> Set<String> "
          + "{ k == \"y\" ? [] : [] }", "a", true
      ),
      (
        "override class func keyPathsForValuesAffectingValue(forKey k: String) -> Set<String> "
          + "{ table[k] }", "a", false
      ),
    ])
  func affecting(_ member: String, _ getter: String, _ isListed: Bool) {
    for property in [
      "@objc dynamic var x: Int { \(getter) }",
      "@objc dynamic var x: Int { get { \(getter) } set { a = newValue } }",
    ] {
      let source = """
        class A: NSObject { @objc dynamic var a = 1
          \(property)
          func read() -> Int { a }
          \(member)
        }
        let t = a.observe(\\A.x) { _, _ in }
        """
      let found = Self.macro(source).findings.filter { $0.reason.contains("what affects x") }
      expectEqual(found.count, isListed ? 1 : 0, property + member)
    }
    let over = "class C: NSObject { @objc dynamic var x: Int { 1 } }\n"
    let source =
      over + "class A: C { @objc dynamic var a = 1\noverride var x: Int { a } }\n"
      + "let t = a.observe(\\A.x) { _, _ in }"
    expect(Self.macro(source).findings.contains { $0.reason.contains("what affects x") })
  }

  @Test("a setter that announces manually is not listed if a property turns automatic changes off")
  func manualByProperty() {
    func source(_ off: String) -> String {
      """
      class A: NSObject {
        \(off)
        private var stored = 0
        @objc dynamic var owner: Int {
          get { stored }
          set { willChangeValue(forKey: "owner"); stored = newValue; didChangeValue(forKey: "owner") }
        }
      }
      """
    }
    let off = "@objc dynamic class var automaticallyNotifiesObserversOfOwner: Bool { false }"
    expect(Self.macro(source(off)).findings.isEmpty)
    expectEqual(Self.macro(source("")).findings.map(\.harm), [.differs])
  }

  @Test("a setter that sets what affects its key is listed, since it notifies twice there")
  func setterOfAffecting() {
    func source(_ affecting: String) -> String {
      """
      class A: NSObject {
        @objc dynamic var celsius = 0.0
        @objc dynamic var kelvin: Double {
          get { celsius + 273 }
          set { celsius = newValue - 273 }
        }
        \(affecting)
      }
      """
    }
    let named =
      "@objc class func keyPathsForValuesAffectingKelvin() -> Set<String> { [\"celsius\"] }"
    let variable = "@objc static var keyPathsForValuesAffectingKelvin: Set<String>"
    for named in [named, variable + " { [#keyPath(celsius)] }", variable + " = [\"celsius\"]"] {
      let found = Self.macro(source(named)).findings
      expectEqual(found.map(\.harm), [.differs])
      expect(found.first?.reason.contains("sets celsius, which affects it") == true, "\(found)")
    }
    expect(Self.macro(source("")).findings.isEmpty)
  }
}
