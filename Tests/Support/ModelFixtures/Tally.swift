import KVORuntime
import TestSupport

/// A key with synchronised storage: any thread may set and read it.
public final class Tally: Tracked, @unchecked Sendable {
  private let stored = Locked(0)

  public var count: Int {
    get { stored.withLock { $0 } }
    set { withChange(of: \.count) { stored.withLock { $0 = newValue } } }
  }

  override public class func registerKeys() {
    Tally.declareKeys {
      $0.accessors(
        "count", \.count, get: { $0.stored.withLock { $0 } },
        set: { tally, count in tally.stored.withLock { $0 = count } })
    }
  }
}
