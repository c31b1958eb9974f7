internal import CKVORuntime

#if DEBUG
  internal import Synchronization
#endif

/// A mutex that fork() finds free, so that a forked child can go on. Not `Synchronization`'s, which
/// the thread sanitizer can't see through: whatever that protects is reported as a race.
package final class Lock: Sendable {
  // May be used from any thread, and never moves.
  private nonisolated(unsafe) let lock: UnsafeMutablePointer<kvo_binding_lock>

  /// - Parameter isOuter: whether its holder may take it again, call the C runtime and take locks
  ///   that are not outer. While one of those is held, none of this may be done.
  package init(isOuter: Bool = false) {
    lock = .allocate(capacity: 1)
    kvo_binding_lock_init(lock, isOuter)
  }

  deinit {
    kvo_binding_lock_destroy(lock)
    lock.deallocate()
  }

  package func withLock<R>(_ body: () throws -> R) rethrows -> R {
    #if DEBUG
      LockGates.willTake(lock)
      defer { LockGates.gaveBack(lock) }
    #endif
    kvo_binding_lock_take(lock)
    defer { kvo_binding_lock_give_back(lock) }
    return try body()
  }
}

/// Notifies tests of each lock that is about to be taken and that has been given back, so that they can run two threads in
/// every order. A release build has no such gates.
package enum LockGates {
  /// - Parameter isTaken: whether the lock is about to be taken.
  package typealias Gate = @convention(c) (_ lock: UnsafeRawPointer, _ isTaken: Bool) -> Void

  #if DEBUG
    package static let areThere = true
    // A function's address, or 0.
    private static let gate = Atomic<UInt>(0)

    package static func install(_ function: @escaping Gate) {
      gate.store(unsafeBitCast(function, to: UInt.self), ordering: .releasing)
    }

    package static func willTake(_ lock: UnsafeRawPointer) { pass(lock, true) }
    package static func gaveBack(_ lock: UnsafeRawPointer) { pass(lock, false) }

    private static func pass(_ lock: UnsafeRawPointer, _ isTaken: Bool) {
      let address = gate.load(ordering: .acquiring)
      if address != 0 { unsafeBitCast(address, to: Gate.self)(lock, isTaken) }
    }
  #else
    package static let areThere = false
    package static func install(_ function: @escaping Gate) {}
  #endif
}

/// A value that is reached under its lock only, which is why this is Sendable.
final class Locked<Value>: @unchecked Sendable {
  private let lock = Lock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
    try lock.withLock { try body(&value) }
  }
}

/// The same for the package's other libraries. By another name, so that who sees both of this module's and of a test's
/// need not say which is meant.
package final class LockedValue<Value>: @unchecked Sendable {
  private let lock = Lock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  package func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
    try lock.withLock { try body(&value) }
  }
}
