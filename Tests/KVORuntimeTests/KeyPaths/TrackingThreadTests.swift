import Expectations
import KVORuntime
import TestSupport
import Testing

/// I1 and C5 for computed properties and for several keys: threads register and end at one object at once.
@Suite(.leakFree) struct TrackingThreadTests {
  // Nothing is set while threads share the object, because storage is not locked.
  private final class Worker: KVOObject, @unchecked Sendable {
    @Observed var first = "Ann"
    @Observed var last = "Lee"
    @Observed var boss: Worker?
    let life = Life(of: Worker.self)
    var full: String { "\(first) \(last)" }
  }

  @Test("I1: threads observe one computed property and end it, and nothing is left")
  func registering() async {
    let worker = Worker()
    worker.boss = Worker()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for round in 0..<300 {
            let tokens = [
              worker.observe(\.full) { _, _ in },
              worker.observe(\.boss?.full, options: round % 2 == 0 ? .initial : []) { _, _ in },
              worker.observe([\.first, \.full, \.boss?.last]) { _, _ in },
            ]
            tokens[round % 3].invalidate()
          }
        }
      }
    }
    for object in [worker, worker.boss!] {
      expect(object.observationInfo.registrations.isEmpty)
      for key in ["first", "last", "boss"] { expect(!object.isObserved(forKey: key)) }
    }
  }

  @Test("C5: threads end one token of several keys; when that returns its last call is over")
  func invalidating() async {
    for _ in 0..<200 {
      let worker = Worker()
      let token = worker.observe([\.first, \.last, \.full]) { _, _ in Issue.record("notified") }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { token.invalidate() } }
      }
      expect(!token.isValid && worker.observationInfo.registrations.isEmpty)
      worker.first = "Bea"
    }
  }

  @Test("I1: each thread's own objects share a class and its tracked keys")
  func ownObjects() async {
    let counts = await withTaskGroup(of: Int.self, returning: [Int].self) { group in
      for _ in 0..<4 {
        group.addTask {
          let worker = Worker()
          let boss = Worker()
          let calls = Count()
          let token = worker.observe(\.boss?.full) { _, _ in calls.add() }
          for round in 0..<200 {
            worker.boss = round % 2 == 0 ? boss : nil
            boss.first = "\(round)"
          }
          token.invalidate()
          return calls.value
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    expectEqual(counts, [300, 300, 300, 300])
  }
}
