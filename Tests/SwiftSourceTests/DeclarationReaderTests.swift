import Expectations
import Foundation
import SwiftSource
import Testing

/// Reading declarations, and reading past any damage in a source.
@Suite struct DeclarationReaderTests {
  @Test("A class's head, with what precedes it")
  func head() {
    var reader = DeclarationReader(
      "/// x\n@available(*, deprecated) @Lib.Mark<Int>(a: { 1 }) public final class A<T: B<C>>: D<[T]>, any E & F where T: G { var a = 1 }"
    )
    let type = reader.readType()
    expect(type?.keyword == "class" && type?.name.text == "A")
    expectEqual(type?.attributes.map(\.name), ["available", "Lib.Mark"])
    expectEqual(type?.modifiers, ["public", "final"])
    expectEqual(type?.inherited, ["D<[T]>", "any E & F"])
    expectEqual(type?.members.count, 1)
    for other in ["", "var x = 1", "func f() {}", "import A"] {
      var reader = DeclarationReader(other)
      expect(reader.readType() == nil)
    }
  }

  @Test("Members of all kinds, one after another, on lines and after semicolons")
  func members() {
    let source = """
      class A: B {
        typealias T = Int
        private(set) var a = 1; let b: [Int: String] = [1: "}"]
        #if X
        @objc(f:) class override func f(_ x: inout Int, y z: (Int) -> Void = { _ in }) async throws -> Int { 1 }
        #endif
        init?(x: Int) { nil }
        deinit {}
        subscript(i: Int) -> Int { get { i } set {} }
        enum E { case a, b; var c: Int { 1 } }
        #Preview { 1 }
        var c: Int = 1 { willSet(new) {} didSet {} }
        var d: Int { mutating get { 1 } nonmutating set(x) { } }
        func / (l: A, r: A) {}
      }
      """
    var reader = DeclarationReader(source)
    let members = reader.readType()?.members ?? []
    let kinds = members.map { member in
      switch member.kind {
      case .variable(let isVariable, let bindings):
        (isVariable ? "var " : "let ")
          + bindings.map { $0.name?.text ?? "?" }.joined(separator: ",")
      case .function(let function): function.reference
      case .directive(let text): text
      case .other: "other"
      }
    }
    expectEqual(
      kinds,
      [
        "other", "var a", "let b", "#if X", "f(_:y:)", "#endif", "other", "other", "other", "other",
        "other",
        "var c", "var d", "/(l:r:)",
      ])
    expectEqual(members[1].modifiers, ["private(set)"])
    expect(members[4].modifiers == ["class", "override"] && members[4].isOfType)
    guard case .function(let function) = members[4].kind else {
      Issue.record("f(_:y:) is not read as a function")
      return
    }
    expect(
      function.effects == ["async", "throws"]
        && function.parameters.map(\.type) == ["inout Int", "(Int) -> Void"])
    guard case .variable(_, let observed) = members[11].kind,
      case .variable(_, let computed) = members[12].kind
    else {
      Issue.record("c and d are not read as variables")
      return
    }
    expect(!observed[0].isComputed && observed[0].accessors?.block("willSet")?.parameter == "new")
    expect(computed[0].isComputed && computed[0].accessors?.block("set")?.parameter == "x")
  }

  @Test(
    "A member ends with its line, unless what the line ends with is unfinished",
    arguments: [
      ("var a: Set<Int>", 2), ("var a: Set<Int>?", 2), ("var a: Array<Int>!", 2),
      ("let a: Dictionary<String, Array<Int>>", 2), ("var a: Optional<Int>?", 2),
      ("var a: Optional<Array<Int>?>", 2), ("typealias A = Array<Array<Int>>", 2),
      ("typealias A = Set<Set<Int>?>?", 2), ("let a = 0...", 2), ("let a = b!", 2),
      ("let a = b++ // c", 2), ("func a() -> Array<Array<Int>>", 2), ("init(a: Int)", 2),
      ("var a: Set< Int >", 2), ("var a: Set< Set<Int> >?", 2), ("let a = b >=", 1),
      ("let a = b as? C<D>?", 2), ("let a = 1 + // b\n 2", 2),
      ("var a: Int =", 1), ("let a = b +", 1), ("let a = b ??", 1), ("typealias A = B &", 1),
      ("typealias A = B&", 1), ("func a() ->", 1), ("func a()->", 1), ("let a = b.", 1),
      ("let a = b ?", 1),
    ])
  func lastOfLine(_ member: String, _ count: Int) {
    for next in ["var next = 1", "class func next() {}", "private(set) weak var next: A?", "#next"]
    {
      var reader = DeclarationReader("class A {\n  \(member)\n  \(next)\n}")
      expectEqual(reader.readType()?.members.count, count, "\(next)")
    }
  }

  @Test("A condition around attributes is a directive, and the attributes are the next member's")
  func conditionalAttributes() {
    let condition = "\n@A\n#if X\n@B(1)\n#else\n@C\n#endif\n@D "
    var reader = DeclarationReader(condition + "class E: F {\(condition)var a = 1\nvar b = 2\n}")
    let type = reader.readType()
    expect(type?.name.text == "E" && type?.attributes.map(\.name) == ["A", "B", "C", "D"])
    let members = type?.members ?? []
    expectEqual(members.map(\.isDirective), [true, true, true, false, false])
    expectEqual(members.map { $0.attributes.map(\.name) }.suffix(2), [["A", "B", "C", "D"], []])
    var member = DeclarationReader(condition + "weak var a: A?")
    expectEqual(member.readMember()?.attributes.map(\.name), ["A", "B", "C", "D"])
    var none = DeclarationReader("#if X")
    expect(none.readMember() == nil)
  }

  @Test("Declarations give the positions of their parts in a source's tokens")
  func places() {
    let source = """
      let before = "\\(x) {"
      @A extension B.C <T>: Lib.D, E {
        @F weak var a = "\\(1) \\(2)", b: Int { didSet {} }
        var c: Int { 1 }
        func f<T>(x: Int = 1) throws { }
        func g()
      }
      """
    let tokens = LexedSource(source).tokens
    var reader = DeclarationReader(tokens, at: 4)
    guard let type = reader.readType(), type.members.count == 4 else {
      Issue.record("the extension is not read")
      return
    }
    func texts(_ places: Int?...) -> [String] { places.map { $0.map { tokens[$0].text } ?? "-" } }
    expect(type.keyword == "extension" && type.name.text == "C")
    expectEqual(type.inherited, ["Lib.D", "E"])
    expectEqual(type.supertypes.map { tokens[$0.place].text }, ["Lib", "E"])
    expect(texts(type.open, type.close) == ["{", "}"] && type.close == tokens.count - 2)
    expectEqual(type.members.map { tokens[$0.start].text }, ["@", "var", "func", "func"])
    expectEqual(type.members.map { tokens[$0.keyword].text }, ["var", "var", "func", "func"])
    guard case .variable(_, let two) = type.members[0].kind,
      case .variable(_, let one) = type.members[1].kind,
      case .function(let f) = type.members[2].kind, case .function(let g) = type.members[3].kind
    else {
      Issue.record("a member is read as another kind")
      return
    }
    expectEqual(two.map { tokens[$0.place].text }, ["a", "b"])
    expect(two[0].accessors == nil && two[1].accessors?.isBare == false)
    expectEqual(two[1].accessors?.block("didSet").map { tokens[$0.open - 1].text }, "didSet")
    expect(one[0].accessors?.isBare == true && texts(one[0].accessors?.open) == ["{"])
    expect(texts(f.open, f.body) == ["(", "{"] && texts(g.open, g.body) == ["(", "-"])
  }

  @Test(
    "Any repetition is read in constant stack and linear time",
    arguments: [
      ("final ", ""), ("unowned(safe) ", ""), ("let x = ", "a<b+"), ("let x = ", "a<b&"),
      ("let x = ", "a<"), ("let x = ", "\"\\(a)\" + "), ("@A(", "("),
    ])
  func repeated(_ beginning: String, _ piece: String) {
    let source = { (count: Int) in
      let member = piece.isEmpty ? String(repeating: beginning, count: count) : beginning
      return "class A {\n" + member + String(repeating: piece, count: count) + "\n}"
    }
    let (once, twice) = (Self.steps(source(1_000)), Self.steps(source(2_000)))
    // Looking ahead ends early at the source's end, so the count is not exactly double. Quadratic behaviour would
    // make it four times as many.
    expect(once > 1_000 && twice <= 2 * once + once / 4)
  }

  /// The number of tokens that the reader looks at, on a thread whose stack is too small for a recursion per
  /// declaration.
  private static func steps(_ source: String) -> Int {
    nonisolated(unsafe) var steps = 0
    let isRead = DispatchSemaphore(value: 0)
    let thread = Thread {
      let meter = DeclarationReader.Meter()
      var reader = DeclarationReader(LexedSource(source).tokens, at: 0, meter: meter)
      if reader.readType()?.name.text == "A" { steps = meter.steps }
      isRead.signal()
    }
    thread.stackSize = 128 << 10
    thread.start()
    isRead.wait()
    return steps
  }

  @Test("Sources that are cut off, or have tokens missing or doubled, are read to their end")
  func damaged() {
    let source =
      "@A(b) public class C<T>: D { @E var f: G<H, I> = j < k ? { l } : m(n)[o] { p }, q: (R) -> S; func t<U>(v w: X) { } #if Y\nvar z: Z { get { a } set { b } } }"
    let texts = LexedSource(source).tokens.map { $0.leadingTrivia + $0.text }
    for index in texts.indices {
      for damaged in [
        texts[..<index].joined(), (texts[..<index] + texts[(index + 1)...]).joined(),
        (texts[...index] + texts[index...]).joined(),
      ] {
        var reader = DeclarationReader(damaged)
        _ = reader.readType()
        _ = reader.readMember()
      }
    }
  }
}
