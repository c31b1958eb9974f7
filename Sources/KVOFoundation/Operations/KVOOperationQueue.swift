public import Foundation
public import KVORuntime

// An operation queue whose keys are observed (R6). The work is an `OperationQueue`'s; the list of what is in it is kept
// here, since Foundation's notifies no observer: an operation joins before that queue has it, and leaves when it has
// finished, before that queue knows (`ScheduledOperation`).
//
// | state | protection |
// |---|---|
// | `members` | its own lock, under which no observer is called and nothing dies |

/// `OperationQueue`, to be observed: `operations`, `operationCount`, `maxConcurrentOperationCount`, `isSuspended` (also
/// as `suspended`), `name`, and its `progress`.
///
/// ```swift
/// let token = queue.observe(\.operationCount, options: [.new]) { _, change in … }
/// queue.addOperation(download)
/// ```
///
/// Observers of `operations` and `operationCount` are called on the thread that adds, or that an operation finishes on.
/// What was given to `queue` itself is not among the operations. Any thread.
// Sendable: what changes is under a lock, here or in Foundation's queue.
open class KVOOperationQueue: KVOObject, @unchecked Sendable {
  /// Foundation's queue, which does the work.
  public final let queue: OperationQueue
  private let members = LockedValue<[KVOOperation]>([])

  /// A queue of its own.
  public override convenience init() { self.init(OperationQueue()) }

  /// Has what is added here run by a queue that there is, `.main` for instance.
  public init(_ queue: OperationQueue) {
    self.queue = queue
    super.init()
  }

  // MARK: Operations

  /// What has been added and has not finished, in that order.
  public final var operations: [KVOOperation] { read("operations") { members.withLock { $0 } } }

  /// How many there are.
  public final var operationCount: Int { read("operationCount") { members.withLock { $0.count } } }

  /// How much of what was added is done. It counts operations once its `totalUnitCount` is set: each whose `main()` returns
  /// adds one unit before it finishes. One that overrides `start()` without calling super adds none.
  public final let progress = KVOProgress.discreteProgress(totalUnitCount: 0)

  private final func read<Value>(_ key: StaticString, _ value: () -> Value) -> Value {
    _readsKey(key)
    return value()
  }

  /// Has an operation run as soon as it is ready. It is kept alive until it has finished. One that has finished, or is in
  /// a queue, stops the program.
  open func addOperation(_ operation: KVOOperation) {
    addOperations([operation], waitUntilFinished: false)
  }

  /// Has a block run.
  open func addOperation(_ block: @escaping @Sendable () -> Void) {
    addOperation(KVOBlockOperation(block: block))
  }

  /// Adds operations, as one change, and returns when they have finished, if that is asked for.
  open func addOperations(_ operations: [KVOOperation], waitUntilFinished wait: Bool) {
    if let stale = operations.first(where: \.isFinished) {
      KVODiagnostics.stop("\(type(of: stale)) was added to a queue when it had finished.")
    }
    withChange(forKey: "operations") { members.withLock { $0 += operations } }
    for operation in operations { follow(operation) }
    queue.addOperations(operations, waitUntilFinished: wait)
  }

  /// Calls a block when all that was added before has finished, and holds back what is added later until then.
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    queue.addBarrierBlock(barrier)
  }

  /// Cancels what has not finished.
  open func cancelAllOperations() {
    for operation in operations { operation.cancel() }
  }

  /// Returns when there is no operation any more.
  open func waitUntilAllOperationsAreFinished() { queue.waitUntilAllOperationsAreFinished() }

  private func follow(_ operation: KVOOperation) {
    operation.state.withLock { state in
      state.leave = { [weak self, unowned operation] in self?.remove(operation) }
      state.count = { [progress] in progress.count() }
      state.isInQueue = true
    }
  }

  private func remove(_ operation: KVOOperation) {
    var before: [KVOOperation] = []
    withChange(forKey: "operations") {
      members.withLock { members in
        before = members
        members.removeAll { $0 === operation }
      }
    }
    withExtendedLifetime(before) {}
  }

  // MARK: Settings

  /// How many operations execute at a time; `OperationQueue.defaultMaxConcurrentOperationCount` for as many as the
  /// system thinks right.
  open var maxConcurrentOperationCount: Int {
    get { read("maxConcurrentOperationCount") { queue.maxConcurrentOperationCount } }
    set {
      withChange(forKey: "maxConcurrentOperationCount") {
        queue.maxConcurrentOperationCount = newValue
      }
    }
  }

  /// Whether no more operations are started.
  open var isSuspended: Bool {
    get { read("isSuspended") { queue.isSuspended } }
    set { withChange(forKey: "isSuspended") { queue.isSuspended = newValue } }
  }

  /// A name for debugging.
  open var name: String? {
    get { read("name") { queue.name } }
    set { withChange(forKey: "name") { queue.name = newValue } }
  }

  /// What resources operations are given that ask for none themselves.
  open var qualityOfService: QualityOfService {
    get { read("qualityOfService") { queue.qualityOfService } }
    set { withChange(forKey: "qualityOfService") { queue.qualityOfService = newValue } }
  }

  /// Declares the keys.
  open override class func registerKeys() {
    declareKeys { keys in
      keys.readOnly("operations", \.operations)
      keys.computed("operationCount", \.operationCount, affectedBy: ["operations"])
      keys.stored("maxConcurrentOperationCount", \.maxConcurrentOperationCount)
      keys.stored("isSuspended", \.isSuspended)
      keys.stored("qualityOfService", \.qualityOfService)
      keys.stored("name", \.name)
      keys.readOnly("progress", \.progress)
    }
  }
}

extension KVOOperationQueue: OpaqueStorage {
  package static var opaqueClasses: [KVOObject.Type] { [KVOOperationQueue.self] }
}
