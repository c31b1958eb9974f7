import Glibc

// Every order of two threads. Code with its own synchronisation is tested by small programs of two threads, each run
// once in each order, so that finding a fault does not depend on luck.
//
// One of the two threads runs at a time, from gate to gate. A gate is where the other one may go on instead: before
// each lock of the library's Swift code is taken (`LockGates`, in ModelFixtures), and where a test's own getters,
// setters and observers call `Orders.gate()`. A thread that would block on a lock is not resumed. Each run records
// the choice at each gate where both threads could go on. The next run repeats all choices before the last one that
// has an untried alternative, and takes that.

/// The result of running a program in all orders.
package struct OrdersTried: Sendable {
  /// The number of orders run, up to a failing one.
  package var count = 0
  /// The first order in which the program failed: for each step, the number of its thread.
  package var failure: String?
}

/// Runs a program of two threads in every order, until it fails in one.
///
/// ```swift
/// let tried = await inAllOrders { threads in
///   let (a, b) = (Gauge(), Gauge())
///   threads.run { a.value = 1 } and: { b.value = 2 }
///   return a.value == b.value
/// }
/// expectEqual(tried.failure, nil)
/// ```
///
/// The first run has no gates, and its second body begins when the first has ended; it fills the caches of first
/// uses. So a body that waits for the other thread must be the second one.
///
/// - Parameters:
///   - switches: the maximum number of gates at which a thread that could go on must stop. The number of
///     orders grows exponentially with the gates of both threads, but most faults need one or two switches.
///   - program: prepares, calls `run` once, and returns whether the result is right.
package func inAllOrders(
  ofSwitches switches: Int = .max, isolation: isolated (any Actor)? = #isolation,
  _ program: (Orders) async throws -> Bool
) async rethrows -> OrdersTried {
  var tried = OrdersTried()
  // Once without gates, so that first uses under locks of the runtime's are done.
  guard try await program(Orders(nil)) else {
    tried.failure = "one after the other"
    return tried
  }
  var choices: [Bool]? = []
  while let repeated = choices {
    let orders = Orders(repeated)
    tried.count += 1
    guard try await program(orders) else {
      tried.failure = orders.steps
      return tried
    }
    choices = orders.next(ofSwitches: switches)
  }
  return tried
}

/// One order of two threads.
package final class Orders: Sendable {
  fileprivate struct Thread {
    var hasBegun = false, hasEnded = false
    /// The lock that it is about to take.
    var wanted: UnsafeRawPointer?
    /// The condition under which it can go on.
    var condition: (@Sendable () -> Bool)?
  }
  fileprivate struct State {
    /// The choices at the gates where both threads could go on: whether the other one did. The first are repeated.
    var switches: [Bool]
    var choices = 0
    var threads = [Thread(), Thread()]
    var running = 0
    var steps = ""
    var held: [UnsafeRawPointer: (thread: Int, times: Int)] = [:]
  }

  private let state: Locked<State>
  private let turns = [Turn(), Turn()]
  private let hasGates: Bool

  fileprivate init(_ switches: [Bool]?) {
    state = Locked(State(switches: switches ?? []))
    hasGates = switches != nil
  }

  fileprivate var steps: String { state.withLock { $0.steps } }

  /// The choices of the next order; nil after the last one.
  fileprivate func next(ofSwitches most: Int) -> [Bool]? {
    var choices = state.withLock { $0.switches }
    while let last = choices.popLast() {
      if !last, choices.count(where: \.self) < most { return choices + [true] }
    }
    return nil
  }

  /// Runs two bodies on new threads, in this order.
  package func run(
    file: StaticString = #fileID, line: Int32 = #line, _ first: @escaping @Sendable () -> Void,
    and second: @escaping @Sendable () -> Void
  ) {
    guard hasGates else {
      for body in [first, second] { onThreads(1, file: file, line: line) { _ in body() } }
      return
    }
    onThreads(2, file: file, line: line) { [self] index in
      let participant = Participant(self, index)
      withExtendedLifetime(participant) {
        participant.take()
        begin(index)
        if index == 0 { first() } else { second() }
        participant.leave()
        end(index)
      }
    }
  }

  // MARK: Gates

  /// A point where the other thread may go on instead, if this thread belongs to a program of `run`.
  package static func gate() { Participant.current.map { $0.orders.pass($0.index, toTake: nil) } }

  /// Runs a body as one step: for calls that hold a lock without gates.
  package static func withoutGates<R>(_ body: () -> R) -> R {
    let participant = Participant.current
    participant?.leave()
    defer { participant?.take() }
    return body()
  }

  /// Waits for a condition that the other thread brings about. Outside a program of `run` the thread itself waits.
  package static func wait(until condition: @escaping @Sendable () -> Bool) {
    guard let participant = Participant.current else { return waitUntil(condition) }
    participant.orders.pass(participant.index, toTake: nil, until: condition)
  }

  /// A gate before a lock is taken.
  package static func willTake(_ lock: UnsafeRawPointer) {
    Participant.current.map { $0.orders.pass($0.index, toTake: lock) }
  }

  /// Records that a lock has been released.
  package static func didRelease(_ lock: UnsafeRawPointer) {
    Participant.current?.orders.state.withLock { state in
      state.held[lock]?.times -= 1
      if state.held[lock]?.times == 0 { state.held[lock] = nil }
    }
  }

  private func begin(_ index: Int) {
    let first = state.withLock { state in
      state.threads[index].hasBegun = true
      return state.threads.allSatisfy(\.hasBegun) ? state.choose() : nil
    }
    if let first { turns[first].give() }
    turns[index].wait()
  }

  private func pass(
    _ index: Int, toTake lock: UnsafeRawPointer?, until condition: (@Sendable () -> Bool)? = nil
  ) {
    let next = state.withLock { state in
      state.threads[index].wanted = lock
      state.threads[index].condition = condition
      return state.choose()
    }
    guard next != index else { return }
    turns[next].give()
    turns[index].wait()
  }

  private func end(_ index: Int) {
    let next = state.withLock { state in
      state.threads[index].hasEnded = true
      return state.threads.allSatisfy(\.hasEnded) ? nil : state.choose()
    }
    if let next { turns[next].give() }
  }
}

extension Orders.State {
  private func canGoOn(_ index: Int) -> Bool {
    guard !threads[index].hasEnded, threads[index].condition?() ?? true else { return false }
    guard let lock = threads[index].wanted, let holder = held[lock] else { return true }
    return holder.thread == index
  }

  /// The running thread.
  fileprivate mutating func choose() -> Int {
    let other = 1 - running
    guard canGoOn(running) else {
      precondition(canGoOn(other), "neither of the threads can go on: \(steps)")
      return go(other)
    }
    guard canGoOn(other) else { return go(running) }
    defer { choices += 1 }
    if choices == switches.count { switches.append(false) }
    return go(switches[choices] ? other : running)
  }

  private mutating func go(_ index: Int) -> Int {
    running = index
    steps += "\(index)"
    if let lock = threads[index].wanted {
      held[lock] = (index, (held[lock]?.times ?? 0) + 1)
      threads[index].wanted = nil
    }
    return index
  }
}

/// The number of this thread in its program.
private final class Participant: Sendable {
  let orders: Orders
  let index: Int

  init(_ orders: Orders, _ index: Int) { (self.orders, self.index) = (orders, index) }

  private static let key = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  static var current: Participant? {
    pthread_getspecific(key).map { Unmanaged<Participant>.fromOpaque($0).takeUnretainedValue() }
  }

  func take() { pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque()) }
  func leave() { pthread_setspecific(Self.key, nil) }
}

/// Resumes a thread.
private final class Turn: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(semaphore, 0, 0) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func give() { sem_post(semaphore) }
  func wait() { while sem_wait(semaphore) != 0 {} }
}
