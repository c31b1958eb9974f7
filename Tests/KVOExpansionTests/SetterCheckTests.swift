import Expectations
import Testing

@testable import KVOExpansion

/// The warnings about setters of computed properties: that they notify no observer, or twice.
@Suite struct SetterCheckTests {
  @Test(
    "Q5: only a computed property whose setter notifies no observer gets a warning",
    arguments: [
      ("let model = M()\nvar x: Int { get { model.i } set { model.i = newValue } }", true),
      ("let model = M()\nvar x: Int { get { model.i } set(new) { self.model.i = new } }", true),
      ("@KVOIgnored var raw = 1\nvar x: Int { get { raw } set { raw = newValue } }", true),
      ("let m = M()\nvar x: Int { get { m[0] } set { m[0] += newValue } }", true),
      (
        "let model = M()\n@KVOTracked var x: Int { get { model.i } set { model.i = newValue } }",
        false
      ),
      (
        "let model = M()\n@KVOIgnored var x: Int { get { model.i } set { model.i = newValue } }",
        false
      ),
      (
        "let model = M()\nvar x: Int { get { 1 } set { withChange(of: \\.x) { model.i = newValue } } }",
        false
      ),
      (
        "let model = M()\nvar x: Int { get { 1 } set { willChangeValue(forKey: \"x\"); model.i = newValue } }",
        false
      ),
      (
        "let model = M()\nvar x: Int { get { 1 } set { withAutomaticChange(of: \\.x) { model.i = newValue } } }",
        false
      ),
      ("var model = M()\nvar x: Int { get { model.i } set { model.i = newValue } }", false),
      ("var model = M()\nvar x: Int { get { 1 } set { model.i = newValue } }", true),
      (
        "let model = M()\nvar y = 1\nvar x: Int { get { 1 } set { model.i = newValue; y = 2 } }",
        true
      ),
      ("let model = M()\nvar x: Int { get { 1 } set { model.i = newValue; changed() } }", false),
      (
        "let model = M()\nvar x: Int { get { 1 } set { model.i = newValue; inherited = 1 } }", false
      ),
      ("let model = M()\nvar x: Int { get { 1 } set { change { model.i = newValue } } }", false),
      ("let model = M()\nvar x: Int { get { 1 } set { change? { model.i = newValue } } }", false),
      ("let model = M()\nvar x: Int { get { 1 } set { model.i = newValue; changed?(1) } }", false),
      (
        "let model = M()\nvar x: Int { get { 1 } set { model.i = newValue; hub.changed(self) } }",
        false
      ),
      ("let model = M()\nvar x: Int { get { 1 } set { model.i = newValue; self[0] = 1 } }", false),
      ("let model = M()\nvar x: Int { get { 1 } set { model.i = newValue; model = self } }", false),
      (
        "let model = M()\nvar x: Int { get { 1 } set { f { [weak self] in self?.model.i = newValue } } }",
        false
      ),
      ("let model = M()\nvar x: Int { get { 1 } set { if flag { model.i = newValue } } }", true),
      (
        "let model = M()\nvar x: Int { get { 1 } set { if a == 1, newValue != b { self.model.i = newValue } } }",
        true
      ),
      (
        "let model = M()\nvar x: Int { get { 1 } set { for i in all { model.i = newValue } } }",
        true
      ),
      (
        "let model = M()\nvar x: Int { get { 1 } set { lock.withLock { [self] in model.i = newValue } } }",
        true
      ),
      (
        "let model = M()\nvar x: Int { get { 1 } set { lock.withLock { [weak self] in model.i = Int.self.max } } }",
        true
      ),
      (
        "let model = M()\nvar x: Int { get { 1 } set { guard let self else { return }; model.i = newValue } }",
        true
      ),
      (
        "let given = { 1 }\nlet m = M()\nvar x: Int { get { 1 } set { m.i = newValue; given() } }",
        false
      ),
      ("let model = M()\nvar y = 1\nvar x: Int { get { 1 } set { model.i = newValue * y } }", true),
      (
        "let model = M()\nvar y = [1]\nvar x: Int { get { 1 } set { model.i = newValue; y.append(2) } }",
        true
      ),
      (
        "let model = M()\nvar y = 1\nvar x: Int { get { 1 } set { model.i = newValue; swap(&y) } }",
        false
      ),
      ("let m = M()\nvar x: Int { get { 1 } set { (m.i, self.m.j) = (newValue, 1) } }", true),
      (
        "let m = M()\nvar y = 1\nvar x: Int { get { y } set { m.i = 1; (m.j, y) = (1, newValue) } }",
        false
      ),
      (
        "let m = M()\nvar y = 1\nvar x: Int { get { y } set { m.i = 1; m.log(\"\\(setY())\") } }; func setY() { y = 1 }",
        false
      ),
      ("let store = M()\nvar x: Int { get { 1 } set { store.update(newValue) } }", false),
      ("let lock = M()\nvar x: Int { get { 1 } set { lock.withLock { $0 = newValue } } }", false),
      ("var x: Int { get { 1 } set { } }", false), ("var x: Int { 1 }", false),
      ("override var x: Int { get { 1 } set { super.x = newValue } }", false),
    ])
  func setters(_ body: String, _ isWarned: Bool) {
    let messages = Asking.messages("@KVO class A: B {\n\(body)\n}")
    expectEqual(
      messages.contains { $0.hasPrefix("warning") && $0.contains("assigning to \"x\"") }, isWarned
    )
    expectEqual(messages.count, (isWarned ? 1 : 0))
  }

  @Test(
    "Q5: a setter must set what its getter reads, both also by methods and accessors of the class, or announce its key",
    arguments: [
      // The setter sets something else, or something that the getter reads.
      ("m.i", "m.i = newValue; y = true", true), ("m.i", "m.i = newValue; touch()", true),
      ("y ? 1 : 2", "m.i = newValue; touch()", false), ("y ? 1 : 2", "both = newValue", false),
      ("m.i", "both = newValue", true), ("m.i", "Store.i = newValue", true),
      ("m.i", "m.i = newValue; unknown()", false),
      // The getter reads it by a method, a getter or a string, or reads something else.
      ("read()", "m.i = newValue; y = true", false), ("both", "m.i = newValue; y = true", false),
      ("\"\\(y)\".count", "m.i = newValue; y = true", false),
      ("Int(m.i)", "m.i = newValue; y = true", true),
      ("inherited()", "m.i = newValue; y = true", false),
      ("super.x", "m.i = newValue; y = true", false),
      // Names that are not the object's.
      ("y ? 1 : 2", "let y = newValue; m.i = y", true),
      ("y ? 1 : 2", "var y = 0; y = newValue; m.i = y", true),
      ("y ? 1 : 2", "let y = newValue > 1; self.y = y", false),
      ("y ? 1 : 2", "m.y = newValue", true),
      ("y ? 1 : 2", "set(y: newValue)", true),
      ("y ? 1 : 2", "for y in 0..<newValue { m.i = y }", true),
      ("m.i", "m.change { y in y = newValue }; m.i = newValue", true),
      // Announcements.
      (
        "m.i", "willChangeValue(forKey: \"y\"); m.i = newValue; didChangeValue(forKey: \"y\")", true
      ),
      ("m.i", "withChange(of: \\.y) { m.i = newValue }", true),
      ("y ? 1 : 2", "withChange(of: \\.y) { m.i = newValue }", false),
      ("m.i", "willChangeValue(forKey: key); m.i = newValue; didChangeValue(forKey: key)", false),
      ("m.i", "m.willChangeValue(forKey: \"x\"); m.i = newValue", true),
      ("m.i", "setValue(newValue, forKey: \"y\"); m.i = newValue", false),
      ("m.i", "m.setValue(newValue, forKey: \"y\"); m.i = newValue", true),
    ])
  func effects(_ getter: String, _ setter: String, _ isWarned: Bool) {
    let source = """
      @KVO class A: B {
        let m = M()
        var y = false
        var x: Int { get { \(getter) } set { \(setter) } }
        var both: Int { get { y ? 1 : 2 } set { touch() } }
        func touch() { y = true }
        func read() -> Int { y ? 1 : 2 }
        func set(y: Int) { m.i = y }
      }
      """
    let messages = Asking.messages(source).filter { $0.contains("assigning to \"x\"") }
    expectEqual(messages.count, isWarned ? 1 : 0)
  }

  @Test(
    "Q5 Q6: an override that sets super's property and does more gets a warning, with a fix-it",
    arguments: [
      ("super.x = newValue; dirty = true", true), ("super.x = newValue\nlayout()", true),
      ("own = newValue\nsuper.x = newValue", true),
      ("if own != newValue { super.x += 1 }; f()", true),
      ("super.x = newValue; self.dirty = true", true), ("super.x = newValue\nsuper.y = 1", true),
      ("super.x = newValue", false), ("super.x = min(newValue, own)", false),
      ("guard newValue != super.x else { return }\nsuper.x = newValue", false),
      ("let new = f(newValue)\nsuper.x = new", false), ("super.y = newValue; dirty = true", false),
      ("super.x = newValue\n  + own", false), ("super.x =\n  own", false),
      ("f(super.x == 1); g()", false),
      ("withAutomaticChange(of: \\.x) { super.x = newValue; dirty = true }", false),
    ])
  func overrides(_ setter: String, _ isWarned: Bool) {
    func source(_ words: String) -> String {
      "@KVO class A: B { var own = 1; \(words) var x: Int { get { super.x } set { \(setter) } } }"
    }
    func given(_ source: String) -> [JSON] {
      Asking.expand("KVOMacro", "member", source).1.filter {
        $0["message"]?.string?.contains("inside super's setter") == true
      }
    }
    let found = given(source("override"))
    expectEqual(found.count, isWarned ? 1 : 0)
    for words in ["@KVOIgnored override", "@KVOTracked override"] {
      expectEqual(given(source(words)).count, 0)
    }
    guard case .array(let fixes)? = found.first?["fixIts"] else { return expect(!isWarned) }
    let mended = Asking.apply(fixes[0], to: source("override"))
    expect(mended.contains("set { withAutomaticChange(of: \\.x) { \(setter) } }"), mended)
    expectEqual(given(mended).count, 0)
  }

  @Test(
    "Q6: a didSet or willSet of an override that always sets the property gets a warning",
    arguments: [
      ("didSet { x = 1 }", true), ("didSet { self.x = min(x, 4) }", true),
      ("didSet { f(); x += 1 }", true), ("willSet { x = 1 }", true),
      ("didSet { guard x > 4 else { return }; x = 4 }", false),
      ("didSet { if x < 4 { return }; x = 4 }", false),
      ("didSet { if x > 4 { x = 4 } }", false), ("didSet { y = x }", false),
      ("didSet { g { x = 1 } }", false), ("didSet { other.x = x }", false),
      ("didSet { let x = 1; y = x }", false), ("didSet { super.x = 1 }", false),
    ])
  func overridesThatRecur(_ observer: String, _ isWarned: Bool) {
    for (words, count) in [("override", isWarned ? 1 : 0), ("", 0)] {
      let messages = Asking.messages(
        "@KVO class A: B { var y = 1; \(words) var x: Int { \(observer) } }")
      expectEqual(
        messages.filter { $0.contains("and so calls itself without an end") }.count, count)
    }
  }

  @Test("Q5 F1: a setter may set what the class declares to affect the property")
  func declared() {
    for name in ["X", "Value"] {
      let source = """
        @KVO class A: B {
          let m = M()
          var y = 1
          var x: Int { get { m.i } set { m.i = newValue; y = 2 } }
          class func keyPathsForValuesAffecting\(name)() -> Set<String> { ["y"] }
        }
        """
      expectEqual(Asking.messages(source).filter { $0.contains("assigning") }, [])
    }
  }

  @Test(
    "Q5 E3: only a setter that announces an automatic change gets a warning, with a fix-it",
    arguments: [
      ("willChangeValue(forKey: \"c\"); _c = newValue; didChangeValue(forKey: \"c\")", "_c", true),
      ("if _c != newValue { withChange(of: \\.c) { self._c = newValue } }", "_c", true),
      ("withChange(of: \\A.c) { _c += newValue }", "self._c + 1", true),
      ("withChange(forKey: \"c\") { _c = newValue }", "other", false),
      ("withChange(forKey: \"d\") { _c = newValue }", "_c", false),
      ("withChange(forKey: \"c\") { other = newValue }", "_c", false),
      ("withChange(forKey: \"c\") { model._c = newValue }", "_c", false),
      ("withChange(forKey: \"c\") { _c.x = newValue }", "_c.x", false),
      ("withChange(forKey: \"c\") { other = newValue & _c }", "_c", false),
      ("withChange(forKey: \"c\") { let _c = newValue; other = _c }", "_c", false),
      ("withChange(forKey: \"c\") { f(&_c) }", "_c", true),
      ("_c = newValue", "_c", false),
      ("withChange(of: \\.rect.c) { _c = newValue }", "_c", false),
      ("withChange(of: \\.c.size) { _c = newValue }", "_c", false),
      ("withChange(of: \\.c?.size) { _c = newValue }", "_c", false),
      ("withChange(of: \\Lib.A.c) { _c = newValue }", "_c", true),
      ("withChange(of: \\.d, with: c) { _c = newValue }", "_c", false),
      ("other.willChangeValue(forKey: \"c\"); _c = newValue", "_c", false),
      ("self.willChangeValue(for: \\.c); _c = newValue", "_c", true),
    ])
  func toldTwice(_ setter: String, _ getter: String, _ isWarned: Bool) {
    let other = "@KVOIgnored var other = 1"
    let property = "var c: Int { get { \(getter) } set { \(setter) } }"
    let source = "@KVO class A: B { private var _c = 1; \(other); let model = M(); \(property) }"
    let diagnostics = Asking.expand("KVOMacro", "member", source).1
    let given = diagnostics.filter {
      $0["message"]?.string?.contains("setting \"c\" notifies its observers twice") == true
    }
    expectEqual(given.count, (isWarned ? 1 : 0))
    guard case .array(let fixes)? = given.first?["fixIts"] else { return expect(!isWarned) }
    let mended = Asking.apply(fixes[0], to: source)
    expect(mended.contains("{ @KVOIgnored private var _c = 1;"))
    expect(!Asking.messages(mended).contains { $0.contains("twice") })
  }

  @Test(
    "Q5 E3: no fix-it where the class declares the dependency, or another property would not help",
    arguments: [
      ("class func keyPathsForValuesAffectingC() -> Set<String> { [] }", false),
      ("override class func registerKeys() {}", false),
      ("class func automaticallyNotifiesObserversOf_c() -> Bool { false }", false),
      ("class func automaticallyNotifiesObserversOfC() -> Bool { false }", true),
      ("var d: Int { _c }", true), ("@KVOIgnored var e: Int { 1 }", true),
    ])
  func toldTwiceOtherwise(_ member: String, _ isWarned: Bool) {
    let setter = "withChange(forKey: \"c\") { _c = newValue }"
    let source =
      "@KVO class A: B { var _c = 1; var c: Int { get { _c } set { \(setter) } }; \(member) }"
    let given = Asking.expand("KVOMacro", "member", source).1.filter {
      $0["message"]?.string?.contains("notifies its observers twice") == true
    }
    expectEqual(given.count, (isWarned ? 1 : 0))
    guard case .array(let fixes)? = given.first?["fixIts"] else { return expect(!isWarned) }
    expectEqual(fixes.isEmpty, member.contains("{ _c }"))
  }

  @Test("Q5: the warning has two fix-its: a bracket around the setter's body, and a mark")
  func mended() {
    let source =
      "@KVO class A: B { let m = M(); var x: Int { get { m.i } set { m.i = newValue } } }"
    let fix = Asking.expand("KVOMacro", "member", source).1[0]["fixIts"]
    guard case .array(let fixes)? = fix, fixes.count == 2 else {
      Issue.record("there is nothing to mend it by")
      return
    }
    expect(
      Asking.apply(fixes[0], to: source).contains(
        "set { withAutomaticChange(of: \\.x) { m.i = newValue } }"))
    expect(Asking.apply(fixes[1], to: source).contains("; @KVOTracked var x: Int {"))
  }

  @Test("Q5: the bracket leaves lines of directives alone")
  func mendedAroundDirectives() {
    let body = "#if DEBUG\nm.j = 1\n#endif"
    let source =
      "@KVO class A: B { let m = M(); var x: Int { get { m.i } set {\n\(body) // debug\n} } }"
    let fix = Asking.expand("KVOMacro", "member", source).1[0]["fixIts"]
    guard case .array(let fixes)? = fix else {
      Issue.record("there is nothing to mend it by")
      return
    }
    expect(
      Asking.apply(fixes[0], to: source).contains(
        "set {\nwithAutomaticChange(of: \\.x) {\n\(body)\n} // debug\n} }"))
  }

  @Test(
    "F5: a property announced manually, which another getter reads unnoticed, gets a warning",
    arguments: [
      ("box.value", "withChange(of: \\.c) { box.value = newValue }", "c > 0", true),
      ("box.value", "withChange(forKey: \"c\") { box.value = newValue }", "self.c > 0", true),
      ("let v = box.value; return v", "willChangeValue(for: \\.c); box.value = 1", "c > 0", true),
      ("box.value", "box.value = newValue; changed()", "c > 0", false),
      ("box.value", "withChange(of: \\.d) { box.value = newValue }", "c > 0", false),
      ("box.value", "withChange(of: \\.c) { box.value = newValue }", "other.c > 0", false),
      ("box.value", "withChange(of: \\.c) { box.value = newValue }", "f(c: 1)", false),
      ("box.value + seen", "withChange(of: \\.c) { box.value = newValue }", "c > 0", false),
      (
        "access(keyPath: \\.c); return box.value", "withChange(of: \\.c) { box.value = newValue }",
        "c > 0", false
      ),
    ])
  func readUnnoticed(_ getter: String, _ setter: String, _ reader: String, _ isWarned: Bool) {
    let property = "var c: Int { get { \(getter) } set { \(setter) } }"
    let members = "let box = Box(); var seen = 1; \(property); var isOpen: Bool { \(reader) }"
    let source = "@KVO class A: B { \(members) }"
    let diagnostics = Asking.expand("KVOMacro", "member", source).1
    let warnings = diagnostics.filter {
      $0["message"]?.string?.contains("\"isOpen\" reads \"c\", whose changes") == true
    }
    expectEqual(warnings.count, isWarned ? 1 : 0)
    guard case .array(let fixes)? = warnings.first?["fixIts"] else { return expect(!isWarned) }
    let mended = Asking.apply(fixes[0], to: source)
    expect(
      mended.contains("get { access(keyPath: \\.c)\n\(getter.hasPrefix("let") ? "" : "return ")"))
    expect(!Asking.messages(mended).contains { $0.contains("whose changes") })
  }

  @Test("F5: a reader that names what affects it gets no warning")
  func readDeclared() {
    let property = """
      let box = Box(); var c: Int { get { box.value } set { withChange(of: \\.c) { box.value = 1 } } }
      var isOpen: Bool { c > 0 }
      """
    let affecting =
      "@objc class func keyPathsForValuesAffectingIsOpen() -> Set<String> { [\"c\"] }"
    expectEqual(Asking.messages("@KVO class A: B {\n\(property)\n}").count, 1)
    expectEqual(Asking.messages("@KVO class A: B {\n\(property)\n\(affecting)\n}"), [])
    // Announced in a method, not in a setter.
    let inMethod = """
      let box = Box(); var c: Int { box.value }
      func add() { withChange(of: \\.c) { box.value += 1 } }
      var isOpen: Bool { c > 0 }
      """
    expectEqual(Asking.messages("@KVO class A: B {\n\(inMethod)\n}").count, 1)
  }

  @Test(
    "F5: the call is put where it compiles, with the return that it needs, and otherwise not offered",
    arguments: [
      ("get { list.reduce(0) { return $0 + $1 } }", "get { CALLreturn list.reduce(0) {"),
      ("get { self.box.value }", "get { CALLreturn self.box.value"),
      ("get { .init(box.value) }", "get { CALLreturn .init(box.value)"),
      ("get { -box.value }", "get { CALLreturn -box.value"),
      ("get { try! box.read() }", "get { CALLreturn try! box.read()"),
      ("get { if box.isOn { return 1 }; return box.value }", "get { CALLif box.isOn"),
      ("get { guard box.isOn else { return 0 }; return box.value }", "get { CALLguard box.isOn"),
      ("get { if box.isOn { box.value } else { 0 } }", nil),
      ("get { switch box.value { case 0: 1; default: 2 } }", nil),
      ("get { if box.isOn { return 1 } else { return 0 } }", "get { CALLif box.isOn"),
      ("get { switch box.value { case 0: return 1; default: return 2 } }", "get { CALLswitch box"),
      ("get { let v = box.value; if v > 1 { return v } else { return 1 } }", "get { CALLlet v"),
      ("get { if box.isOn { list.reduce(0) { return $0 + $1 } } else { 0 } }", nil),
      ("_read { yield box.value }", nil), ("read { yield box.value }", nil),
      ("get {\n#if X\nbox.value\n#else\n0\n#endif\n}", nil),
      ("get {\n#if X\nreturn box.value\n#else\nreturn 0\n#endif\n}", nil),
    ])
  func reported(_ getter: String, _ mended: String?) {
    let setter = "set { withChange(of: \\.c) { box.value = newValue } }"
    let source = """
      @KVO class A: B { let box = Box(); let list = [1]; var c: Int { \(getter) \(setter) }; var d: Bool { c > 0 } }
      """
    let given = Asking.expand("KVOMacro", "member", source).1.filter {
      $0["message"]?.string?.contains("whose changes are announced manually") == true
    }
    expectEqual(given.count, 1)
    guard case .array(let fixes)? = given.first?["fixIts"], let fix = fixes.first else {
      expectEqual(mended, nil)
      return
    }
    let call = "access(keyPath: \\.c)\n"
    let text = mended?.replacing("CALL", with: call)
    expect(text.map { Asking.apply(fix, to: source).contains($0) } == true)
  }

  @Test("F5 Q6: a getter that caches its value has to report that another one reads it")
  func readCached() {
    let source = """
      @KVO class A: B { var text = "" { didSet { cache = nil } }; @KVOIgnored var cache: Int?
      var c: Int { CALLif let cache { return cache }; let n = text.count; cache = n; return n }
      READER }
      """
    let reader = source.replacing("READER", with: "var isLong: Bool { c > 9 }")
    let message = """
      @KVO: "isLong" reads "c", whose getter keeps its value in "cache": while that is filled, observers of "isLong" are not \
      notified of its changes; call access(keyPath: \\.c) in the getter of "c".
      """
    let messages = Asking.messages(reader.replacing("CALL", with: ""))
    expectEqual(messages.map { String($0.drop { $0 != "@" }) }, [message])
    let inString = reader.replacing("Bool { c > 9 }", with: "String { \"\\(c)\" }")
    expectEqual(Asking.messages(inString.replacing("CALL", with: "")).count, 1)
    expectEqual(Asking.messages(reader.replacing("CALL", with: "access(keyPath: \\.c); ")), [])
    let unread = source.replacing("READER", with: "func f() -> Int { c }").replacing(
      "CALL", with: "")
    expectEqual(Asking.messages(unread), [])
  }

  @Test(
    "F5: a getter that reads nothing observed, of a property with declared dependencies, has to report that another reads it",
    arguments: [
      ("cache", true), ("self.cache + box", true), ("access(keyPath: \\.b); return cache", false),
      ("a + cache", false), ("box.value", false), ("compute()", false), ("inherited", false),
      ("1", false),
    ])
  func readOfDeclared(_ getter: String, _ isWarned: Bool) {
    let source = """
      @KVO class A: B { var a = 1; @KVOIgnored var cache = 10; let box = 1; var b: Int { \(getter) }
      @objc class func keyPathsForValuesAffectingB() -> Set<String> { ["a"] }
      var d: Int { b + 2 } }
      """
    let message = """
      @KVO: "d" reads "b", whose getter reads nothing observed, so observers of "d" are not notified of its changes; call \
      access(keyPath: \\.b) in the getter of "b".
      """
    let messages = Asking.messages(source).map { String($0.drop { $0 != "@" }) }
    expectEqual(messages, isWarned ? [message] : [])
  }

  @Test(
    "F5 Q6: a property that a getter only sets is no cache",
    arguments: [
      "n += 1; return text.count", "last = text; return text.count", "c.n = text.count; return 1",
    ])
  func onlySet(_ getter: String) {
    let source = """
      @KVO class A: B { var text = ""; @KVOIgnored var n = 0; @KVOIgnored var last = ""; let c = C()
      var words: Int { \(getter) }; var twice: Int { 2 * words } }
      """
    expectEqual(Asking.messages(source), [])
    let counted = source.replacing(
      "return", with: "if let cache { return cache }; cache = 1; return")
    let cached = counted.replacing("let c =", with: "@KVOIgnored var cache: Int?; let c =")
    expectEqual(Asking.messages(cached).count, 1)
    expect(Asking.messages(cached).allSatisfy { $0.contains("in \"cache\"") })
  }

  @Test(
    "F5 Q6: a local name of an ignored property is no cache",
    arguments: [
      "var n = 0; for item in items { n += item }; return n",
      "items.reduce(into: 0) { n, item in n += item }",
      "guard var n = items.first else { return 0 }; n += 1; return n",
    ])
  func readLocal(_ getter: String) {
    let source = """
      @KVO class A: B { var items = [1]; @KVOIgnored var n = 0
      var sum: Int { \(getter) }; var twice: Int { 2 * sum } }
      """
    expectEqual(Asking.messages(source), [])
  }

  @Test("F5: a property that is marked @KVOTracked gets no warning")
  func readMarked() {
    let source = """
      @KVO class A: B { let m = M(); MARK var c: Int { get { m.n } set { withChange(of: \\.c) { m.n = 1 } } }
      var isBig: Bool { c > 0 } }
      """
    expectEqual(Asking.messages(source.replacing("MARK", with: "")).count, 1)
    expectEqual(Asking.messages(source.replacing("MARK", with: "@KVOTracked")), [])
  }
}
