public import Foundation
public import KVORuntime

// An operation queue whose keys can be observed (R6). An `OperationQueue` executes the operations. This class
// keeps its own list of them, since Foundation's list notifies no observer. An operation is added to the list
// before that queue gets it. It is removed when it has finished, before that queue learns of it
// (`ScheduledOperation`).
//
// | state | protection |
// |---|---|
// | `members` | its own lock, under which no observer is called and nothing is released |

/// An observable replacement for `OperationQueue`.
///
/// These keys can be observed: `operations`, `operationCount`, `maxConcurrentOperationCount`, `isSuspended`
/// (also named `suspended`), `qualityOfService`, `name`, and those of its `progress`.
///
/// ```swift
/// let token = queue.observe(\.operationCount, options: [.new]) { _, change in … }
/// queue.addOperation(download)
/// ```
///
/// Observers of `operations` and `operationCount` are called on the thread that adds an operation, or on
/// which one finishes. Operations that were added to `queue` directly are not included. All members may be
/// used on any thread.
// Unchecked `Sendable`: all mutable state is under a lock, here or in Foundation's queue.
open class KVOOperationQueue: KVOObject, @unchecked Sendable {
  /// The Foundation queue that executes the operations.
  public final let queue: OperationQueue
  private let members = LockedValue<[KVOOperation]>([])

  /// Creates a queue with its own Foundation queue.
  public override convenience init() { self.init(OperationQueue()) }

  /// Creates a queue that executes its operations by an existing Foundation queue, for instance `.main`.
  public init(_ queue: OperationQueue) {
    self.queue = queue
    super.init()
  }

  // MARK: Operations

  /// The operations that were added and have not finished, in the order in which they were added.
  public final var operations: [KVOOperation] { read("operations") { members.withLock { $0 } } }

  /// The number of operations that were added and have not finished.
  public final var operationCount: Int { read("operationCount") { members.withLock { $0.count } } }

  /// The progress of the operations that were added. It counts once its `totalUnitCount` is set: each
  /// operation adds one unit when its `main()` returns, before it finishes. An operation that overrides
  /// `start()` without calling super adds none.
  public final let progress = KVOProgress.discreteProgress(totalUnitCount: 0)

  private final func read<Value>(_ key: StaticString, _ value: () -> Value) -> Value {
    _readsKey(key)
    return value()
  }

  /// Adds an operation, which is executed as soon as it is ready. The queue retains it until it has finished.
  /// Stops the program if the operation has finished or is in a queue already.
  open func addOperation(_ operation: KVOOperation) {
    addOperations([operation], waitUntilFinished: false)
  }

  /// Adds an operation that executes a block.
  open func addOperation(_ block: @escaping @Sendable () -> Void) {
    addOperation(KVOBlockOperation(block: block))
  }

  /// Adds several operations, as one change. Stops the program if one has finished or is in a queue already.
  /// - Parameters:
  ///   - operations: the operations to execute.
  ///   - wait: whether to return only when all of them have finished.
  open func addOperations(_ operations: [KVOOperation], waitUntilFinished wait: Bool) {
    if let stale = operations.first(where: \.isFinished) {
      KVODiagnostics.stop("\(type(of: stale)) was added to a queue when it had finished.")
    }
    withChange(forKey: "operations") { members.withLock { $0 += operations } }
    for operation in operations { follow(operation) }
    queue.addOperations(operations, waitUntilFinished: wait)
  }

  /// Calls a block when all operations that were added before have finished. Operations that are added later
  /// wait for it.
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    queue.addBarrierBlock(barrier)
  }

  /// Cancels all operations that have not finished.
  open func cancelAllOperations() {
    for operation in operations { operation.cancel() }
  }

  /// Blocks until all operations have finished.
  open func waitUntilAllOperationsAreFinished() { queue.waitUntilAllOperationsAreFinished() }

  private func follow(_ operation: KVOOperation) {
    var leave: (@Sendable () -> Void)? = { [weak self, unowned operation] in self?.remove(operation)
    }
    var count: (@Sendable () -> Void)? = { [progress] in progress.count() }
    // Swapped: closures that an earlier queue has left are released outside the lock.
    operation.state.withLock { state in
      swap(&state.leave, &leave)
      swap(&state.count, &count)
      state.isInQueue = true
    }
    withExtendedLifetime((leave, count)) {}
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

  /// The number of operations that may execute at a time; `OperationQueue.defaultMaxConcurrentOperationCount`
  /// leaves it to the system.
  open var maxConcurrentOperationCount: Int {
    get { read("maxConcurrentOperationCount") { queue.maxConcurrentOperationCount } }
    set {
      withChange(forKey: "maxConcurrentOperationCount") {
        queue.maxConcurrentOperationCount = newValue
      }
    }
  }

  /// Whether the queue starts no more operations.
  open var isSuspended: Bool {
    get { read("isSuspended") { queue.isSuspended } }
    set { withChange(forKey: "isSuspended") { queue.isSuspended = newValue } }
  }

  /// A name for debugging.
  open var name: String? {
    get { read("name") { queue.name } }
    set { withChange(forKey: "name") { queue.name = newValue } }
  }

  /// The share of system resources for operations that don't set their own.
  open var qualityOfService: QualityOfService {
    get { read("qualityOfService") { queue.qualityOfService } }
    set { withChange(forKey: "qualityOfService") { queue.qualityOfService = newValue } }
  }

  /// Declares the keys of the class. A subclass that overrides it calls super.
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
