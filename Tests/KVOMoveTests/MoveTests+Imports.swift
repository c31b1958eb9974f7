/// The place of the runtime's imports.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  static let importEdits = [
    Case(
      "import SwiftUI\n@_exported import Dispatch\n",
      "import SwiftUI\nimport KVORuntime\n@_exported import Dispatch\n"),
    Case(
      "import Dispatch\nimport Foundation  // all\n",
      "import Dispatch\nimport Foundation  // all\nimport KVORuntime\n"),
    Case("import Foundation /* a\n b */\n", "import Foundation /* a\n b */\nimport KVORuntime\n"),
    Case(
      "import Foundation /* a\n b */; import Dispatch\n",
      "import Foundation\nimport KVORuntime /* a\n b */; import Dispatch\n"),
    Case(
      "import class Foundation.NSObject\n", "import class Foundation.NSObject\nimport KVORuntime\n"),
    Case("import Foundation.NSObject\n", "import Foundation.NSObject\nimport KVORuntime\n"),
    Case(
      "import struct Foundation.IndexSet\n",
      "import struct Foundation.IndexSet\nimport KVORuntime\n"),
    Case(
      "import Foundation\n#if canImport(UIKit)\nimport UIKit\n#elseif canImport(AppKit)\nimport AppKit\n#endif\n",
      "import Foundation\nimport KVORuntime\n#if canImport(UIKit)\nimport UIKit\n#elseif canImport(AppKit)\nimport AppKit\n#endif\n"
    ),
    Case(
      "// Head\n\n#if A\n#if B\nimport UIKit\n#endif\n#else\nimport AppKit\n#endif\n",
      "// Head\n\nimport KVORuntime\n#if A\n#if B\nimport UIKit\n#endif\n#else\nimport AppKit\n#endif\n"
    ),
    Case("let s = 1\n", "let s = 1\n"),
  ].map { Case($0.there + "class A: NSObject {}\n", $0.here + "class A: KVOObject {}\n") }

  @Test(
    "imports are placed where all conditions have them, and name the same modules",
    arguments: importEdits
  )
  func imports(_ edit: Case) {
    let moved = Self.moved(edit.there)
    expectEqual(moved.text, edit.here)
    expectEqual(moved.modules, (edit.here.contains("import KVO") ? ["KVORuntime"] : []))
    expect(Self.moved(edit.here).edits.isEmpty)
  }

  @Test("a module that is imported already is not imported again") func imported() {
    let moved = Self.moved("import KVORuntime\nclass A: NSObject {}\n")
    expectEqual(moved.text, "import KVORuntime\nclass A: KVOObject {}\n")
    expect(moved.modules.isEmpty)
  }

  @Test(
    "KVOFoundation is imported where a protocol requires NSObjectProtocol",
    arguments: [
      ("@objc protocol P: NSObjectProtocol {}", "class A: NSObject, P", true),
      ("protocol P: Q {}; protocol Q: NSObjectProtocol {}", "class A: NSObject, P", true),
      ("protocol P: NSObjectProtocol {}; extension A: P {}", "class A: NSObject", true),
      ("", "class A: NSObject, URLSessionDelegate", true),
      ("protocol PDelegate: AnyObject {}", "class A: NSObject, PDelegate", false),
    ])
  func objectProtocols(_ before: String, _ head: String, _ isNeeded: Bool) {
    let moved = Self.moved("import Foundation\n\(before)\n\(head) {}\n")
    expectEqual(moved.modules, (isNeeded ? ["KVOFoundation"] : []) + ["KVORuntime"])
  }
}
