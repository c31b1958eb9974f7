import Expectations
import KVOChangeLogs
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// N2, N3: undo at the wrong time, from several threads, and with values that call back.
@Suite(.leakFree) struct UndoMisuseTests {
  @Test("N3: if two threads undo, each undoes groups of its own")
  func threads() throws {
    for _ in 0..<3 {
      let firm = Firm()
      let log = try Firm.recorded(firm)
      for number in 0..<40 { firm.mutableArray(\.figures).append(number) }
      let undone = Locked(0)
      let shared = Shared(log)
      onThreads(2) { _ in
        for _ in 0..<15 {
          while true {
            do {
              if try shared.value.undo() { undone.withLock { $0 += 1 } }
              break
            } catch {}
          }
        }
      }
      expect(undone.withLock { $0 } == 30 && firm.figures == Array(0..<10))
    }
  }

  @Test(
    "N1: a missing record stops the program with a message",
    arguments: [-1, 1, .min, .max])
  func noRecord(position: Int) async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [position] in
      let firm = Firm()
      let log = try Firm.recorded(firm)
      firm.name = "A"
      _ = log[position]
    }
    expect(
      result.errors.contains("There is no record \(position): the log has 1, from 0 on."))
  }

  @Test("N3: inside a pending change, and inside a batch, undo is refused")
  func insideChanges() throws {
    let firm = Firm()
    let armed = Locked(false)
    let early = firm.observe(\.figures) { _, _ in }
    let log = try Firm.recorded(firm)
    early.invalidate()
    firm.mutableArray(\.figures).append(1)
    firm.mutableArray(\.figures).append(2)
    firm.coalescingNotifications {
      _ = #expect(throws: ChangeLogError.isBusy) { try log.undo() }
    }
    firm.withChange(of: \.name) {
      _ = #expect(throws: ChangeLogError.isBusy) { try log.undo() }
    }
    // Called after the log, so the change that it is notified of can be undone.
    let late = firm.observe(\.figures) { firm, _ in
      if armed.withLock({ $0 }) {
        armed.withLock { $0 = false }
        #expect(throws: Never.self) { try log.undo() }
      }
    }
    armed.withLock { $0 = true }
    firm.mutableArray(\.figures).insert(3, at: 0)
    expectEqual(firm.figures, [1, 2])
    while try log.undo() {}
    expectEqual(firm.figures, [])
    withExtendedLifetime(late) {}
  }

  @Test("N3: an earlier observer can't undo before the log is notified")
  func toldBefore() throws {
    let firm = Firm()
    let armed = Locked(false)
    let logs = Locked<ChangeLog?>(nil)
    let token = firm.observe(\.figures) { _, _ in
      guard armed.withLock({ $0 }) else { return }
      armed.withLock { $0 = false }
      #expect(throws: ChangeLogError.isBusy) { try logs.withLock { $0 }!.undo() }
    }
    let log = try Firm.recorded(firm)
    logs.withLock { $0 = log }
    for number in 1...2 { firm.mutableArray(\.figures).append(number) }
    armed.withLock { $0 = true }
    firm.mutableArray(\.figures).insert(3, at: 0)
    expectEqual(firm.figures, [3, 1, 2])
    while try log.undo() {}
    expectEqual(firm.figures, [])
    logs.withLock { $0 = nil }
    withExtendedLifetime(token) {}
  }

  private final class Box {
    let died: () -> Void
    init(_ died: @escaping () -> Void) { self.died = died }
    deinit { died() }
  }

  private final class Shelf: Tracked {
    @Observed var box: Box?
    @Observed var name = ""
  }

  @Test("N3: values that ask the log as they die do so outside its lock")
  func dyingValues() throws {
    let shelf = Shelf()
    let log = try ChangeLog(of: shelf, recording: .keys(of: Shelf.self, \.box, \.name))
    let asked = Locked(0)
    let armed = Locked(false)
    shelf.box = Box { [weak log] in
      _ = log?.count
      asked.withLock { $0 += 1 }
    }
    log.withGroup {
      shelf.box = nil
      shelf.name = "z"
    }
    let token = shelf.observe(\.name) { _, _ in
      if armed.withLock({ $0 }) { log.removeAll() }
    }
    try log.undo()
    armed.withLock { $0 = true }
    try log.redo()
    armed.withLock { $0 = false }
    log.removeAll()
    expect(!log.canUndo && !log.canRedo)
    shelf.box = nil
    log.removeAll()
    expectEqual(asked.withLock { $0 }, 1)
    token.invalidate()
  }

  private final class Link: Tracked {
    @Observed var next: Link?
    var died: (() -> Void)?
    deinit { died?() }
  }

  @Test("N2: values beyond the limit die at once, and may ask the log as they do")
  func droppedValues() throws {
    let root = Link()
    let log = try ChangeLog(of: root, recording: .keys(of: Link.self, \.next))
    log.undoLimit = 4
    let deaths = Locked(0)
    for _ in 0..<20 {
      let link = Link()
      link.died = { [weak log] in
        _ = log?.count
        deaths.withLock { $0 += 1 }
      }
      root.next = link
    }
    // Four records have five values.
    expectEqual(deaths.withLock { $0 }, 15)
    root.next = nil
    log.removeAll()
    expectEqual(deaths.withLock { $0 }, 20)
  }

  @Test("N2: the limit applies to redone and applied groups as well")
  func limit() throws {
    let firm = Firm()
    let log = try Firm.recorded(firm)
    for number in 0..<5 { firm.name = "\(number)" }
    let records = try log.transcript()
    while try log.undo() {}
    log.undoLimit = 1
    while try log.redo() {}
    expect(try log.undo() && !log.undo())
    let other = Firm()
    let copy = try Firm.recorded(other)
    copy.undoLimit = 0
    try copy.apply(records)
    expect(other.name == "4" && !copy.canUndo)
  }
}
