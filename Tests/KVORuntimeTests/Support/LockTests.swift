import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// Locks that are free in a forked child.
@Suite struct LockTests {
  @Test("C4: a key path gets its key while no inner lock is held")
  func keyPath() {
    let (person, notified) = (Person(), Count())
    let token = person.observe(\.firstName.count) { _, _ in notified.add() }
    person.firstName = "Augusta"
    expectEqual(notified.value, 1)
    withExtendedLifetime(token) {}
  }

  @Test(
    "C4: taking, making or destroying a lock, or calling the runtime, under an inner lock stops",
    .enabled(if: LockGates.areAvailable, "only debug builds look"), arguments: 0..<4)
  func nested(way: Int) async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent])
    { [way] in
      let (outer, inner) = (Lock(isOuter: true), Lock())
      var other: Lock? = Lock()
      // All of this is allowed under an outer lock.
      outer.withLock { outer.withLock { inner.withLock {} } }
      inner.withLock {
        switch way {
        case 0: other?.withLock {}
        case 1: _ = Lock()
        case 2: other = nil
        default: _ = try? Person().observe(keyPath: "name") { _, _ in }
        }
      }
    }
    expect(
      result.errors.contains(
        "a thread takes a lock while it holds a binding's lock that allows no other"))
  }
}
