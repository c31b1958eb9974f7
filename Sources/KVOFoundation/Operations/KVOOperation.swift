public import Foundation
public import KVORuntime

// An operation whose keys are observed, by the names that they have on Apple's platforms (R5). Its state is its own, under
// a lock; `ScheduledOperation` is what Foundation's queues hold of it, and learns from the keys, as those queues do
// there, when it is ready, executes and has finished. Getters say which key is read, for whatever tracks reads.
//
// | state | protection |
// |---|---|
// | `state`, the priority of what is scheduled | its own lock, under which no observer is called |

/// `Operation`, to be observed: `isReady`, `isExecuting`, `isFinished`, `isCancelled`, `dependencies`, `queuePriority`,
/// `completionBlock`. The keys `ready`, `executing`, `finished` and `cancelled` are the same.
///
/// Any `OperationQueue` runs it (`addOperation(_:)`), as does a `KVOOperationQueue`. A subclass overrides `main()`; an
/// asynchronous one overrides `start()`, `isExecuting` and `isFinished`, and announces these as it does on Apple's
/// platforms, by `willChangeValue(forKey:)` and `didChangeValue(forKey:)`, by `withChange(forKey:)`, or by a
/// property which they are declared to depend on, or read: the queue observes them. Whatever a subclass says of `isReady`,
/// what super answers affects it too.
///
/// ```swift
/// final class Download: KVOOperation, @unchecked Sendable {
///   override func main() { … }
/// }
/// let token = download.observe(\.isFinished) { download, _ in … }
/// queue.addOperation(download)
/// ```
///
/// Queues observe it, so `removeAllObservers()` is not for an operation that waits or executes: its queue would not be told
/// of its end. Observers are called on the thread that changes the state, which is a queue's for `isExecuting` and `isFinished`, and
/// the one that the last dependency finished on for `isReady`. Any thread may use what is declared here.
// Sendable: its own state is under a lock; what a subclass adds is the subclass's to protect, as of `Operation`.
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
    /// The operation's own registration, until it has finished.
    var end: KeyValueObservation?
    /// Takes the operation out of the `KVOOperationQueue` that it is in.
    var leave: (@Sendable () -> Void)?
    /// Counts for the queue's progress.
    var count: (@Sendable () -> Void)?
    /// Whether it is in one: until it has been taken out.
    var isInQueue = false
    /// What queues hold of it; it holds the operation, and lives as long as they do.
    weak var scheduled: ScheduledOperation?
  }

  let state = LockedValue(State())
  private let waiting = NSCondition()

  /// An operation that waits for nothing.
  public override init() {
    super.init()
    do {
      let end = try observe(keyPath: "isFinished") { operation, _ in operation.complete() }
      state.withLock { $0.end = end }
    } catch {
      KVODiagnostics.stop("\(error)")
    }
  }

  // MARK: What subclasses override

  /// What the operation does, unless `start()` is overridden. By default nothing.
  open func main() {}

  /// Called by the queue, or by the program: has `main()` executed on this thread, and the operation finished; a
  /// cancelled one is finished at once. What is finished does nothing. Starting what is not ready, or executes, stops
  /// the program with a message.
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

  /// Whether nothing that it depends on keeps it from starting. An override takes what super says into account, and
  /// announces its own changes.
  open var isReady: Bool {
    _readsKey("isCancelled")
    _readsKey("dependencies")
    let (isCancelled, dependencies) = state.withLock { ($0.isCancelled, $0.dependencies) }
    return isCancelled
      || dependencies.allSatisfy {
        $0._readsKey("isFinished")  // an override need not say so
        return $0.isFinished
      }
  }

  /// Whether `main()` runs.
  open var isExecuting: Bool { read("isExecuting") { $0.isExecuting } }

  /// Whether there is nothing more to be done, because it was, or because it was cancelled.
  open var isFinished: Bool { read("isFinished") { $0.isFinished } }

  /// Whether it shall stop.
  open var isCancelled: Bool { read("isCancelled") { $0.isCancelled } }

  /// Whether `start()` returns before the operation has finished. For code that asks: queues do not.
  open var isAsynchronous: Bool { isConcurrent }

  /// The older name of `isAsynchronous`.
  open var isConcurrent: Bool { false }

  private func read<Value>(_ key: StaticString, _ value: (State) -> Value) -> Value {
    _readsKey(key)
    return state.withLock { value($0) }
  }

  /// Asks the operation to stop: a running one looks at `isCancelled` itself, one that waits becomes ready, is started
  /// and finishes without `main()`. Again is harmless, and so it is once the operation has finished.
  open func cancel() {
    guard !isFinished, !state.withLock({ $0.isCancelled }) else { return }
    withChange(forKey: "isCancelled") { state.withLock { $0.isCancelled = true } }
  }

  private func finish() {
    withChange(forKey: "isFinished") {
      guard isExecuting else { return state.withLock { $0.isFinished = true } }
      // One change of both: nobody sees an operation that has finished and executes.
      withChange(forKey: "isExecuting") {
        state.withLock { ($0.isExecuting, $0.isFinished) = (false, true) }
      }
    }
  }

  // MARK: Before it starts

  /// What must have finished before this is ready, in the order in which it was added.
  open var dependencies: [KVOOperation] { read("dependencies") { $0.dependencies } }

  /// Has another operation finish first, of whatever queue. Operations that wait for each other never start. Again is
  /// harmless.
  open func addDependency(_ operation: KVOOperation) {
    withChange(forKey: "dependencies") {
      state.withLock { state in
        guard !state.dependencies.contains(where: { $0 === operation }) else { return }
        state.dependencies.append(operation)
      }
    }
  }

  /// Does not wait for another operation any more.
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

  /// Which of a queue's operations that are ready comes first. What a queue has already been given keeps its place.
  open var queuePriority: Operation.QueuePriority {
    get { read("queuePriority") { $0.queuePriority } }
    set {
      withChange(forKey: "queuePriority") { state.withLock { $0.queuePriority = newValue } }
      state.withLock { $0.scheduled }?.followPriority()
    }
  }

  /// What resources the operation is given by the system. Set before a queue has it.
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

  /// Called once the operation has finished, on some thread of the system's, and taken away then. Observers of
  /// `isFinished` may still be on their way.
  open var completionBlock: (@Sendable () -> Void)? {
    get { read("completionBlock") { $0.completionBlock } }
    set {
      var block = newValue
      withChange(forKey: "completionBlock") {
        state.withLock { swap(&$0.completionBlock, &block) }
      }
    }
  }

  /// Returns when the operation has finished. One that nobody starts is waited for without an end.
  open func waitUntilFinished() {
    waiting.lock()
    defer { waiting.unlock() }
    while !isFinished { waiting.wait() }
  }

  // Of an asynchronous operation as well, however it tells of its end.
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

  /// Leaves its `KVOOperationQueue`, once, before what executes it knows that it has finished.
  func leaveQueue() {
    let leave = state.withLock { state in
      defer { (state.leave, state.count) = (nil, nil) }
      return state.leave
    }
    guard let leave else { return }
    leave()
    state.withLock { $0.isInQueue = false }
  }

  // MARK: Keys

  /// Declares the keys. A subclass that overrides it calls super.
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
