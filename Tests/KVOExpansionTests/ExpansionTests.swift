import Testing

@testable import KVOExpansion

/// What the macros make of declarations.
@Suite struct ExpansionTests {
  @Test(
    "Q1 Q2: a stored var is observed, and nothing else is given an attribute",
    arguments: [
      ("var x = 1", "@Observed"), ("\n  // var\n  private(set) var x: [Int] = []", "@Observed"),
      ("public internal(set) var x = { (a: Int) in a }", "@Observed"),
      ("var x = 1 { didSet { print(\"}\") } }", "@Observed"),
      ("var x: Int { willSet {} }", "@Observed"),
      ("var x: Int { @MainActor didSet {} }", "@Observed"),
      ("@available(*, deprecated) var x = 1", "@Observed"),
      ("@MainActor var x = 1", "@Observed"), ("@objc dynamic var x = 1", "@Observed"),
      ("final var `class`: Any? = nil", "@Observed"), ("var x = f { $0 }", "@Observed"),
      ("var x: Int! = /a{/.matches", "@Observed"),
      ("weak var x: A?", "@KVOReference"), ("private weak var x: (any P)? = nil", "@KVOReference"),
      ("unowned let x: A", ""), ("unowned(unsafe) var x: A", "@KVOReference"),
      ("let x = 1", ""), ("static var x = 1", ""), ("class var x: Int { 1 }", ""),
      ("var x: Int { 1 }", ""),
      ("var x: Int { get { 1 } set {} }", ""), ("var x: Int { _read { yield y } }", ""),
      ("lazy var x = 1", ""), ("override var x: Int { didSet {} }", ""),
      ("@KVOIgnored var x = 1", ""),
      ("@KVORuntime.KVOIgnored var x = 1", ""), ("@Observed var x = 1", ""),
      ("@Clamped(0...1) var x = 1", ""),
      ("@Lib.Clamped<Int> var x = 1", ""), ("nonisolated(unsafe) var x = 1", ""),
      ("var x: some P = q", ""),
      ("var a = 1, b = 2", ""), ("var (a, b) = (1, 2)", ""), ("func x() { var y = 1 }", ""),
      ("class Inner {}", ""),
      ("init() {}", ""), ("subscript(i: Int) -> Int { 1 }", ""), ("", ""), ("#if X", ""),
    ])
  func attributes(_ source: String, _ attribute: String) {
    #expect(Asking.attribute(source) == attribute)
  }

  @Test(
    "Q2: each property is declared with its getter and setter",
    arguments: [
      ("var x = 1", ["keys.stored(\"x\", \\.x)"]),
      ("var x = 1; var y: Int { x }", ["keys.stored(\"x\", \\.x)", "keys.computed(\"y\", \\.y)"]),
      ("lazy var x = { 1 }()", ["keys.stored(\"x\", \\.x)"]),
      ("weak var x: A?", ["keys.stored(\"x\", \\.x)"]),
      ("@Observed var x = 1", ["keys.stored(\"x\", \\.x)"]),
      ("override var x: Int { didSet {} }", ["keys.stored(\"x\", \\.x)"]),
      ("override var x: Int { get { 1 } set {} }", ["keys.computed(\"x\", \\.x)"]),
      ("var `class` = 1", ["keys.stored(\"class\", \\.`class`)"]),
      ("var größe = 1", ["keys.stored(\"größe\", \\.größe)"]),
      ("var `a.b` = 1", []), ("let x = 1", []), ("static var x = 1", []),
      ("@KVOIgnored var x = 1", []),
      ("@KVOIgnored var x: Int { 1 }", []), ("var x: Int { get async { 1 } }", []),
      ("var x: Int { get throws(E) { 1 } }", []), ("@available(*, deprecated) var x = 1", []),
      ("@MainActor var x = 1", []),
      ("var x: Int { get { 1 } }\nfunc f() { var z = 1 }", ["keys.computed(\"x\", \\.x)"]),
      ("struct S { var z = 1 }\nvar x = \"}\" + \"\\(\"}\")\"", ["keys.stored(\"x\", \\.x)"]),
      (
        "var x = #\"\"\"\n }{ \n\"\"\"#\n/* var y = 1 } */\nvar z = /}{/",
        ["keys.stored(\"x\", \\.x)", "keys.stored(\"z\", \\.z)"]
      ),
      (
        "var x: Dictionary<String, [Int]> = Dictionary<String, [Int]>()\nvar y = a < b, z = c > d",
        ["keys.stored(\"x\", \\.x)"]
      ),
      (
        "var f: (Int, Int) -> Void = { _, _ in }\nvar g = f",
        ["keys.stored(\"f\", \\.f)", "keys.stored(\"g\", \\.g)"]
      ),
      (
        "var x =\n  1 +\n  2\nvar y\n  : Int = 1",
        ["keys.stored(\"x\", \\.x)", "keys.stored(\"y\", \\.y)"]
      ),
      (
        "var x = weak\nvar weak = 1\nvar get = 2",
        [
          "keys.stored(\"x\", \\.x)", "keys.stored(\"weak\", \\.weak)",
          "keys.stored(\"get\", \\.get)",
        ]
      ),
    ])
  func declarations(_ body: String, _ lines: [String]) {
    #expect(Asking.declarations(body) == lines)
  }

  @Test("Q2: what stands under a condition is declared under it")
  func conditions() {
    let body = """
      var a = 1
      #if DEBUG && os(Linux)
      var b = 2
      #elseif X // not this
      var c = 3
      #else
      func f() {}
      #endif
      """
    #expect(
      Asking.declarations(body) == [
        "keys.stored(\"a\", \\.a)", "#if DEBUG && os(Linux)", "keys.stored(\"b\", \\.b)",
        "#elseif X",
        "keys.stored(\"c\", \\.c)", "#else", "#endif",
      ])
  }

  @Test(
    "Q2: the override is as accessible as its class, calls its superclass's, and is not there for nothing"
  )
  func override() {
    let expected = """
      override class func _registerProperties() {
        super._registerProperties()
        declareKeys { keys in
          keys.stored("x", \\.x)
        }
      }
      """
    #expect(Asking.members("@KVO final class A<T>: B<T>, P where T: Q { var x = 1 }") == expected)
    #expect(Asking.members("@KVO\npublic final class A: B { var x = 1 }") == "public " + expected)
    #expect(Asking.members("@KVO open class A: B { var x = 1 }") == "open " + expected)
    #expect(Asking.members("@KVO private class A: B { var x = 1 }") == expected)
    #expect(Asking.members("@KVO class A: B { let x = 1 }").isEmpty)
    for actor in ["@MainActor", "@Store", "@Lib.Store"] {
      #expect(Asking.members("\(actor) @KVO class A: B { var x = 1 }").isEmpty)
    }
  }

  @Test("Q3: a weak or unowned property has storage beside it, and accessors that tell of it")
  func references() {
    let source = "@KVOReference private weak var owner: Person? = nil"
    #expect(
      Asking.expand("ReferenceMacro", "peer", source).0
        == "private weak var _kvo_owner: Person? = nil")
    #expect(
      Asking.expand("ReferenceMacro", "accessor", source).0 == """
        {
          @storageRestrictions(initializes: _kvo_owner)
          init(initialValue) { _kvo_owner = initialValue }
          get {
            _readsKey("owner")
            return _kvo_owner
          }
          set {
            withChange(forKey: "owner") { _kvo_owner = newValue }
          }
        }
        """)
    let unsafe = Asking.expand("ReferenceMacro", "peer", "unowned(unsafe) var `in`: any P")
    #expect(unsafe.0 == "private unowned(unsafe) var _kvo_in: any P")
    let untyped = Asking.expand("ReferenceMacro", "accessor", "weak var x = y")
    #expect(untyped.0.isEmpty && untyped.1.count == 1)
    let quoted = Asking.expand("ReferenceMacro", "accessor", "weak var `a \"b\"`: A?")
    #expect(quoted.0.isEmpty && quoted.1.count == 1)
  }

  @Test(
    "Q4: methods by a convention are declared",
    arguments: [
      (
        "var full: String { a }\nclass func keyPathsForValuesAffectingFull() -> Set<String> { [\"a\"] }",
        ["keys.computed(\"full\", \\.full, affectedBy: keyPathsForValuesAffectingFull())"]
      ),
      (
        "static func keyPathsForValuesAffectingTotal() -> Set<String> { [\"a\"] }",
        ["keys.dependency(\"total\", on: keyPathsForValuesAffectingTotal())"]
      ),
      (
        "class func automaticallyNotifiesObserversOfX() -> Bool { false }",
        ["keys.automaticallyNotifies(\"x\", automaticallyNotifiesObserversOfX())"]
      ),
      ("func automaticallyNotifiesObserversOfX() -> Bool { false }", []),
      (
        "func validateName(_ v: inout String?) throws {}",
        ["keys.validator(\"name\") { try $0.validateName(&$1) }"]
      ),
      (
        "func validateName(_ v: inout String?) {}",
        ["keys.validator(\"name\") { $0.validateName(&$1) }"]
      ),
      ("func validateName(_ v: String) -> Bool { true }", []), ("func validate() {}", []),
      ("func validated(_ x: inout Int) {}", []),
      ("func validateName(_ v: inout String?) async throws {}", []),
      (
        "func countOfPrimes() -> Int { 1 }\nfunc objectInPrimes(at i: Int) -> Int { 2 }",
        [
          "keys.orderedToMany(\"primes\", count: { $0.countOfPrimes() }, element: { $0.objectInPrimes(at: $1) })"
        ]
      ),
      // Methods of other sense.
      (
        "var page: Int { n }\nfunc addPage() {}\nfunc removePage() {}",
        ["keys.computed(\"page\", \\.page)"]
      ),
      (
        "let effects = Chain()\nfunc addEffects(_ x: [Int]) {}\nfunc removeEffects(_ x: [Int]) {}",
        []
      ),
      (
        "var items: [S] { s }\nfunc insertItems(_ x: S, at i: Int) {}\nfunc removeItems(at i: Int) {}",
        ["keys.computed(\"items\", \\.items)"]
      ),
      (
        "var map: [Int: S] { s }\nfunc insertObject(_ x: S, inMapAt i: Int) {}\nfunc removeObject(fromMapAt i: Int) {}",
        ["keys.computed(\"map\", \\.map)"]
      ),
      (
        "func validateAge<T: P>(_ v: inout T) throws {}\nfunc validateName(_ v: inout some P) {}",
        []
      ),
      ("func insertObject<T>(_ x: T, inMapAt i: Int) {}", []),
      (
        "class var keyPathsForValuesAffectingTotal: Set<String> { [\"a\"] }",
        ["keys.dependency(\"total\", on: keyPathsForValuesAffectingTotal)"]
      ),
      ("func countOfPrimes() -> Int { 1 }", []), ("func insertObject(_ x: Int, at i: Int) {}", []),
      // Observed storage is changed element by element as it is.
      (
        "var songs: [S] = []\nfunc insertObject(_ s: S, inSongsAt i: Int) {}\nfunc removeObject(fromSongsAt i: Int) {}",
        ["keys.stored(\"songs\", \\.songs)"]
      ),
      (
        "@KVOIgnored var songs: [S] = []\nfunc insertSongs(_ s: [S], at i: RangeSet<Int>) {}\nfunc removeSongs(at i: IndexSet) throws {}",
        [
          "keys.orderedToMany(\"songs\", count: { $0.songs.count }, element: { $0.songs[$1] }, insert: { $0.insertSongs($1, at: $2) }, remove: { try $0.removeSongs(at: IndexSet($1)) })"
        ]
      ),
      (
        "@KVOIgnored var tags: Set<S> = []\nfunc addTagsObject(_ s: S) {}\nfunc removeTags(_ s: Set<S>) {}\nfunc intersectTags(_ s: Set<S>) {}",
        [
          "keys.unorderedToMany(\"tags\", count: { $0.tags.count }, contains: { $0.tags.contains($1) }, elements: { AnySequence($0.tags) }, add: { object, elements in"
        ]
      ),
    ])
  func conventions(_ body: String, _ lines: [String]) {
    #expect(Asking.declarations(body) == lines)
  }

  @Test("Q5: what is no class, or has no superclass, is an error at its name")
  func wrongTypes() {
    #expect(
      Asking.messages("@KVO struct A { var x = 1 }") == [
        "error at 0: @KVO is for classes, which inherit from KVOObject: only they can be observed."
      ])
    #expect(Asking.messages("@KVO var x = 1").count == 1)
    #expect(
      Asking.messages("@KVO class A { var x = 1 }") == [
        "error at 11: @KVO: A has to inherit from KVOObject, or from a class that does."
      ])
    let fix = Asking.expand("KVOMacro", "member", "@KVO class A<T> { var x = 1 }").1[0]["fixIts"]
    guard case .array(let fixes)? = fix, case .array(let changes)? = fixes.first?["changes"] else {
      Issue.record("there is nothing to mend it by")
      return
    }
    #expect(changes.count == 1 && changes[0]["newText"]?.string == ": KVOObject")
    #expect(changes[0]["range"]?["startOffset"]?.int == Asking.offset + 15)
  }

  @Test(
    "Q5: a computed property whose setter tells nobody is warned of, and no other is",
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
      ("var model = M()\nvar x: Int { get { 1 } set { model.i = newValue } }", false),
      (
        "let model = M()\nvar y = 1\nvar x: Int { get { 1 } set { model.i = newValue; y = 2 } }",
        false
      ),
      ("let model = M()\nvar x: Int { get { 1 } set { model.i = newValue; changed() } }", false),
      (
        "let model = M()\nvar x: Int { get { 1 } set { model.i = newValue; inherited = 1 } }", false
      ),
      ("let model = M()\nvar y = 1\nvar x: Int { get { 1 } set { model.i = newValue * y } }", true),
      (
        "let model = M()\nvar y = [1]\nvar x: Int { get { 1 } set { model.i = newValue; y.append(2) } }",
        false
      ),
      (
        "let model = M()\nvar y = 1\nvar x: Int { get { 1 } set { model.i = newValue; swap(&y) } }",
        false
      ),
      ("let store = M()\nvar x: Int { get { 1 } set { store.update(newValue) } }", false),
      ("let lock = M()\nvar x: Int { get { 1 } set { lock.withLock { $0 = newValue } } }", false),
      ("var x: Int { get { 1 } set { } }", false), ("var x: Int { 1 }", false),
      (
        "let model = M()\noverride var x: Int { get { 1 } set { super.x = newValue; model.i = 1 } }",
        false
      ),
    ])
  func setters(_ body: String, _ isWarned: Bool) {
    let messages = Asking.messages("@KVO class A: B {\n\(body)\n}")
    #expect(
      messages.contains { $0.hasPrefix("warning") && $0.contains("assigning to \"x\"") } == isWarned
    )
    #expect(messages.count == (isWarned ? 1 : 0))
  }

  @Test("Q5: the warning has a mend that puts a bracket around what the setter does")
  func bracketed() {
    let source =
      "@KVO class A: B { let m = M(); var x: Int { get { m.i } set { m.i = newValue } } }"
    let fix = Asking.expand("KVOMacro", "member", source).1[0]["fixIts"]
    guard case .array(let fixes)? = fix, case .array(let changes)? = fixes.first?["changes"] else {
      Issue.record("there is nothing to mend it by")
      return
    }
    var text = Array(source.utf8)
    for change in changes.reversed() {
      let start = (change["range"]?["startOffset"]?.int ?? 0) - Asking.offset
      let end = (change["range"]?["endOffset"]?.int ?? 0) - Asking.offset
      text.replaceSubrange(start..<end, with: Array((change["newText"]?.string ?? "").utf8))
    }
    #expect(
      String(decoding: text, as: UTF8.self).contains(
        "set { withChange(of: \\.x) { m.i = newValue } }"))
  }

  @Test(
    "Q5: what can't be observed is told at its line",
    arguments: [
      ("var a = 1, b = 2", "error at 18: @KVO: a declaration of several variables"),
      ("var (a, b) = (1, 2)", "error at 18: @KVO: a declaration of several variables"),
      (
        "@Clamped var a = 1",
        "warning at 18: @KVO: \"a\" is not observed, since @Clamped stands before it"
      ),
      ("lazy var a = 1", "warning at 18: @KVO: setting \"a\" tells nobody, since it is lazy"),
      (
        "weak var a: A? { didSet {} }",
        "warning at 18: @KVO: setting \"a\" tells nobody, since it is a reference with observers"
      ),
      (
        "nonisolated(unsafe) var a = 1",
        "warning at 18: @KVO: setting \"a\" tells nobody, since it is nonisolated"
      ),
      (
        "var a: some P = p",
        "warning at 18: @KVO: setting \"a\" tells nobody, since its type is opaque"
      ),
    ])
  func unobserved(_ member: String, _ message: String) {
    let messages = Asking.messages("@KVO class A: B {\n\(member)\n}")
    #expect(messages.count == 1 && messages[0].hasPrefix(message), "\(messages)")
    let ignored = Asking.messages("@KVO class A: B {\n@KVOIgnored \(member)\n}")
    #expect(ignored.isEmpty)
  }
}
