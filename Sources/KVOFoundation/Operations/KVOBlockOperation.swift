internal import KVORuntime

// An observable replacement for `BlockOperation` (R5).

/// An operation that executes blocks, one after the other. Blocks may be added on any thread before it
/// starts.
public final class KVOBlockOperation: KVOOperation, @unchecked Sendable {
  private let blocks: LockedValue<[@Sendable () -> Void]>

  /// Creates an operation without blocks.
  public override init() {
    blocks = LockedValue([])
    super.init()
  }

  /// Creates an operation with one block.
  public init(block: @escaping @Sendable () -> Void) {
    blocks = LockedValue([block])
    super.init()
  }

  /// Adds a block to execute. Stops the program with a message if the operation is executing or has finished.
  public func addExecutionBlock(
    _ block: @escaping @Sendable () -> Void, file: StaticString = #fileID, line: UInt = #line
  ) {
    if isExecuting || isFinished {
      KVODiagnostics.stop(
        "A block was added to a \(Self.self) that had been started.", for: Caller(file, line))
    }
    withChange(forKey: "executionBlocks") { blocks.withLock { $0.append(block) } }
  }

  /// The blocks, in the order in which they are executed.
  public var executionBlocks: [@Sendable () -> Void] {
    _readsKey("executionBlocks")
    return blocks.withLock { $0 }
  }

  /// Executes the blocks, in order.
  public override func main() {
    for block in executionBlocks { block() }
  }

  /// Declares the keys of the class. A subclass that overrides it calls super.
  public override class func registerKeys() {
    super.registerKeys()
    declareKeys { keys in
      keys.accessors("executionBlocks", \.executionBlocks) { $0.executionBlocks }
    }
  }
}
