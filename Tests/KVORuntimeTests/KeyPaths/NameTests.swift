import CFixtures
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// B5, C8: names from outside leave nothing behind, however many there are.
@Suite struct NameTests {
  private final class Board: KVOObject {
    @Observed var score = 1
    @Observed var next: Board?

    override func value(forUndefinedKey key: String) throws -> Any? {
      key.hasPrefix("hook") ? 1 : try super.value(forUndefinedKey: key)
    }
  }

  /// Enough to fill every cache.
  private static let filling = 2_000
  private static let many = Int(Environment.times(1_000))
  /// Less than one allocation for each.
  private static let most = 16 * many

  private static func board() -> Board {
    let board = Board()
    board.next = Board()
    board.next?.next = Board()
    return board
  }

  /// The bytes that remain after running `body` with many numbers, once caches are full.
  private static func left(by body: (Int) -> Void) -> Int {
    for number in 0..<filling { body(number) }
    let before = fixture_bytes_used()
    for number in filling..<filling + many { body(number) }
    return fixture_bytes_used() - before
  }

  @Test("B5: names that are read or set leave nothing behind, whether they are keys or not")
  func coding() async {
    await #expect(processExitsWith: .success) {
      let board = Self.board()
      let ways: [(Int) -> Void] = [
        { _ = try? board.value(forKey: "x\($0)") },
        { _ = try? board.value(forKeyPath: "next.x\($0)") },
        { _ = try? board.value(forKeyPath: "next.hook\($0)") },
        { _ = try? board.value(forKeyPath: "next.@sum.x\($0)") },
        { try? board.setValue(1, forKey: "x\($0)") },
        { try? board.setValue(1, forKeyPath: "next.x\($0)") },
      ]
      for (index, way) in ways.enumerated() {
        let left = Self.left(by: way)
        precondition(left < Self.most, "\(index): \(left) bytes")
      }
    }
  }

  @Test("C8: unobservable or no longer observed key paths leave nothing behind")
  func observing() async {
    await #expect(processExitsWith: .success) {
      let board = Self.board()
      let ways: [(Int) -> Void] = [
        { _ = try? board.observe(keyPath: "x\($0)") { _, _ in } },
        { _ = try? board.observe(keyPath: "next.x\($0)") { _, _ in } },
        { number in
          let names = (0..<17).map { number >> $0 & 1 == 1 ? "self" : "score" }
          let path = (["next"] + names.filter { $0 == "self" }).joined(separator: ".")
          _ = try? board.observe(keyPath: path + ".x\(number).y") { _, _ in }
        },
      ]
      for (index, way) in ways.enumerated() {
        let left = Self.left(by: way)
        precondition(left < Self.most, "\(index): \(left) bytes")
      }
      var notified = 0
      let left = Self.left { number in
        let steps = (0..<17).map { number >> $0 & 1 == 1 ? "self" : "self.self" }
        let path = "next." + steps.joined(separator: ".") + ".score"
        let token = try! board.observe(keyPath: path) { _, _ in notified += 1 }
        board.next?.score += 1
        token.invalidate()
      }
      precondition(
        left < Self.most && notified == Self.filling + Self.many,
        "\(left) bytes, \(notified) notified")
    }
  }

  @Test("C8: an observer object is called with the key path that it registered, however often")
  func observers() async {
    await #expect(processExitsWith: .success) {
      final class Watcher: KVOObject {
        var paths: Set<String> = []
        override func observeValue(
          forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
          context: UnsafeMutableRawPointer?
        ) { paths.insert(keyPath ?? "") }
      }
      let board = Self.board()
      let watcher = Watcher()
      for number in 0..<2_000 {
        let path = "next." + String(repeating: "self.", count: number % 250) + "score"
        try! board.addObserver(watcher, forKeyPath: path, options: [], context: nil)
        board.next?.score += 1
        try! board.removeObserver(watcher, forKeyPath: path, context: nil)
      }
      precondition(watcher.paths.count == 250)
    }
  }

  @Test("C8: keys that only value(forUndefinedKey:) answers can be observed up to a limit")
  func limit() async {
    await #expect(processExitsWith: .success) {
      precondition(KVODiagnostics.nameLimit == 100_000)
      KVODiagnostics.nameLimit = 10
      let board = Self.board()
      var failures: [any Error] = []
      for number in 0..<12 {
        do { try board.observe(keyPath: "hook\(number)") { _, _ in }.invalidate() } catch {
          failures.append(error)
        }
      }
      precondition(failures.count == 2)
      guard case KeyValueError.notObservable = failures[0] else { fatalError("\(failures)") }
    }
  }
}
