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

  @Test("C6: an operator follows what proxies, handles and assignments leave of repeated elements")
  func repeated() throws {
    let team = Team()
    let workers = (0..<4).map { Worker($0) }
    let log = Recorder()
    try log.observe(team, "workers.@sum.salary", [], as: "sum")
    let handle = team.mutableArray(\.workers)
    let proxy = try team.mutableArrayValue(forKey: "workers")
    let changes: [() throws -> Void] = [
      { handle.append(contentsOf: [workers[0], workers[1], workers[0]]) },
      { handle.append(workers[0]) }, { handle.remove(at: 0) }, { try proxy.append(workers[1]) },
      { team.workers.append(workers[2]) }, { handle.insert(workers[3], at: 2) },
      { _ = try proxy.remove(at: 1) }, { handle.swapAt(0, 1) }, { handle[0] = workers[0] },
      { handle.sort { $0.salary > $1.salary } }, { team.workers.removeLast() },
      { handle.removeLast() }, { team.workers = [workers[3], workers[3]] },
      { handle.removeFirst() }, { handle.removeAll() },
    ]
    for (number, change) in changes.enumerated() {
      try change()
      _ = log.take()
      for worker in workers {
        worker.salary += 1
        let isElement = team.workers.contains { $0 === worker }
        expectEqual(log.take().count, isElement ? 1 : 0, "after change \(number)")
      }
    }
  }

  @Test("C6: members that come and go by handles and proxies are followed")
  func membersOneByOne() throws {
    let team = Team()
    let workers = (0..<3).map { Worker($0) }
    let log = Recorder()
    try log.observe(team, "chosen.@sum.salary", [], as: "sum")
    let handle = team.mutableSet(\.chosen)
    let proxy = try team.mutableSetValue(forKey: "chosen")
    let changes: [() throws -> Void] = [
      { handle.insert(workers[0]) }, { handle.insert(workers[0]) }, { try proxy.add(workers[1]) },
      { handle.formUnion([workers[1], workers[2]]) }, { handle.remove(workers[0]) },
      { try proxy.remove(workers[0]) }, { handle.subtract([workers[0], workers[1]]) },
      { try proxy.add(workers[0]) }, { handle.formIntersection([workers[0]]) },
      { handle.removeAll() },
    ]
    for (number, change) in changes.enumerated() {
      try change()
      _ = log.take()
      for worker in workers {
        worker.salary += 1
        let isMember = team.chosen.contains { $0 === worker }
        expectEqual(log.take().count, isMember ? 1 : 0, "after change \(number)")
      }
    }
  }
}
