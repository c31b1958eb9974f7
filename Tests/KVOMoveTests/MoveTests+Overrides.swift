/// Overrides of the root's methods, names that accessors have in Objective-C, and objects of type AnyObject.
import Expectations
import Foundation
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

  @Test("an override in an extension is moved into the class, with its comments and edits")
  func relocated() {
    let there = """
      class A: NSObject {
        @objc dynamic var x = 0
      }

      extension A {
        func f() {}

        /// Observes.
        override func observeValue(forKeyPath k: String?, of o: Any?, change c: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?) {
          let kind = c?[.kindKey] as? UInt
          print(c?[.newKey] as? Int, c?[.kindKey])
        }  // end
        override var y: Int { 1 }
      }
      """
    let here = """
      @KVO class A: KVOObject {
        var x = 0

        /// Observes.
        override func observeValue(forKeyPath k: String?, of o: Any?, change c: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?) {
          let kind = (c?[.kindKey] as? NSKeyValueChange)?.rawValue
          print(c?[.newKey] as? Int, c?[.kindKey])
        }  // end

        override var y: Int { 1 }
      }

      extension A {
        func f() {}

      }
      """
    let moved = Self.macro(there)
    expectEqual(moved.text, here)
    expectEqual(moved.findings.map(\.line), [7])
    expect(Self.macro(here).edits.isEmpty)
  }

  @Test(
    "an override in an extension is left and listed if the class is elsewhere, or the extension has an access level or conditions",
    arguments: [
      "public extension A {\n  override func f() {}\n}",
      "extension A where T: P {\n  override func f() {}\n}",
      "extension A { override func f() {} }",
    ])
  func relocatedNot(_ extension: String) {
    let moved = Self.macro("class A: NSObject { @objc dynamic var x = 0 }\n" + `extension`)
    expect(moved.text.hasSuffix(`extension`), moved.text)
    expect(moved.findings.contains { $0.reason.contains("overridden in an extension") })
  }

  @Test("an override that sets several values takes optionals") func severalValues() {
    let moved = Self.macro(
      "class A: NSObject { override func setValuesForKeys(_ values: [String: Any]) { super.setValuesForKeys(values) } }"
    )
    expect(
      moved.text.contains("(_ values: [String: Any?]) { try! super.setValuesForKeys(values) }"),
      moved.text)
  }

  private static let setter = """
    class B: NSObject { @objc dynamic var b = 0 }
    class A: NSObject {
      @objc var owner: B?
      @objc var list: [B] = []
      override func setValue(_ value: Any?, forKey key: String) {
        super.setValue(value, forKey: key)
        if key == "owner" {
          self.owner = B(value)
        } else if key == "list" {
          list = []
        }
      }
    }
    """

  @Test("super does not set a key for which the setter makes an object of a class of the sources")
  func setterOfObjects() {
    let line = "if ![\"owner\"].contains(key) { try! super.setValue(value, forKey: key) }\n"
    expect(Self.macro(Self.setter).text.contains(line))
    let other = Self.setter.replacing("self.owner = B(value)", with: "print(value)")
    expect(Self.macro(other).text.contains("    try! super.setValue(value, forKey: key)\n"))
  }

  @Test("a computed property that is a mutable proxy has the proxy's type, and its changes throw")
  func proxyProperty() {
    let moved = Self.macro(
      "class A: NSObject { @objc dynamic var x: [Int] = []\n"
        + "  var all: NSMutableArray { return self.mutableArrayValue(forKey: \"x\") }\n"
        + "  func f() { all.add(1) } }")
    expect(moved.text.contains("var all: MutableArrayProxy { return try! self.mutable"), moved.text)
    expect(moved.text.contains("func f() { try! all.add(1) }"), moved.text)
  }

  @Test(
    "attributes of Objective-C are removed in classes that stay NSObjects beside those that take part"
  )
  func attributesOfOthers() {
    let moved = Self.macro(
      "@objc class N: NSObject { @objc(f:) func f(_ i: Int) {} }\nclass A: NSObject { @objc dynamic var x = 0 }"
    )
    expect(moved.text.hasPrefix("class N: NSObject { func f(_ i: Int) {} }\n"), moved.text)
    expect(moved.findings.isEmpty, "\(moved.findings)")
    let view = Self.macro(
      "class V: NSView { @objc func f() {} }\nclass A: NSObject { @objc dynamic var x = 0 }")
    expect(view.text.hasPrefix("class V: NSView { @objc func f() {} }\n"), view.text)
  }

  @Test(
    "a generic function takes a KVOObject if it is passed one by a function that observes, or passes one to it"
  )
  func passedGenerics() {
    let moved = Self.macro(
      "func f<T: NSObject>(o: T) { o.observe(\\T.hash) { _, _ in }; g(o: o) }\nfunc g<U: NSObject>(o: U) {}\n"
        + "func h<T: NSObject>(o: T) { f(o: o) }\nfunc i<T: NSObject>(o: T) {}")
    expectEqual(moved.text.components(separatedBy: "KVOObject").count - 1, 3)
    expect(moved.text.contains("func i<T: NSObject>"), moved.text)
  }

  @Test("the average of numbers needs no conversion, other conversions by key are listed")
  func conversions() {
    let moved = Self.macro(
      "func f(a: [Int]) { _ = (a as NSArray).value(forKeyPath: \"@avg.floatValue\") }\n"
        + "func g(b: [Any]) { _ = (b as NSArray).value(forKeyPath: \"@max.doubleValue\") }")
    expect(moved.text.contains("a.value(forKeyPath: \"@avg.self\")"), moved.text)
    expectEqual(moved.findings.map(\.line), [2])
  }

  @Test("a value that is passed on as an NSObject is left and listed") func passedObject() {
    let moved = Self.macro(
      "class A: NSObject { let call: ((NSObject) -> Void)\n"
        + "override func observeValue(forKeyPath k: String?, of o: Any?, change c: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?) {\n"
        + "if let v = c?[.newKey] as? NSObject { call(v) } } }")
    expect(moved.text.contains("as? NSObject"), moved.text)
    expectEqual(moved.findings.map(\.line), [3])
  }

  @Test("coding keys and encode(to:) are moved from an extension into a codable class")
  func extensionCoding() {
    let moved = Self.macro(
      "class A: NSObject, Codable {\n  @objc dynamic var x = 0\n}\nextension A {\n  enum CodingKeys: String, CodingKey { case x }\n"
        + "  func encode(to encoder: Encoder) throws {}\n  func encode(with coder: NSCoder) {}\n}")
    expect(
      moved.text.hasSuffix(
        "  var x = 0\n\n  enum CodingKeys: String, CodingKey { case x }\n\n  func encode(to encoder: Encoder) throws {}\n}\n"
          + "extension A {\n  func encode(with coder: NSCoder) {}\n}"), moved.text)
  }

  @Test("a hash that is made by a hasher has it as its parameter") func hasher() {
    let moved = Self.macro(
      "class A: NSObject { @objc dynamic var x = 0\n  override var hash: Int {\n    var h = Hasher()\n    h.combine(x)\n"
        + "    return h.finalize()\n  }\n}")
    expect(
      moved.text.hasSuffix(
        "  override func hash(into h: inout Hasher) {\n    h.combine(x)\n  }\n}"),
      moved.text)
  }

  @Test("a key that is only read by key needs no method that names what affects it") func readKey()
  {
    let source =
      "class A: NSObject { @objc dynamic var x = 0; @objc dynamic var y: Int { x } }\nfunc f(a: A) { print(a.value(forKey: \"y\") as! Int) }"
    expect(Self.macro(source).findings.isEmpty)
  }

  @Test("a closure's type that is another kind of number than the key's property is listed")
  func closureType() {
    let source =
      "class A: NSObject { @objc dynamic var x: Int = 0 }\nfunc f(a: A) { a.watch(\"x\") { (new: Double) in } }\n"
      + "func g(a: A) { a.watch(\"x\") { [weak a] (new: Int) in }; a.observe(\\.x) { _, _ in } }"
    expectEqual(Self.macro(source).findings.map(\.line), [2])
  }

  @Test("a local constant that has a property's name is not read before super.init()")
  func localName() {
    let moved = Self.macro(
      "class A: NSObject { @objc dynamic var x: Int\n  init?(d: D) { guard let x = d.x else { return nil }\n    self.x = x } }"
    )
    expect(moved.findings.isEmpty, "\(moved.findings)")
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

  static let renamed = [
    Case(
      "@objc(usable) var isUsable: Bool { x > 0 }",
      "keys.computed(\"usable\", \\.isUsable, affectedBy: self.keyPathsForValuesAffectingUsable)"),
    Case(
      "@objc(usable) dynamic var isUsable: Bool { get { x > 0 } set { x = 1 } }",
      "keys.computed(\"usable\", \\.isUsable, affectedBy: [\"isUsable\"])\n"
        + "      keys.dependency(\"usable\", on: self.keyPathsForValuesAffectingUsable)"),
    Case(
      "@objc(usable) dynamic var isUsable = true",
      "keys.computed(\"usable\", \\.isUsable, affectedBy: [\"isUsable\"])\n"
        + "      keys.dependency(\"usable\", on: self.keyPathsForValuesAffectingUsable)"),
    Case(
      "@objc dynamic var on: Bool { @objc(usable) get { x > 0 } @objc(setUsable:) set { x = 1 } }",
      "keys.computed(\"usable\", \\.on, affectedBy: [\"on\"])\n"
        + "      keys.dependency(\"usable\", on: self.keyPathsForValuesAffectingUsable)"),
  ]

  @Test("what affects a key is declared of a property that has another name", arguments: renamed)
  func renamed(_ edit: Case) {
    let uses = "\nfunc f(a: A) { a.setValue(true, forKey: \"usable\") }"
    let affecting = "@objc static let keyPathsForValuesAffectingUsable: Set<String> = [\"room\"]"
    for extended in [false, true] {
      let moved = Self.macro(
        "class A: NSObject {\n  private var x = 1\n  @objc dynamic var room = 1\n  \(edit.there)\n"
          + (extended ? "}\nextension A {\n" : "") + "  \(affecting)\n}" + uses)
      expect(moved.text.contains("declareKeys { keys in\n      \(edit.here)\n    }\n"), moved.text)
      expect(moved.findings.isEmpty, "\(moved.findings)")
    }
  }

  @Test("a setter that announces its property by the name in Objective-C is not announced again")
  func renamedAnnouncement() {
    let setter =
      "set { willChangeValue(forKey: \"lit\"); n = newValue; didChangeValue(forKey: \"lit\") }"
    let moved = Self.macro(
      "class A: NSObject { private var n = 1\n@objc(lit) dynamic var isLit: Int { get { n } \(setter) }\n"
        + "@objc static let automaticallyNotifiesObserversOfLit = false }")
    expect(moved.text.contains(setter), moved.text)
    expect(moved.findings.isEmpty, "\(moved.findings)")
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
