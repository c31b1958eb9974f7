import CFixtures

/// A value shared by threads and tasks, for which tasks wait: a change resumes those whose condition it meets.
package final class Awaited<Value>: Sendable {
  private struct State {
    var value: Value
    var waiting: [(condition: (Value) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state: Locked<State>

  package init(_ value: Value) { state = Locked(State(value: value)) }

  package var value: Value { state.withLock { $0.value } }

  package func withLock<R>(_ body: (inout Value) -> R) -> R {
    let (result, resumed) = state.withLock { state in
      let result = body(&state.value)
      let value = state.value
      let resumed = state.waiting.filter { $0.condition(value) }
      if !resumed.isEmpty { state.waiting.removeAll { $0.condition(value) } }
      return (result, resumed)
    }
    for waiter in resumed { waiter.continuation.resume() }
    return result
  }

  /// Waits until the condition holds, which may depend only on the value.
  package func wait(
    file: StaticString = #fileID, line: Int32 = #line,
    isolation: isolated (any Actor)? = #isolation, until condition: @escaping (Value) -> Bool
  ) async {
    let wait = fixture_wait_begin_for_task(file.name, line)
    await withCheckedContinuation { continuation in
      let holds = state.withLock { state in
        let holds = condition(state.value)
        if !holds { state.waiting.append((condition, continuation)) }
        return holds
      }
      if holds { continuation.resume() }
    }
    fixture_wait_end(wait)
  }
}

extension Awaited where Value: Equatable {
  /// Waits until the value equals this one.
  package func wait(
    for value: Value, file: StaticString = #fileID, line: Int32 = #line,
    isolation: isolated (any Actor)? = #isolation
  ) async {
    await wait(file: file, line: line, isolation: isolation) { $0 == value }
  }
}

extension Task where Failure == Never {
  /// Waits for the task's end under the watchdog.
  @discardableResult
  package func finished(
    file: StaticString = #fileID, line: Int32 = #line,
    isolation: isolated (any Actor)? = #isolation
  ) async -> Success {
    let wait = fixture_wait_begin_for_task(file.name, line)
    defer { fixture_wait_end(wait) }
    return await value
  }
}
