import CFixtures
import CKVORuntime

/// Counts the deaths of C objects, in memory with a fixed address.
package final class Deaths {
  package let counter = UnsafeMutablePointer<fixture_deaths>.allocate(capacity: 1)
  package var count: Int { Int(fixture_deaths_count(counter)) }

  package init() {
    counter.initialize(to: fixture_deaths(count: 0))
    Lifetimes.keep(self)
  }

  deinit { counter.deallocate() }

  /// A tracked object whose death is counted, with one reference owned by the caller.
  package func make(mark: Int32 = 0) -> UnsafeMutablePointer<tracked> {
    guard let object = kvo_object_create(tracked_class()) else {
      preconditionFailure("no instance")
    }
    let made = UnsafeMutableRawPointer(object).assumingMemoryBound(to: tracked.self)
    made.pointee.mark = mark
    made.pointee.deaths = counter
    return made
  }
}
