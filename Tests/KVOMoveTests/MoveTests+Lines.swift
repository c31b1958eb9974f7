/// Edits that meet at one place, and any line ends, leave text and diff intact.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  static let lines = [
    Case(
      "import Foundation\nclass A: NSObject { @objc dynamic var x = 1 }",
      "import Foundation\nimport KVORuntime\n@KVO class A: KVOObject { var x = 1 }"),
    Case(
      "import Foundation\r\nclass A: NSObject { @objc dynamic var x = 1 }\r\n",
      "import Foundation\r\nimport KVORuntime\r\n@KVO class A: KVOObject { var x = 1 }\r\n"),
    Case(
      "import Foundation\r@objcMembers\rclass A: NSObject { dynamic var x = 1 }\r",
      "import Foundation\rimport KVORuntime\r@KVO class A: KVOObject { var x = 1 }\r"),
    Case(
      "import Foundation\n@objc\nclass A: NSObject {\n  @objc dynamic\n  var x = 1\n}\n",
      "import Foundation\nimport KVORuntime\n@KVO class A: KVOObject {\n  var x = 1\n}\n"),
    Case(
      "import Foundation; class A: NSObject {}",
      "import Foundation\nimport KVORuntime; class A: KVOObject {}"),
  ]

  @Test(
    "a source that begins with an option, or ends inside a condition, is read to its end",
    arguments: ["x[.New]", "#if os(macOS)\nlet x = options[.New]"])
  func bounds(_ source: String) {
    expectEqual(Self.moved(source).text, source)
  }

  @Test("edits at one place keep their lines", arguments: lines)
  func line(_ lines: Case) {
    let moved = Self.moved(lines.there, .macro)
    expectEqual(moved.text, lines.here)
    expectEqual(Self.patched(lines.there, by: moved.diff), lines.here)
  }

  // A case for each source: together they take half a minute.
  @Test(
    "the diff of each source shows the edits, and unedited text stays unchanged",
    arguments: allSources.indices)
  func diffs(of index: Int) {
    let source = Self.allSources[index]
    for style in [ObservableStyle.macro, .wrapper] {
      let moved = Self.moved(source, style)
      let patched = moved.diff.isEmpty ? source : Self.patched(source, by: moved.diff)
      expectEqual(patched, moved.text, "\(source)")
      expectEqual(Self.moved(moved.text, style).diff, "", "\(source)")
    }
  }

  /// The sources of the tables and of the corpus.
  static let allSources: [String] = {
    let tables =
      edits + macroEdits + announcements + findings + lines + importEdits + modifierEdits + nested
      + tries
      + contexts
    let files = ["Originals", "Corpus"].flatMap { sources(in: "Tests/Migration/\($0)") }
    return tables.map(\.there) + names + files.map(\.text)
  }()

  /// Applies a unified diff to a source, independently of the tool.
  static func patched(_ source: String, by diff: String) -> String {
    let newline = UInt8(ascii: "\n")
    let ended = { (text: String) in
      text.utf8.split(separator: newline, omittingEmptySubsequences: false).map { String($0)! }
    }
    var (old, result, next) = (ended(source), [String](), 0)
    for line in ended(diff).dropFirst(2) {
      let text = String(line.dropFirst())
      switch line.first {
      case "@":
        let numbers = line.split { !$0.isNumber }.map { Int($0)! }
        result += old[next..<numbers[0] - 1]
        next = numbers[0] - 1
        expectEqual(numbers[2], result.count + 1)
      case " ", "-":
        expectEqual(old[next], text)
        next += 1
        if line.first == " " { result.append(text) }
      case "+": result.append(text)
      default: break
      }
    }
    old.removeFirst(min(next, old.count))
    return (result + old).joined(separator: "\n")
  }
}
