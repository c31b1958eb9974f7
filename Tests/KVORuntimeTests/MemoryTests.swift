import CFixtures
import KVORuntime
import TestSupport
import Testing

/// F5 where memory runs out, of which a build must be able to make believe.
@Suite struct MemoryTests {
  private final class Worker: KVOObject {
    @Observed var name = "a"
    @Observed var boss: Worker?
    var plain = 1
    var shown: String { boss.map { $0.shown } ?? name }
  }

  @Test("F5 J3: a key that can't be followed for want of memory is reported, and goes on later")
  func noMemory() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent])
    {
      let worker = Worker()
      var told: [String] = []
      let token = worker.observe(\.shown, options: .new) { told.append($1.newValue!) }
      // Each allocation that a change makes fails once, and all that follow it.
      for count in 0..<24 {
        let boss = Worker()
        guard fixture_limit_memory(Int64(count)) else { break }
        worker.boss = boss
        _ = fixture_limit_memory(-1)
        boss.name = "left out"
        worker.boss = nil
      }
      told = []
      worker.boss = Worker()
      worker.boss?.name = "b"
      say("told \(told.joined(separator: " "))\n")
      token.invalidate()
      worker.boss = nil
    }
    #expect(result.errors.contains("told a b\n"))
    #if DEBUG
      #expect(result.errors.contains("No memory to tell all of a change of \"boss\" of Worker"))
    #endif
  }
}
