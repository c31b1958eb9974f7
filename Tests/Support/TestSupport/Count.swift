import Synchronization

/// A number that threads may increment at once.
package final class Count: Sendable {
  private let count = Atomic<Int>(0)
  package var value: Int { count.load(ordering: .sequentiallyConsistent) }

  package init() {}

  package func add(_ number: Int = 1) { count.add(number, ordering: .sequentiallyConsistent) }
}
