import Expectations
import Glibc
import KVOChangeLogs
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// N: change logs of changes that enclose each other, or that begin on one thread and end on another.
@Suite(.leakFree) struct ChangeLogThreadTests {
  /// An object that threads share. A test can run a function when a thread has read the value.
  private final class Node: Tracked, @unchecked Sendable {
    private let stored = Locked((value: 0, other: 0))
    let hasRead = Locked<(@Sendable () -> Void)?>(nil)

    var value: Int {
      get { read() }
      set { withChange(of: \.value) { store(newValue) } }
    }
    var other: Int {
      get { stored.withLock { $0.other } }
      set { withChange(of: \.other) { stored.withLock { $0.other = newValue } } }
    }

    private func read() -> Int {
      let value = stored.withLock { $0.value }
      hasRead.withLock { $0 }?()
      return value
    }

    func store(_ value: Int) { stored.withLock { $0.value = value } }

    func log() throws -> ChangeLog {
      try ChangeLog(of: self, recording: .keys(of: Node.self, "value", "other"))
    }

    /// Begins a change on another thread, which stores a value, for this thread to end. The mutation of a property in
    /// place ends like this if its function is asynchronous.
    func beginElsewhere(storing value: Int) -> _OpenChange {
      nonisolated(unsafe) var change: _OpenChange?
      onAnotherThread {
        change = KVOObject._beginChange(self, "value", \Node.value)
        self.store(value)
      }
      return change!
    }

    func end(_ change: _OpenChange) { KVOObject._endChange(self, change, "value", \Node.value) }

    override class func registerKeys() {
      declareKeys { keys in
        keys.accessors("value", \.value, get: { $0.read() }, set: { $0.store($1) })
        keys.accessors(
          "other", \.other, get: { $0.other },
          set: { node, new in node.stored.withLock { $0.other = new } })
      }
    }
  }

  private func texts(_ log: ChangeLog) throws -> [String] {
    try log.records().map { "\($0.oldValue ?? "-")->\($0.newValue ?? "-")" }
  }

  @Test("N1 N3: a change that ends on another thread is recorded before one that began later")
  func endsElsewhere() throws {
    let node = Node()
    let isFirst = Locked(true)
    let early = node.observe(\.value, options: .new) { node, _ in
      let isFirst = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if isFirst { onAnotherThread { node.value = 2 } }
    }
    let log = try node.log()
    node.end(node.beginElsewhere(storing: 1))
    expectEqual(try texts(log), ["0->1", "1->2"])
    try log.undo()
    expectEqual(node.value, 1)
    try log.undo()
    expectEqual(node.value, 0)
    while try log.redo() {}
    expectEqual(node.value, 2)
    early.invalidate()
  }

  @Test(
    "N1: the last record has the last value where a set is made while another thread's change is open"
  )
  func setWhileOpenElsewhere() throws {
    let node = Node()
    let log = try node.log()
    let change = node.beginElsewhere(storing: 1)
    node.value = 2
    node.store(3)
    node.end(change)
    let records = try log.records()
    expect(records.count == 2 && records.last?.newValue as? Int == 3)
    while try log.undo() {}
    expectEqual(node.value, 0)
  }

  @Test("N1: a change that ended elsewhere leaves nothing behind: later changes do not overlap it")
  func leavesNothing() throws {
    let node = Node()
    let log = try node.log()
    node.end(node.beginElsewhere(storing: 1))
    let reads = Locked(0)
    node.hasRead.withLock { $0 = { reads.withLock { $0 += 1 } } }
    onThreads(1) { _ in node.value = 2 }
    // The old value and the new one.
    expectEqual(reads.withLock { $0 }, 2)
    node.hasRead.withLock { $0 = nil }
    expectEqual(try texts(log), ["0->1", "1->2"])
  }

  @Test("N1: the last record has the last value where a log is made while a change ends elsewhere")
  func lateElsewhere() throws {
    let node = Node()
    // The change reads its new value for this observer, before it finds the log's registration.
    let early = node.observe(\.value, options: .new) { _, _ in }
    let logs = Locked<ChangeLog?>(nil)
    let change = node.beginElsewhere(storing: 1)
    node.hasRead.withLock {
      $0 = {
        node.hasRead.withLock { $0 = nil }
        onAnotherThread {
          let log = try? node.log()
          logs.withLock { $0 = log }
          node.value = 2
        }
      }
    }
    node.end(change)
    let log = try require(logs.withLock { $0 })
    expectEqual(try log.records().last?.newValue as? Int, 2)
    early.invalidate()
    logs.withLock { $0 = nil }
  }

  private enum Stage { case setting, read, begun, recorded, ended }

  @Test(
    "N1: the last record has the last value where a change overlaps one that began before the log")
  func overlapsLate() throws {
    let node = Node()
    let early = node.observe(\.value, options: .new) { _, _ in }
    let logs = Locked<ChangeLog?>(nil)
    let stage = Locked(Stage.setting)
    onThreads(2) { index in
      if index == 0 {
        let thread = pthread_self()
        node.hasRead.withLock {
          $0 = {
            guard pthread_equal(pthread_self(), thread) != 0 else { return }
            switch stage.withLock({ $0 }) {
            case .setting:
              stage.withLock { $0 = .read }
              waitUntil { stage.withLock { $0 == .begun } }
            case .begun:  // read to settle the record
              stage.withLock { $0 = .recorded }
              waitUntil { stage.withLock { $0 == .ended } }
            default: break
            }
          }
        }
        node.value = 5
        // If nothing was settled.
        stage.withLock { if $0 == .begun { $0 = .recorded } }
      } else {
        waitUntil { stage.withLock { $0 == .read } }
        let log = try? node.log()
        logs.withLock { $0 = log }
        let change = KVOObject._beginChange(node, "value", \.value)
        node.store(100)
        stage.withLock { $0 = .begun }
        waitUntil { stage.withLock { $0 == .recorded } }
        node.end(change)
        stage.withLock { $0 = .ended }
      }
    }
    node.hasRead.withLock { $0 = nil }
    let log = try require(logs.withLock { $0 })
    expectEqual(node.value, 100)
    expectEqual(try log.records().last?.newValue as? Int, 100)
    early.invalidate()
    logs.withLock { $0 = nil }
  }

  enum Way: CaseIterable, Sendable { case plain, withPrior, inBatch }

  @Test(
    "N1: a set by an earlier observer becomes part of the change, however that is made",
    arguments: Way.allCases)
  func setByObserver(_ way: Way) throws {
    let (node, helper) = (Node(), Node())
    let early = node.observe(\.value, options: [.new, .prior]) { node, change in
      if change.isPrior {
        if way == .withPrior { node.other += 1 }
      } else if change.newValue == 1 {
        node.value = 10
      }
    }
    let log = try node.log()
    let token = helper.observe(\.value, options: .new) { _, _ in }
    if way == .inBatch {
      node.coalescingNotifications { helper.withChange(of: \.value) { node.value = 1 } }
    } else {
      node.value = 1
    }
    let records = try log.records().filter { $0.key == "value" }
    expectEqual(records.map { "\($0.oldValue!)->\($0.newValue!)" }, ["0->10"])
    early.invalidate()
    token.invalidate()
  }

  enum Enclosing: CaseIterable, Sendable { case pair, bracket }

  @Test(
    "N1: the last record has the last value where a manual change encloses a set",
    arguments: Enclosing.allCases)
  func enclosesSet(_ enclosing: Enclosing) throws {
    let node = Node()
    let log = try node.log()
    func change() {
      node.value = 1
      node.store(2)
    }
    switch enclosing {
    case .pair:
      node.willChangeValue(for: \.value)
      change()
      node.didChangeValue(for: \.value)
    case .bracket: node.withChange(of: \.value, change)
    }
    expectEqual(try log.records().last?.newValue as? Int, 2)
    while try log.undo() {}
    expectEqual(node.value, 0)
    while try log.redo() {}
    expectEqual(node.value, 2)
  }

  @Test("N2: what observers of a change do that another thread has begun belongs to its group")
  func groupElsewhere() throws {
    let node = Node()
    let log = try node.log()
    let late = node.observe(\.value, options: .new) { node, change in
      if change.newValue == 1 { node.other = 1 }
    }
    node.other = 5
    node.end(node.beginElsewhere(storing: 1))
    expectEqual(log.count, 3)
    try log.undo()
    expect(node.value == 0 && node.other == 5)
    late.invalidate()
  }

  @Test("N3: undo is refused in a change that another thread has begun until the log is notified")
  func undoElsewhere() throws {
    let node = Node()
    let logs = Locked<ChangeLog?>(nil)
    let refused = Locked(false)
    let early = node.observe(\.value, options: .new) { _, _ in
      guard let log = logs.withLock({ $0 }) else { return }
      do { try log.undo() } catch { refused.withLock { $0 = true } }
    }
    let log = try node.log()
    node.other = 1
    logs.withLock { $0 = log }
    node.end(node.beginElsewhere(storing: 1))
    logs.withLock { $0 = nil }
    expect(refused.withLock { $0 })
    expectEqual(node.other, 1)
    early.invalidate()
  }
}

private func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
  onThreads(1) { _ in body() }
}
