public import Foundation
internal import KVORuntime

// Represents a `KVOOperation` in Foundation's queues (R5). The queues of swift-corelibs-foundation read an
// operation's properties, and read them again when its `didChangeValue(forKey:)` is called. This class calls
// it when the operation's keys change.

/// Stands for a `KVOOperation` where Foundation needs an `Operation`, and retains it.
final class ScheduledOperation: Operation, @unchecked Sendable {
  /// The operation that this object represents.
  private let target: KVOOperation
  private let tokens = LockedValue<[KeyValueObservation]>([])

  fileprivate init(_ target: KVOOperation) {
    self.target = target
    super.init()
    if target.qualityOfService != .default { qualityOfService = target.qualityOfService }
  }

  deinit { for token in tokens.withLock({ $0 }) { token.invalidate() } }

  /// Observes the keys that queues depend on. The registrations end with this object or with the operation.
  fileprivate func follow() {
    let made = ["isExecuting", "isFinished", "isReady", "isCancelled"].map { key in
      do {
        return try target.observe(keyPath: key) { [weak self] _, _ in self?.pass(on: key) }
      } catch {
        KVODiagnostics.stop("\(error)")
      }
    }
    tokens.withLock { $0 = made }
    // Passes on changes that were made before the registrations.
    followPriority()
    for key in ["isCancelled", "isReady"] { pass(on: key) }
    if target.isFinished { pass(on: "isFinished") }
  }

  private func pass(on key: String) {
    if key == "isCancelled" {
      if target.isCancelled { super.cancel() }
      return
    }
    if key == "isFinished", target.isFinished { target.leaveQueue() }
    didChangeValue(forKey: key)
  }

  /// Copies the operation's priority. The last one that any thread sets remains.
  func followPriority() {
    target.state.withLock { queuePriority = $0.queuePriority }
  }

  override func start() {
    target.start()
    // An override of `start()` may announce the end later, or never.
    if target.isFinished { target.leaveQueue() }
  }
  override func cancel() { target.cancel() }
  override var isReady: Bool { super.isReady && target.isReady }
  override var isExecuting: Bool { target.isExecuting }
  // Foundation's queue drops a finished operation, whether or not it was notified of the end.
  override var isFinished: Bool { target.isFinished && !target.state.withLock { $0.isInQueue } }
  override var isCancelled: Bool { target.isCancelled }
  override var isAsynchronous: Bool { target.isAsynchronous }
  override var name: String? {
    get { target.name }
    set { target.name = newValue }
  }
}

extension KVOOperation {
  /// A Foundation operation that represents this one, for instance as a dependency of another. It is created
  /// on demand and retains this operation. May be used on any thread.
  public final var operation: Operation { scheduled }

  var scheduled: ScheduledOperation {
    if let known = state.withLock({ $0.scheduled }) { return known }
    let made = ScheduledOperation(self)
    let chosen = state.withLock { state in
      if let known = state.scheduled { return known }
      state.scheduled = made
      return made
    }
    // Another thread's object may still be registering its observers; it then passes on the present state
    // itself.
    if chosen === made { made.follow() }
    return chosen
  }
}

/// Execution of observable operations by a queue of Foundation.
extension OperationQueue {
  /// Adds an operation, which is executed as soon as it is ready. The queue retains it until it has finished.
  /// Stops the program if the operation has finished or was added before.
  public func addOperation(_ operation: KVOOperation) { addOperation(operation.scheduled) }

  /// Adds several operations. Stops the program if one has finished or was added before.
  /// - Parameters:
  ///   - operations: the operations to execute.
  ///   - wait: whether to return only when all of them have finished.
  public func addOperations(_ operations: [KVOOperation], waitUntilFinished wait: Bool) {
    addOperations(operations.map(\.scheduled) as [Operation], waitUntilFinished: wait)
  }
}
