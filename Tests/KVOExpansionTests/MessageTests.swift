import Expectations
import Testing

@testable import KVOExpansion

/// Q5: the macro's messages where Swift's own message has no location, or no remedy.
@Suite struct MessageTests {
  @Test(
    "Q5: a class that can't be a KVOObject gets one error with a fix-it, and no attributes",
    arguments: [
      ("NSObject", "A: KVOObject {"), ("Foundation.NSObject, Codable", "A: KVOObject, Codable {"),
      ("Codable", "A: KVOObject, Codable {"),
      ("Swift.Hashable, Identifiable", "A: KVOObject, Swift.Hashable, Identifiable {"),
    ])
  func noSuperclass(_ clause: String, _ mended: String) throws {
    let source = "@KVO class A: \(clause) { var x = 1 }"
    let (members, diagnostics) = Asking.expand("KVOMacro", "member", source)
    expect(members.isEmpty && diagnostics.count == 1)
    guard case .array(let fixIts)? = diagnostics.first?["fixIts"], let fixIt = fixIts.first else {
      Issue.record("no mend")
      return
    }
    expect(Asking.apply(fixIt, to: source).contains(mended))
    let attribute = Asking.expand("KVOMacro", "memberAttribute", "var x = 1", of: source).0
    expectEqual(attribute, "")
  }

  @Test(
    "Q5: any other class may be one",
    arguments: ["Model", "Codable, Model", "Lib.Base<Int>", "KVOObject, Codable", "MyNSObject"])
  func superclass(_ clause: String) {
    let source = "@KVO class A: \(clause) { var x = 1 }"
    expect(Asking.messages(source).isEmpty)
    let attribute = Asking.expand("KVOMacro", "memberAttribute", "var x = 1", of: source).0
    expectEqual(attribute, "@KVORuntime.KVOAccessed")
  }

  @Test(
    "Q5: a read before super.init() gets a warning, where the class shows that it is one",
    arguments: [
      ("init(_ i: [Int]) { x = i; y = x.count }", ["x"]),
      ("init() { x = []; self.x.append(1); y = 1 }", ["x"]),
      ("init() { y = 1; y += 1; super.init(); y += x.count }", ["y"]),
      ("init(x: [Int]) { self.x = x; y = x.count }", []),
      ("init(x: [Int]) { self.x = x; y = self.x.count }", ["x"]),
      ("init(i: [Int]) { let x = i; self.x = x; y = x.count }", []),
      ("convenience init() { self.init(x: []); y = x.count }", []),
      ("init() { x = []; y = z; super.init() }", []),
      ("init() { x = []; y = 1; super.init(x: x) }", []),
      ("init(o: A) { x = o.x; y = f(y: 1) }", []), ("init() { (x, y) = ([], 1) }", []),
    ])
  func early(_ initialiser: String, _ names: [String]) {
    let source =
      "@KVO class A: KVOObject {\nvar x: [Int]; var y: Int { didSet {} }; let z = 1\n\(initialiser)\n}"
    let messages = Asking.messages(source)
    expectEqual(messages.count, names.count, "\(messages)")
    for (message, name) in zip(messages, names) {
      expect(message.contains("\"\(name)\" can't be read"))
    }
  }

  @Test("Q2: a property with another wrapper has its value as key, and is offered @KVOIgnored")
  func wrapped() {
    expectEqual(Asking.declarations("@Clamped var x = 1"), ["keys.stored(\"x\", \\.x)"])
    expectEqual(Asking.declarations("@KVOIgnored @Clamped var x = 1"), ["keys.stored(\"x\", \\.x)"])
    expectEqual(Asking.declarations("@Clamped static var x = 1"), [])
    for member in ["@Clamped var x = 1", "lazy var x = 1"] {
      let source = "@KVO class A: B {\n\(member)\n}"
      let diagnostics = Asking.expand("KVOMacro", "member", source).1
      guard case .array(let fixIts)? = diagnostics.first?["fixIts"], let fixIt = fixIts.first else {
        Issue.record("no mend")
        continue
      }
      expect(Asking.apply(fixIt, to: source).contains("\n@KVOIgnored \(member)"))
    }
  }
}
