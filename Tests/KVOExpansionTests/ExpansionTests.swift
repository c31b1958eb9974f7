import Expectations
import Testing

@testable import KVOExpansion

/// The expansion of declarations.
@Suite struct ExpansionTests {
  @Test(
    "Q1 Q2: a stored var is observed, and no other member gets an attribute",
    arguments: [
      ("var x = 1", "@KVOAccessed"),
      ("\n  // var\n  private(set) var x: [Int] = []", "@KVOAccessed"),
      ("public internal(set) var x = { (a: Int) in a }", "@KVOAccessed"),
      ("var x = 1 { didSet { print(\"}\") } }", "@KVOAccessed"),
      ("var x: Int { willSet {} }", "@KVOAccessed"),
      ("var x: Int { @MainActor didSet {} }", "@KVOAccessed"),
      ("@available(*, deprecated) var x = 1", "@KVOAccessed"),
      ("@MainActor var x = 1", "@KVOAccessed"), ("@objc dynamic var x = 1", "@KVOAccessed"),
      ("final var `class`: Any? = nil", "@KVOAccessed"), ("var x = f { $0 }", "@KVOAccessed"),
      ("var x: Int! = /a{/.matches", "@KVOAccessed"),
      ("weak var x: A?", "@KVOAccessed"), ("private weak var x: (any P)? = nil", "@KVOAccessed"),
      ("unowned let x: A", ""), ("unowned(unsafe) var x: A", "@KVOAccessed"),
      ("let x = 1", ""), ("static var x = 1", ""), ("class var x: Int { 1 }", ""),
      ("var x: Int { 1 }", ""),
      ("var x: Int { get { 1 } set {} }", ""), ("var x: Int { _read { yield y } }", ""),
      ("lazy var x = 1", ""), ("override var x: Int { didSet {} }", "@KVOAccessed"),
      ("override var x: Int", ""),
      ("@KVOIgnored var x = 1", ""),
      ("@KVORuntime.KVOIgnored var x = 1", ""), ("@Observed var x = 1", ""),
      ("@Clamped(0...1) var x = 1", ""),
      ("@Lib.Clamped<Int> var x = 1", ""), ("nonisolated(unsafe) var x = 1", ""),
      ("var x: some P = q", ""), ("nonisolated(unsafe) weak var x: A?", ""),
      ("@Swift.MainActor var x = 1", "@KVOAccessed"),
      ("@Swift::MainActor var x = 1", "@KVOAccessed"),
      ("@StoreActor var x = 1", "@KVOAccessed"), ("@KVORuntime.Observed var x = 1", ""),
      ("@KVORuntime::KVOIgnored var x = 1", ""),
      ("var a = 1, b = 2", ""), ("var (a, b) = (1, 2)", ""), ("func x() { var y = 1 }", ""),
      ("class Inner {}", ""),
      ("#if X\n@objc\n#endif\nvar x = 1", "@KVOAccessed"),
      ("#if X\n@KVOIgnored\n#endif\nvar x = 1", ""),
      ("init() {}", ""), ("subscript(i: Int) -> Int { 1 }", ""), ("", ""), ("#if X", ""),
    ])
  func attributes(_ source: String, _ attribute: String) {
    expectEqual(Asking.attribute(source), attribute.replacing("@", with: "@KVORuntime."))
  }

  @Test(
    "Q1: a dynamic property leaves other stored ones alone, but not computed ones or overrides",
    arguments: [
      ("var x = 1", ""), ("dynamic var x = 1", "@KVOAccessed"), ("weak var x: A?", ""),
      ("dynamic weak var x: A?", "@KVOAccessed"), ("var x = 1 { didSet {} }", ""),
      ("override var x: Int { didSet {} }", "@KVOAccessed"), ("@Observed var x = 1", ""),
    ])
  func marked(_ source: String, _ attribute: String) {
    let expected = attribute.replacing("@", with: "@KVORuntime.")
    for other in [
      "dynamic var y = 1", "dynamic var y: Int { 1 }", "#if A\nprivate dynamic var y = 1\n#endif",
    ] {
      let parent = "@KVO class A: B {\n\(other)\n\(source)\n}"
      expectEqual(Asking.attribute(source, of: parent), expected)
    }
    for other in [
      "dynamic func y() {}", "dynamic class var y: Int { 1 }", "var y = \"dynamic var\"",
    ] {
      let parent = "@KVO class A: B {\n\(other)\nvar z = 1\n}"
      expectEqual(Asking.attribute("var z = 1", of: parent), "@KVORuntime.KVOAccessed")
    }
  }

  @Test("Q1: a property left alone is not declared by the class's macro either")
  func declaresMarked() {
    let members = Asking.members(
      "@KVO class A: B { dynamic var x = 1; var y = 1; var z: Int { y }; lazy var l = 1; @Clamped var c = 1 }"
    )
    expect(members.contains("keys._observed(\"x\"") && members.contains("keys.computed(\"z\""))
    expect(!members.contains("\"y\"") && !members.contains("\"l\""))
    expect(
      Asking.expand("KVOMacro", "member", "@KVO class A: B { dynamic var x = 1; lazy var l = 1 }").1
        .isEmpty)
  }

  @Test(
    "Q2: each property is declared with its getter and setter",
    arguments: [
      ("var x = 1", ["keys._observed(\"x\", \\.x)"]),
      (
        "var x = 1; var y: Int { x }",
        ["keys._observed(\"x\", \\.x)", "keys.computed(\"y\", \\.y)"]
      ),
      ("lazy var x = { 1 }()", ["keys.stored(\"x\", \\.x)"]),
      ("weak var x: A?", ["keys.stored(\"x\", \\.x)"]),
      ("@Observed var x = 1", ["keys._observed(\"x\", \\.x)"]),
      (
        "override var x: Int { didSet {} }",
        ["keys.stored(\"x\", \\.x); keys._overrides(\"x\")"]
      ),
      (
        "override var x: Int { get { 1 } set {} }",
        ["keys.computed(\"x\", \\.x); keys._overrides(\"x\")"]
      ),
      ("var `class` = 1", ["keys._observed(\"class\", \\.`class`)"]),
      ("var größe = 1", ["keys._observed(\"größe\", \\.größe)"]),
      ("var `a.b` = 1", []), ("let x = 1", []), ("static var x = 1", []),
      ("@KVOIgnored var x = 1", []),
      ("@KVOIgnored var x: Int { 1 }", []), ("var x: Int { get async { 1 } }", []),
      ("var x: Int { get throws(E) { 1 } }", []),
      ("@available(*, unavailable) var x: Int { 1 }", []),
      ("@available(swift, obsoleted: 5, message: \"y\") var x: Int { 1 }", []),
      ("@available(swift 6.5) var x: Int { 1 }", []),
      ("@available(*, deprecated) var x = 1", ["keys._observed(\"x\", \\.x)"]),
      ("@available(*, noasync) var x: Int { 1 }", ["keys.computed(\"x\", \\.x)"]),
      ("@available(swift, deprecated: 5.9) var x: Int { 1 }", ["keys.computed(\"x\", \\.x)"]),
      (
        "@available(macOS 10.15, iOS 13, *) var x: Int { 1 }", ["keys.computed(\"x\", \\.x)"]
      ),
      (
        "@available(iOSApplicationExtension, unavailable) var x: Int { 1 }",
        ["keys.computed(\"x\", \\.x)"]
      ),
      // Other platforms, and a library's abbreviation of versions.
      ("@available(Android 28, *) var x = 1", ["keys._observed(\"x\", \\.x)"]),
      ("@available(Windows, unavailable) var x = 1", ["keys._observed(\"x\", \\.x)"]),
      ("@available(Library 2.0, *) var x: Int { 1 }", ["keys.computed(\"x\", \\.x)"]),
      ("@available(swift, introduced: 9) var x: Int { 1 }", []),
      (
        "@MainActor var x = 1",
        ["_declareIsolatedKeys { @MainActor keys in keys._observed(\"x\", \\.x) }"]
      ),
      (
        "@Lib.StoreActor var x: Int { 1 }",
        ["_declareIsolatedKeys { @Lib.StoreActor keys in keys.computed(\"x\", \\.x) }"]
      ),
      ("var x: Int { get { 1 } }\nfunc f() { var z = 1 }", ["keys.computed(\"x\", \\.x)"]),
      ("struct S { var z = 1 }\nvar x = \"}\" + \"\\(\"}\")\"", ["keys._observed(\"x\", \\.x)"]),
      (
        "var x = #\"\"\"\n }{ \n\"\"\"#\n/* var y = 1 } */\nvar z = /}{/",
        ["keys._observed(\"x\", \\.x)", "keys._observed(\"z\", \\.z)"]
      ),
      (
        "var x: Dictionary<String, [Int]> = Dictionary<String, [Int]>()\nvar y = a < b, z = c > d",
        ["keys._observed(\"x\", \\.x)"]
      ),
      ("var x = Matrix<3, 4>()", ["keys._observed(\"x\", \\.x)"]),
      ("var x: Matrix<3, 4> = Rows<Int, 4>(a, b)", ["keys._observed(\"x\", \\.x)"]),
      ("var x = a<3, y: B<4>", []), ("var x = a<3+b, y = c>4", []),
      (
        "var f: (Int, Int) -> Void = { _, _ in }\nvar g = f",
        ["keys.stored(\"f\", \\.f)", "keys._observed(\"g\", \\.g)"]
      ),
      (
        "var x: Set<String>?\nvar y = 0.5 { didSet {} }\nvar z: Optional<Int>?\nvar w: Int { 1 }",
        [
          "keys._observed(\"x\", \\.x)", "keys.stored(\"y\", \\.y)", "keys._observed(\"z\", \\.z)",
          "keys.computed(\"w\", \\.w)",
        ]
      ),
      (
        "var x =\n  1 +\n  2\nvar y\n  : Int = 1",
        ["keys._observed(\"x\", \\.x)", "keys._observed(\"y\", \\.y)"]
      ),
      (
        "var x = weak\nvar weak = 1\nvar get = 2",
        [
          "keys._observed(\"x\", \\.x)", "keys._observed(\"weak\", \\.weak)",
          "keys._observed(\"get\", \\.get)",
        ]
      ),
    ])
  func declarations(_ body: String, _ lines: [String]) {
    expectEqual(Asking.declarations(body), lines)
  }

  @Test("Q2: a member under a condition is declared under it")
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
    expectEqual(
      Asking.declarations(body),
      [
        "keys._observed(\"a\", \\.a)", "#if DEBUG && os(Linux)", "keys._observed(\"b\", \\.b)",
        "#elseif X",
        "keys._observed(\"c\", \\.c)", "#else", "#endif",
      ])
  }

  @Test("Q2: a condition around the attributes of a member or class surrounds nothing else")
  func conditionalAttributes() {
    let condition = "#if X\n@objc\n#endif\n"
    let lines = ["#if X", "#endif", "keys._observed(\"x\", \\.x)"]
    expectEqual(Asking.declarations(condition + "var x = 1"), lines)
    let (source, diagnostics) = Asking.expand(
      "KVOMacro", "member", condition + "@KVO class A: B { var x = 1 }")
    expect(source.contains(lines[2]) && diagnostics.isEmpty)
  }

  @Test(
    "Q2: the override is as accessible as its class, calls super, and is made only if needed"
  )
  func override() {
    let expected = """
      @available(*, deprecated)
      nonisolated override class func _registerProperties() {
        super._registerProperties()
        _callIsolated(_declarePropertiesA)
      }
      @available(*, deprecated)
      private static func _declarePropertiesA() {
        _declareKeys { keys in
          keys._observed("x", \\.x)
        }
      }
      """
    expectEqual(Asking.members("@KVO final class A: B<T>, P { var x = 1 }"), expected)
    expectEqual(
      Asking.members("@KVO\npublic final class A: B { var x = 1 }"), expected.with("public"))
    expectEqual(Asking.members("@KVO open class A: B { var x = 1 }"), expected.with("open"))
    expectEqual(Asking.members("@KVO private class A: B { var x = 1 }"), expected)
    expect(Asking.members("@KVO class A: B { let x = 1 }").isEmpty)
    expect(
      Asking.members("@KVO class `a b`: B { var x = 1 }").contains("func `_declarePropertiesa b`()")
    )
    for actor in ["@MainActor", "@Store", "@Lib.Store", "nonisolated"] {
      expectEqual(Asking.members("\(actor) @KVO class A: B { var x = 1 }"), expected)
    }
    for word in ["package", "public", "open"] {
      expectEqual(Asking.members("@KVO \(word) class A: B { var x = 1 }"), expected.with(word))
    }
  }

  @Test("Q2: a member's own actor is that of its declaration, not the class's")
  func actorsOfMembers() {
    let source = "@Store @KVO class A: B { var x = 1; @MainActor var y = 1 }"
    expectEqual(
      Asking.members(source),
      """
      @available(*, deprecated)
      nonisolated override class func _registerProperties() {
        super._registerProperties()
        _callIsolated(_declarePropertiesA)
        _declareIsolatedKeys { @MainActor keys in keys._observed("y", \\.y) }
      }
      @available(*, deprecated)
      private static func _declarePropertiesA() {
        _declareKeys { keys in
          keys._observed("x", \\.x)
        }
      }
      """)
    expectEqual(
      Asking.members("@KVO class A: B {\n#if X\n@MainActor var y = 1\n#endif\n}"),
      """
      @available(*, deprecated)
      nonisolated override class func _registerProperties() {
        super._registerProperties()
      #if X
        _declareIsolatedKeys { @MainActor keys in keys._observed("y", \\.y) }
      #endif
      }
      """)
  }

  @Test(
    "Q2: for a generic class, whose function can't be named, the override holds the declarations")
  func genericOverride() {
    let expected = """
      @available(*, deprecated)
      nonisolated override class func _registerProperties() {
        super._registerProperties()
        _declareKeys { keys in
          keys._observed("x", \\.x)
        }
      }
      """
    let (plain, source) = ("@KVO class A: B { var x = 1 }", "@KVO class A<T>: B { var x = 1 }")
    expectEqual(Asking.members(source), expected)
    expectEqual(Asking.members("nonisolated " + source), expected)
    expect(Asking.members("@MainActor " + source) != expected)
    for outer in ["struct S<T> {}", "extension S {}", "func f(_ x: some P) {}", "func f<T>() {}"] {
      expectEqual(Asking.members(plain, in: ["enum E {}", outer]), expected)
    }
    for outer in [
      "struct S {}", "func f(_ x: Int) -> Array<Int> {}", "class C: D<Int> {}",
      "static func < () {}",
    ] {
      expect(Asking.members(plain, in: [outer]) != expected)
    }
    for word in ["public", "package"] {
      let inner = Asking.members(plain, in: ["\(word) extension S {}", "struct S {}"])
      expectEqual(inner, expected.with(word))
    }
    let own = "@KVO internal class A: B { var x = 1 }"
    expectEqual(Asking.members(own, in: ["public extension S {}"]), expected)
  }

  @Test("Q3: a weak or unowned property has storage beside it, and accessors that notify")
  func references() {
    let source = "@KVOAccessed private weak var owner: Person? = nil"
    expectEqual(
      Asking.expand("AccessedMacro", "peer", source).0,
      "private weak var _kvo_owner: Person? = nil")
    expectEqual(
      Asking.expand("AccessedMacro", "accessor", source).0,
      """
      {
        @storageRestrictions(initializes: _kvo_owner)
        init(initialValue) { _kvo_owner = initialValue }
        get {
          KVORuntime.KVOObject._readsKey(self, "owner", \\.owner)
          return _kvo_owner
        }
        set {
          let change = KVORuntime.KVOObject._beginChange(self, "owner", \\.owner)
          _kvo_owner = newValue
          KVORuntime.KVOObject._endChange(self, change, "owner", \\.owner)
        }
      }
      """)
    let unsafe = Asking.expand("AccessedMacro", "peer", "unowned(unsafe) var `in`: any P")
    expectEqual(unsafe.0, "private unowned(unsafe) var _kvo_in: any P")
    let untyped = Asking.expand("AccessedMacro", "accessor", "weak var x = y")
    expect(untyped.0.isEmpty && untyped.1.count == 1)
    let below = Asking.expand("AccessedMacro", "accessor", "\n// x\nweak var x = y")
    expectEqual(below.1.first?["position"]?["offset"]?.int, Asking.offset + 6)
    let quoted = Asking.expand("AccessedMacro", "accessor", "weak var `a \"b\"`: A?")
    expect(quoted.0.isEmpty && quoted.1.count == 1)
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
      (
        "func validateAge(_ v: inout Int) throws {}",
        ["keys._validator(\"age\") { try $0.validateAge(&$1) }"]
      ),
      (
        "@MainActor func validateName(_ v: inout String?) {}",
        [
          "_declareIsolatedKeys { @MainActor keys in keys.validator(\"name\") { $0.validateName(&$1) } }"
        ]
      ),
      (
        "var x: Int { 1 }\n@MainActor class func keyPathsForValuesAffectingX() -> Set<String> { [] }",
        [
          "_declareIsolatedKeys { @MainActor keys in keys.computed(\"x\", \\.x, affectedBy: keyPathsForValuesAffectingX()) }"
        ]
      ),
      ("@available(*, unavailable) func validateName(_ v: inout String?) {}", []),
      (
        "@available(*, unavailable) class func automaticallyNotifiesObserversOfX() -> Bool { true }",
        []
      ),
      (
        "@available(*, deprecated) func validateName(_ v: inout String?) {}",
        ["keys.validator(\"name\") { $0.validateName(&$1) }"]
      ),
      (
        "@available(macOS 12, *) class func automaticallyNotifiesObserversOfX() -> Bool { false }",
        ["keys.automaticallyNotifies(\"x\", automaticallyNotifiesObserversOfX())"]
      ),
      (
        "var x: Int { 1 }\n@available(*, deprecated) class func keyPathsForValuesAffectingX() -> Set<String> { [] }",
        ["keys.computed(\"x\", \\.x, affectedBy: keyPathsForValuesAffectingX())"]
      ),
      (
        "@available(*, deprecated) func countOfPrimes() -> Int { 1 }\n@available(macOS 12, *) func objectInPrimes(at i: Int) -> Int { 2 }",
        [
          "keys.orderedToMany(\"primes\", count: { $0.countOfPrimes() }, element: { $0.objectInPrimes(at: $1) })"
        ]
      ),
      (
        "@MainActor func countOfPrimes() -> Int { 1 }\nfunc objectInPrimes(at i: Int) -> Int { 2 }",
        [
          "_declareIsolatedKeys { @MainActor keys in keys.orderedToMany(\"primes\", count: { $0.countOfPrimes() }, element: { $0.objectInPrimes(at: $1) }) }"
        ]
      ),
      (
        "@MainActor var countOfPrimes: Int { 1 }\nfunc objectInPrimes(at i: Int) -> Int { 2 }",
        [
          "_declareIsolatedKeys { @MainActor keys in keys.computed(\"countOfPrimes\", \\.countOfPrimes) }",
          "_declareIsolatedKeys { @MainActor keys in keys.orderedToMany(\"primes\", count: { $0.countOfPrimes }, element: { $0.objectInPrimes(at: $1) }) }",
        ]
      ),
      (
        "@MainActor func countOfPrimes() -> Int { 1 }\n@OtherActor func objectInPrimes(at i: Int) -> Int { 2 }",
        []
      ),
      // A conditional method is called only under its condition.
      (
        "#if X\nfunc countOfPrimes() -> Int { 1 }\nfunc objectInPrimes(at i: Int) -> Int { 2 }\n#endif",
        []
      ),
      (
        "var x: Int { 1 }\n#if X\nclass func keyPathsForValuesAffectingX() -> Set<String> { [] }\n#endif",
        [
          "keys.computed(\"x\", \\.x)", "#if X",
          "keys.dependency(\"x\", on: keyPathsForValuesAffectingX())", "#endif",
        ]
      ),
      (
        "@KVOIgnored var tags: Set<S> = []\nfunc addTags(_ s: Set<S>) -> Bool { true }\nfunc removeTags(_ s: Set<S>) throws -> Int { 1 }",
        [
          "keys.unorderedToMany(\"tags\", count: { $0.tags.count }, contains: { $0.tags.contains($1) }, elements: { AnySequence($0.tags) }, add: { _ = $0.addTags($1) }, remove: { _ = try $0.removeTags($1) })"
        ]
      ),
      ("func validateName(_ v: inout String) -> Bool { true }", []),
      ("func validateName(_ v: String) -> Bool { true }", []), ("func validate() {}", []),
      ("func validated(_ x: inout Int) {}", []),
      ("func validateName(_ v: inout String?) async throws {}", []),
      (
        "func countOfPrimes() -> Int { 1 }\nfunc objectInPrimes(at i: Int) -> Int { 2 }",
        [
          "keys.orderedToMany(\"primes\", count: { $0.countOfPrimes() }, element: { $0.objectInPrimes(at: $1) })"
        ]
      ),
      // Methods with the same names and another meaning.
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
      (
        "override func countOfPrimes() -> Int { 1 }\noverride func objectInPrimes(at i: Int) -> Int { 2 }",
        [
          "keys.orderedToMany(\"primes\", count: { $0.countOfPrimes() }, element: { $0.objectInPrimes(at: $1) }); keys._overridesElements(\"primes\")"
        ]
      ),
      (
        "func countOfPrimes() -> Int { 1 }\noverride func objectInPrimes(at i: Int) -> Int { 2 }",
        [
          "keys.orderedToMany(\"primes\", count: { $0.countOfPrimes() }, element: { $0.objectInPrimes(at: $1) }); keys._overridesElements(\"primes\")"
        ]
      ),
      (
        "override func countOfPrimes() -> Int { 1 }\noverride func objectInPrimes(at i: Int) -> Int { 2 }\nfunc removePrimes(at i: RangeSet<Int>) {}",
        [
          "keys.orderedToMany(\"primes\", count: { $0.countOfPrimes() }, element: { $0.objectInPrimes(at: $1) }, remove: { $0.removePrimes(at: $1) }); keys._overridesElements(\"primes\")"
        ]
      ),
      ("func countOfPrimes() -> Int { 1 }", []), ("func insertObject(_ x: Int, at i: Int) {}", []),
      // The elements of observed storage are changed in place.
      (
        "var songs: [S] = []\nfunc insertObject(_ s: S, inSongsAt i: Int) {}\nfunc removeObject(fromSongsAt i: Int) {}",
        ["keys._observed(\"songs\", \\.songs)"]
      ),
      // Methods spelled as Objective-C spells them.
      (
        "@KVOIgnored var xs: [S] = []\nfunc insertXs(_ s: [S], atIndexes i: IndexSet) {}\nfunc removeXs(atIndexes i: IndexSet) {}\nfunc replaceXs(atIndexes i: IndexSet, withXs s: [S]) {}",
        [
          "keys.orderedToMany(\"xs\", count: { $0.xs.count }, element: { $0.xs[$1] }, insert: { $0.insertXs($1, atIndexes: IndexSet($2)) }, remove: { $0.removeXs(atIndexes: IndexSet($1)) }, replace: { $0.replaceXs(atIndexes: IndexSet($1), withXs: $2) })"
        ]
      ),
      (
        "func countOfYs() -> Int { 1 }\nfunc objectInYsAtIndex(_ i: Int) -> S { s }",
        [
          "keys.orderedToMany(\"ys\", count: { $0.countOfYs() }, element: { $0.objectInYsAtIndex($1) })"
        ]
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
    expectEqual(Asking.declarations(body), lines)
  }

  @Test("Q5: the macro on a non-class, or a class without superclass, is an error at its name")
  func wrongTypes() {
    let noClass = "@KVO is for classes, which inherit from KVOObject: only they can be observed."
    let trivia = "\n\n// what\n/* is */\n"
    expectEqual(Asking.messages("@KVO struct A { var x = 1 }"), ["error at 12: \(noClass)"])
    expectEqual(
      Asking.messages(trivia + "@KVO\nenum A {}"), ["error at \(trivia.count + 10): \(noClass)"])
    expectEqual(
      Asking.messages(trivia + "@KVO var x = 1"), ["error at \(trivia.count): \(noClass)"])
    expectEqual(
      Asking.messages("@KVO class A { var x = 1 }"),
      [
        "error at 11: @KVO: A has to inherit from KVOObject, or from a class that does."
      ])
    let fix = Asking.expand("KVOMacro", "member", "@KVO class A<T> { var x = 1 }").1[0]["fixIts"]
    guard case .array(let fixes)? = fix, case .array(let changes)? = fixes.first?["changes"] else {
      Issue.record("there is nothing to mend it by")
      return
    }
    expect(changes.count == 1 && changes[0]["newText"]?.string == ": KVOObject")
    expectEqual(changes[0]["range"]?["startOffset"]?.int, Asking.offset + 15)
  }

  @Test("Q5: a part of a class that can't be read is reported at its line")
  func unreadable() {
    let nested = String(repeating: "\"\\(", count: 300) + String(repeating: ")\"", count: 300)
    expectEqual(
      Asking.messages("@KVO class A: B {\nlet x = \(nested)\n}").first?.hasSuffix(
        "@KVO: this class may be read wrongly, because of a string that nests too deep."), true)
  }

  @Test("Q5: a validator that returns a result is reported at its line, to throw instead")
  func validatorWithResult() {
    let messages = Asking.messages(
      "@KVO class A: B {\nfunc validateName(_ v: inout String) -> Bool { true }\n}")
    expectEqual(messages.count, 1)
    expect(messages[0].hasPrefix("warning at 18: @KVO: this method does not validate its key"))
    expectEqual(
      Asking.messages("@KVO class A: B { func validateName(_ v: String) -> Bool { true } }"), [])
  }

  @Test(
    "Q5: an unobservable member is reported at its line",
    arguments: [
      ("var a = 1, b = 2", "error at 18: @KVO: a declaration of several variables"),
      ("var (a, b) = (1, 2)", "error at 18: @KVO: a declaration of several variables"),
      (
        "@Clamped var a = 1",
        "warning at 18: @KVO: \"a\" is not observed, since it has the wrapper @Clamped"
      ),
      (
        "lazy var a = 1",
        "warning at 18: @KVO: setting \"a\" notifies no observer, since it is lazy"
      ),
      (
        "nonisolated(unsafe) var a = 1",
        "warning at 18: @KVO: setting \"a\" notifies no observer, since it is nonisolated"
      ),
      (
        "nonisolated(unsafe) weak var a: A?",
        "warning at 18: @KVO: setting \"a\" notifies no observer, since it is nonisolated"
      ),
      (
        "var a: some P = p",
        "warning at 18: @KVO: setting \"a\" notifies no observer, since its type is opaque"
      ),
    ])
  func unobserved(_ member: String, _ message: String) {
    expect(Asking.messages("@KVO class A: B {\n@KVORuntime.Observed var f = 1\n}").isEmpty)
    let messages = Asking.messages("@KVO class A: B {\n\(member)\n}")
    expect(messages.count == 1 && messages[0].hasPrefix(message), "\(messages)")
    let ignored = Asking.messages("@KVO class A: B {\n@KVOIgnored \(member)\n}")
    expect(ignored.isEmpty)
  }
}

extension String {
  /// The members of a class with an access level.
  fileprivate func with(_ access: String) -> String {
    replacing("nonisolated override", with: access + " nonisolated override")
  }
}
