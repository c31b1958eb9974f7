/// The parts of a change: kinds, and nil.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  @Test(
    "the kind of a change is the one it was converted to",
    arguments: [
      ("NSKeyValueChange(rawValue: c![.kindKey] as! UInt)!", "(c![.kindKey] as! NSKeyValueChange)"),
      ("NSKeyValueChange(rawValue: c?[.kindKey] as! UInt)", "(c?[.kindKey] as? NSKeyValueChange)"),
      (
        "NSKeyValueChange(rawValue: (c![.kindKey] as! NSNumber).uintValue)!",
        "(c![.kindKey] as! NSKeyValueChange)"
      ),
      (
        "NSKeyValueChange(rawValue: UInt(c![.kindKey] as! Int))!",
        "NSKeyValueChange(rawValue: UInt(c![.kindKey] as! Int))!"
      ),
      ("f(rawValue: c![.kindKey] as! UInt)", "f(rawValue: c![.kindKey] as! UInt)"),
      (
        "NSKeyValueChange(rawValue: c![.kindKey] as! UInt + 1)!",
        "NSKeyValueChange(rawValue: c![.kindKey] as! UInt + 1)!"
      ),
    ])
  func kinds(_ there: String, _ here: String) {
    let moved = Self.moved("let k = \(there)")
    expect(moved.text.hasSuffix("let k = \(here)"))
    expectEqual(moved.findings.count, (there == here ? 1 : 0))
    expect(Self.moved(moved.text).edits.isEmpty)
  }

  @Test(
    "a use of an optional property's change that takes nil for absence is listed",
    arguments: [
      ("\\.name", "if c.newValue == nil {}", true),
      ("\\.name", "if let n = c.oldValue { print(n) }", true),
      ("\\A.name", "guard let n = c.newValue else { return }", true),
      ("\\.next?.size", "if c.newValue != nil {}", true),
      ("\\.size", "if c.newValue == nil {}", false),
      ("\\.name", "if let n = c.newValue, let n { print(n) }", false),
      ("\\.name", "if let n = c.newValue ?? nil { print(n) }", false),
      ("\\.name", "print(c.newValue!)", false),
    ])
  func optionals(_ path: String, _ body: String, _ isListed: Bool) {
    let a = "class A: NSObject { @objc dynamic var name: String?; @objc dynamic var size = 0 }"
    for call in [
      "a.observe(\(path), options: .new) { _, c in \(body) }",
      "a.observe(\(path), changeHandler: { _, c in \(body) })",
    ] {
      expectEqual(Self.moved("\(a)\nlet t = \(call)").findings.count, (isListed ? 1 : 0))
    }
    expect(Self.moved("\(a)\nfunc f(c: C) { \(body) }").findings.isEmpty)
  }
}
