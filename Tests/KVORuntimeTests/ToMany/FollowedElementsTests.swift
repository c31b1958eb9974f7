import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// H2, C6, F5: operators and getters that read a property's elements follow those inserted and removed one by one.
@Suite(.leakFree) struct FollowedElementsTests {
  final class Worker: Tracked {
    @Observed var salary: Int
    init(_ salary: Int) {
      self.salary = salary
      super.init()
    }
  }

  final class Team: Tracked {
    @Observed var workers: [Worker] = []
    @Observed var chosen: Set<Worker> = []
    var total: Int { workers.reduce(0) { $0 + $1.salary } }
    var chosenTotal: Int { chosen.reduce(0) { $0 + $1.salary } }
  }

  @Test("C6, F5: operators and computed properties follow elements through mutations")
  func elements() throws {
    let team = Team()
    let log = Recorder()
    try log.observe(team, "workers.@sum.salary", [.old, .new], as: "sum")
    log.observe(team, \.total, [.old, .new], as: "total")
    let workers = team.mutableArray(\.workers)
    let worker = Worker(10)
    workers.append(worker)
    expectEqual(log.take().sorted(), ["sum old 0 new 10", "total old 0 new 10"])
    worker.salary = 20
    expectEqual(log.take().sorted(), ["sum old 10 new 20", "total old 10 new 20"])
    workers.removeAll()
    expectEqual(log.take().sorted(), ["sum old 20 new 0", "total old 20 new 0"])
    worker.salary = 30
    expectEqual(log.take(), [])
    try team.mutableArrayValue(forKey: "workers").append(worker)
    expectEqual(log.take().sorted(), ["sum old 0 new 30", "total old 0 new 30"])
  }

  @Test("C6, F5: so they do with a set")
  func members() throws {
    let team = Team()
    let log = Recorder()
    try log.observe(team, "chosen.@sum.salary", [.old, .new], as: "sum")
    log.observe(team, \.chosenTotal, [.old, .new], as: "total")
    let worker = Worker(10)
    team.mutableSet(\.chosen).insert(worker)
    worker.salary = 20
    team.mutableSet(\.chosen).remove(worker)
    worker.salary = 30
    expectEqual(
      log.take().sorted(),
      [
        "sum old 0 new 10", "sum old 10 new 20", "sum old 20 new 0", "total old 0 new 10",
        "total old 10 new 20", "total old 20 new 0",
      ])
  }
}
