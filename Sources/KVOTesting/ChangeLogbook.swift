internal import KVORuntime

// What recorders write into (S2), held by the registration's handler as well as by the recorder.

/// Changes in the order in which they were told.
///
/// | state | protection |
/// |---|---|
/// | `state` | its own lock, under which nobody is called, and no value dies |
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

  /// Calls a function once there are so many changes: at once, if there are.
  func call(atLeast count: Int, _ call: @escaping @Sendable () -> Void) {
    let isReached = state.withLock { state in
      guard state.changes.count < count else { return true }
      state.waiting.append((count, call))
      return false
    }
    if isReached { call() }
  }
}
