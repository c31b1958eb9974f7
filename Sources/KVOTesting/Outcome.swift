internal import KVORuntime

// The result that a test waits for (S1). An observer's thread, a timer and a cancellation compete to set it;
// the first one does.

/// The duration of timeouts. This library's tests replace it by a clock that they advance themselves, so that
/// the machine's load does not decide whether a change or a timeout comes first.
package enum TimeoutClock {
  @TaskLocal package static var sleep: @Sendable (Duration) async throws -> Void = {
    try await Task.sleep(for: $0)
  }
}

/// A value that is set once. The reader is suspended until then; there is no polling.
///
/// | state | protection |
/// |---|---|
/// | `state` | its own lock, under which no reader is resumed |
final class Outcome<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, any Error>?
    var reader: CheckedContinuation<Value, any Error>?
    /// A description of the last value seen that was not the awaited one.
    var lastSeen: String?
    var reads = ReadOrder()
  }

  private let state = LockedValue(State())

  /// Sets the value, unless it has been set.
  func give(_ result: Result<Value, any Error>) {
    let reader = state.withLock { state in
      guard state.result == nil else { return nil as CheckedContinuation<Value, any Error>? }
      state.result = result
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(with: result)
  }

  /// Begins a read of a value that may be the awaited one. Returns the read's number.
  func beginRead() -> Int { state.withLock { $0.reads.begin() } }

  /// Notes that the read found another value than the awaited one. This is the last one seen, unless a later
  /// read has already ended.
  func note(_ seen: String, _ read: Int) {
    state.withLock { state in
      if state.reads.end(read) { state.lastSeen = seen }
    }
  }

  var lastSeen: String? { state.withLock { $0.lastSeen } }

  /// Waits until the value is set, the timeout has passed, or the task is cancelled.
  func wait(
    atMost timeout: Duration, isolation: isolated (any Actor)?,
    orThrow error: @escaping @Sendable (String?) -> any Error
  ) async throws -> Value {
    // Read here, since a detached task has no task-local values.
    let sleep = TimeoutClock.sleep
    return try await withTaskCancellationHandler {
      // Begun here, so that a cancellation is noticed while the timer runs.
      let timer = Task.detached { [weak self] in
        do { try await sleep(timeout) } catch { return }
        guard let self else { return }
        give(.failure(error(lastSeen)))
      }
      defer { timer.cancel() }
      return try await withCheckedThrowingContinuation(isolation: isolation) { read($0) }
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
