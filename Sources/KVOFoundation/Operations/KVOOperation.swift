public import Foundation
public import KVORuntime

// An operation whose keys can be observed, by the names that they have on Apple's platforms (R5). It keeps
// its state under a lock. `ScheduledOperation` represents it in Foundation's queues. It observes the
// operation's keys, as queues do on Apple's platforms, to find out when the operation is ready, executes and
// has finished. Getters report which key is read.
//
// | state | protection |
// |---|---|
// | `state`, the priority of the `ScheduledOperation` | its own lock, under which no observer is called |

/// An observable replacement for `Operation`.
///
/// These keys can be observed: `isReady`, `isExecuting`, `isFinished`, `isCancelled`, `dependencies`,
/// `queuePriority`, and `completionBlock`. `ready`, `executing`, `finished` and `cancelled` are other names
/// of the first four.
///
/// Any `OperationQueue` runs it (`addOperation(_:)`), as does a `KVOOperationQueue`. A subclass overrides
/// `main()`. An asynchronous subclass overrides `start()`, `isExecuting` and `isFinished`, and announces
/// changes of the latter two as on Apple's platforms: by `willChangeValue(forKey:)` and
/// `didChangeValue(forKey:)`, or by `withChange(forKey:)`. Instead, the two may depend on an observable property
/// that is declared, or that their getters read. The queue observes them. A subclass's `isReady` is always
/// affected by what super's `isReady` depends on.
///
/// ```swift
/// final class Download: KVOOperation, @unchecked Sendable {
///   override func main() { … }
/// }
/// let token = download.observe(\.isFinished) { download, _ in … }
/// queue.addOperation(download)
/// ```
///
/// Queues observe the operation. So don't call `removeAllObservers()` while it waits or executes: its queue
/// would miss its end. Observers are called on the thread that changes the state. For `isExecuting` and
/// `isFinished` that is a thread of the queue, for `isReady` the thread on which the last dependency
/// finished. All members may be used on any thread.
// Unchecked `Sendable`: its own state is under a lock. A subclass must protect its own state, as with
// `Operation`.
open class KVOOperation: KVOObject, @unchecked Sendable {
  struct State {
    var isExecuting = false
    var isFinished = false
    var isCancelled = false
    var dependencies: [KVOOperation] = []
    var queuePriority = Operation.QueuePriority.normal
    var qualityOfService = QualityOfService.default
    var completionBlock: (@Sendable () -> Void)?
    var name: String?
    /// The operation's registration with itself, until it has finished.
    var end: KeyValueObservation?
    /// Removes the operation from its `KVOOperationQueue`.
    var leave: (@Sendable () -> Void)?
    /// Counts the operation in the queue's progress.
    var count: (@Sendable () -> Void)?
    /// Whether it is in a `KVOOperationQueue`: until it has been removed.
    var isInQueue = false
    /// The representative in queues. It retains the operation, and lives as long as queues retain it.
    weak var scheduled: ScheduledOperation?
  }

  let state = LockedValue(State())
  private let waiting = NSCondition()

  /// Creates an operation without dependencies.
  public override init() {
    super.init()
    do {
      let end = try observe(keyPath: "isFinished") { operation, _ in operation.complete() }
      state.withLock { $0.end = end }
    } catch {
      KVODiagnostics.stop("\(error)")
    }
  }

  // MARK: Members to override

  /// Performs the operation's work, unless `start()` is overridden. The default does nothing.
  open func main() {}

  /// Executes `main()` on this thread, and then finishes the operation. A queue calls it, or the program
  /// itself.
  ///
  /// A cancelled operation finishes without `main()`; a finished one does nothing. Stops the program with a
  /// message if the operation is not ready, or is executing already.
  open func start() {
    guard !isFinished else { return }
    if isCancelled { return finish() }
    guard isReady else { stop("was started before it was ready.") }
    withChange(forKey: "isExecuting") {
      let isFirst = state.withLock { state in
        defer { state.isExecuting = true }
        return !state.isExecuting
      }
      if !isFirst { stop("was started while it executed.") }
    }
    main()
    state.withLock { $0.count }?()
    finish()
  }

  /// Whether the operation may start: it is cancelled, or all of its dependencies have finished. An override
  /// combines super's value with its own condition, and announces changes of the latter.
  open var isReady: Bool {
    _readsKey("isCancelled")
    _readsKey("dependencies")
    let (isCancelled, dependencies) = state.withLock { ($0.isCancelled, $0.dependencies) }
    return isCancelled
      || dependencies.allSatisfy {
        $0._readsKey("isFinished")  // an override of `isFinished` need not record its read
        return $0.isFinished
      }
  }

  /// Whether `main()` is running.
  open var isExecuting: Bool { read("isExecuting") { $0.isExecuting } }

  /// Whether the operation has ended, by completing its work or by being cancelled.
  open var isFinished: Bool { read("isFinished") { $0.isFinished } }

  /// Whether the operation was asked to stop.
  open var isCancelled: Bool { read("isCancelled") { $0.isCancelled } }

  /// Whether `start()` may return before the operation has finished. Queues don't use it.
  open var isAsynchronous: Bool { isConcurrent }

  /// The older name of `isAsynchronous`.
  open var isConcurrent: Bool { false }

  private func read<Value>(_ key: StaticString, _ value: (State) -> Value) -> Value {
    _readsKey(key)
    return state.withLock { value($0) }
  }

  /// Asks the operation to stop. A running operation must check `isCancelled` itself. A waiting one becomes
  /// ready, is started, and finishes without `main()`. Has no effect on an operation that is cancelled
  /// already or has finished.
  open func cancel() {
    guard !isFinished, !state.withLock({ $0.isCancelled }) else { return }
    withChange(forKey: "isCancelled") { state.withLock { $0.isCancelled = true } }
  }

  private func finish() {
    withChange(forKey: "isFinished") {
      guard isExecuting else { return state.withLock { $0.isFinished = true } }
      // A single change of both keys, so that no observer sees an operation that has finished and is
      // executing.
      withChange(forKey: "isExecuting") {
        state.withLock { ($0.isExecuting, $0.isFinished) = (false, true) }
      }
    }
  }

  // MARK: Settings before the start

  /// The operations that must finish before this one is ready, in the order in which they were added.
  open var dependencies: [KVOOperation] { read("dependencies") { $0.dependencies } }

  /// Makes the operation wait until another one has finished, which may be in any queue. Adding a dependency
  /// twice has no effect. Operations that wait for each other never start.
  open func addDependency(_ operation: KVOOperation) {
    withChange(forKey: "dependencies") {
      state.withLock { state in
        guard !state.dependencies.contains(where: { $0 === operation }) else { return }
        state.dependencies.append(operation)
      }
    }
  }

  /// Removes a dependency, so that the operation does not wait for it any more.
  open func removeDependency(_ operation: KVOOperation) {
    var removed: [KVOOperation] = []
    withChange(forKey: "dependencies") {
      state.withLock { state in
        removed = state.dependencies.filter { $0 === operation }
        state.dependencies.removeAll { $0 === operation }
      }
    }
    withExtendedLifetime(removed) {}
  }

  /// The order of a queue's operations that are ready. A change has no effect on operations that the queue
  /// has already dispatched.
  open var queuePriority: Operation.QueuePriority {
    get { read("queuePriority") { $0.queuePriority } }
    set {
      withChange(forKey: "queuePriority") { state.withLock { $0.queuePriority = newValue } }
      state.withLock { $0.scheduled }?.followPriority()
    }
  }

  /// The share of system resources that the operation gets. Set it before adding the operation to a queue.
  open var qualityOfService: QualityOfService {
    get { read("qualityOfService") { $0.qualityOfService } }
    set {
      withChange(forKey: "qualityOfService") { state.withLock { $0.qualityOfService = newValue } }
    }
  }

  /// A name for debugging.
  open var name: String? {
    get { read("name") { $0.name } }
    set { withChange(forKey: "name") { state.withLock { $0.name = newValue } } }
  }

  /// Called once when the operation has finished, on a thread of the system, and then released. Observers of
  /// `isFinished` may still be running.
  open var completionBlock: (@Sendable () -> Void)? {
    get { read("completionBlock") { $0.completionBlock } }
    set {
      var block = newValue
      withChange(forKey: "completionBlock") {
        state.withLock { swap(&$0.completionBlock, &block) }
      }
    }
  }

  /// Blocks until the operation has finished; forever, if it is never started.
  open func waitUntilFinished() {
    waiting.lock()
    defer { waiting.unlock() }
    while !isFinished { waiting.wait() }
  }

  // Also called for an asynchronous operation, in whichever way it announces its end.
  private func complete() {
    guard isFinished else { return }
    let (end, block) = state.withLock { state in
      defer { (state.end, state.completionBlock) = (nil, nil) }
      return (state.end, state.completionBlock)
    }
    guard let end else { return }
    end.invalidate()
    waiting.lock()
    waiting.broadcast()
    waiting.unlock()
    if let block { DispatchQueue.global().async(execute: block) }
  }

  /// Leaves the `KVOOperationQueue`, once, before the executing queue learns that the operation has finished.
  func leaveQueue() {
    // The closures are released after the lock: one may hold the last reference to the queue's progress.
    let ended = state.withLock { state in
      defer { (state.leave, state.count) = (nil, nil) }
      return (leave: state.leave, count: state.count)
    }
    guard let leave = ended.leave else { return }
    leave()
    state.withLock { $0.isInQueue = false }
    withExtendedLifetime(ended) {}
  }

  // MARK: Keys

  /// Declares the keys of the class. A subclass that overrides it calls super.
  open override class func registerKeys() {
    declareKeys { keys in
      keys.computed("isReady", \.isReady)
      keys.base("isReady", on: readiness)
      keys.readOnly("isExecuting", \.isExecuting)
      keys.readOnly("isFinished", \.isFinished)
      keys.readOnly("isCancelled", \.isCancelled)
      keys.readOnly("isAsynchronous", \.isAsynchronous)
      keys.readOnly("isConcurrent", \.isConcurrent)
      keys.readOnly("dependencies", \.dependencies)
      keys.stored("queuePriority", \.queuePriority)
      keys.stored("qualityOfService", \.qualityOfService)
      keys.stored("name", \.name)
      keys.readOnly("completionBlock", \.completionBlock)
    }
  }

  private static let readiness: Set = ["isCancelled", "dependencies.@unionOfObjects.isFinished"]

  private func stop(_ complaint: String) -> Never {
    KVODiagnostics.stop("\(type(of: self)) \(complaint)")
  }
}

extension KVOOperation: OpaqueStorage {
  package static var opaqueClasses: [KVOObject.Type] {
    [KVOOperation.self, KVOBlockOperation.self]
  }
}
