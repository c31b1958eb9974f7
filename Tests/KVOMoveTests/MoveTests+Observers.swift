/// What is told of a `didSet`.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  @Test(
    "a didSet is listed once, and not at all where it does nothing or nobody could observe",
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
      ("@objc dynamic weak var x: A? { didSet { n += 1 } }", ["not observed"]),
      ("@objc dynamic lazy var x = 0 { didSet { n += 1 } }", ["not observed"]),
      ("var x = 0 { didSet { n += 1 } }", []),
    ])
  func didSets(_ property: String, _ reasons: [String]) {
    let found = Self.moved("class A: NSObject { \(property) }", .macro).findings
    expectEqual(found.map(\.reason).count, reasons.count, "\(found)")
    for (finding, reason) in zip(found, reasons) { expect(finding.reason.contains(reason)) }
  }

  @Test("a weak property's didSet is not told of beside what says that nobody observes it")
  func didSetsOfWeak() {
    let source = "class A: NSObject { @objc dynamic weak var x: A? { didSet { n += 1 } } }"
    expectEqual(
      Self.moved(source, .wrapper).findings.map(\.reason),
      [
        "x is weak or lazy, and takes no @Observed"
      ])
  }

  @Test("an override has the didSet of an observable property, if it overrides one")
  func didSetsOfOverrides() {
    func findings(_ base: String) -> [String] {
      Self.moved(
        "class A: NSObject { \(base) }\nclass B: A { override var x: Int { didSet { n += 1 } } }",
        .macro
      ).findings.map(\.reason)
    }
    expectEqual(
      findings("@objc dynamic var x = 0"),
      [
        "observers of x are called before its didSet, not after it"
      ])
    expectEqual(findings("var x = 0"), [])
  }
}
