internal import CSwiftRuntime

/// The actor on which a registration was made. What the registration calls is called there (C5, L1): at once where the
/// change is made on that actor, and otherwise later, in a task.
///
/// The compiler can't see to this: a method of the main actor may be passed as an ordinary function by code that is on
/// the main actor itself.
@usableFromInline
struct CallingActor: Sendable {
  private let actor: any Actor

  @usableFromInline
  init?(_ actor: (any Actor)?) {
    guard let actor else { return nil }
    self.actor = actor
  }

  /// Whether the code that calls is on the actor.
  @usableFromInline
  var isCurrent: Bool {
    // A reference, and the table of what the executor can do.
    let words = unsafeBitCast(
      actor.unownedExecutor, to: (UnsafeMutableRawPointer, UnsafeMutableRawPointer?).self)
    return kvo_swift_is_on_executor(words.0, words.1)
  }

  /// Calls a function on the actor, after this call has returned. Functions that one thread passes are called in that order.
  @usableFromInline
  func callLater(_ function: @escaping () -> Void) {
    // It is made where the actor's code is, and runs there.
    nonisolated(unsafe) let function = function
    Task { [actor] in await Self.call(function, on: actor) }
  }

  private static func call(_ function: () -> Void, on actor: isolated any Actor) { function() }
}
