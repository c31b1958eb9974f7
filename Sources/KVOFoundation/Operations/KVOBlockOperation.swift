internal import KVORuntime

// `BlockOperation`, to be observed (R5).

/// An operation of blocks, which it executes one after the other. Any thread may add some before it starts.
public final class KVOBlockOperation: KVOOperation, @unchecked Sendable {
  private let blocks: LockedValue<[@Sendable () -> Void]>

  /// Of no block yet.
  public override init() {
    blocks = LockedValue([])
    super.init()
  }

  /// Of one block.
  public init(block: @escaping @Sendable () -> Void) {
    blocks = LockedValue([block])
    super.init()
  }

  /// Executes a block as well. Once the operation executes, or has finished, it stops the program with a message.
  public func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    if isExecuting || isFinished {
      KVODiagnostics.stop("A block was added to a \(Self.self) that had been started.")
    }
    withChange(forKey: "executionBlocks") { blocks.withLock { $0.append(block) } }
  }

  /// The blocks, in the order in which they are executed.
  public var executionBlocks: [@Sendable () -> Void] {
    _readsKey("executionBlocks")
    return blocks.withLock { $0 }
  }

  public override func main() {
    for block in executionBlocks { block() }
  }

  public override class func registerKeys() {
    super.registerKeys()
    declareKeys { keys in
      keys.accessors("executionBlocks", \.executionBlocks) { $0.executionBlocks }
    }
  }
}
