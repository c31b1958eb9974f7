internal import CKVORuntime

// Delivers several changes as one for each key (M1). The C core collects them (`batch.c`).
extension KeyValueObserving where Self: KVOObject {
  /// Calls a body and coalesces its changes of this object: each key notifies once, when the body ends.
  ///
  /// ```swift
  /// window.coalescingNotifications {
  ///   window.origin = .zero
  ///   window.size = size
  ///   window.origin.x += margin
  /// }  // notifies of origin, then of size, then of frame, which is computed from both
  /// ```
  ///
  /// A key's notification has the value before its first change as old, and the value at the end of the body
  /// as new. Keys notify in the order in which they were first changed. Prior calls are made at the first
  /// change of a key. Computed properties, dependent keys and key paths that several keys affect notify once.
  /// Several changes of a collection's elements become one setting; a single one keeps its kind and indexes.
  ///
  /// If the body throws, the changes made so far are delivered as well, before the error propagates. A body
  /// inside another one for the same object belongs to the outer one. Changes on other threads, and of other
  /// objects, are delivered as usual. The object is retained until the end.
  ///
  /// - Returns: The result of the body.
  /// - Complexity: O(1) in addition to the cost of the changes.
  public func coalescingNotifications<R>(_ body: () throws -> R) rethrows -> R {
    let batch = kvo_batch_begin(boundHeader)
    defer { withExtendedLifetime(self) { if let batch { kvo_batch_end(batch) } } }
    return try body()
  }
}
