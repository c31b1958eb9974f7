internal import KVORuntime

// What a test waits for (S1): an observer's thread, a timer and a cancellation race to give it, and the first one does.

/// How long a timeout lasts. The tests of this library have a clock that they move by hand, so that no load decides which
/// of a change and a timeout comes first.
package enum TimeoutClock {
  @TaskLocal package static var sleep: @Sendable (Duration) async throws -> Void = {
    try await Task.sleep(for: $0)
  }
}

/// Something that comes once. Nobody polls: who waits is woken by who gives it.
///
/// | state | protection |
/// |---|---|
/// | `state` | its own lock, under which nobody is resumed |
final class Outcome<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, any Error>?
    var reader: CheckedContinuation<Value, any Error>?
    /// What was seen that was not what is waited for.
    var lastSeen: String?
    var reads = ReadOrder()
  }

  private let state = LockedValue(State())

  /// Gives it, unless it has been given.
  func give(_ result: Result<Value, any Error>) {
    let reader = state.withLock { state in
      guard state.result == nil else { return nil as CheckedContinuation<Value, any Error>? }
      state.result = result
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(with: result)
  }

  /// A read of what may be waited for begins.
  func beginRead() -> Int { state.withLock { $0.reads.begin() } }

  /// What the read has found is not what is waited for. It is the last that was seen unless a later read has ended before.
  func note(_ seen: String, _ read: Int) {
    state.withLock { state in
      if state.reads.end(read) { state.lastSeen = seen }
    }
  }

  var lastSeen: String? { state.withLock { $0.lastSeen } }

  /// Waits until it has been given, for so long, or until the task is cancelled.
  func wait(
    atMost timeout: Duration, isolation: isolated (any Actor)?,
    orThrow error: @escaping @Sendable (String?) -> any Error
  ) async throws -> Value {
    // A detached task has no task-local values.
    let sleep = TimeoutClock.sleep
    let timer = Task.detached { [weak self] in
      do { try await sleep(timeout) } catch { return }
      guard let self else { return }
      give(.failure(error(lastSeen)))
    }
    defer { timer.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation(isolation: isolation) { read($0) }
    } onCancel: {
      give(.failure(CancellationError()))
    }
  }

  private func read(_ reader: CheckedContinuation<Value, any Error>) {
    let result = state.withLock { state in
      if state.result == nil { state.reader = reader }
      return state.result
    }
    if let result { reader.resume(with: result) }
  }
}
