/// The findings about classes of the main actor, and about extensions that make a class `Codable`.
import Expectations
import KVOMove
import Testing

extension MoveTests {
  @Test("an extension that would be coded by the compiler is listed")
  func coding() {
    let head = "class A: NSObject { @objc dynamic var x = 1 }\n"
    for (source, wanted) in [
      (head + "extension A: Encodable {}", ["Encodable"]),
      (head + "extension A: Hashable, Swift.Codable {}", ["Codable"]),
      (head + "extension A: Encodable { func encode(to e: any Encoder) throws {} }", []),
      ("class A: NSObject { var x = 1 }\nextension A: Encodable {}", []),
      ("class A: NSObject, Codable { @objc dynamic var x = 1 }\nextension A: Hashable {}", []),
    ] as [(String, [String])] {
      expectEqual(
        move([(path: "A.swift", text: source)])[0].findings.map(\.reason),
        wanted.map {
          "an extension can't make a @KVO class \($0) without methods of its own"
        }, source)
    }
  }

  @Test("for a class on the main actor, nonisolated members are listed")
  func isolation() {
    let body =
      "override func observeValue(forKeyPath k: String?) { t = 1 }; deinit { a.removeObserver(self, forKeyPath: k) }"
    func reasons(_ head: String, _ body: String) -> [String] {
      Self.moved("\(head) { \(body) }").findings.map(\.reason)
    }
    let both = [
      "observeValue is not isolated to the main actor", "deinit is not isolated to the main actor",
    ]
    expectEqual(reasons("@MainActor class A: NSObject", body), both)
    expectEqual(reasons("@MainActor class A: NSObject {}\nclass B: A", body), both)
    expectEqual(reasons("class A: NSObject", body), [])
    let moved =
      "override func observeValue(forKeyPath k: String?) { MainActor.assumeIsolated { t = 1 } }; isolated deinit { a.removeObserver(self, forKeyPath: k) }"
    expectEqual(reasons("@MainActor class A: NSObject", moved), [])
    expectEqual(reasons("@MainActor class A: NSObject", "deinit { print(1) }"), [])
  }
}
