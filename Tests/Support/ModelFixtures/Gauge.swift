import KVORuntime
import TestSupport

/// A property with shared storage, and a gate before each read and each store, for programs that `inAllOrders` runs.
public final class Gauge: Tracked, @unchecked Sendable {
  private let stored = Locked(0)

  public override init() {
    LibraryLocks.areGates()
    super.init()
  }

  public var value: Int {
    get { read() }
    set { withChange(of: \.value) { store(newValue) } }
  }

  /// The current value, read without a gate.
  public var last: Int { stored.withLock { $0 } }

  private func read() -> Int {
    Orders.gate()
    return last
  }

  private func store(_ value: Int) {
    Orders.gate()
    stored.withLock { $0 = value }
  }

  public override class func registerKeys() {
    declareKeys {
      $0.accessors(
        "value", \.value, get: { $0.read() }, set: { gauge, value in gauge.store(value) })
    }
  }
}
