import Expectations
import Testing

@testable import KVOExpansion

/// The plugin protocol and its JSON.
@Suite struct PluginTests {
  @Test("Q1: the plugin gives its protocol version, and has nothing to load")
  func capability() {
    let answer = Asking.answer(#"{"getCapability":{"capability":{"protocolVersion":7}}}"#)
    let capability = answer["getCapabilityResult"]?["capability"]
    expectEqual(capability?["protocolVersion"]?.int, Plugin.protocolVersion)
    let loaded = Asking.answer(#"{"loadPluginLibrary":{"libraryPath":"x","moduleName":"y"}}"#)
    expectEqual(loaded["loadPluginLibraryResult"]?["loaded"], .bool(false))
  }

  @Test(
    "Q1: another compiler's request is answered by one sentence that the build shows",
    arguments: [
      "", "{", "[]", "{}", #"{"a":1,"b":2}"#, #"{"expandMacro3":{}}"#,
      #"{"expandAttachedMacro":{}}"#,
      #"{"expandAttachedMacro":{"macro":{"typeName":"KVOMacro"},"macroRole":"member","declSyntax":{"source":"x"}}}"#,
      #"{"expandFreestandingMacro":{"macro":{}}}"#, "\u{0}\u{1}",
      String(repeating: "[", count: 100_000),
    ])
  func refusals(_ message: String) {
    let result = Asking.answer(message)["expandMacroResult"]
    guard case .array(let diagnostics)? = result?["diagnostics"] else {
      Issue.record("there is no answer")
      return
    }
    expect(diagnostics.count == 1 && diagnostics[0]["severity"]?.string == "error")
    let text = diagnostics[0]["message"]?.string ?? ""
    expect(text.contains("does not understand this compiler") && text.contains("version 7"))
    expect(text.hasSuffix("."))
  }

  @Test("Q1: an unknown macro or role expands to nothing")
  func others() {
    for (type, role) in [("KVOIgnoredMacro", "peer"), ("KVOMacro", "conformance"), ("X", "member")]
    {
      let (source, diagnostics) = Asking.expand(type, role, "var x = 1")
      expect(source.isEmpty && diagnostics.isEmpty)
    }
  }

  @Test(
    "Q1: JSON is read as written",
    arguments: [
      .null, .bool(true), .bool(false), .number(0), .number(-12), .number(1.5), .string(""),
      .string("a\"b\\c\n\t\r\u{1}é🙂\u{2028}/"), .array([]),
      .array([.number(1), .string("x"), .null]),
      .object([:]), .object(["a b": .array([.object(["c": .bool(false)])])]),
    ] as [JSON])
  func roundTrip(_ value: JSON) {
    expectEqual(JSON(Array(value.text.utf8)), value)
  }

  @Test("Q1: spaces, escapes and surrogates are read, and invalid JSON is refused")
  func reading() {
    let text = #" { "a" : [ 1 , -2.5e1 , "\u00e9\ud83d\ude42\/\b\f" ] , "b" : null } "#
    let value: JSON = .object([
      "a": .array([.number(1), .number(-25), .string("é🙂/\u{8}\u{C}")]), "b": .null,
    ])
    expectEqual(JSON(Array(text.utf8)), value)
    for wrong in [
      "", "tru", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"",
      "1 2", "-",
      "{a:1}", "[1 2]",
    ] {
      expect(JSON(Array(wrong.utf8)) == nil, "\(wrong)")
    }
  }

  @Test("Q1: members of several classes are answered in any order")
  func severalParents() {
    var plugin = Plugin()
    let marked = "@KVO class A: B { dynamic var y = 1; var x = 1 }"
    let other = "@KVO class C: B { var y = 1; var x = 1 }"
    for (parent, source) in [
      (marked, ""), (marked, ""), (other, "@KVORuntime.KVOAccessed"), (marked, ""),
    ] {
      let request = Asking.request("KVOMacro", "memberAttribute", "var x = 1", of: parent)
      let answer = plugin.answer(to: Array(request.text.utf8))
      expectEqual(answer["expandMacroResult"]?["expandedSource"]?.string, source)
    }
  }

  @Test("Q1: a message cut off or changed anywhere is answered")
  func damaged() {
    let message = Array(
      #"{"expandAttachedMacro":{"macro":{"typeName":"KVOMacro"},"macroRole":"member","declSyntax":{"source":"@KVO class A: B { var x = 1 }","location":{"fileName":"f","offset":1}}}}"#
        .utf8)
    var generator = Seeded(state: 7)
    var plugin = Plugin()
    for _ in 0..<2_000 {
      var damaged = message
      let start = Int.random(in: 0..<damaged.count, using: &generator)
      if Bool.random(using: &generator) {
        damaged.removeLast(start)
      } else {
        damaged[start] = UInt8.random(in: 0...255, using: &generator)
      }
      guard case .object(let members) = plugin.answer(to: damaged) else {
        Issue.record("no object is answered to \(String(decoding: damaged, as: UTF8.self))")
        return
      }
      expectEqual(members.count, 1)
    }
  }
}

/// A fixed random sequence.
private struct Seeded: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
