// Lets another thread run at a chosen moment of a call.
import Glibc
import KVORuntime
import ModelFixtures
import TestSupport

private struct Interruption {
  let thread = pthread_self()
  let moment: Int
  let body: @Sendable () -> Void
  var moments = 0
  var held = 0

  mutating func pass(isTaken: Bool) {
    held += isTaken ? 1 : -1
    guard held == 0 else { return }
    moments += 1
    if moments == moment { onThreads(1) { [body] _ in body() } }
  }
}

// Only its thread changes it.
private nonisolated(unsafe) var current: Interruption?

/// Runs a body, and another one on a new thread after the first has released a lock and holds none, for the n-th time.
/// Returns how often that is so. A release build has no such moments.
func run(
  _ body: () -> Void, interruptedAt moment: Int, by other: @escaping @Sendable () -> Void
) -> Int {
  current = Interruption(moment: moment, body: other)
  LockGates.install { lock, isTaken in
    if let thread = current?.thread, pthread_equal(thread, pthread_self()) != 0 {
      current!.pass(isTaken: isTaken)
    } else if isTaken {
      Orders.willTake(lock)
    } else {
      Orders.didRelease(lock)
    }
  }
  defer { current = nil }
  body()
  return current!.moments
}
