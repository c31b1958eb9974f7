/// The findings about classes of the main actor.
import Expectations
import KVOMove
import Testing

extension MoveTests {
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
