/// The parts of a change: kinds, and nil.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  @Test(
    "the kind of a change is the one it was converted to, or its raw value where it is cast to a number",
    arguments: [
      ("NSKeyValueChange(rawValue: c![.kindKey] as! UInt)!", "(c![.kindKey] as! NSKeyValueChange)"),
      ("NSKeyValueChange(rawValue: c?[.kindKey] as! UInt)", "(c?[.kindKey] as? NSKeyValueChange)"),
      (
        "NSKeyValueChange(rawValue: (c![.kindKey] as! NSNumber).uintValue)!",
        "(c![.kindKey] as! NSKeyValueChange)"
      ),
      (
        "NSKeyValueChange(rawValue: UInt(c![.kindKey] as! Int))!",
        "NSKeyValueChange(rawValue: UInt(Int((c![.kindKey] as! NSKeyValueChange).rawValue)))!"
      ),
      (
        "f(rawValue: c![.kindKey] as! UInt)",
        "f(rawValue: (c![.kindKey] as! NSKeyValueChange).rawValue)"
      ),
      (
        "NSKeyValueChange(rawValue: c![.kindKey] as! UInt + 1)!",
        "NSKeyValueChange(rawValue: (c![.kindKey] as! NSKeyValueChange).rawValue + 1)!"
      ),
      ("c?[.kindKey] as? UInt ?? 0", "(c?[.kindKey] as? NSKeyValueChange)?.rawValue ?? 0"),
      (
        "(c[NSKeyValueChangeKey.kindKey] as? Int) ?? 0",
        "((c[NSKeyValueChangeKey.kindKey] as? NSKeyValueChange).map({ Int($0.rawValue) })) ?? 0"
      ),
      (
        "(c?[.kindKey] as? NSNumber)?.uintValue",
        "((c?[.kindKey] as? NSKeyValueChange).map({ NSNumber(value: $0.rawValue) }))?.uintValue"
      ),
      (
        "(c![.kindKey] as! NSNumber).intValue",
        "(NSNumber(value: (c![.kindKey] as! NSKeyValueChange).rawValue)).intValue"
      ),
      ("c?[.kindKey] as? Double", "c?[.kindKey] as? Double"),
      ("g(a).c[.kindKey] as? UInt", "g(a).c[.kindKey] as? UInt"),
    ])
  func kinds(_ there: String, _ here: String) {
    let moved = Self.moved("let k = \(there)")
    expect(moved.text.hasSuffix("let k = \(here)"))
    expectEqual(moved.findings.count, (there == here ? 1 : 0))
    expect(Self.moved(moved.text).edits.isEmpty)
  }

  @Test("a number of a change is not listed for an enumeration whose key is not the compared one")
  func numberOfOtherKey() {
    let source = """
      class A: NSObject { @objc enum K: Int { case a }
        @objc dynamic var k = K.a; @objc dynamic var rate: Float = 0
        override func observeValue(forKeyPath p: String?, of o: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?) {
          switch p {
          case "rate"?: use((change?[.newKey] as? NSNumber)?.floatValue)
          case "k"?: break
          default: break
          }
        }
      }
      """
    let found = move([(path: "A.swift", text: source)])[0].findings
    expect(found.isEmpty, "\(found)")
  }
}
