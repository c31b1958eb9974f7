import KVOTesting
import TestSupport
import Testing

/// A clock that a test advances. Until then no timeout fires.
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

  /// The number of sleepers.
  var sleepers: Int { state.value.sleepers.count }

  /// Waits until `count` are asleep.
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

  /// Timeouts inside the body use this clock.
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

/// Makes timeouts fire at once, after everything that is ready.
func withoutPatience<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
) async rethrows -> R {
  try await TimeoutClock.$sleep.withValue({ _ in }, operation: body, isolation: isolation)
}

/// Stops the time of timeouts, except for tests with a clock of their own. The watchdog ends a wait for an event that
/// never comes.
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
