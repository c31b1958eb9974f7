internal import CKVORuntime

// Several changes told as one for each key (M1). The C core collects them (`batch.c`).
extension KeyValueObserving where Self: KVOObject {
  /// Calls a body, and tells what it changes of this object when it ends: of each key one change, from the value
  /// before the first one to the value that there is then.
  ///
  /// ```swift
  /// window.coalescingNotifications {
  ///   window.origin = .zero
  ///   window.size = size
  ///   window.origin.x += margin
  /// }  // tells of origin, then of size, then of frame, which is computed from both
  /// ```
  ///
  /// Keys come in the order in which they were first changed. Computed properties, declared dependent keys and key
  /// paths that several of them affect are told once. Several changes of the elements of a collection become one
  /// setting; one alone stays what it is. Prior calls are made at the first change of a key. What the observers of a
  /// key have been told is the same if the body throws. A body inside another one for the same object is part of that.
  ///
  /// What other threads change meanwhile, and changes of other objects, are told as ever. The object lives until
  /// the end.
  ///
  /// - Complexity: O(1) beside what the changes cost.
  public func coalescingNotifications<R>(_ body: () throws -> R) rethrows -> R {
    let batch = kvo_batch_begin(boundHeader)
    defer { withExtendedLifetime(self) { if let batch { kvo_batch_end(batch) } } }
    return try body()
  }
}
