internal import CKVORuntime

extension ForeignObject {
  /// Calls a body, and tells what it changes of the C object when it ends, of each key once: as
  /// `coalescingNotifications(_:)` of a `KVOObject`. Setters of C that the body calls, directly or by key, are part of it.
  ///
  /// - Complexity: O(1) beside what the changes cost.
  public func coalescingNotifications<R>(_ body: () throws -> R) rethrows -> R {
    let batch = kvo_batch_begin(header)
    defer { if let batch { kvo_batch_end(batch) } }
    return try body()
  }
}
