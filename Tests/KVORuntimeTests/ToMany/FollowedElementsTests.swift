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

  @Test("H3: a change of elements behind a union is a setting of the union")
  func unions() throws {
    let (group, first) = (Group(), Group())
    first.toys = [1, 2]
    group.groups = [first, Group()]
    let log = Recorder()
    for name in ["unionOfArrays", "distinctUnionOfArrays"] {
      try log.observe(group, "groups.@\(name).toys", [.old, .new], as: name)
    }
    group.groups[1].mutableArray(\.toys).append(2)
    expectEqual(
      log.take(),
      ["unionOfArrays old [1, 2] new [1, 2, 2]", "distinctUnionOfArrays old [1, 2] new [1, 2]"])
    try first.mutableArrayValue(forKey: "toys").remove(at: 0)
    expectEqual(
      log.take(),
      ["unionOfArrays old [1, 2, 2] new [2, 2]", "distinctUnionOfArrays old [1, 2] new [2]"])
  }

  final class Group: Tracked {
    @Observed var toys: [Int] = []
    @Observed var groups: [Group] = []
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

  /// A mutation of a list whose elements come from a larger one.
  private func mutate(
    _ workers: inout [Worker], _ random: inout Random, from all: [Worker], _ kind: Int
  ) {
    let (new, count) = (all[random.next(all.count)], workers.count)
    switch kind {
    case 0: workers.append(new)
    case 1: workers.insert(new, at: random.next(count + 1))
    case 2 where count > 0: workers.remove(at: random.next(count))
    case 3 where count > 0: workers[random.next(count)] = new
    case 4 where count > 1: workers.swapAt(0, random.next(count))
    case 5: workers += [new, all[random.next(all.count)], new]
    case 6: workers = workers.filter { $0 !== new }
    case 7 where random.next(20) == 0: workers.removeAll(keepingCapacity: true)
    case 8 where random.next(8) == 0: workers.reverse()
    default: break
    }
  }

  @Test("C6: an operator follows what random mutations in place leave", arguments: 1...4)
  func inPlace(_ seed: Int) throws {
    var random = Random(seed: UInt64(seed))
    let all = (0..<20).map { Worker($0) }
    // Long enough that the comparison goes by blocks.
    let others = (0..<300 * (seed % 2)).map { Worker($0) }
    let team = Team()
    team.workers = others + all[0..<5]
    let log = Recorder()
    for path in ["workers.@sum.salary", "workers.@max.salary"] {
      try log.observe(team, path, [], as: path)
    }
    let (handle, proxy) = (
      team.mutableArray(\.workers), try team.mutableArrayValue(forKey: "workers")
    )
    for step in 0..<200 {
      let kind = random.next(11)
      switch kind {
      case 9: handle.insert(all[random.next(20)], at: random.next(team.workers.count + 1))
      case 10 where proxy.count > 0: _ = try proxy.remove(at: random.next(proxy.count))
      default: mutate(&team.workers, &random, from: all, kind)
      }
      _ = log.take()
      let last = others.last.map { [$0] } ?? []
      for worker in all + last {
        worker.salary += 1
        let isElement = team.workers.contains { $0 === worker }
        expectEqual(log.take().count, isElement ? 2 : 0, "after step \(step)")
      }
    }
  }

  @Test("C6: an object that takes the place of one that has died is followed")
  func reused() throws {
    let team = Team()
    let log = Recorder()
    try log.observe(team, "workers.@sum.salary", [], as: "sum")
    for _ in 0..<50 {
      // The new object may get the address of the old one.
      team.workers = []
      team.workers = [Worker(1)]
      _ = log.take()
      team.workers[0].salary += 1
      expectEqual(log.take().count, 1)
      withExtendedLifetime(Worker(2)) { team.workers[0] = $0 }
      _ = log.take()
      team.workers[0].salary += 1
      expectEqual(log.take().count, 1)
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
