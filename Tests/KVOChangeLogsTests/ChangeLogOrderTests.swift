import Expectations
import KVOChangeLogs
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// N: change logs of a graph that two threads change, in every order.
@Suite(.leakFree) struct ChangeLogOrderTests {
  init() { LibraryLocks.areGates() }

  /// An object whose properties threads share.
  private final class Node: Tracked, @unchecked Sendable {
    private let stored = Locked((value: 0, next: Node?.none))

    var value: Int {
      get { read(\.value) }
      set { withChange(of: \.value) { store(newValue, \.value) } }
    }
    var next: Node? {
      get { read(\.next) }
      set { withChange(of: \.next) { store(newValue, \.next) } }
    }

    private func read<Value>(_ key: KeyPath<(value: Int, next: Node?), Value>) -> Value {
      Orders.gate()
      return stored.withLock { $0[keyPath: key] }
    }

    private func store<Value>(
      _ value: Value, _ key: WritableKeyPath<(value: Int, next: Node?), Value>
    ) {
      Orders.gate()
      var value = value
      // Swapped, so that the old value does not die under the lock.
      stored.withLock { swap(&$0[keyPath: key], &value) }
    }

    override class func registerKeys() {
      declareKeys { keys in
        keys.accessors("value", \.value, get: { $0.read(\.value) }, set: { $0.store($1, \.value) })
        keys.accessors("next", \.next, get: { $0.read(\.next) }, set: { $0.store($1, \.next) })
      }
    }
  }

  /// Two roots, and a node outside the graph.
  private struct Graph: Sendable {
    let root = Node(), other = Node(), late = Node()

    func log() throws -> ChangeLog {
      try ChangeLog(of: root, other, recording: .keys(of: Node.self, "value", "next"))
    }

    var state: String {
      func name(_ node: Node?) -> String { node === late ? "late" : node == nil ? "-" : "?" }
      return "\(root.value) \(name(root.next)) \(other.value) \(name(other.next)) \(late.value)"
    }
  }

  /// Whether undoing all changes of two threads restores the old state, and redoing the new one.
  private func leadsBackAndForth(
    switches: Int = .max, _ one: @escaping @Sendable (Graph, ChangeLog) -> Void,
    and other: @escaping @Sendable (Graph, ChangeLog) -> Void
  ) async throws -> String? {
    try await inAllOrders(ofSwitches: switches) { orders in
      let graph = Graph()
      let log = try graph.log()
      let before = graph.state
      orders.run {
        one(graph, log)
      } and: {
        other(graph, log)
      }
      let after = graph.state
      while try log.undo() {}
      guard graph.state == before else { return false }
      while try log.redo() {}
      return graph.state == after
    }.failure
  }

  @Test("N3: sets of one key by two threads are undone and redone")
  func oneKey() async throws {
    let failure = try await leadsBackAndForth(switches: 3) { graph, _ in
      graph.root.value = 1
    } and: { graph, _ in
      graph.root.value = 2
    }
    expectEqual(failure, nil)
  }

  @Test("N1: sets of one key by two threads are recorded, the last value in the last record")
  func lastRecord() async throws {
    let tried = try await inAllOrders(ofSwitches: 3) { orders in
      let graph = Graph()
      let log = try graph.log()
      orders.run {
        graph.root.value = 1
      } and: {
        graph.root.value = 2
      }
      let values = try log.records().map { $0.newValue as? Int }
      return values.count == 2 && values.last == graph.root.value
    }
    expectEqual(tried.failure, nil)
  }

  @Test("N1: the last record has the last value, and a read record stays, in every order")
  func lastRecordBehindReading() async throws {
    let tried = try await inAllOrders(ofSwitches: 3) { orders in
      let graph = Graph()
      let log = try graph.log()
      let read = Locked<[(record: ChangeLog.Record, value: Int?)]>([])
      orders.run {
        graph.root.value = 1
      } and: {
        graph.root.value = 2
        let records = (try? log.records()) ?? []
        read.withLock { $0 = records.map { ($0, $0.newValue as? Int) } }
      }
      let stays = read.withLock { $0 }.allSatisfy { $0.record.newValue as? Int == $0.value }
      return try stays && log.records().last?.newValue as? Int == graph.root.value
    }
    expectEqual(tried.failure, nil)
  }

  @Test("N1: the last record has the last value where one of two threads sets the key twice")
  func lastRecordOfThree() async throws {
    let tried = try await inAllOrders(ofSwitches: 3) { orders in
      let graph = Graph()
      let log = try graph.log()
      orders.run {
        graph.root.value = 1
      } and: {
        graph.root.value = 2
        graph.root.value = 3
      }
      return try log.records().last?.newValue as? Int == graph.root.value
    }
    expectEqual(tried.failure, nil)
  }

  @Test("N1: the last record has the last value where one thread undoes and the other sets the key")
  func lastRecordBehindUndoing() async throws {
    let tried = try await inAllOrders(ofSwitches: 3) { orders in
      let graph = Graph()
      let log = try graph.log()
      graph.root.value = 1
      orders.run {
        _ = try? log.undo()
      } and: {
        graph.root.value = 2
      }
      return try log.records().last?.newValue as? Int == graph.root.value
    }
    expectEqual(tried.failure, nil)
  }

  /// Sets a key of `late` on one thread while another, which begins to record it, sets it too.
  private func lastRecordOfNewcomer(
    _ begin: @escaping @Sendable (Graph) throws -> ChangeLog,
    recording: @escaping @Sendable (Graph, ChangeLog) -> Void = { _, _ in },
    makesLog isMadeLate: Bool
  ) async throws -> String? {
    try await inAllOrders(ofSwitches: 3) { orders in
      let graph = Graph()
      // The change reads its new value for this observer, before it finds the log's registration.
      let token = graph.late.observe(\.value, options: .new) { _, _ in }
      let log = Locked<ChangeLog?>(isMadeLate ? nil : try begin(graph))
      orders.run {
        graph.late.value = 1
      } and: {
        let made = log.withLock { $0 } ?? (try? begin(graph))
        log.withLock { $0 = made }
        if let made { recording(graph, made) }
        graph.late.value = 2
      }
      token.invalidate()
      let last = try log.withLock { $0 }?.records().last { $0.object === graph.late }
      return last?.newValue as? Int == graph.late.value
    }.failure
  }

  @Test(
    "N1: the last record has the last value where a log is made while another thread sets a key")
  func lastRecordOfNewLog() async throws {
    let failure = try await lastRecordOfNewcomer(
      { try ChangeLog(of: $0.late, recording: .keys(of: Node.self, "value")) }, makesLog: true)
    expectEqual(failure, nil)
  }

  @Test("N1: the last record has the last value where an object joins while another thread sets it")
  func lastRecordOfJoining() async throws {
    let failure = try await lastRecordOfNewcomer(
      { try $0.log() }, recording: { graph, _ in graph.root.next = graph.late }, makesLog: false)
    expectEqual(failure, nil)
  }

  @Test("N3: sets of two objects by two threads are undone and redone, one of them as a group")
  func twoObjects() async throws {
    let failure = try await leadsBackAndForth(switches: 2) { graph, log in
      log.withGroup("one") {
        graph.root.value = 1
        graph.root.value = 2
      }
    } and: { graph, _ in
      graph.other.value = 1
    }
    expectEqual(failure, nil)
  }

  @Test(
    "N1: an object that two threads add to the graph is recorded from then on")
  func joins() async throws {
    let tried = try await inAllOrders(ofSwitches: 2) { orders in
      let graph = Graph()
      let log = try graph.log()
      orders.run {
        graph.root.next = graph.late
      } and: {
        graph.other.next = graph.late
        graph.late.value = 1
        graph.late.next = graph.root
      }
      let records = try log.records().filter { $0.object === graph.late }
      graph.late.next = nil  // breaks the cycle
      return records.map(\.key) == ["value", "next"]
    }
    expectEqual(tried.failure, nil)
  }

  @Test("N2: two groups that end at once notify observers of the log and keep its limit")
  func groupsEndAtOnce() async throws {
    let tried = try await inAllOrders(ofSwitches: 3) { orders in
      let graph = Graph()
      let log = try graph.log()
      log.undoLimit = 1
      graph.late.value = 1
      let notified = Locked<[Bool]>([])
      let token = log.observe(\.canUndo) { log, _ in
        let canUndo = log.canUndo
        notified.withLock { $0.append(canUndo) }
      }
      orders.run {
        log.withGroup { graph.root.value = 1 }
      } and: {
        log.withGroup { graph.other.value = 1 }
      }
      token.invalidate()
      var undone = 0
      while try log.undo() { undone += 1 }
      return undone == 1 && notified.withLock { $0.last } == true
    }
    expectEqual(tried.failure, nil)
  }

  @Test("N2: observers of a group's name are notified of a change that another thread records")
  func nameBehindRecord() async throws {
    let tried = try await inAllOrders(ofSwitches: 3) { orders in
      let graph = Graph()
      let log = try graph.log()
      graph.root.value = 5
      let notified = Locked<[String?]>([])
      let token = log.observe(\.undoName) { log, _ in
        let name = log.undoName
        notified.withLock { $0.append(name) }
      }
      orders.run {
        graph.root.value = 1
      } and: {
        log.withGroup("Named") { graph.other.value = 1 }
      }
      token.invalidate()
      return notified.withLock { $0.last ?? nil } == log.undoName
    }
    expectEqual(tried.failure, nil)
  }
}
