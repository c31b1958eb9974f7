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

  static let accessorNames: [(String, String?)] = [
    ("@objc(isOn) get { true } set {}", "keys.accessors(\"isOn\", get: { $0.on })"),
    (
      "@objc(isOn) get { true } @objc(setIsOn:) set {}",
      "keys.computed(\"isOn\", \\.on, affectedBy: [\"on\"])"
    ),
    (
      "get { true }\n    @objc(setIsOn:)\n    set(new) {}",
      "keys.computed(\"isOn\", \\.on, affectedBy: [\"on\"])"
    ),
    ("get { true } @objc(putIsOn:) set {}", nil), ("get { true } set {}", nil),
  ]

  @Test(
    "the names that accessors have in Objective-C are declared if they are used as a key",
    arguments: accessorNames)
  func accessorsNamed(_ accessors: String, _ declaration: String?) {
    func source(_ key: String) -> String {
      "class A: NSObject {\n  @objc dynamic var on: Bool { \(accessors) }\n}\n"
        + "func f(a: A) { a.setValue(a.value(forKey: \"\(key)\"), forKey: k) }"
    }
    let moved = Self.macro(source("isOn")).text
    expect(moved.contains(declaration ?? "var on: Bool {"), moved)
    expect(moved.contains("registerKeys") == (declaration != nil), moved)
    let attributes = Set(["@objc(isOn)", "@objc(setIsOn:)", "@objc(putIsOn:)"])
    expect(attributes.allSatisfy { !moved.contains($0) }, moved)
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

  static let anyObjects: [(String, String?)] = [
    ("(a as AnyObject).value(forKey: k)", "try! a.value(forKey: k)"),
    ("(a.list as AnyObject).value(forKeyPath: k)", "try! a.list.value(forKeyPath: k)"),
    ("(a.list as NSArray).setValue(1, forKey: k)", "try! a.list.setValue(1, forKey: k)"),
    ("(b as AnyObject).value(forKey: k)", nil), ("c.value(forKey: k)", nil),
    ("(b as AnyObject?)?.value(forKey: k)", nil),
  ]

  @Test(
    "a cast to AnyObject before a call by key is removed, or the call is listed",
    arguments: anyObjects)
  func anyObject(_ call: String, _ here: String?) {
    let model = "class A: NSObject { @objc dynamic var list: [Int] = [] }\n"
    let moved = Self.macro(model + "func f(a: A, b: Any, c: AnyObject) { \(call) }")
    if let here {
      expect(moved.text.contains("{ \(here) }"), moved.text)
      expect(moved.findings.isEmpty, "\(moved.findings)")
    } else {
      expect(moved.text.contains("try! \(call)"), moved.text)
      expectEqual(moved.findings.map(\.reason), ["an AnyObject has no keys here"])
    }
  }

  @Test("the observed object is no AnyObject, but a KVOObject")
  func observedObject() {
    let there = """
      class A: NSObject { override func observeValue(forKeyPath p: String?, of o: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?) {
        use((o as AnyObject).value(forKey: p!)) } }
      """
    expect(Self.macro(there).text.contains("use(try! (o as! KVOObject).value(forKey: p!))"))
  }

  @Test("an override of the validator for all keys keeps its key, and passes the value on")
  func validatorOfAllKeys() {
    let moved = Self.macro(
      """
      class A: NSObject {
        @objc dynamic var value = ""
        override func validateValue(
          _ ioValue: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey inKey: String
        ) throws {
          if inKey == "value" { ioValue.pointee = "x" as AnyObject }
          try super.validateValue(ioValue, forKey: inKey)
        }
      }
      """)
    expectEqual(
      moved.text,
      """
      @KVO class A: KVOObject {
        var value = ""
        override func validateValue(
          _ ioValue: inout Any?, forKey inKey: String
        ) throws {
          if inKey == "value" { ioValue = "x" }
          try super.validateValue(&ioValue, forKey: inKey)
        }
      }
      """)
    expect(moved.findings.isEmpty, "\(moved.findings)")
  }

  @Test("validating a value along a key path is a use by key, of an Any?")
  func validationAlongPath() {
    let head = "class A: NSObject { @objc var b = B() }\nclass B: NSObject { @objc var n = 0 }\n"
    for (there, here) in [
      ("var v: AnyObject? = g()", "var v: Any? = g()"),
      ("var v = g() as AnyObject?", "var v = g() as Any?"),
      ("var v: Any? = g()", "var v: Any? = g()"),
    ] {
      let moved = Self.macro(
        head + "func f(a: A) throws {\n\(there)\ntry a.validateValue(&v, forKeyPath: \"b.n\")\n}")
      expect(moved.text.contains("class A: KVOObject"), "\(moved.text)")
      expect(moved.text.contains("class B: KVOObject"), "\(moved.text)")
      expect(moved.text.contains("\n\(here)\ntry a.validateValue(&v"), "\(moved.text)")
      expect(moved.findings.isEmpty, "\(moved.findings)")
    }
  }

  @Test("an override of observationInfo, which gives it a storage there, is listed")
  func observationInfo() {
    let moved = Self.macro(
      """
      class A: NSObject {
        private var info: UnsafeMutableRawPointer?
        override var observationInfo: UnsafeMutableRawPointer? {
          get { info }
          set { info = newValue }
        }
        @objc dynamic var x = 0
      }
      """)
    expectEqual(moved.findings.map(\.harm), [.refused])
    expect(moved.findings.first?.advice.contains("delete the override") == true)
    expectEqual(moved.findings.first?.line, 3)
  }
}
