import Expectations
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// R7: two threads change one tree of progress, in every order.
@Suite(.leakFree) struct ProgressOrderTests {
  init() { LibraryLocks.areGates() }

  @Test(
    "R7: of two threads completing children, one notifies of the parent's end, in every order"
  )
  func childrenFinish() async throws {
    let tried = try await inAllOrders { orders in
      let top = KVOProgress(totalUnitCount: 1)
      let part = KVOProgress(totalUnitCount: 2, parent: top, pendingUnitCount: 1)
      let files = (0..<2).map { _ in
        KVOProgress(totalUnitCount: 1, parent: part, pendingUnitCount: 1)
      }
      let received = Locked<[String]>([])
      let tokens = try observe(top, "top", ["isFinished"], received)
      orders.run {
        files[0].completedUnitCount = 1
      } and: {
        files[1].completedUnitCount = 1
      }
      let changes = received.withLock { $0.filter { $0 == "top isFinished false true" } }
      return withExtendedLifetime(tokens) { top.isFinished && changes.count == 1 }
    }
    expectEqual(tried.failure, nil)
  }

  enum Change: CaseIterable, Sendable {
    case cancel, pause, resume

    var key: String { self == .cancel ? "isCancelled" : "isPaused" }

    func make(_ progress: KVOProgress) {
      switch self {
      case .cancel: progress.cancel()
      case .pause: progress.pause()
      case .resume: progress.resume()
      }
    }
  }

  @Test(
    "R7: a child added while its parent is cancelled, paused or resumed notifies, in every order",
    arguments: Change.allCases)
  func addedWhileChanged(change: Change) async throws {
    let tried = try await inAllOrders { orders in
      let parent = KVOProgress(totalUnitCount: 1)
      let child = KVOProgress(totalUnitCount: 1)
      if change == .resume { parent.pause() }
      let newest = Newest<Bool>()
      let read: @Sendable () -> Bool = { change == .cancel ? child.isCancelled : child.isPaused }
      newest.note(read)
      let token = try child.observe(keyPath: change.key) { _, _ in newest.note(read) }
      orders.run {
        change.make(parent)
      } and: {
        parent.addChild(child, withPendingUnitCount: 1)
      }
      return withExtendedLifetime(token) { newest.value == read() }
    }
    expectEqual(tried.failure, nil)
  }

  @Test("R7: a child that finishes while it is added notifies of its parent's end, in every order")
  func addedWhileFinished() async throws {
    let tried = try await inAllOrders { orders in
      let top = KVOProgress(totalUnitCount: 1)
      let parent = KVOProgress(totalUnitCount: 1, parent: top, pendingUnitCount: 1)
      let child = KVOProgress(totalUnitCount: 1)
      let received = Locked<[String]>([])
      let tokens = try observe(top, "top", ["isFinished"], received)
      orders.run {
        child.completedUnitCount = 1
      } and: {
        parent.addChild(child, withPendingUnitCount: 1)
      }
      return withExtendedLifetime(tokens) {
        top.isFinished && received.withLock { $0.contains("top isFinished false true") }
      }
    }
    expectEqual(tried.failure, nil)
  }

  // MARK: Any two changes

  /// A tree of three, and a fourth progress outside it.
  private final class Tree: Sendable {
    let top = KVOProgress(totalUnitCount: 3)
    let part: KVOProgress
    let leaf: KVOProgress
    let loose = KVOProgress(totalUnitCount: 1)

    init() {
      part = KVOProgress(totalUnitCount: 2, parent: top, pendingUnitCount: 2)
      leaf = KVOProgress(totalUnitCount: 2, parent: part, pendingUnitCount: 1)
    }

    static let changes: [(name: String, make: @Sendable (Tree) -> Void)] = [
      ("leaf begins", { $0.leaf.completedUnitCount = 1 }),
      ("leaf ends", { $0.leaf.completedUnitCount = 2 }),
      ("leaf gets smaller", { $0.leaf.totalUnitCount = 1 }),
      ("part begins", { $0.part.completedUnitCount = 1 }),
      ("part gets smaller", { $0.part.totalUnitCount = 1 }),
      ("top begins", { $0.top.completedUnitCount = 1 }),
      ("top is cancelled", { $0.top.cancel() }),
      ("part is cancelled", { $0.part.cancel() }),
      ("top is paused", { $0.top.pause() }),
      ("part goes on", { $0.part.resume() }),
      ("loose ends", { $0.loose.completedUnitCount = 1 }),
      ("loose joins part", { $0.part.addChild($0.loose, withPendingUnitCount: 1) }),
    ]
  }

  /// The values that observers of all progresses of a tree have read last.
  private final class Observers {
    private var tokens: [KeyValueObservation] = []
    private var known: [(name: String, newest: Newest<String>, read: @Sendable () -> String)] = []

    init(_ tree: Tree) throws {
      let keys = [
        "completedUnitCount", "totalUnitCount", "fractionCompleted", "isFinished", "isCancelled",
        "isPaused",
      ]
      for progress in [tree.top, tree.part, tree.leaf, tree.loose] {
        for key in keys {
          let newest = Newest<String>()
          let read: @Sendable () -> String = {
            // Runs as one step: only the order of notifications is explored.
            Orders.withoutGates { "\((try? progress.value(forKey: key)) ?? "-")" }
          }
          newest.note(read)
          tokens.append(try progress.observe(keyPath: key) { _, _ in newest.note(read) })
          known.append((key, newest, read))
        }
      }
    }

    var areRight: Bool { known.allSatisfy { $0.newest.value == $0.read() } }
  }

  @Test("R7: observers know a tree's final state, whatever two threads change at once")
  func anyTwo() async throws {
    for (index, one) in Tree.changes.enumerated() {
      for other in Tree.changes[index...] where one.name != "loose joins part" {
        let tried = try await inAllOrders { orders in
          let tree = Tree()
          let observers = try Observers(tree)
          orders.run {
            one.make(tree)
          } and: {
            other.make(tree)
          }
          return observers.areRight
        }
        expectEqual(tried.failure, nil, "\(one.name), \(other.name)")
      }
    }
  }
}
