import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// R5, R6: two threads change operations and queues, in every order.
@Suite(.leakFree, .serialized) struct OperationOrderTests {
  init() { LibraryLocks.areGates() }

  private typealias Change = (name: String, make: @Sendable (Works) -> Void)

  /// An operation, and one that it may depend on.
  private final class Works: Sendable {
    let work = KVOBlockOperation {}
    let first = KVOBlockOperation {}
    let second = KVOBlockOperation {}

    /// Actions on an operation that waits for the first one.
    static let waiting: [Change] = [
      ("the first starts", { $0.first.start() }),
      ("the first is cancelled", { $0.first.cancel() }),
      ("it is cancelled", { $0.work.cancel() }),
      ("it waits for the second", { $0.work.addDependency($0.second) }),
      ("it does not wait for the first", { $0.work.removeDependency($0.first) }),
      ("the second starts", { $0.second.start() }),
    ]

    /// Actions on an operation that waits for none.
    static let ready: [Change] = [
      ("it starts", { $0.work.start() }),
      ("it is cancelled", { $0.work.cancel() }),
      ("it is asked for", { _ = $0.work.operation }),
    ]
  }

  /// The values that observers of an operation have read last.
  private final class Observers {
    private var tokens: [KeyValueObservation] = []
    private var known: [(newest: Newest<String>, read: @Sendable () -> String)] = []

    init(_ work: KVOOperation) throws {
      for key in ["isReady", "isExecuting", "isFinished", "isCancelled", "dependencies"] {
        let newest = Newest<String>()
        let read: @Sendable () -> String = {
          Orders.withoutGates { "\((try? work.value(forKey: key)) ?? "-")" }
        }
        newest.note(read)
        tokens.append(try work.observe(keyPath: key) { _, _ in newest.note(read) })
        known.append((newest, read))
      }
    }

    var areRight: Bool { known.allSatisfy { $0.newest.value == $0.read() } }
  }

  private func tryAnyTwo(
    of changes: [Change], switches: Int, prepare: (Works) -> Void
  ) async throws {
    for (index, one) in changes.enumerated() {
      for other in changes[(index + 1)...] {
        let tried = try await inAllOrders(ofSwitches: switches) { orders in
          let works = Works()
          prepare(works)
          let observers = try Observers(works.work)
          orders.run {
            one.make(works)
          } and: {
            other.make(works)
          }
          return observers.areRight
        }
        expectEqual(tried.failure, nil, "\(one.name), \(other.name)")
      }
    }
  }

  @Test(
    "R5: observers know a waiting operation's final state, whatever two threads do to it"
  )
  func waiting() async throws {
    try await tryAnyTwo(of: Works.waiting, switches: 2) { $0.work.addDependency($0.first) }
  }

  @Test("R5: observers know a ready operation's final state, whatever two threads do to it")
  func ready() async throws {
    try await tryAnyTwo(of: Works.ready, switches: 3) { _ in }
  }

  @Test("R5: if two threads set priorities, a queue has the last one, in every order")
  func priorities() async {
    let tried = await inAllOrders { orders in
      let work = KVOBlockOperation {}
      let scheduled = work.operation
      orders.run {
        work.queuePriority = .high
      } and: {
        work.queuePriority = .low
      }
      return scheduled.queuePriority == work.queuePriority
    }
    expectEqual(tried.failure, nil)
  }

  @Test(
    "R5: a completion block set while the operation finishes is called or kept, in every order"
  )
  func completion() async {
    let tried = await inAllOrders { orders in
      let (work, calls) = (KVOBlockOperation {}, Awaited(0))
      orders.run {
        work.completionBlock = { calls.withLock { $0 += 1 } }
      } and: {
        work.start()
      }
      if work.completionBlock == nil { await calls.wait(for: 1) }
      return work.isFinished
    }
    expectEqual(tried.failure, nil)
  }

  @Test("R6: if two threads add to a queue, its observers know the final count")
  func added() async {
    let tried = await inAllOrders(ofSwitches: 2) { orders in
      let (queue, newest) = (KVOOperationQueue(), Newest<Int>())
      queue.isSuspended = true
      let token = queue.observe(\.operationCount) { queue, _ in
        newest.note { Orders.withoutGates { queue.operationCount } }
      }
      orders.run {
        queue.addOperation(KVOBlockOperation {})
      } and: {
        queue.addOperations([KVOBlockOperation {}, KVOBlockOperation {}], waitUntilFinished: false)
      }
      let isRight = newest.value == 3 && queue.operationCount == 3
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      return withExtendedLifetime(token) { isRight && queue.operationCount == 0 }
    }
    expectEqual(tried.failure, nil)
  }
}
