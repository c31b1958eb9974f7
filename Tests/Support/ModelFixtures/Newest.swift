import KVORuntime
import TestSupport

/// The newest value that an observer has read, on whichever threads it is called (I5).
public final class Newest<Value>: Sendable {
  private let state = Locked((reads: ReadOrder(), value: Value?.none))

  public init() {}

  public var value: Value? { state.withLock { $0.value } }

  /// Reads and records the current value.
  public func note(_ read: () -> Value) {
    let number = state.withLock { $0.reads.begin() }
    let value = read()
    state.withLock { state in
      if state.reads.end(number) { state.value = value }
    }
  }
}
