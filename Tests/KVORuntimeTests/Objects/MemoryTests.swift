import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// Errors and reports in Swift when the C runtime runs out of memory, which a debug build can simulate.
@Suite struct MemoryTests {
  private final class Worker: KVOObject {
    @Observed var name = "a"
    @Observed var numbers = [1]
    @Observed var boss: Worker?
    var plain = 1
    var shown: String { boss.map { $0.shown } ?? name }
  }

  @Test("F5 J3: a key that can't be followed without memory is reported, and resumes later")
  func noMemory() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent])
    {
      let worker = Worker()
      var notified: [String] = []
      let token = worker.observe(\.shown, options: .new) { notified.append($1.newValue!) }
      // Each allocation of a change fails once, together with all later ones.
      for count in 0..<24 {
        let boss = Worker()
        guard fixture_limit_memory(Int64(count)) else { break }
        worker.boss = boss
        _ = fixture_limit_memory(-1)
        boss.name = "left out"
        worker.boss = nil
      }
      notified = []
      worker.boss = Worker()
      worker.boss?.name = "b"
      say("notified \(notified.joined(separator: " "))\n")
      token.invalidate()
      worker.boss = nil
    }
    expect(result.errors.contains("notified a b\n"))
    #if DEBUG
      expect(
        result.errors.contains(
          "No memory to notify all observers of a change of \"boss\" of Worker"))
    #endif
  }

  @Test(
    "C2: a registration by key path without memory stops, naming the key path",
    .enabled(if: fixture_limit_memory(-1), "memory runs out in debug builds alone"))
  func registration() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent])
    {
      let worker = Worker()
      worker.observe(\.name) { _, _ in }.invalidate()
      _ = fixture_limit_memory(0)
      worker.observe(\.name) { _, _ in }.invalidate()
    }
    expect(result.errors.contains("KVORuntime: No memory to observe \"name\" of "))
  }

  @Test(
    "C2: one by string throws, and leaves nothing behind; the next succeeds",
    .enabled(if: fixture_limit_memory(-1), "memory runs out in debug builds alone"))
  func registrationByString() throws {
    let worker = Worker()
    let log = Recorder()
    let watcher = log.watcher()
    // A first use, after which the class and its keys are cached.
    try worker.addObserver(watcher, forKeyPath: "boss.name", options: .new)
    try worker.removeObserver(watcher, forKeyPath: "boss.name")
    var failures = 0
    while true {
      _ = fixture_limit_memory(Int64(failures))
      let result = Result {
        try worker.addObserver(watcher, forKeyPath: "boss.name", options: .new)
      }
      _ = fixture_limit_memory(-1)
      guard case .failure(let error) = result else { break }
      expect("\(error)".contains("No memory to observe"))
      expect(!worker.isObserved(forKey: "boss"))
      failures += 1
    }
    expect(failures > 0)
    worker.boss = Worker()
    expectEqual(log.take().count, 1)
  }

  @Test(
    "H1: elements are delivered as a setting if their indexes find no memory",
    .enabled(if: fixture_limit_memory(-1), "memory runs out in debug builds alone"))
  func indexes() async {
    await #expect(processExitsWith: .success) {
      let worker = Worker()
      var kinds: [KeyValueChange] = []
      let token = worker.observe(\.numbers) { kinds.append($1.kind) }
      _ = fixture_limit_memory(0)
      worker.mutableArray(\.numbers).append(2)
      _ = fixture_limit_memory(-1)
      worker.mutableArray(\.numbers).append(3)
      precondition(worker.numbers == [1, 2, 3])
      precondition(kinds.last == .insertion && !kinds.dropLast().contains { $0 != .setting })
      token.invalidate()
    }
  }
}
