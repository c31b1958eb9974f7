/// The findings about a `didSet`.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  @Test(
    "a didSet outside @KVO classes is listed once, unless it does nothing or can't be observed",
    arguments: [
      ("@objc dynamic var x = 0 { didSet { x = 1 } }", ["without a test"]),
      ("@objc dynamic var x = 0 { didSet { self.x = min(x, 4) } }", ["without a test"]),
      ("@objc dynamic var x = 0 { didSet { x += 1 } }", ["without a test"]),
      ("@objc dynamic var x = 0 { didSet { if x > 4 { self.x = 4 } } }", ["corrects"]),
      ("@objc dynamic var x = 0 { didSet { guard x > 4 else { return }; x = 4 } }", ["corrects"]),
      ("@objc dynamic var x = 0 { didSet { let x = 3; print(x) } }", ["before its didSet"]),
      ("@objc dynamic var x = 0 { didSet { if x == 1 { other.x = 2 } } }", ["before its didSet"]),
      ("@objc dynamic var x = 0 { didSet(old) { n += 1 } }", ["before its didSet"]),
      ("@objc dynamic var w = 0, x = 0 { didSet { n += 1 } }", ["observers of x"]),
      (
        "@objc dynamic var w = 0 { didSet { w = 1 } }, x = 0 { didSet { n += 1 } }",
        ["of w", "of x"]
      ),
      ("@objc dynamic var x = 0 { didSet {} }", []),
      ("@objc dynamic var x = 0 { willSet { n += 1 } }", []),
      ("@objc dynamic static var x = 0 { didSet { n += 1 } }", []),
      ("@KVOIgnored @objc dynamic var x = 0 { didSet { n += 1 } }", []),
      ("@objc dynamic lazy var x = 0 { didSet { n += 1 } }", ["takes no @Observed"]),
      ("var x = 0 { didSet { n += 1 } }", []),
    ])
  func didSets(_ property: String, _ reasons: [String]) {
    let found = Self.moved("class A: NSObject { \(property) }", .wrapper).findings
    expectEqual(found.map(\.reason).count, reasons.count, "\(found)")
    for (finding, reason) in zip(found, reasons) { expect(finding.reason.contains(reason)) }
  }

  @Test(
    "in a class that becomes @KVO, observers that run in its own init or deinit are listed",
    arguments: [
      ("var x = 0 { didSet { x = 1 } }", []),
      ("weak var x: A? { didSet { n += 1 } }", []),
      ("lazy var x = 0 { didSet { n += 1 } }", ["is lazy"]),
      ("var x = 0 { didSet { n += 1 } }; init(y: Int) { x = y; super.init() }", []),
      (
        "var x = 0 { didSet { n += 1 } }; init(y: Int) { super.init(); self.x = y }",
        ["didSet of x"]
      ),
      ("var x = 0 { willSet { n += 1 } }; deinit { x = 1 }", ["willSet of x"]),
      ("var x = 0; init(y: Int) { super.init(); x = y }", []),
      ("var x = 0 { didSet {} }; init(y: Int) { super.init(); y.x = x }", []),
      ("var x = 0 { didSet {} }; func f() { A.init().x = 1; x = 2 }", []),
    ])
  func initialisers(_ members: String, _ reasons: [String]) {
    let found = Self.moved("class A: NSObject { @objc dynamic \(members) }", .macro).findings
    expectEqual(found.map(\.reason).count, reasons.count, "\(found)")
    for (finding, reason) in zip(found, reasons) { expect(finding.reason.contains(reason)) }
  }

  @Test("a weak property's didSet is not reported when the property is reported as unobserved")
  func didSetsOfWeak() {
    let source = "class A: NSObject { @objc dynamic weak var x: A? { didSet { n += 1 } } }"
    expectEqual(
      Self.moved(source, .wrapper).findings.map(\.reason),
      [
        "x is weak or lazy, and takes no @Observed"
      ])
  }

  @Test("a class that overrides an observable property with observers becomes a @KVO class")
  func didSetsOfOverrides() {
    func moved(_ base: String, _ style: ObservableStyle) -> (text: String, reasons: [String]) {
      let moved = Self.moved(
        "class A: NSObject { \(base) }\nclass B: A { override var x: Int { didSet { n += 1 } } }",
        style)
      return (moved.text, moved.findings.map(\.reason))
    }
    let macro = moved("@objc dynamic var x = 0", .macro)
    expect(macro.text.contains("@KVO class B: A") && macro.reasons.isEmpty)
    expectEqual(
      moved("@objc dynamic var x = 0", .wrapper).reasons,
      ["observers of x are called before its didSet, not after it"])
    let plain = moved("var x = 0", .macro)
    expect(!plain.text.contains("@KVO class B") && plain.reasons.isEmpty)
  }

  @Test(
    "an observation by a protocol's key path is listed if a class declares how the key is announced",
    arguments: [
      ("func f<T: P>(t: T) { t.observe(\\.full) { _, _ in } }", "full", true),
      ("func f<T: NSObject & P>(t: T) { t.observe(\\T.size) { _, _ in } }", "size", true),
      ("func f(t: any P) { t.observe(\\.quiet) { _, _ in } }", "quiet", true),
      ("extension P { func f() { observe(\\.full) { _, _ in } } }", "full", true),
      ("func f(t: B) { t.observe(\\.link?.full) { _, _ in } }", "full", true),
      ("func f(t: B) { t.observe(\\B.other.size) { _, _ in } }", "size", true),
      ("func f(t: B) { t.observe(\\.link?.title) { _, _ in } }", "title", false),
      ("func f<T: P>(t: T) { t.observe(\\.plain) { _, _ in } }", "plain", false),
      ("func f<T: P>(t: T) { t.observe(\\.title) { _, _ in } }", "title", false),
      ("func f(t: A) { t.observe(\\.full) { _, _ in } }", "full", false),
      ("func f<T: Q>(t: T) { t.observe(\\.full) { _, _ in } }", "full", false),
    ])
  func requirements(_ use: String, _ key: String, _ isListed: Bool) {
    let source = """
      protocol P: NSObject {}; protocol Q: NSObject {}
      class A: NSObject, P { @objc dynamic var title = ""
        @objc dynamic var full: String { title }
        @objc class func keyPathsForValuesAffectingFull() -> Set<String> { [] }
        @objc dynamic var size: Int { get { 1 } set {} }
        @objc dynamic var quiet: Int { 1 }
        @objc class func automaticallyNotifiesObserversOfQuiet() -> Bool { false }
        @objc dynamic var plain: String { "" }
      }
      class B: NSObject { @objc dynamic var link: (any P)?; @objc dynamic var other: A & P }
      \(use)
      """
    let found = move([(path: "A.swift", text: source)])[0].findings.map(\.reason)
    expectEqual(
      found.filter { $0.contains("by the protocol") },
      isListed
        ? ["\(key) is observed by the protocol P, so what A declares of it does not apply"] : [])
  }
}
