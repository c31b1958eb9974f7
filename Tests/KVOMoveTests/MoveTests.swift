/// The edits and findings of kvo-move for small sources, and that it changes nothing else.
import Expectations
import Foundation
import KVOMove
import SwiftSource
import Testing

@Suite struct MoveTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var there: String
    var here: String
    var testDescription: String { there }

    /// - Parameter here: nil if nothing is changed.
    init(_ there: String, _ here: String?) { (self.there, self.here) = (there, here ?? there) }
  }

  /// Makes the tables' classes take part in observing.
  static let uses = """
    func use(p1: A, p2: B, p3: C, p4: T, p5: U, p6: Item) {
      p1.observe(keyPath: k) {}; p2.observe(keyPath: k) {}; p3.observe(keyPath: k) {}
      p4.observe(keyPath: k) {}; p5.observe(keyPath: k) {}; p6.observe(keyPath: k) {}
    }
    """

  /// A function that marks a source as using key-value observing, and that no edit changes.
  static let evidence = "\nfunc tell() { willChangeValue(forKey: k) }"

  static func moved(_ source: String, _ style: ObservableStyle = .wrapper) -> MovedSource {
    move([(path: "A.swift", text: source), (path: "Uses.swift", text: uses)], style: style)[0]
  }

  static let edits = [
    Case("class A: NSObject {}", "class A: KVOObject {}"),
    Case("class A : NSObject, P<Int> {}", "class A : KVOObject, P<Int> {}"),
    Case(
      "class A: NSObject { @objc dynamic var x = 0 }", "class A: KVOObject { @Observed var x = 0 }"),
    Case(
      "class A: NSObject { dynamic private(set) var x: [Int] }",
      "class A: KVOObject { @Observed private(set) var x: [Int] }"),
    Case(
      "class A: NSObject {\n  @objc\n  dynamic var x = 0\n}",
      "class A: KVOObject {\n  @Observed var x = 0\n}"),
    Case(
      "class A: NSObject {\n  @objc public dynamic var a = 1, b = 2; var c = 3, d = 4\n}",
      "class A: KVOObject {\n  @Observed public var a = 1\n  @Observed public var b = 2; var c = 3, d = 4\n}"
    ),
    Case(
      "@objcMembers class A: NSObject { func f() {} }", "class A: KVOObject { func f() {} }"),
    Case(
      "struct S { var s = \"class A: NSObject { @objc dynamic var x }\" }",
      "struct S { var s = \"class A: NSObject { @objc dynamic var x }\" }"),
    Case(
      "// class A: NSObject\n/* #keyPath(A.b) /* & */ */",
      "// class A: NSObject\n/* #keyPath(A.b) /* & */ */"),
    Case("let k = #keyPath(Person.address.city)", "let k = \"address.city\""),
    Case("let k = \"\\(#keyPath(name))!\"", "let k = \"\\(\"name\")!\""),
    Case("let k = #\"#keyPath(A.b) \\(c)\"#", "let k = #\"#keyPath(A.b) \\(c)\"#"),
    Case(
      "func f() { a.setValue(1, forKey: \"x\") }", "func f() { try! a.setValue(1, forKey: \"x\") }"),
    Case(
      "func f() throws { a.setValue(1, forKey: \"x\") }",
      "func f() throws { try a.setValue(1, forKey: \"x\") }"),
    Case(
      "func f() throws { g { a.setValue(1, forKey: \"x\") } }",
      "func f() throws { g { try! a.setValue(1, forKey: \"x\") } }"),
    Case(
      "func f() { do { a?.b.setValue(1, forKey: \"x\") } catch {} }",
      "func f() { do { try a?.b.setValue(1, forKey: \"x\") } catch {} }"),
    Case(
      "let v = a.value(forKey: \"x\") as? Int ?? b.value(forKey: \"y\") as! Int",
      "let v = try! a.value(forKey: \"x\") as? Int ?? b.value(forKey: \"y\") as! Int"),
    Case("let v = try a.value(forKey: \"x\")", "let v = try a.value(forKey: \"x\")"),
    Case("try f(a.value(forKey: k), 1)", "try f(a.value(forKey: k), 1)"),
    Case("try x = [a.value(forKey: k)]", "try x = [a.value(forKey: k)]"),
    Case("a.value(forKey: k, at: p)", "a.value(forKey: k, at: p)"),
    Case("let v = a.value(for: x)", "let v = a.value(for: x)"),
    Case("let v = -a[0].b(c).value(forKey: k)", "let v = try! -a[0].b(c).value(forKey: k)"),
    Case("return a.value(forKey: k)", "return try! a.value(forKey: k)"),
    Case(
      "private var c = 0\nfunc f() { o.addObserver(s, forKeyPath: k, options: [], context: &c) }",
      "private let c = KVOContext()\n"
        + "func f() { try! o.addObserver(s, forKeyPath: k, options: [], context: c) }"),
    Case(
      "private var c = 0\nfunc f() { use(&c)\n if context == &c {} }",
      "private var c = 0\nfunc f() { use(&c)\n if context == &c {} }"),
    Case(
      "let v = a.value(forKeyPath: \"b.@sum.c\") as! Double",
      "let v = try! a.value(forKeyPath: \"b.@sum.c\") as? Double ?? 0"),
    Case(
      "func f(_ v: Any) { switch v {\ncase is NSNull: break\ndefault: break } }",
      "func f(_ v: Any) { switch v {\ncase Optional<Any>.none: break\ndefault: break } }"),
    Case(
      "func f(_ v: Any?) { switch v {\ncase is NSNull: break\ndefault: break } }",
      "func f(_ v: Any?) { switch v {\ncase .some(Optional<Any>.none): break\ndefault: break } }"),
    Case(
      "switch change?[.oldKey] { case let x as Int: f(x)\ncase is NSNull: break\ndefault: break }",
      "switch change?[.oldKey] { case let x as Int: f(x)\ncase .some(Optional<Any>.none): break\ndefault: break }"
    ),
    Case("if case is NSNull = c[k]!, b {}", "if case Optional<Any>.none = c[k]!, b {}"),
    Case(
      "let v = c?[k]\nif case is NSNull = v {}",
      "let v = c?[k]\nif case .some(Optional<Any>.none) = v {}"),
    Case(
      "guard let v = c[k] else { return }\nif case is NSNull = v {}",
      "guard let v = c[k] else { return }\nif case Optional<Any>.none = v {}"),
    Case(
      "func f(_ v: Any?) { guard let v else { return }; switch v { case is NSNull: break } }",
      "func f(_ v: Any?) { guard let v else { return }; switch v { case Optional<Any>.none: break } }"
    ),
    Case(
      "func f(_ v: Any?) { if let v { switch v { case is NSNull: break } } }",
      "func f(_ v: Any?) { if let v { switch v { case Optional<Any>.none: break } } }"),
    Case(
      "func f(_ v: Any?) { let v = v\nswitch v { case is NSNull: break } }",
      "func f(_ v: Any?) { let v = v\nswitch v { case .some(Optional<Any>.none): break } }"),
    // A construct that the tool can't see through is left and reported.
    Case(
      "let v = c?[.newKey]\nif v is NSNull { f() }",
      "let v = c?[.newKey]\nif case .some(Optional<Any>.none) = v { f() }"),
    Case(
      "guard b, c?[.oldKey] is NSNull else { return }",
      "guard b, case .some(Optional<Any>.none) = c?[.oldKey] else { return }"),
    Case(
      "func f(_ v: Any) { while v is NSNull, b {} }",
      "func f(_ v: Any) { while case Optional<Any>.none = v, b {} }"),
    Case("f(b, c?[.oldKey] is NSNull)", "f(b, c?[.oldKey] is NSNull)"),
    Case("if !(c?[.oldKey] is NSNull) {}", "if !(c?[.oldKey] is NSNull) {}"),
    Case("if b || c?[.oldKey] is NSNull {}", "if b || c?[.oldKey] is NSNull {}"),
    Case("switch row[0] { case is NSNull: break }", "switch row[0] { case is NSNull: break }"),
    Case(
      "func g(_ v: Any?) {}\nfor v in vs { switch v { case is NSNull: break } }",
      "func g(_ v: Any?) {}\nfor v in vs { switch v { case is NSNull: break } }"),
    Case(
      "func g(_ v: Any) {}\nvs.map { v in switch v { case is NSNull: break } }",
      "func g(_ v: Any) {}\nvs.map { v in switch v { case is NSNull: break } }"),
    Case(
      "switch c?[.newKey] { case let x: for case is NSNull in x {} }",
      "switch c?[.newKey] { case let x: for case is NSNull in x {} }"),
    Case(
      "import Foundation\r\nclass A: NSObject {\r\n}\r\n",
      "import Foundation\r\nimport KVORuntime\r\nclass A: KVOObject {\r\n}\r\n"),
    Case(
      "class A: NSObject { override func isEqual(_ object: Any?) -> Bool { false } }",
      "class A: KVOObject { override func isEqual(_ object: KVOObject) -> Bool { false } }"),
    Case(
      "class A: NSObject { override var hash: Int { x ^ y } }",
      "class A: KVOObject { override func hash(into hasher: inout Hasher) { hasher.combine(x ^ y) } }"
    ),
    Case(
      "class A: NSObject { override var description: String { \"a\" } }",
      "class A: KVOObject, CustomStringConvertible { var description: String { \"a\" } }"),
    Case(
      "class A: NSView { @objc func act() {} }", "class A: NSView { @objc func act() {} }"),
    Case("let r = /class A: NSObject/", "let r = /class A: NSObject/"),
    Case(
      "class A: NSObject {\n#if DEBUG\n  @objc dynamic var x = 0\n#endif\n}",
      "class A: KVOObject {\n#if DEBUG\n  @Observed var x = 0\n#endif\n}"),
    Case(
      "class A: Operation { func f() { willChangeValue(forKey: \"isFinished\") } }",
      "class A: KVOOperation, @unchecked Sendable { func f() { willChangeValue(forKey: \"isFinished\") } }"
    ),
  ]

  @Test("each edit is made, and none where it does not apply", arguments: edits)
  func edit(_ edit: Case) {
    expectEqual(Self.moved(edit.there + Self.evidence).text, edit.here + Self.evidence)
    expect(Self.moved(edit.here + Self.evidence).edits.isEmpty)
  }

  @Test("what the names imply is declared by registerKeys") func keys() {
    let source = """
      class A: NSObject {
        @objc dynamic var x = 0 { didSet {} }
        @objc dynamic var y: Int { x }
        @objc class func keyPathsForValuesAffectingY() -> Set<String> { ["x"] }
      }
      """
    let text = Self.moved(source).text
    expect(text.contains("keys.stored(\"x\", \\.x)"))
    expect(
      text.contains("keys.computed(\"y\", \\.y, affectedBy: self.keyPathsForValuesAffectingY())"))
    let macro = Self.moved(source, .macro).text
    expect(macro.hasPrefix("@KVO class A: KVOObject {\n  var x = 0"))
    expect(!macro.contains("registerKeys"))
  }

  static let macroEdits = [
    Case(
      "class A: NSObject { @objc dynamic var x = 0; let m = M(); var (c, d) = (1, 2)\n"
        + "var y: Int { get { m.i } set { m.i = newValue } } }",
      "@KVO class A: KVOObject { var x = 0; let m = M(); @KVOIgnored var (c, d) = (1, 2)\n"
        + "@KVOIgnored var y: Int { get { m.i } set { m.i = newValue } } }"),
    Case(
      "class A: NSObject {\n  @objc dynamic private(set) var a = f(1, 2), b: [Int: D<I, J>] = [:]\n}",
      "@KVO class A: KVOObject {\n  private(set) var a = f(1, 2)\n"
        + "  private(set) var b: [Int: D<I, J>] = [:]\n}"),
    Case(
      "class A: NSObject {\n  @objc dynamic var x = 0\n  var a, b: D<I, J>,\n    c = 1\n}",
      "@KVO class A: KVOObject {\n  var x = 0\n  @KVOIgnored var a: D<I, J>\n"
        + "  @KVOIgnored var b: D<I, J>\n  @KVOIgnored var c = 1\n}"),
    Case(
      "class A: NSObject { @objc dynamic var x = 0; let a = 1, b = 2; static var c = 1, d = 2 }",
      "@KVO class A: KVOObject { var x = 0; let a = 1, b = 2; static var c = 1, d = 2 }"),
    Case(
      "class A: NSObject { @objc dynamic var x = 0 }", "@KVO class A: KVOObject { var x = 0 }"),
    Case(
      "class A: NSObject { @objc dynamic weak var x: A? }",
      "@KVO class A: KVOObject { weak var x: A? }"),
    Case(
      "class A: NSObject { @objc dynamic var x = 0; lazy var y = 1 }",
      "@KVO class A: KVOObject { var x = 0; @KVOIgnored lazy var y = 1 }"),
    Case(
      "class A: NSObject { @objc dynamic var x = 0; @Clamped var y = 1 }",
      "@KVO class A: KVOObject { var x = 0; @KVOIgnored @Clamped var y = 1 }"),
    Case(
      "class A: NSObject { private var m = 0; @objc dynamic var x: Int { get { m } set { m = newValue } } }",
      "@KVO class A: KVOObject { @KVOIgnored private var m = 0; var x: Int { get { m } "
        + "set { withAutomaticChange(of: \\.x) { m = newValue } } } }"),
    Case(
      "class A: NSObject { private var m = 0; @objc dynamic var x: Int { get { m } "
        + "set { willChangeValue(forKey: \"y\"); m = newValue; didChangeValue(forKey: \"y\") } } }",
      "@KVO class A: KVOObject { @KVOIgnored private var m = 0; var x: Int { get { m } "
        + "set { withAutomaticChange(of: \\.x) { willChangeValue(forKey: \"y\"); m = newValue; didChangeValue(forKey: \"y\") } } } }"
    ),
    Case(
      "class M { var i = 0 }; class A: NSObject { let m = M()\n"
        + "@objc dynamic var x: Int { get { m.i } set { m.i = newValue } } }",
      "class M { var i = 0 }; @KVO class A: KVOObject { let m = M()\n"
        + "var x: Int { get { m.i } set { withAutomaticChange(of: \\.x) { m.i = newValue } } } }"),
    Case(
      "class M { var i = 0 }; class A: NSObject { var m = M()\n"
        + "@objc dynamic var x: Int { get { m.i } set { m.i = newValue } } }",
      "class M { var i = 0 }; @KVO class A: KVOObject { @KVOIgnored var m = M()\n"
        + "var x: Int { get { m.i } set { withAutomaticChange(of: \\.x) { m.i = newValue } } } }"),
    Case(
      "class A: NSObject { @objc dynamic var xs = [1]; "
        + "@objc func insertObject(_ x: Int, inXsAt i: Int) { xs.insert(x, at: i) } }",
      "@KVO class A: KVOObject { var xs = [1]; "
        + "func insertObject(_ x: Int, inXsAt i: Int) { mutableArray(\\.xs).insert(x, at: i) } }"),
  ]

  @Test(
    "the class is marked with the macro, with the members that it can't observe",
    arguments: macroEdits)
  func macroEdit(_ edit: Case) {
    let moved = Self.moved(edit.there, .macro)
    expectEqual(moved.text, edit.here)
    expect(moved.findings.isEmpty)
    expect(Self.moved(edit.here, .macro).edits.isEmpty)
  }

  static let announcements = [
    // The variable that the setter sets must not announce a manually announced change again. Another property over
    // that variable notifies by itself.
    Case(
      "class A: NSObject { private var m = 0, s = 2; @objc dynamic var x: Int { get { m * s } "
        + "set { willChangeValue(forKey: \"x\"); m = newValue / s; didChangeValue(forKey: \"x\") } }\n"
        + "@objc dynamic var y: Int { get { m } set { m = newValue } } }",
      "@KVO class A: KVOObject { @KVOIgnored private var m = 0\n@KVOIgnored private var s = 2; var x: Int { get { m * s } "
        + "set { willChangeValue(forKey: \"x\"); m = newValue / s; didChangeValue(forKey: \"x\") } }\n"
        + "var y: Int { get { m } set { withAutomaticChange(of: \\.y) { m = newValue } } } }"),
    Case(
      "class A: NSObject { private var m = 0; @objc dynamic var x: Int { get { m } "
        + "set { willChangeValue(forKey: #keyPath(x)); m = newValue; didChangeValue(forKey: \"x\") } } }",
      "@KVO class A: KVOObject { @KVOIgnored private var m = 0; var x: Int { get { m } "
        + "set { willChangeValue(forKey: \"x\"); m = newValue; didChangeValue(forKey: \"x\") } } }"),
  ]

  @Test("a change announced both manually and by the setter is listed", arguments: announcements)
  func announcement(_ edit: Case) {
    let moved = Self.moved(edit.there, .macro)
    expectEqual(moved.text, edit.here)
    expectEqual(moved.findings.map(\.harm), [.differs])
    expect(Self.moved(edit.here, .macro).edits.isEmpty)
  }

  @Test("a lazy property that was observable is reported in the macro's style too") func lazy() {
    let moved = Self.moved("class A: NSObject { @objc dynamic lazy var x = 0 }", .macro)
    expectEqual(moved.text, "@KVO class A: KVOObject { @KVOIgnored lazy var x = 0 }")
    expect(moved.findings.contains { $0.reason.contains("lazy") })
  }

  static let findings = [
    Case("class A: NSView { @objc dynamic var x = 0 }", "not a KVOObject"),
    Case("class A: NSObject { @objc dynamic weak var x: A? }", "weak or lazy"),
    Case("class A: NSObject { @objc dynamic var x = 0 { didSet { x = 1 } } }", "without a test"),
    Case(
      "class A: NSObject { @objc dynamic var x = 0 { didSet { n += 1 } } }", "before its didSet"),
    Case(
      "class A: NSObject { @objc dynamic var x = 0 { didSet { if x < 0 { x = 0 } } } }",
      "corrects"),
    Case("class A: NSObject { @objc func countOfSongs() -> Int { 0 } }", "found by its name"),
    Case(
      "@objcMembers class A: NSObject { func object(inSongsAt i: Int) -> Int { 0 } }",
      "found by its name"),
    Case("f(change[.newKey] is NSNull)", "always false"),
    Case("let j = JSONSerialization.self; b = j is NSNull", "nil is an NSNull in JSON"),
    Case("let n = a.value(forKeyPath: \"b.@avg.c\") as! Int", "an average is a Double"),
    Case("switch v { case is NSNull: break; default: break }", "always false"),
    Case("x.observationInfo = nil", "snapshot"),
    Case("if let info = a.observationInfo {}", "snapshot"),
    Case("objc_setAssociatedObject(a, k, v, p)", "associated"),
    Case("let p = NSPredicate(format: f)", "predicates"),
    Case("let m = Mirror(reflecting: a)", "labels"),
    Case("let s = #selector(A.b)", "1 selector"),
    Case(
      "class A: NSObject { @objc dynamic var x: Int = 0 }; let n = a.value(forKey: \"x\") as! Double",
      "an integer"),
    Case("let k = change[.kindKey]", "not a number"),
    Case("for i in change![.indexesKey] as! NSIndexSet {}", "no IndexSet"),
    Case("let t = OperationQueue.main.observe(\\.x) { _, _ in }", "notifies no observer"),
    Case("let manager = UndoManager()", "no undo manager"),
    Case("f.bind(.value, to: m, withKeyPath: k, options: nil)", "AppKit"),
    Case("let s = \"", "can't be read"),
    Case("func f() { (", "can't be read"),
  ]

  @Test("a construct that needs a human is reported with its line", arguments: findings)
  func finding(_ finding: Case) {
    let found = Self.moved("let path = #keyPath(x)\n\n" + finding.there).findings
    expect(found.contains { $0.line == 3 && $0.reason.contains(finding.here) }, "\(found)")
  }

  @Test(
    "a source that breaks off anywhere is read to its end",
    arguments: [
      "! is NSNull", "observationInfo", "x.observationInfo", "perform(", "perform()",
      "case is NSNull",
      "{ case is NSNull", "let v = v", "switch { case is NSNull: v }", "as", "@", "@objc",
      "dynamic",
      "publisher(", "IndexSet", "indexes", "setValuesForKeys", "dictionaryWithValues", "kindKey",
      "if case is NSNull =",
    ])
  func fragments(_ source: String) {
    for source in [source, "x.\(source)", "class A: NSObject { \(source) }", "(\(source))"] {
      for style in [ObservableStyle.macro, .wrapper] { _ = Self.moved(source, style) }
    }
  }

  @Test("the line is that of the source after the edits")
  func lineAfterwards() {
    let source = """
      import Foundation
      @objcMembers
      class A: NSObject { dynamic var x = 0 }
      class B: NSObject { @objc dynamic var y = 0 }; let p = NSPredicate(format: f); x.observationInfo = nil
      """
    let moved = Self.moved(source)
    let lines = moved.text.split(separator: "\n", omittingEmptySubsequences: false)
    expect(moved.findings.count == 2 && lines.count == 4 && lines[1] == "import KVORuntime")
    for finding in moved.findings { expect(lines[finding.line - 1].contains("NSPredicate")) }
    expectEqual(moved.modules, ["KVORuntime"])
  }

  @Test("a cast to NSIndexSet needs no import; uses of IndexSet do")
  func indexSets() {
    let start = "import Foundation\nclass A: NSObject {}\n"
    let cast = Self.moved(start + "let i = change?[.indexesKey] as? NSIndexSet")
    expectEqual(cast.modules, ["KVORuntime"])
    expectEqual(Self.moved(start + "let i = IndexSet()").modules, ["KVOFoundation", "KVORuntime"])
  }

  @Test("a superclass and an extension may be in other files") func files() {
    let moved = move([
      ("A.swift", "class A: B { @objc dynamic var x = 0 }"), ("B.swift", "class B: NSObject {}"),
      ("C.swift", "extension A { @objc dynamic var y: Int { x } }"),
    ])
    expect(moved[0].text.hasPrefix("@KVO class A: B { var x = 0"))
    expect(moved[0].text.contains("keys.computed(\"y\", \\.y)"))
    expectEqual(moved[2].text, "extension A { var y: Int { x } }")
  }

  @Test("the diff has the lines that differ, with three of context") func diff() {
    let source = (1...9).map { "// \($0)\n" }.joined() + "class A: NSObject {}\n// end"
    expectEqual(
      Self.moved(source).diff,
      """
      --- A.swift
      +++ A.swift
      @@ -7,5 +7,5 @@
       // 7
       // 8
       // 9
      -class A: NSObject {}
      +class A: KVOObject {}
       // end
      \\ No newline at end of file

      """)
  }

  @Test("the page's example matches the program's output") func page() throws {
    let page = try String(
      contentsOf: Self.root.appending(path: "Documentation/KVOMove.md"), encoding: .utf8)
    let example = try require(page.range(of: "<!-- moved: Album.swift -->\n```swift\n"))
    let blocks = page[example.upperBound...].components(separatedBy: "\n```")
    let moved = move([("Album.swift", blocks[0] + "\n")])[0]
    let findings = moved.findings.map { "Album.swift:\($0.line): \($0.reason): \($0.advice)" }
    expect(blocks[1].contains("kvo-move Album.swift"))
    let said =
      moved.diff + "\nCompiles, but behaves differently:\n" + findings.joined(separator: "\n")
    expect(blocks[2].contains(said), "\(said)")
  }

  // MARK: - Many sources

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent()

  static func sources(in folder: String) -> [(path: String, text: String)] {
    let walk = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
    return (walk?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }.map {
      name in
      let path = root.appending(path: folder).appending(path: name)
      return (
        name,
        String(decoding: FileManager.default.contents(atPath: path.path) ?? Data(), as: UTF8.self)
      )
    }
  }

  @Test("a source moved in one style is left alone in the other") func moving() {
    for folder in ["Tests/Migration/Originals", "Tests/Migration/Corpus"] {
      let sources = Self.sources(in: folder)
      expect(sources.count >= 9)
      for source in sources {
        for (style, other) in [
          (ObservableStyle.macro, ObservableStyle.wrapper), (.wrapper, .macro),
        ] {
          let once = move([source], style: style)[0]
          expect(!once.edits.isEmpty, "\(source.path)")
          expectEqual(Self.moved(once.text, other).diff, "", "\(source.path)")
        }
      }
    }
  }

  @Test("sources that use this package already are left unchanged") func own() {
    for folder in ["Sources/KVOFoundation", "Examples", "Snippets"] {
      // One example is Apple's code too: its context is a variable.
      let sources = Self.sources(in: folder).filter { $0.path != "OneCodeBase.swift" }
      expect(!sources.isEmpty)
      for moved in move(sources) {
        expectEqual(moved.diff, "", "\(moved.path)")
        expect(
          !moved.findings.contains { $0.reason.hasPrefix("can't be read") },
          "\(moved.path): \(moved.findings)")
      }
    }
  }

  @Test(
    "a call at the beginning of a source, or without the brackets that it needs, is no problem",
    arguments: [
      "a.setValue(1, forKey: \"x\")", "let t = a.value(forKeyPath: #keyPath)",
      "value = 3\nif value is NSNull {}", "f(#keyPath)", "let t = a.observe(\\)",
    ])
  func beginnings(_ source: String) {
    for style in [ObservableStyle.macro, .wrapper] {
      let moved = Self.moved(source, style)
      expectEqual(moved.text, Self.applied(moved.edits, to: source))
    }
  }

  @Test("sources with missing, doubled or swapped tokens are moved, or reported unreadable")
  func mutated() {
    var generator = Seeded(state: 42)
    for source in Self.sources(in: "Tests/Migration/Corpus") {
      let tokens = LexedSource(source.text).tokens.map { $0.leadingTrivia + $0.text }
      for _ in 0..<15 {
        var changed = tokens
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let index = Int.random(in: changed.indices, using: &generator)
          switch Int.random(in: 0..<3, using: &generator) {
          case 0: changed.remove(at: index)
          case 1: changed.insert(changed[index], at: index)
          default: changed.swapAt(index, Int.random(in: changed.indices, using: &generator))
          }
        }
        let text = changed.joined()
        let moved = Self.moved(text, Bool.random(using: &generator) ? .macro : .wrapper)
        expectEqual(
          moved.text, Self.applied(moved.edits, to: text), "outside of edits something differs")
        if moved.findings.contains(where: { $0.reason.hasPrefix("can't be read") }) {
          expectEqual(moved.text, text)
        }
      }
    }
  }

  /// The text with some of its bytes replaced, from the end to the beginning, independently of the tool.
  static func applied(_ edits: [Edit], to text: String) -> String {
    var bytes = Array(text.utf8)
    for edit in edits.reversed() { bytes.replaceSubrange(edit.range, with: Array(edit.text.utf8)) }
    return String(decoding: bytes, as: UTF8.self)
  }

  struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }
}
