public import Foundation
internal import KVORuntime

// What Foundation's queues hold of a `KVOOperation` (R5). swift-corelibs-foundation's queues ask an operation's
// properties, and ask anew when its `didChangeValue(forKey:)` says so: this passes on what the operation's keys tell.

/// Stands for an operation where Foundation asks for one, and keeps it alive as long as Foundation keeps this.
final class ScheduledOperation: Operation, @unchecked Sendable {
  private let target: KVOOperation
  private let tokens = LockedValue<[KeyValueObservation]>([])

  fileprivate init(_ target: KVOOperation) {
    self.target = target
    super.init()
    if target.qualityOfService != .default { qualityOfService = target.qualityOfService }
  }

  /// Observes what queues want to know. The registrations are this one's: they end with it, or with the operation.
  fileprivate func follow() {
    let made = ["isExecuting", "isFinished", "isReady", "isCancelled"].map { key in
      do {
        return try target.observe(keyPath: key) { [weak self] _, _ in self?.pass(on: key) }
      } catch {
        KVODiagnostics.stop("\(error)")
      }
    }
    tokens.withLock { $0 = made }
    // What has come to be in the meantime.
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

  /// Takes the operation's priority: the last one, whichever threads set some.
  func followPriority() {
    target.state.withLock { queuePriority = $0.queuePriority }
  }

  override func start() {
    target.start()
    // Of one that notifies of its end later, or not at all.
    if target.isFinished { target.leaveQueue() }
  }
  override func cancel() { target.cancel() }
  override var isReady: Bool { super.isReady && target.isReady }
  override var isExecuting: Bool { target.isExecuting }
  // Foundation's queue gives up what has finished, whether or not it has been notified of the end.
  override var isFinished: Bool { target.isFinished && !target.state.withLock { $0.isInQueue } }
  override var isCancelled: Bool { target.isCancelled }
  override var isAsynchronous: Bool { target.isAsynchronous }
  override var name: String? {
    get { target.name }
    set { target.name = newValue }
  }

  /// The operation that this stands for.
  var keyed: KVOOperation { target }
}

extension KVOOperation {
  /// What stands for this operation where Foundation asks for one of its own: as what another depends on, say. It is
  /// made when it is asked for, and keeps this operation alive. Any thread.
  public final var operation: Operation { scheduled }

  var scheduled: ScheduledOperation {
    if let known = state.withLock({ $0.scheduled }) { return known }
    let made = ScheduledOperation(self)
    let chosen = state.withLock { state in
      if let known = state.scheduled { return known }
      state.scheduled = made
      return made
    }
    // Another thread's may still be on its way to follow, and then does before anything is told.
    if chosen === made { made.follow() }
    return chosen
  }
}

extension OperationQueue {
  /// Has the queue run an operation as soon as it is ready. It is kept alive until it has finished. One that has been
  /// added before, or has finished, stops the program.
  public func addOperation(_ operation: KVOOperation) { addOperation(operation.scheduled) }

  /// Adds operations, and returns when they have finished, if that is asked for.
  public func addOperations(_ operations: [KVOOperation], waitUntilFinished wait: Bool) {
    addOperations(operations.map(\.scheduled) as [Operation], waitUntilFinished: wait)
  }
}
