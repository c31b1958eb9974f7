/// The objects that one test has made, and which of them are alive, so that a leak fails the test that made it.
///
/// A test runs in a scope of its own, a task-local value that `onThreads` passes on. The scope counts all objects
/// with a `Life` that are made in it.
package final class Lifetimes: Sendable {
  @TaskLocal public static var current: Lifetimes?

  private struct State {
    var living: [ObjectIdentifier: (type: any Any.Type, count: Int)] = [:]
    var endings: [@Sendable () -> Void] = []
    var waiting: CheckedContinuation<Void, Never>?

    var count: Int { living.values.reduce(0) { $0 + $1.count } }
  }

  private let state = Locked(State())

  package init() {}

  /// The number of live objects.
  package var count: Int { state.withLock { $0.count } }

  /// The live objects, one line for each type.
  package var description: String {
    state.withLock { state in
      state.living.values.filter { $0.count > 0 }
        .map { "\($0.count) × \($0.type)" }.sorted().joined(separator: ", ")
    }
  }

  /// Runs the body when the test is over, before live objects are counted.
  package func atEnd(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.endings.append(body) }
  }

  /// Retains an object that the test uses by its address, unknown to Swift, until the test is over.
  package static func keep(_ object: AnyObject) {
    let kept = Shared(object)
    current?.atEnd { withExtendedLifetime(kept) {} }
  }

  /// Ends the scope.
  package func end() {
    let endings = state.withLock { state in
      defer { state.endings = [] }
      return state.endings
    }
    for ending in endings { ending() }
  }

  /// Waits for the end of the last life. Only one task may wait.
  ///
  /// - Parameter place: shown by the watchdog if a leak makes the test wait for ever.
  package func allEnded(place: String, line: Int) async {
    guard count > 0 else { return }
    await Watchdog.watch("\(place), which leaves alive \(description), line ", line: line) {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          guard state.count > 0 else { return true }
          state.waiting = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    }
  }

  fileprivate func began(_ type: any Any.Type) {
    state.withLock { $0.living[ObjectIdentifier(type), default: (type, 0)].count += 1 }
  }

  fileprivate func ended(_ type: any Any.Type) {
    let resumed = state.withLock { state in
      state.living[ObjectIdentifier(type), default: (type, 0)].count -= 1
      let isOver = state.waiting != nil && state.count == 0
      return isOver ? state.waiting.take() : nil
    }
    resumed?.resume()
  }
}

/// Lives as long as its owner: an object with it as a property, or a closure that captures it.
package final class Life: Sendable {
  private let scope = Lifetimes.current
  private let type: any Any.Type

  /// - Parameter type: the type under which the owner is listed if it outlives its test.
  package init(of type: any Any.Type) {
    self.type = type
    scope?.began(type)
  }

  deinit { scope?.ended(type) }

  /// Called by a closure only to capture the life.
  package func goesOn() {}
}
