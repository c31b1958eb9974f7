internal import KVORuntime

// The storage of a recorder (S2). The registration's handler and the recorder share it.

/// Recorded changes, in the order of their delivery.
///
/// | state | protection |
/// |---|---|
/// | `state` | its own lock, under which nothing is called and no value is released |
final class ChangeLogbook<Value>: @unchecked Sendable {
  private struct State {
    var changes: [KeyValueObservedChange<Value>] = []
    var waiting: [(count: Int, call: @Sendable () -> Void)] = []
  }

  private let state = LockedValue(State())

  func note(_ change: KeyValueObservedChange<Value>) {
    let calls = state.withLock { state in
      state.changes.append(change)
      let count = state.changes.count
      defer { state.waiting.removeAll { $0.count <= count } }
      return state.waiting.filter { $0.count <= count }
    }
    for (_, call) in calls { call() }
  }

  func read<R>(_ body: ([KeyValueObservedChange<Value>]) -> R) -> R {
    body(state.withLock { $0.changes })
  }

  func take() -> [KeyValueObservedChange<Value>] {
    state.withLock { state in
      defer { state.changes = [] }
      return state.changes
    }
  }

  /// Calls a function once at least `count` changes are recorded; immediately, if there are so many.
  func call(atLeast count: Int, _ call: @escaping @Sendable () -> Void) {
    let isReached = state.withLock { state in
      guard state.changes.count < count else { return true }
      state.waiting.append((count, call))
      return false
    }
    if isReached { call() }
  }
}
