internal import CSwiftRuntime

/// The actor on which a registration was made. Its handlers are called on this actor (C5, L1): immediately if
/// the change is made there, otherwise later, in a task.
///
/// The compiler can't enforce this: code on the main actor may pass a method of the main actor as an ordinary
/// function.
@usableFromInline
final class CallingActor: Sendable {
  // Weak, since an actor may own the token of a registration that it made.
  private weak let actor: (any Actor)?
  // Calls that wait for the actor, oldest first. Tasks start in any order, so each one makes all calls that
  // wait.
  private let waiting = LockedValue(WaitingCalls())

  @usableFromInline
  init?(_ actor: (any Actor)?) {
    guard let actor else { return nil }
    self.actor = actor
  }

  /// Whether the calling code runs on the actor.
  @usableFromInline
  var isCurrent: Bool {
    guard let actor else { return false }
    // An executor consists of a reference and a witness table.
    let words = unsafeBitCast(
      actor.unownedExecutor, to: (UnsafeMutableRawPointer, UnsafeMutableRawPointer?).self)
    return kvo_swift_is_on_executor(words.0, words.1)
  }

  /// Calls a function on the actor after this call has returned, and after functions that were passed
  /// earlier. Does nothing if the actor no longer exists.
  @usableFromInline
  func callLater(_ function: @escaping () -> Void) {
    guard let actor else { return }
    waiting.withLock { $0.append(function) }
    Task { await Self.catchUp(self, on: actor) }
  }

  /// Makes the waiting calls. Call it only on the actor.
  @usableFromInline
  func catchUp() {
    while let next = waiting.withLock({ $0.takeFirst() }) { next() }
  }

  private static func catchUp(_ calls: CallingActor, on actor: isolated any Actor) {
    calls.catchUp()
  }
}

/// A queue of calls. It drops its reference to a call when the call is taken, so that captures don't outlive it.
private struct WaitingCalls {
  private var calls: [(() -> Void)?] = []
  private var taken = 0

  mutating func append(_ call: @escaping () -> Void) { calls.append(call) }

  // The caller gets the last reference: the deinit of what a call captures is the program's code, and must not run under
  // the lock.
  mutating func takeFirst() -> (() -> Void)? {
    guard taken < calls.count else { return nil }
    let first = calls[taken]
    calls[taken] = nil
    taken += 1
    if taken * 2 > calls.count {
      calls.removeFirst(taken)
      taken = 0
    }
    return first
  }
}
