import Synchronization

/// A number that threads may raise at once.
package final class Count: Sendable {
  private let count = Atomic<Int>(0)
  package var value: Int { count.load(ordering: .sequentiallyConsistent) }

  package init() {}

  package func add() { count.add(1, ordering: .sequentiallyConsistent) }
}
