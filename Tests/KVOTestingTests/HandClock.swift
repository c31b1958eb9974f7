import KVOTesting
import TestSupport
import Testing

/// Time that a test moves. While it does not, no timeout comes.
final class HandClock: Sendable {
  private struct Sleeper {
    let number: Int
    let end: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Duration.zero
    var count = 0
    var cancelled: Set<Int> = []
    var sleepers: [Sleeper] = []
  }

  private let state = Awaited(State())

  /// How many sleep.
  var sleepers: Int { state.value.sleepers.count }

  /// Waits until so many sleep.
  func sleeping(_ count: Int) async { await state.wait { $0.sleepers.count == count } }

  func advance(by duration: Duration) {
    let awake = state.withLock { state in
      state.now += duration
      let now = state.now
      defer { state.sleepers.removeAll { $0.end <= now } }
      return state.sleepers.filter { $0.end <= now }
    }
    for sleeper in awake { sleeper.continuation.resume() }
  }

  /// Timeouts of what the body waits for are this clock's.
  func keepTime<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    try await TimeoutClock.$sleep.withValue(
      { try await self.sleep(for: $0) }, operation: body, isolation: isolation)
  }

  private func sleep(for duration: Duration) async throws {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if state.cancelled.contains(number) { return true }
          state.sleepers.append(
            Sleeper(number: number, end: state.now + duration, continuation: continuation))
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        state.cancelled.insert(number)
        defer { state.sleepers.removeAll { $0.number == number } }
        return state.sleepers.first { $0.number == number }
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}

/// Has timeouts come at once: only what is there already is earlier.
func withoutPatience<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
) async rethrows -> R {
  try await TimeoutClock.$sleep.withValue({ _ in }, operation: body, isolation: isolation)
}

/// Has the time of timeouts stand still, but for those of a test with a clock of its own. A wait for what does not come
/// is the watchdog's.
struct StoppedTime: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let clock = HandClock()
    try await Watchdog.watch(test.sourceLocation.fileID, line: test.sourceLocation.line) {
      try await clock.keepTime(function)
    }
  }
}

extension Trait where Self == StoppedTime {
  static var stoppedTime: Self { Self() }
}
