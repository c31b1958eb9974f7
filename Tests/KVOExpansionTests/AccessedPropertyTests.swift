import Expectations
import SwiftSource
import Testing

@testable import KVOExpansion

/// Q6: the expansion of properties with observers.
@Suite struct AccessedPropertyTests {
  @Test(
    "Q6: in an observer's body the property's name is its storage, unless shadowed or in a closure",
    arguments: [
      ("x = 1", "_ = 1"), ("self.x += x", "self._ += _"),
      ("other.x = self.x.y", "other.x = self._.y"),
      ("f(x: x, x)", "f(x: _, _)"), ("[x: x][x]", "[_: _][_]"), ("b ? x : x", "b ? _ : _"),
      ("f { x = 1 }; x = 2", "f { x = 1 }; _ = 2"), ("f { self.x = 1 }", "f { self.x = 1 }"),
      ("if a { x = 1 } else { x = 2 }", "if a { _ = 1 } else { _ = 2 }"),
      ("if let x { x.f() } else { x = y }; x = z", "if let x { x.f() } else { _ = y }; _ = z"),
      ("guard let x else { x = y; return }; x.f()", "guard let x else { _ = y; return }; x.f()"),
      ("guard x > 1 else { return }; x = 2", "guard _ > 1 else { return }; _ = 2"),
      ("let x = 1; f(x)", "let x = 1; f(x)"),
      ("do { let x = 1; f(x) }; f(x)", "do { let x = 1; f(x) }; f(_)"),
      ("let (a, x) = y; f(x)", "let (a, x) = y; f(x)"),
      ("let (x: a, y) = z; f(x)", "let (x: a, y) = z; f(_)"),
      ("for x in x { x.f() }; x = 1", "for x in _ { x.f() }; _ = 1"),
      ("for case let x? in y { f(x) }; f(x)", "for case let x? in y { f(x) }; f(_)"),
      ("for y in x where x > y { f(x) }", "for y in _ where _ > y { f(_) }"),
      ("if case .a(let x) = y { f(x) }; f(x)", "if case .a(let x) = y { f(x) }; f(_)"),
      (
        "switch x { case let x where x > 1: f(x)\ndefault: x = 1 }",
        "switch _ { case let x where x > 1: f(x)\ndefault: _ = 1 }"
      ),
      (
        "do { try f(x) } catch let x { g(x) }; x = 1", "do { try f(_) } catch let x { g(x) }; _ = 1"
      ),
      ("repeat { x = 1 } while x < 2\nf { x = 3 }", "repeat { _ = 1 } while _ < 2\nf { x = 3 }"),
      ("while x < 2 { x += 1 }", "while _ < 2 { _ += 1 }"),
      ("defer { x = 1 }; x = 2", "defer { _ = 1 }; _ = 2"),
      ("func g() { x = 1 }; g()", "func g() { x = 1 }; g()"),
      (
        "if y.contains(where: { $0 == x }) { x = 1 }", "if y.contains(where: { $0 == x }) { _ = 1 }"
      ),
      ("print(\"a \\(x) \\(self.x)\\(f { x })\")", "print(\"a \\(_) \\(self._)\\(f { x })\")"),
      ("print(\"\\(\"\\(x)\")\")", "print(\"\\(\"\\(_)\")\")"),
      ("x.sort(); x[0] = 1; f(&x)", "_.sort(); _[0] = 1; f(&_)"),
      ("let k = \\Self.x; y[keyPath: \\.x] = 1", "let k = \\Self.x; y[keyPath: \\.x] = 1"),
      ("#if A\nx = 1\n#endif", "#if A\n_ = 1\n#endif"), ("`x` = 1", "_ = 1"),
      ("$x = 1; xx = x1", "$x = 1; xx = x1"),
      ("a.self.x = 1", "a.self.x = 1"), ("if b { let x = 1 }; x = 2", "if b { let x = 1 }; _ = 2"),
      ("let a: Int = 1, x: Int = 5; f(x)", "let a: Int = 1, x: Int = 5; f(x)"),
      ("let a = [1, 2], x = 20; f { x + a }; f(x)", "let a = [1, 2], x = 20; f { x + a }; f(x)"),
      ("let a = b, c = x; f(x)", "let a = b, c = _; f(_)"),
      ("let a = 1,\n(b, x) = c; f(x)", "let a = 1,\n(b, x) = c; f(x)"),
      ("let a = 1\nf(2, x)", "let a = 1\nf(2, _)"),
      ("let a = 1; f(y, x = 2)", "let a = 1; f(y, _ = 2)"),
      ("if let a = b, x > 1 { f(x) }", "if let a = b, _ > 1 { f(_) }"),
      ("f { } x: { }; h = g(y:x:); k = g(in:x:)", "f { } x: { }; h = g(y:x:); k = g(in:x:)"),
      ("h = b ? c ? y : x : z", "h = b ? c ? y : _ : z"),
      ("let y = if b { x } else { f { x } }", "let y = if b { _ } else { f { x } }"),
    ])
  func direct(_ body: String, _ expected: String) {
    let source = "var x = 0 { didSet { \(body) } }"
    let (storage, diagnostics) = Asking.expand("AccessedMacro", "peer", source)
    expect(diagnostics.isEmpty)
    let head =
      "private var _kvo_x = 0 {\n  didSet {\n#sourceLocation(file: \"/tmp/Account.swift\", line: 1)\n "
    let tail = "\n#sourceLocation()\n  }\n}"
    expectEqual(
      storage,
      head + expected.replacing("_", with: "_kvo_x").replacing("_kvo_x ", with: "_kvo_x ") + tail)
  }

  @Test(
    "Q6: in an observer's body, what a local declaration or pattern names is not the property",
    arguments: [
      ("func f(_ x: Int) -> Int { x }; x = f(x)", "func f(_ x: Int) -> Int { x }; X = f(X)"),
      ("func f(x: Int, with x: Int) {}; x = 1", "func f(x: Int, with x: Int) {}; X = 1"),
      (
        "func f(x y: Int, z x: inout T, w: Int...) {}",
        "func f(x y: Int, z x: inout T, w: Int...) {}"
      ),
      ("func f(_ a: Int = x, b: T = { x }()) { x }", "func f(_ a: Int = x, b: T = { x }()) { x }"),
      (
        "func f<x: P>(_ a: x) -> (_ x: Int, x: Int) where x: Q { x }; x = 1",
        "func f<x: P>(_ a: x) -> (_ x: Int, x: Int) where x: Q { x }; X = 1"
      ),
      ("func f() { func g(_ x: Int) {} }; x = 1", "func f() { func g(_ x: Int) {} }; X = 1"),
      ("x(); func x() {}; self.x = 1", "x(); func x() {}; self.X = 1"),
      ("if a { x(); func x() {} }; x = 1", "if a { x(); func x() {} }; X = 1"),
      ("if a { func f() { func x() {} } }; x = 1", "if a { func f() { func x() {} } }; X = 1"),
      ("let y: x; typealias x = Int", "let y: x; typealias x = Int"),
      (
        "switch x { case 1: x(); func x() {}\ncase 2: x = 2\ndefault: x = 3 }",
        "switch X { case 1: x(); func x() {}\ncase 2: X = 2\ndefault: X = 3 }"
      ),
      (
        "switch y { case 1: if case .a = x { x() }; func x() {}\ndefault: x = 3 }",
        "switch y { case 1: if case .a = x { x() }; func x() {}\ndefault: X = 3 }"
      ),
      ("let f: (_ x: Int, x: Int) -> Int = g(x)", "let f: (_ x: Int, x: Int) -> Int = g(X)"),
      ("f { (_ x: Int, y x: Int) in x }; x = 1", "f { (_ x: Int, y x: Int) in x }; X = 1"),
      ("f { [x, y = x] in x }; x = 1", "f { [x, y = x] in x }; X = 1"),
      ("f { x, y in x }; f { (x) in x }; x = 1", "f { x, y in x }; f { (x) in x }; X = 1"),
      ("while let x = x { f(x) }; x = 1", "while let x = X { f(x) }; X = 1"),
      (
        "for (i, x) in x.enumerated() { f(x) }; x = 1",
        "for (i, x) in X.enumerated() { f(x) }; X = 1"
      ),
      ("for x: Int in x { f(x) }; x = 1", "for x: Int in X { f(x) }; X = 1"),
      ("for await x in x { f(x) }; x = 1", "for await x in X { f(x) }; X = 1"),
      (
        "guard case let .a(x)? = x else { return }; f(x)",
        "guard case let .a(x)? = X else { return }; f(x)"
      ),
      (
        "guard let y, let x = y.x else { x = 1; return }; f(x)",
        "guard let y, let x = y.x else { X = 1; return }; f(x)"
      ),
      ("if let y = x, let x = y.z { f(x) }; x = 1", "if let y = X, let x = y.z { f(x) }; X = 1"),
      (
        "do { try f() } catch let x as E { g(x) } catch { x = 1 }",
        "do { try f() } catch let x as E { g(x) } catch { X = 1 }"
      ),
      (
        "do { try f() } catch E.a(let x) where x > 1 { g(x) }; x = 1",
        "do { try f() } catch E.a(let x) where x > 1 { g(x) }; X = 1"
      ),
      (
        "switch x { case (let x, 1): f(x)\ncase .a(let y, let x): f(x, y)\ncase x: x = 1 }",
        "switch X { case (let x, 1): f(x)\ncase .a(let y, let x): f(x, y)\ncase X: X = 1 }"
      ),
      (
        "switch x { case is x.Type: x = 1\n@unknown default: x = 2 }",
        "switch X { case is X.Type: X = 1\n@unknown default: X = 2 }"
      ),
      ("var x: Int { x }; f(x)", "var x: Int { x }; f(x)"),
      ("lazy var x = f { x }; g(x)", "lazy var x = f { x }; g(x)"),
      ("let (a, (b, x)) = y, c = x; f(x)", "let (a, (b, x)) = y, c = x; f(x)"),
      ("#if A\nlet x = 1\n#endif\nf(x)", "#if A\nlet x = 1\n#endif\nf(x)"),
      ("x: for y in x { break x }; x = 1", "x: for y in X { break x }; X = 1"),
      ("while a { if b { continue\nx = 1 } }", "while a { if b { continue\nX = 1 } }"),
    ])
  func shadowed(_ body: String, _ expected: String) {
    let storage = Asking.expand("AccessedMacro", "peer", "var x = 0 { didSet { \(body) } }").0
    let text = expected.replacing("X", with: "_kvo_x")
    expect(storage.contains("\n \(text)\n#sourceLocation()"), storage)
  }

  @Test(
    "Q6: a type that is declared in an observer's body is an error at its line",
    arguments: [
      "struct S {}", "if a { final class C {} }", "let f = { enum E { case a } }",
      "func f() { actor A {} }", "print(\"\\({ struct S {}; return 1 }())\")",
    ])
  func localTypes(_ body: String) {
    for observer in ["didSet", "willSet"] {
      for head in ["var x = 0", "override var x: Int", "weak var x: C?"] {
        let source = "\(head) { \(observer) {\n\(body) } }"
        let (accessors, messages) = Asking.expand("AccessedMacro", "accessor", source)
        expect(accessors.contains("get"))
        let place = ["struct", "class", "enum", "actor"].lazy
          .compactMap { source.utf8.firstRange(of: Array($0.utf8)) }.first!
        let offset = source.utf8.distance(from: source.startIndex, to: place.lowerBound)
        expectEqual(messages.first?["position"]?["offset"]?.int, Asking.offset + offset)
        expectEqual(
          messages.first?["message"]?.string?.hasPrefix(
            "@KVO: a type can't be declared in the \(observer) of \"x\"; "), true)
      }
    }
  }

  @Test(
    "Q6: other words in an observer's body declare no type",
    arguments: ["x = actor.x", "let actor = y", "let k = y.class", "let a: S = actor\nf()"])
  func noLocalTypes(_ body: String) {
    let source = "var x = 0 { didSet { \(body) } }"
    let (_, messages) = Asking.expand("AccessedMacro", "accessor", source)
    expect(messages.isEmpty)
  }

  @Test("Q6: an observer's parameter, and the error of a catch, hide a property of their name")
  func hiddenByParameter() {
    func observers(_ property: String) -> String {
      Asking.expand("AccessedMacro", "peer", property).0
    }
    let caught = observers(
      "var error: E? { didSet { do { try f() } catch { g(error) }; h(error) } }")
    expect(caught.contains("catch { g(error) }; h(_kvo_error)"), caught)
    let matched = observers("var error: E? { didSet { do { try f() } catch E.a { g(error) } } }")
    expect(matched.contains("catch E.a { g(_kvo_error) }"), matched)
    let named = observers("var x = 0 { willSet(x) { f(x) } didSet { g(x) } }")
    expect(named.contains(" f(x)\n") && named.contains(" g(_kvo_x)\n"), named)
    let implicit = observers("var newValue = 0 { willSet { f(newValue) } didSet { g(newValue) } }")
    expect(
      implicit.contains(" f(newValue)\n") && implicit.contains(" g(_kvo_newValue)\n"), implicit)
    let old = observers("var oldValue = 0 { willSet { f(oldValue) } didSet { g(oldValue) } }")
    expect(old.contains(" f(_kvo_oldValue)\n") && old.contains(" g(oldValue)\n"), old)
  }

  @Test(
    "Q6: storage keeps type, default value, parameter names and actor; bodies keep their places")
  func storage() {
    let source = """
      // A comment.
      @MainActor @KVORuntime.KVOAccessed public private(set) var x: [Int] = [1, 2] {
        willSet(next) {
          // First.
          f(next)
        }

        didSet {}
      }
      """
    expectEqual(
      Asking.expand("AccessedMacro", "peer", source).0,
      """
      @MainActor private var _kvo_x: [Int] = [1, 2] {
        willSet(next) {
      #sourceLocation(file: "/tmp/Account.swift", line: 3)

          // First.
          f(next)
      #sourceLocation()
        }
        didSet {

        }
      }
      """)
    expectEqual(
      Asking.expand("AccessedMacro", "accessor", "var x = 0 { didSet {} }").0,
      """
      {
        @storageRestrictions(initializes: _kvo_x)
        init(initialValue) { _kvo_x = initialValue }
        get {
          KVORuntime.KVOObject._readsKey(self, "x", \\.x)
          return _kvo_x
        }
        set {
          let change = KVORuntime.KVOObject._beginChange(self, "x", \\.x)
          _kvo_x = newValue
          KVORuntime.KVOObject._endChange(self, change, "x", \\.x)
        }
        _modify {
          let change = KVORuntime.KVOObject._beginChangeInPlace(self, "x", \\.x)
          defer { KVORuntime.KVOObject._endChange(self, change, "x", \\.x) }
          yield &_kvo_x
        }
      }
      """)
  }

  @Test(
    "Q1: any other property is stored in an Observed beside it, which its accessors change",
    arguments: [
      (
        "public private(set) var x: Int = 1",
        ": KVORuntime.Observed<Int> = KVORuntime.Observed(wrappedValue: 1)"
      ),
      ("var x = [1]", " = KVORuntime.Observed(wrappedValue: [1])"),
      ("var x: Int?", ": KVORuntime.Observed<Int?> = KVORuntime.Observed(wrappedValue: nil)"),
      ("var x: A!", ": KVORuntime.Observed<A?> = KVORuntime.Observed(wrappedValue: nil)"),
      ("final var x: A", ": KVORuntime.Observed<A>"),
      ("var x: [() -> Int]", ": KVORuntime.Observed<[() -> Int]>"),
      ("var x: Box<() -> Int>", ": KVORuntime.Observed<Box<() -> Int>>"),
      ("var x: Box<[Int], () -> Int>", ": KVORuntime.Observed<Box<[Int], () -> Int>>"),
      ("var x = { 1 }()", " = KVORuntime.Observed(wrappedValue: { 1 }())"),
      ("var x = { 1 }() + { 2 }()", " = KVORuntime.Observed(wrappedValue: { 1 }() + { 2 }())"),
      (
        "var x = if a { 1 } else { 2 }",
        " = KVORuntime.Observed(wrappedValue: { if a { 1 } else { 2 } }())"
      ),
    ])
  func stored(_ source: String, _ declaration: String) {
    expectEqual(
      Asking.expand("AccessedMacro", "peer", source).0, "private final var _x\(declaration)")
    expectEqual(
      Asking.expand("AccessedMacro", "accessor", source).0,
      """
      {
        @storageRestrictions(initializes: _x)
        init(initialValue) { _x = KVORuntime.Observed(wrappedValue: initialValue) }
        get {
          KVORuntime.KVOObject._reads(self, "x", \\.x) { KVORuntime.KVOObject._Place(&_x) }
          return _x._value
        }
        set {
          KVORuntime.KVOObject._sets(self, "x", \\.x, newValue) { $0(KVORuntime.KVOObject._Place(&_x)) }
        }
        _modify {
          let change = KVORuntime.KVOObject._willModify(self, "x", \\.x) { KVORuntime.KVOObject._Address(&_x) }
          defer { KVORuntime.KVOObject._didModify(change, "x") }
          yield &_x._value
        }
      }
      """)
  }

  @Test(
    "Q1: a function is stored in its own type, as far as the source shows that it is one",
    arguments: [
      ": () -> Int?", ": () -> Int = { 1 }", ": (() -> Int)?", ": @Sendable (Int) -> Void",
      ": (_ xs: [Int]) -> [Int]", ": Optional<() -> Int>", ": (a: () -> Int, b: Int)",
      " = { 1 }", " = { (x: Int) in { x }() }", ": () -> Box<Int>",
      ": (Array<Array<Int>>) -> Int?", ": (any Collection<Array<Int>>) -> Int",
      ": (Array<Array<Array<Int>>>) -> Int",
      ": ((Array<Array<Int>>) -> Int)?", ": Optional<(Set<Set<Int>>) -> Int>?",
      " = { 1 } as () -> Int", " = ({ 5 })", " = abs as (Int) -> Int", " = (a: 1, b: { 2 })",
      " = f as? () -> Box<Int>",
    ])
  func functions(_ rest: String) {
    let source = "var x\(rest)"
    expectEqual(Asking.expand("AccessedMacro", "peer", source).0, "private var _kvo_x\(rest)")
    expect(Asking.expand("AccessedMacro", "accessor", source).0.contains("yield &_kvo_x\n"))
    expectEqual(Asking.declarations(source), ["keys.stored(\"x\", \\.x)"])
    expectEqual(Asking.attribute(source), "@KVORuntime.KVOAccessed")
    expectEqual(Asking.attribute("var `a.b`\(rest)"), "@KVORuntime.Observed")
  }

  @Test(
    "Q1: a value that is no function, as far as the source shows, has generic storage",
    arguments: [
      ": [() -> Int] = []", ": Box<() -> Int>", ": Box<Box<() -> Int>>", " = { 1 }()",
      " = [{ 1 }]", " = ({ 1 }(), 2)", " = f { 1 }", " = [] as [() -> Int]", " = (a: 1, b: 2)",
    ])
  func noFunctions(_ rest: String) {
    expectEqual(Asking.attribute("var x\(rest)"), "@KVORuntime.KVOAccessed")
    let storage = Asking.expand("AccessedMacro", "peer", "var x\(rest)").0
    expect(storage.contains("KVORuntime.Observed"))
  }

  @Test("Q1: the storage is named as the property, and is on its actor")
  func storedNames() {
    let source = "@MainActor var `class` = 1"
    expectEqual(
      Asking.expand("AccessedMacro", "peer", source).0,
      "@MainActor private final var _class = KVORuntime.Observed(wrappedValue: 1)")
    expect(
      Asking.expand("AccessedMacro", "accessor", source).0.contains(
        "_reads(self, \"class\", \\.`class`)"))
  }

  @Test("Q6: the observers of an override become methods, around the superclass's setter")
  func overriding() {
    let source = "override var x: Int { willSet { x = 1 } didSet(last) {} }"
    expectEqual(
      Asking.expand("AccessedMacro", "peer", source).0,
      """
      private func _kvo_willSet_x(_ newValue: Int) {
      #sourceLocation(file: "/tmp/Account.swift", line: 1)
       x = 1
      #sourceLocation()
      }
      private func _kvo_didSet_x(_ last: Int) {

      }

      """)
    expectEqual(
      Asking.expand("AccessedMacro", "accessor", source).0,
      """
      {
        get { super.x }
        set {
          let change = KVORuntime.KVOObject._beginOverride(self, "x", \\.x)
          let oldValue = super.x
          _kvo_willSet_x(newValue)
          super.x = newValue
          _kvo_didSet_x(oldValue)
          KVORuntime.KVOObject._endChange(self, change, "x", \\.x)
        }
      }
      """)
  }

  @Test("Q6: an override reads its superclass's value only for a didSet that uses it")
  func overridingWithoutOldValue() {
    for (body, isRead) in [
      ("didSet { f(x) }", false), ("didSet { f(oldValue) }", true), ("didSet(y) { f(x) }", true),
      ("didSet { f(\"\\(oldValue)\") }", true), ("willSet { f(newValue) }", false),
    ] {
      let source = "override var x: Int { \(body) }"
      let accessors = Asking.expand("AccessedMacro", "accessor", source).0
      expectEqual(accessors.contains("let oldValue = super.x"), isRead, body)
      let methods = Asking.expand("AccessedMacro", "peer", source).0
      expectEqual(accessors.contains("_kvo_didSet_x()"), methods.contains("_kvo_didSet_x()"), body)
    }
  }

  @Test("Q5: a property with the name of another one's storage is an error at its line")
  func storageNamedTwice() {
    func messages(_ members: String) -> String {
      Asking.messages("@KVO class A: KVOObject {\n\(members)\n}").joined()
    }
    for members in [
      "var x = 1\nvar _x = 2", "private var _x = 1\nvar x = 1",
      "weak var x: A?\nvar _kvo_x = 1", "var x = 1\nvar _x: Int { 1 }",
    ] {
      expect(messages(members).contains("another name"), members)
    }
    for members in [
      "private var _x = 1\nvar x: Int { _x }", "let x = 1\nvar _x = 1",
      "var x = 1\nstatic var _x = 1",
    ] {
      expect(!messages(members).contains("another name"), members)
    }
  }

  @Test(
    "Q6: a getter that caches its value depends on what it names, or gets a warning",
    arguments: [
      ("{ cache = cache ?? a + self.b; return cache! }", "[\"a\", \"b\"]", 0),
      ("{ if let cache { return cache }; let n = other.a; cache = n; return n }", nil, 1),
      ("{ a + (cache ?? 0) }", nil, 0),
      ("{ self.cache = f(a: b); return cache + c }", "[\"b\", \"c\"]", 0),
      ("{ let cache = a; return cache }", nil, 0),
      ("{ let (cache, n) = (a, 1); return cache }", nil, 0),
      ("{ (cache, n) = (a, 1); return cache! }", "[\"a\"]", 0),
      ("{ ((n, self.cache), m) = f(a); return cache! }", "[\"a\"]", 0),
      ("{ if case (cache, 1) = Model.f(a) { return 1 } }", nil, 0),
      ("{ memo[b]?.n = a; return memo[b]!.n }", "[\"b\", \"a\"]", 0),
      ("{ memo.n += memo.n }", nil, 1),
      ("{ cache ?? keep(a) }", "[\"a\"]", 0), ("{ cache ?? fill() }", "[\"b\"]", 0),
      ("{ cache ?? keep(1) }", nil, 1),
      ("{ swap(&self.cache, a) }", "[\"a\"]", 0),
      ("{ cache = cache ?? \"\\(a)\".count }", "[\"a\"]", 0),
      // Without doubt it keeps nothing, or has nothing to keep it in.
      ("{ cache = a; return a }", nil, 0), ("{ keep(a) }", nil, 0), ("{ memo.n += a }", nil, 0),
      ("{ memo.n + a }", nil, 0), ("{ max(a, b) }", nil, 0), ("{ Model.f(a) + memo.n }", nil, 0),
      ("{ c.map { $0.f(a) } }", nil, 0),
      // In doubt it keeps its value, if it reads what it may have kept, but there is no warning.
      ("{ cache ?? other(a) }", "[\"a\"]", 0), ("{ memo.find() ?? memo.add(a) }", "[\"a\"]", 0),
      ("{ cache ?? f(self) + a }", "[\"a\"]", 0), ("{ inherited = inherited ?? a }", "[\"a\"]", 0),
      ("{ Self.memo[1] = a; return a }", "[\"a\"]", 0),
      ("{ c.n = a; return 1 }", "[\"c\", \"a\"]", 0),
      ("{ memo.find() }", nil, 0),
      ("{ A.f(a) }", "[\"a\"]", 0), ("{ boxed = boxed ?? a }", "[\"boxed\", \"a\"]", 0),
      ("{ Cache.shared.find(1) ?? Cache.shared.add(a) }", "[\"a\"]", 0),
      ("{ Cache.f(a) + Cache(a).n + M.Cache.f(a) }", nil, 0), ("{ Cache.shared.n + a }", nil, 0),
      ("{ $cache.n = a; return cache! }", "[\"a\"]", 0), ("{ f { $0 + a } }", nil, 0),
      ("{ f { [weak self] in self?.cache = self?.cache ?? a } }", "[\"a\"]", 0),
    ] as [(String, String?, Int)])
  func kept(_ getter: String, _ sources: String?, _ warnings: Int) {
    let source = """
      @KVO class A: KVOObject {
      var a = 1; var b = 2 { didSet { cache = nil } }; var c: Int { a }
      @KVOIgnored var cache: Int?
      let memo = Memo()
      func keep(_ n: Int) -> Int { cache = n; return n }
      func fill() -> Int { keep(b) }
      @KVOTracked var boxed: Int? { get { cache } set { cache = newValue } }
      var sum: Int \(getter)
      }
      """
    let declaration =
      "keys.computed(\"sum\", \\.sum)"
      + (sources.map { "; keys._keeping(\"sum\", reads: \($0))" } ?? "") + "\n"
    expect(Asking.members(source).contains(declaration), Asking.members(source))
    expectEqual(Asking.messages(source).count, warnings)
  }

  @Test(
    "Q6: a local name is not the property, in its scope",
    arguments: [
      ("{ var cache = a; cache += b; return cache }", nil),
      ("{ guard var cache = a else { return b }; cache += 1; return cache }", nil),
      ("{ c.reduce(into: 0) { cache, n in cache += n } }", nil),
      ("{ c.f { (cache: inout Int) -> Void in cache += 1 } }", nil),
      ("{ for var cache in c { cache += a } }", nil),
      ("{ if case .some(var cache) = c { cache += a } }", nil),
      ("{ func f(_ cache: inout Int) { cache += a }; return b }", nil),
      ("{ if let cache { return cache }; cache = a; return a }", "[\"a\"]"),
      ("{ guard let cache else { cache = a; return a }; return cache }", "[\"a\"]"),
      (
        "{ switch c { case let cache?: return 1\ncase nil: cache = cache ?? a } }", "[\"c\", \"a\"]"
      ),
      ("{ if let a { cache = a }; return cache! }", "[\"a\"]"),
      ("{ if let a = a, a > 1 { cache = a }; return cache! }", "[\"a\"]"),
      ("{ var a = a; a += 1; cache = a; return cache! }", "[\"a\"]"),
      ("{ let a = f(), b = 1\ncache = a + b + c; return cache! }", "[\"c\"]"),
      ("{ let (a, n) = f()\n  .g(); cache = a + b; return cache! }", "[\"b\"]"),
      ("{ for (a, n) in f() { cache = a + b }; return cache! }", "[\"b\"]"),
      ("{ f { (a: Int) in cache = cache ?? a + b } }", "[\"b\"]"),
      ("{ cache ?? keep(c) }", "[\"c\"]"),
    ] as [(String, String?)])
  func keptBesideLocals(_ getter: String, _ sources: String?) {
    let source = """
      @KVO class A: KVOObject {
      var a = 1; var b = 2; var c: Int { a }
      @KVOIgnored var cache: Int?
      func keep(_ a: Int) -> Int { cache = a; return a }
      var sum: Int \(getter)
      }
      """
    let declaration =
      "keys.computed(\"sum\", \\.sum)"
      + (sources.map { "; keys._keeping(\"sum\", reads: \($0))" } ?? "") + "\n"
    expect(Asking.members(source).contains(declaration), Asking.members(source))
    expectEqual(Asking.messages(source), [])
  }

  @Test(
    "Q6: a name that the class does not declare may be a superclass's property",
    arguments: [
      ("{ cache = cache ?? name; return cache! }", "[\"name\"]", 0),
      ("{ cache = cache ?? super.name + a; return cache! }", "[\"a\", \"name\"]", 0),
      ("{ if let other { return other }; other = name; return 1 }", "[\"other\", \"name\"]", 0),
      ("{ cache ?? keep(name) }", "[\"name\"]", 0), ("{ cache = 1; return cache! }", nil, 1),
      ("{ name.uppercased() + max(name, title) }", nil, 0), ("{ name + a }", nil, 0),
      ("{ name.uppercased() + a }", "[\"a\"]", 0),
    ] as [(String, String?, Int)])
  func keptOfSuperclass(_ getter: String, _ sources: String?, _ warnings: Int) {
    let source = """
      @KVO class A: B { var a = 1; @KVOIgnored var cache: Int?; var sum: Int \(getter) }
      """
    let declaration =
      "keys.computed(\"sum\", \\.sum)"
      + (sources.map { "; keys._keeping(\"sum\", reads: \($0))" } ?? "") + "\n"
    expect(Asking.members(source).contains(declaration), Asking.members(source))
    expectEqual(Asking.messages(source).count, warnings)
  }

  @Test(
    "Q1 Q6: a lazy variable, or one with another wrapper, is a place to keep a value in",
    arguments: ["lazy var", "@Plain var"])
  func keptUnobserved(_ property: String) {
    let source = """
      @KVO class A: KVOObject { var a = 1; \(property) cache: Int? = nil
      var sum: Int { cache = cache ?? a; return cache! } }
      """
    let members = Asking.members(source)
    expect(members.contains("keys._keeping(\"sum\", reads: [\"cache\", \"a\"])"), members)
  }

  @Test(
    "Q7: storage is coded under its property's name, if the class has no keys of its own")
  func codingKeys() {
    let source = """
      @KVO final class A: KVOObject, Codable {
      let id = 1, other = 2
      #if X
      weak var w: A?
      #endif
      static var s = 1
      @KVOIgnored lazy var l = 2
      var c: Int { 1 }
      var `in` = 1 { didSet {} }
      var plain = 2
      override var o: Int { didSet {} }
      }
      """
    expect(
      Asking.allMembers(source).hasSuffix(
        """
        private enum CodingKeys: Swift.String, Swift.CodingKey {
          case id
          case other
        #if X
          case _kvo_w = "w"
          static var w: Self { ._kvo_w }
        #endif
          case _kvo_in = "in"
          static var `in`: Self { ._kvo_in }
          case _plain = "plain"
          static var plain: Self { ._plain }
        }
        """), "\(Asking.allMembers(source))")
    for other in ["let x = 1", "@Observed var x = 1", "override var x: Int { didSet {} }"] {
      let members = Asking.allMembers("@KVO class A: KVOObject, Codable {\n\(other)\n}")
      expect(!members.contains("CodingKeys") && !members.contains("_kvo_declare"))
    }
  }

  @Test("Q7: a class that may be coded has names; another one refuses to be coded by extensions")
  func uncoded() {
    func members(_ head: String, _ more: String = "") -> String {
      Asking.allMembers("@KVO class A: \(head) {\nvar x = 1\n\(more)\n}")
    }
    for head in [
      "KVOObject, Decodable", "Base, Model", "KVOObject, Sendable & Swift.Codable",
      "KVOObject, Hashable, Model<Int>",
    ] {
      expect(members(head).contains("case _x = \"x\""), "\(head)")
      expect(!members(head).contains("_kvo_declare"), "\(head)")
    }
    for head in ["KVOObject", "Base", "KVOObject, @unchecked Sendable, Hashable & Identifiable"] {
      expect(
        members(head).hasSuffix(
          "\nprivate final var _kvo_declareCodableInClass_A: Swift.Void = ()"), "\(head)")
      expect(!members(head).contains("CodingKeys"), "\(head)")
      let own = members(head, "enum CodingKeys: CodingKey { case x }")
      expect(!own.contains("_kvo_declare"), "\(head)")
    }
  }

  @Test("Q7: names that are not in the class itself are an error, unless no method is generated")
  func unreadableNames() {
    let head = "@KVO class A: KVOObject, Codable {\nvar x = 1\ntypealias CodingKeys = Other\n"
    let ends = [
      "}", "func encode(to encoder: any Encoder) throws {}\n}",
      "func encode(to encoder: any Encoder) throws {}\nrequired init(from d: any Decoder) {}\n}",
    ]
    let messages = ends.map { Asking.messages(head + $0).joined() }
    for text in messages[..<2] { expect(text.contains("CodingKeys"), text) }
    expectEqual(messages[2], "")
  }

  @Test("Q7: init() is declared beside init(from:) only where it would have been inherited")
  func plainInitialiser() {
    func members(_ head: String, _ more: String = "") -> String {
      Asking.members(
        "@KVO \(head), Codable {\nvar x = 1\nenum CodingKeys: CodingKey { case x }\n\(more)\n}")
    }
    let plain = "override init() { super.init() }"
    expect(members("open class A: KVOObject", "var y: Int?").contains("\npublic " + plain))
    expect(members("class A: KVOObject", "weak var y: A?").contains("\n" + plain))
    expect(members("class A: KVOObject", "static let y: Int").contains("\n" + plain))
    for (superclass, more) in [
      ("Base", ""), ("KVOObject", "var y: Int"), ("KVOObject", "let y: Int?"),
      ("KVOObject", "init(y: Int) {}"), ("KVOObject", "var f: () -> Int?"),
    ] {
      let text = members("class A: \(superclass)", more)
      expect(text.contains("init(from") && !text.contains(plain), "\(superclass) \(more)")
    }
  }

  @Test("Q7: a class with its own CodingKeys gets the coding methods that it lacks")
  func codingMethods() {
    func members(_ head: String, _ more: String = "") -> String {
      Asking.members(
        """
        @KVO \(head) {
        let id = 1; var x = 1 { didSet {} }
        enum CodingKeys: String, CodingKey {
          case id, x = "case y"
          case `in` = "a",
            last
          var y: Int { switch self { case .id: 1 } }
        }
        \(more)
        }
        """)
    }
    let both = members("public class A: KVOObject, Codable")
    expect(both.contains("try container._encode(id, forKey: .id)\n  try container._encode(x"))
    expect(both.contains("public required init(from decoder: any Swift.Decoder) throws {"))
    expect(both.contains("  x = try container._decode(forKey: .x)\n  `in` = try"))
    expect(both.contains("last = try") && !both.contains("  y") && !both.contains("id = try"))
    expect(both.contains("public override init() { super.init() }"))
    let final = members("final class A: KVOObject, Swift.Decodable", "init(a: Int) {}")
    expect(final.contains("\ninit(from decoder") && !final.contains("encode"))
    expect(!final.contains("override init()"))
    let own = members(
      "class A: KVOObject, Encodable, Decodable",
      "func encode(to encoder: any Encoder) throws {}\nrequired init(from decoder: any Decoder) {}")
    expect(!own.contains("container"))
    expect(!members("class A: KVOObject").contains("container"))
  }
}
