import Expectations
import KVOChangeLogs
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// Random changes of a graph, by all ways, inside and outside groups, some undone and redone in between. Undoing all
/// restores the graph, and redoing all the last state. 400 changes, unless the environment says otherwise
/// (`KVO_STEPS`, `KVO_SEED`). `Scripts/prove --undo` runs a million in release.
@Suite(.leakFree) struct UndoProofTests {
  @Test("N1 N2 N3 N4: undoing everything restores the graph, redoing restores it again")
  func undoAndRedo() throws {
    let steps = Int(Environment.steps(400))
    let seed = Environment.number("KVO_SEED", default: 1)
    let graph = try RandomGraph(seed: seed)
    let before = graph.firm.state
    // Until nothing can be redone: it would be redone, too.
    while graph.log.count < steps || graph.log.canRedo { try graph.step() }
    let after = graph.firm.state
    expect(after != before)
    var undone = 0
    while try graph.log.undo() { undone += 1 }
    expectEqual(graph.firm.state, before, "seed \(seed)")
    var redone = 0
    while try graph.log.redo() { redone += 1 }
    expectEqual(graph.firm.state, after, "seed \(seed)")
    expect(undone == redone && undone > steps / 100)
  }

  @Test("N4: another graph follows all changes, undos and redos", arguments: 1...4)
  func follows(_ seed: Int) throws {
    let graph = try RandomGraph(seed: UInt64(seed))
    let other = try RandomGraph(seed: UInt64(seed))
    var sent = 0
    for _ in 0..<60 {
      for _ in 0..<20 { try graph.step() }
      try other.log.apply(graph.log.transcript(from: sent))
      sent = graph.log.count
      expectEqual(other.firm.state, graph.firm.state, "seed \(seed)")
    }
  }
}

/// A graph, and random changes of it.
private final class RandomGraph {
  let firm = Firm()
  let log: ChangeLog
  private var random: Random
  private var names = 0
  private var token: KeyValueObservation?

  init(seed: UInt64) throws {
    random = Random(seed: seed)
    firm.staff = (0..<5).map { Clerk("\($0)") }
    log = try Firm.recorded(firm)
    // An observer called before the log, which changes the graph in turn.
    token = firm.observe(\.figures) { firm, _ in
      if firm.figures.count > 12 { firm.mutableArray(\.figures).removeFirst(4) }
    }
  }

  private func below(_ bound: Int) -> Int { random.next(max(bound, 1)) }

  private func clerk() -> Clerk? {
    let all = firm.staff + (firm.boss.map { [$0] } ?? [])
    return all.isEmpty ? nil : all[below(all.count)]
  }

  private func newClerk() -> Clerk {
    names += 1
    return Clerk("c\(names)", salary: below(100))
  }

  func step() throws {
    switch below(20) {
    case 0:
      let size = below(8)
      log.withGroup("\(size)") { for _ in 0..<size { change() } }
    case 1: for _ in 0..<below(4) { try log.undo() }
    case 2: for _ in 0..<below(4) { try log.redo() }
    case 3: firm.coalescingNotifications { for _ in 0..<below(5) { change() } }
    case 4: log.mergesRepeatedSets = below(2) == 0
    default: change()
    }
  }

  private func change() {
    switch below(14) {
    case 0: firm.name = "\(below(100))"
    case 1: firm.note = below(2) == 0 ? nil : "\(below(10))"
    case 2: firm.boss = below(3) == 0 ? nil : clerk() ?? newClerk()
    case 3: firm.mutableArray(\.staff).insert(newClerk(), at: below(firm.staff.count + 1))
    case 4:
      if firm.staff.count > 3 { firm.mutableArray(\.staff).remove(at: below(firm.staff.count)) }
    case 5:
      if firm.staff.count > 1 { firm.mutableArray(\.staff).swapAt(0, below(firm.staff.count)) }
    case 6: if below(20) == 0 { firm.staff = Array(firm.staff.prefix(below(6))) }
    case 7: clerk()?.salary = below(1_000)
    case 8:
      if let clerk = clerk(), below(4) == 0 { clerk.mutableArray(\.reports).append(newClerk()) }
    case 9: clerk()?.follow(below(3) == 0 ? nil : clerk())
    case 10: firm.mutableArray(\.figures).insert(below(10), at: below(firm.figures.count + 1))
    case 11: changeFigures()
    case 12: changeTags()
    default: if let clerk = clerk() { firm.mutableSet(\.team).set([clerk]) }
    }
  }

  private func changeFigures() {
    let count = firm.figures.count
    guard count > 2 else {
      firm.figures = [1, 2, 3]
      return
    }
    switch below(4) {
    case 0: firm.mutableArray(\.figures).removeSubranges(RangeSet([0..<1, 2..<3]))
    case 1: firm.mutableArray(\.figures)[below(count)] = below(10)
    case 2: firm.mutableArray(\.figures).sort()
    default: firm.figures.append(below(10))
    }
  }

  private func changeTags() {
    let tags = Set((0..<below(4)).map { _ in "\(below(6))" })
    switch below(4) {
    case 0: firm.mutableSet(\.tags).formUnion(tags)
    case 1: firm.mutableSet(\.tags).subtract(tags)
    case 2: firm.mutableSet(\.tags).set(tags)
    default: firm.tags = tags
    }
  }
}
