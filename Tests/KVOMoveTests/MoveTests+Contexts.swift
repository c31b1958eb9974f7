/// The variables that are contexts: those of which only the address is used.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  private static func use(_ name: String) -> String {
    "func g() throws { try o.addObserver(s, forKeyPath: k, options: [], context: \(name)) }"
  }

  static let contexts = [
    // Another variable of that name has another use.
    Case(
      "private var c = 0\n\(use("&c"))\nfunc f() { var c = 0; c += 1 }",
      "private let c = KVOContext()\n\(use("c"))\nfunc f() { var c = 0; c += 1 }"),
    Case(
      "private var c = 0\n\(use("&c"))\nclass P { var c = 0; func f() { c += 1 } }",
      "private let c = KVOContext()\n\(use("c"))\nclass P { var c = 0; func f() { c += 1 } }"),
    Case(
      "class A { static var c = 0; \(use("&Self.c")) }\nclass B { static var c = 0; func f() { Self.c += 1 } }",
      "class A { static let c = KVOContext(); \(use("Self.c")) }\nclass B { static var c = 0; func f() { Self.c += 1 } }"
    ),
    Case(
      "class A { private var c = 0; \(use("&self.c")) }\nextension A { func h() { f(context == &c) } }",
      "class A { private let c = KVOContext(); \(use("self.c")) }\nextension A { func h() { f(context == c) } }"
    ),
    Case(
      "class A { static var c = 0 }\nclass B { \(use("&A.c")); func f(c: Int) { print(c) } }",
      "class A { static let c = KVOContext() }\nclass B { \(use("A.c")); func f(c: Int) { print(c) } }"
    ),
    // A static one is isolated as its class is.
    Case(
      "@MainActor class A { private static var c = 0; \(use("&Self.c")) }",
      "@MainActor class A { private nonisolated static let c = KVOContext(); \(use("Self.c")) }"),
    Case(
      "@MainActor class A { nonisolated(unsafe) static var c = 0; \(use("&A.c")) }",
      "@MainActor class A { nonisolated static let c = KVOContext(); \(use("A.c")) }"),
    Case(
      "@MainActor class A { private var c = 0; \(use("&c")) }",
      "@MainActor class A { private let c = KVOContext(); \(use("c")) }"),
    Case(
      "@MainActor class A { class N { static var c = 0; \(use("&N.c")) } }",
      "@MainActor class A { class N { static let c = KVOContext(); \(use("N.c")) } }"),
    // A parameter, or a closure's, shadows it.
    Case(
      "private var context = 0\n\(use("&context"))\n"
        + "func h(context: P?) { if context == nil { f(context: context) } }; let d = { context in f(context) }",
      "private let context = KVOContext()\n\(use("context"))\n"
        + "func h(context: P?) { if context == nil { f(context: context) } }; let d = { context in f(context) }"
    ),
    // A variable that is read or written is no context.
    Case("private var c = 0\n\(use("&c")); func f() { c += 1 }", nil),
    Case("private var c = 0\n\(use("&c")); let d = { print(c) }", nil),
    Case("class A { var c = 0; \(use("&c")) }\nfunc f(a: A) { a.c = 1 }", nil),
    Case("class A { static var c = 0; \(use("&c")) }\nlet n = A.c", nil),
    // A variable whose address is never taken is no context.
    Case("var c = 0", nil),
  ]

  @Test("a variable used for nothing else is a context", arguments: contexts)
  func context(_ edit: Case) {
    expectEqual(Self.moved(edit.there).text, edit.here)
    expect(Self.moved(edit.here).edits.isEmpty)
  }

  @Test("other files have variables of their own") func contextsOfFiles() {
    let uses =
      "private var context = 0\n\(Self.use("&context")); class A { var context = 0; \(Self.use("&context")) }"
    let others = [
      "func f() { var context = 0; for i in 0..<3 { context += i } }",
      "final class Parser { var context = 0; func f() { context += 1 } }",
      "fileprivate var context = 0; func f() { context += 1 }",
      "func f(drawing: Drawing) { drawing.context.fill() }",
      "func f() { use(context) }",
    ]
    let moved = move([("A.swift", uses)] + others.enumerated().map { ("\($0).swift", $1) })
    expect(moved[0].text.hasPrefix("private let context = KVOContext()"))
    expect(moved[0].text.contains("class A { let context = KVOContext()"))
    expectEqual(moved.dropFirst().map(\.text), others)
  }

  @Test("a context of another file is one, unless it has another use there") func shared() {
    let uses = Self.use("&shared") + "; " + Self.use("&A.own")
    let declares = "var shared = 0\nclass A { static var own = 0 }"
    let moved = move([("A.swift", declares), ("B.swift", uses)])
    expectEqual(
      moved[0].text, "let shared = KVOContext()\nclass A { static let own = KVOContext() }")
    expectEqual(moved[1].text, Self.use("shared") + "; " + Self.use("A.own"))
    let other = move([
      ("A.swift", declares), ("B.swift", uses), ("C.swift", "let n = shared + A.own"),
    ])
    expect(other.allSatisfy { $0.edits.isEmpty })
  }
}
