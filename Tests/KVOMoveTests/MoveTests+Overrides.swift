/// Overrides of the root's methods, names that accessors have in Objective-C, and objects of type AnyObject.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  private static func macro(_ source: String) -> MovedSource {
    move([(path: "A.swift", text: source)])[0]
  }

  @Test("an override of a method that registers observers takes a KVOObject, and throws")
  func registrations() {
    let there = """
      class A: NSObject { @objc dynamic var x = 0
        override func addObserver(_ o: NSObject, forKeyPath k: String, options: NSKeyValueObservingOptions, context: UnsafeMutableRawPointer?) {
          super.addObserver(o, forKeyPath: k, options: options, context: context)
        }
        override func removeObserver(_ o: Foundation.NSObject, forKeyPath k: String) { super.removeObserver(o, forKeyPath: k) }
        func addObserver(_ o: P, for k: String) {}
      }
      """
    let here = """
      @KVO class A: KVOObject { var x = 0
        override func addObserver(_ o: KVOObject, forKeyPath k: String, options: NSKeyValueObservingOptions, context: UnsafeMutableRawPointer?) throws {
          try super.addObserver(o, forKeyPath: k, options: options, context: context)
        }
        override func removeObserver(_ o: KVOObject, forKeyPath k: String) throws { try super.removeObserver(o, forKeyPath: k) }
        func addObserver(_ o: P, for k: String) {}
      }
      """
    expectEqual(Self.macro(there).text, here)
    expect(Self.macro(here).edits.isEmpty)
  }

  @Test("the name that a getter has in Objective-C is declared if it is used as a key")
  func getterNames() {
    func source(_ key: String) -> String {
      "class A: NSObject {\n  @objc dynamic var on: Bool { @objc(isOn) get { true } set {} }\n}\n"
        + "func f(a: A) { a.setValue(a.value(forKey: \"\(key)\"), forKey: k) }"
    }
    let moved = Self.macro(source("isOn")).text
    expect(moved.contains("var on: Bool { get { true } set {"), moved)
    expect(moved.contains("keys.accessors(\"isOn\", get: { $0.on })"), moved)
    expect(!Self.macro(source("on")).text.contains("registerKeys"))
  }

  @Test("each variable of one declaration has a type of its own")
  func severalVariables() {
    let uses = "\nfunc f(c: Int) {}\nfunc g() { c.setValue(1, forKey: k) }"
    for declaration in ["let a = A(), b = A(), c = A()", "let a = f(1, 2), c = A()"] {
      let moved = Self.macro("class A: NSObject { @objc dynamic var x = 0 }\n\(declaration)\(uses)")
      expect(moved.text.contains("try! c.setValue"), declaration)
    }
    let other = "class A: NSObject { @objc dynamic var x = 0 }\nlet a = f(1, c = A())\(uses)"
    expect(!Self.macro(other).text.contains("try! c"))
  }
}
