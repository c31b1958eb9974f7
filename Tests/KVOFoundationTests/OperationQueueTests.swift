import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import TestScopes
import TestSupport
import Testing

/// R6: queues that notify of their operations.
@Suite(.leakFree, .serialized) struct OperationQueueTests {
  @Test(
    "R6: operations and their count notify once for several added, and for each that finishes"
  )
  func counts() {
    let queue = KVOOperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    let counts = Locked<[Int]>([])
    let token = queue.observe(\.operationCount, options: [.new]) { _, change in
      counts.withLock { $0.append(change.newValue!) }
    }
    let made = (0..<3).map { _ in KVOBlockOperation {} }
    queue.addOperations(made, waitUntilFinished: false)
    queue.addOperation {}
    expect(queue.operations.count == 4 && queue.operations.first === made[0])
    expectEqual(counts.withLock { $0 }, [3, 4])
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(counts.withLock { $0 }, [3, 4, 3, 2, 1, 0])
    expect(queue.operationCount == 0 && queue.operations.isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test("R6: its settings notify and are set by key, isSuspended by its other name as well")
  func settings() throws {
    let queue = KVOOperationQueue()
    let notified = Locked<[String]>([])
    let keys = ["isSuspended", "suspended", "maxConcurrentOperationCount", "name"]
    let tokens = try keys.map { key in
      try queue.observe(keyPath: key, options: [.new]) { _, change in
        notified.withLock { $0.append("\(key) \(change.newValue!)") }
      }
    }
    queue.isSuspended = true
    try queue.setValue(false, forKey: "suspended")
    queue.maxConcurrentOperationCount = 3
    queue.name = "q"
    queue.qualityOfService = .utility
    expectEqual(
      notified.withLock { $0.sorted() },
      [
        "isSuspended false", "isSuspended true", "maxConcurrentOperationCount 3", "name q",
        "suspended false", "suspended true",
      ])
    expect(queue.queue.maxConcurrentOperationCount == 3 && queue.qualityOfService == .utility)
    withExtendedLifetime(tokens) {}
  }

  @Test("R6: cancelling all, barriers, waiting, a dependency in another queue")
  func rest() {
    let (queue, other) = (KVOOperationQueue(), KVOOperationQueue(OperationQueue()))
    let (first, second, order) = (KVOBlockOperation {}, KVOBlockOperation {}, Locked<[Int]>([]))
    second.addDependency(first)
    queue.addOperation(second)
    expectEqual(queue.operationCount, 1)
    other.addOperation(first)
    queue.waitUntilAllOperationsAreFinished()
    expect(first.isFinished && second.isFinished)
    let never = KVOBlockOperation {}
    never.addDependency(KVOBlockOperation {})
    queue.addOperation(never)
    queue.cancelAllOperations()
    never.waitUntilFinished()
    queue.addOperation { order.withLock { $0.append(1) } }
    queue.addBarrierBlock { order.withLock { $0.append(2) } }
    queue.addOperation { order.withLock { $0.append(3) } }
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(order.withLock { $0 }, [1, 2, 3])
  }

  @Test(
    "R6: an operation has left before its executing queue learns that it ended",
    arguments: [false, true])
  func leaves(isScheduled: Bool) {
    let (queue, work, counts) = (KVOOperationQueue(), KVOBlockOperation {}, Locked<[Int]>([]))
    if isScheduled { _ = work.operation }
    let token = queue.observe(\.operationCount) { queue, _ in
      if queue.operationCount == 0 { counts.withLock { $0.append(queue.queue.operationCount) } }
    }
    queue.addOperation(work)
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(counts.withLock { $0 }, [1])
    withExtendedLifetime(token) {}
  }

  /// An operation that finishes in its `start()`, with or without notifying.
  final class Quick: KVOOperation, @unchecked Sendable {
    private let hasEnded = Locked(false)
    private let notifies: Bool

    init(notifies: Bool) { self.notifies = notifies }

    override var isFinished: Bool { hasEnded.withLock { $0 } }
    override func start() {
      if notifies { withChange(forKey: "isFinished") { end() } } else { end() }
    }
    private func end() { hasEnded.withLock { $0 = true } }
  }

  @Test("R6: an operation has left before it is finished for the underlying queue")
  func endsWhenLeft() throws {
    let (queue, work, states) = (KVOOperationQueue(), Quick(notifies: true), Locked<[String]>([]))
    // Before the queue, which observes the operation as well.
    let token = try work.observe(keyPath: "isFinished") { work, _ in
      let isThere = queue.operationCount == 1
      states.withLock { $0.append("\(isThere) \(work.operation.isFinished)") }
    }
    queue.addOperation(work)
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(states.withLock { $0 }, ["true false"])
    expect(queue.operationCount == 0 && work.operation.isFinished)
    withExtendedLifetime(token) {}
  }

  @Test("R6: an operation whose start() returns finished leaves, whether or not it notifies")
  func endsUnnotified() {
    let (queue, counts) = (KVOOperationQueue(), Locked<[Int]>([]))
    let token = queue.observe(\.operationCount, options: [.new]) { _, change in
      counts.withLock { $0.append(change.newValue!) }
    }
    queue.addOperation(Quick(notifies: false))
    waitUntil { queue.operationCount == 0 }
    queue.waitUntilAllOperationsAreFinished()
    expectEqual(counts.withLock { $0 }, [1, 0])
    expect(queue.operations.isEmpty)
    withExtendedLifetime(token) {}
  }

  /// An operation that finishes on request.
  final class Later: KVOOperation, @unchecked Sendable {
    private let state = Locked((hasStarted: false, hasEnded: false))
    var hasStarted: Bool { state.withLock { $0.hasStarted } }
    override var isFinished: Bool { state.withLock { $0.hasEnded } }
    override func start() { state.withLock { $0.hasStarted = true } }
    func end() { withChange(forKey: "isFinished") { state.withLock { $0.hasEnded = true } } }
  }

  @Test("R6: an operation that finishes after start() has returned leaves, and the queue ends")
  func endsLater() {
    let (queue, work) = (KVOOperationQueue(), Later())
    queue.addOperation(work)
    waitUntil { work.hasStarted }
    work.end()
    waitUntil { queue.operationCount == 0 }
    queue.waitUntilAllOperationsAreFinished()
    expect(work.operation.isFinished)
  }

  /// Reads an operation when it dies.
  private final class LastReader: Sendable {
    private let work: KVOOperation
    private let deaths: Count

    init(_ work: KVOOperation, _ deaths: Count) { (self.work, self.deaths) = (work, deaths) }

    deinit {
      expect(!work.isCancelled)
      deaths.add()
    }
  }

  // Returns when the operation executes and the queue is gone.
  private func dropQueue(of work: KVOOperation, _ deaths: Count) -> KeyValueObservation {
    let (queue, reader) = (KVOOperationQueue(), LastReader(work, deaths))
    let token = queue.progress.observe(\.fractionCompleted) { _, _ in
      withExtendedLifetime(reader) {}
    }
    queue.addOperation(work)
    waitUntil { work.isExecuting }
    return token
  }

  @Test("R6: the progress of a queue that is dropped dies with the last operation, under no lock")
  func dropped() {
    let (gate, deaths) = (DispatchSemaphore(value: 0), Count())
    let work = KVOBlockOperation { gate.wait() }
    let token = dropQueue(of: work, deaths)
    expectEqual(deaths.value, 0)
    gate.signal()
    work.waitUntilFinished()
    waitUntil { deaths.value == 1 }
    withExtendedLifetime(token) {}
  }

  @Test("R6: threads add at once, and the count ends at 0")
  func threads() {
    let (queue, runs) = (KVOOperationQueue(), Count())
    let token = queue.observe(\.operations, options: [.old, .new]) { _, _ in }
    onThreads(4) { _ in for _ in 0..<50 { queue.addOperation { runs.add() } } }
    queue.waitUntilAllOperationsAreFinished()
    expect(runs.value == 200 && queue.operationCount == 0)
    withExtendedLifetime(token) {}
  }
}
