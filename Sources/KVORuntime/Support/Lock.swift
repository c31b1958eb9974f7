internal import CKVORuntime

#if DEBUG
  internal import Synchronization
#endif

/// A mutex that fork() waits for, so that a forked child never inherits it locked. `Synchronization.Mutex` is
/// not used because the thread sanitizer does not know it, and would report whatever it protects as a race.
package final class Lock: Sendable {
  // May be used on any thread, and never moves.
  private nonisolated(unsafe) let lock: UnsafeMutablePointer<kvo_binding_lock>

  /// - Parameter isOuter: Whether the lock is recursive, and its holder may call the C runtime and take inner locks. The
  ///   holder of an inner lock may do none of this.
  package init(isOuter: Bool = false) {
    lock = .allocate(capacity: 1)
    kvo_binding_lock_init(lock, isOuter)
  }

  deinit {
    kvo_binding_lock_destroy(lock)
    lock.deallocate()
  }

  package func withLock<R>(_ body: () throws -> R) rethrows -> R {
    acquire()
    defer { release() }
    return try body()
  }

  /// Takes the lock until `release()`. For other modules, in which `withLock` is not specialised, and so slower.
  package func acquire() {
    #if DEBUG
      LockGates.willTake(lock)
    #endif
    kvo_binding_lock_acquire(lock)
  }

  package func release() {
    kvo_binding_lock_release(lock)
    #if DEBUG
      LockGates.didRelease(lock)
    #endif
  }
}

/// Calls a test's function, the gate, before a lock is taken and after it is released, so that the test can run two
/// threads in every order. A release build has no gates.
package enum LockGates {
  /// - Parameter isTaken: true before the lock is taken, false after it was released.
  package typealias Gate = @convention(c) (_ lock: UnsafeRawPointer, _ isTaken: Bool) -> Void

  #if DEBUG
    package static let areAvailable = true
    // A function's address, or 0.
    private static let gate = Atomic<UInt>(0)

    package static func install(_ function: @escaping Gate) {
      gate.store(unsafeBitCast(function, to: UInt.self), ordering: .releasing)
    }

    package static func willTake(_ lock: UnsafeRawPointer) { call(lock, true) }
    package static func didRelease(_ lock: UnsafeRawPointer) { call(lock, false) }

    private static func call(_ lock: UnsafeRawPointer, _ isTaken: Bool) {
      let address = gate.load(ordering: .acquiring)
      if address != 0 { unsafeBitCast(address, to: Gate.self)(lock, isTaken) }
    }
  #else
    package static let areAvailable = false
    package static func install(_ function: @escaping Gate) {}
  #endif
}

/// A value that is accessed under its lock only. That makes this class `Sendable`.
package final class LockedValue<Value>: @unchecked Sendable {
  private let lock = Lock()
  // The lock is not recursive, so it ensures that accesses are exclusive.
  @exclusivity(unchecked) private var value: Value

  package init(_ value: Value) { self.value = value }

  package func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
    try lock.withLock { try body(&value) }
  }
}
