/// Types of Foundation that notify no observer, and are replaced by others.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  private static func macro(_ source: String, and other: String = "") -> [MovedSource] {
    move([(path: "A.swift", text: source), (path: "B.swift", text: other)])
  }

  @Test(
    "an observed type of Foundation is replaced in all sources",
    arguments: ["Progress", "UserDefaults"])
  func replacedType(_ type: String) {
    let moved = Self.macro(
      "import Foundation\nfunc f(p: \(type)) { t = p.observe(\\.x) { _, _ in } }\nlet n = \(type).didChangeNotification",
      and:
        "import Foundation\nlet p: Foundation.\(type)? = \(type)()\nlet q = A.\(type)(\(type): 1)")
    expectEqual(
      moved[0].text,
      "import Foundation\nimport KVOFoundation\nimport KVORuntime\nfunc f(p: KVO\(type)) { t = p.observe(\\.x) { _, _ in } }\n"
        + "let n = \(type).didChangeNotification")
    expectEqual(
      moved[1].text,
      "import Foundation\nimport KVOFoundation\nimport KVORuntime\nlet p: KVO\(type)? = KVO\(type)(\(type == "Progress" ? "parent: nil" : ""))\n"
        + "let q = A.\(type)(\(type): 1)")
    expect(moved.allSatisfy(\.findings.isEmpty), "\(moved[0].findings)")
    expect(Self.macro(moved[0].text, and: moved[1].text).allSatisfy(\.edits.isEmpty))
  }

  @Test(
    "a type of Foundation stays if it is not observed, or is a type of the sources",
    arguments: [
      "func f(p: Progress) {}",
      "class Progress {}\nfunc f(p: Progress) { t = p.observe(\\.x) { _, _ in } }",
    ])
  func keptType(_ source: String) {
    let text = source + Self.evidence
    expect(Self.macro(text)[0].text.hasSuffix(text))
  }

  @Test("an observed type's extension is one of the type that replaces it, with automatic changes")
  func replacedExtension() {
    let moved = Self.macro(
      "extension UserDefaults { @objc dynamic var x: Int { get { 0 } set { set(newValue, forKey: \"x\") } } }\n"
        + "let t = UserDefaults.standard.observe(\\.x) { _, _ in }")[0]
    expect(
      moved.text.hasPrefix(
        "extension KVOUserDefaults { var x: Int { get { 0 } set { withAutomaticChange(of: \\.x) { set(newValue, forKey: \"x\") } } } }"
      ), moved.text)
    expect(moved.findings.isEmpty, "\(moved.findings)")
  }

  @Test("sources without keys but with a UserDefaults that is set by key are moved")
  func defaults() {
    let moved = Self.macro(
      "let d = UserDefaults.standard\nd.setValue(1, forKey: k)\nlet a = d.mutableArrayValue(forKey: k)"
    )[0]
    expect(moved.text.hasPrefix("let d = UserDefaults.standard\nd.set(1, forKey: k)\n"), moved.text)
    expectEqual(moved.findings.map(\.line), [3])
  }

  @Test("Operation is replaced in all sources beside an operation that is moved")
  func operations() {
    let operation = "class A: Operation { func f() { willChangeValue(forKey: \"isFinished\") } }\n"
    let list =
      "func run(_ all: [Operation]) { OperationQueue().addOperations(all, waitUntilFinished: true) }"
    expectEqual(
      Self.macro(operation, and: "import Foundation\n" + list)[1].text,
      "import Foundation\nimport KVOFoundation\nimport KVORuntime\n"
        + list.replacing("[Operation]", with: "[KVOOperation]"))
    let other = Self.macro(operation, and: "class B: Operation {}\n" + list)[1].text
    expect(other.contains("class B: KVOOperation, @unchecked Sendable {}"), other)
    let block = "let b = BlockOperation {}\n" + list
    expectEqual(Self.macro(operation, and: block)[1].text, block)
  }

  @Test("an operation's override with a setter is announced by its key")
  func announcedOverride() {
    let source = """
      class A: Operation {
        override var isFinished: Bool { get { f } set { willChangeValue(for: \\.isFinished); f = newValue; didChangeValue(for: \\A.isFinished) } }
        override var isExecuting: Bool { e }
        func g() { willChangeValue(for: \\.isExecuting) }
      }
      """
    let text = Self.macro(source)[0].text
    expect(
      text.contains(
        "willChangeValue(forKey: \"isFinished\"); f = newValue; didChangeValue(forKey: \"isFinished\")"
      ), text)
    expect(text.contains("willChangeValue(for: \\.isExecuting)"), text)
  }

  @Test("a class that announces changes of elements takes part")
  func announcedElements() {
    let moved = Self.moved(
      "class D: NSObject { func f() { willChange(.insertion, valuesAt: s, forKey: \"x\") } }",
      .macro)
    expect(moved.text.contains("class D: KVOObject"), moved.text)
  }
}
