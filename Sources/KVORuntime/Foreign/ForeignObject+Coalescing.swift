internal import CKVORuntime

extension ForeignObject {
  /// Calls a body, and notifies observers of its changes of the C object when the body ends: once for each
  /// key, from the value before the first change to the value at the end.
  ///
  /// The body's calls of the object's setters are included, direct ones in C and those by key. If the body
  /// throws, observers are notified of the changes made so far, and the error is thrown. A call inside
  /// another one for the same object on the same thread is part of that. Changes of other objects, and by
  /// other threads, are delivered immediately.
  ///
  /// - Complexity: O(1), besides the changes themselves.
  public func coalescingNotifications<R>(_ body: () throws -> R) rethrows -> R {
    let batch = kvo_batch_begin(header)
    defer { if let batch { kvo_batch_end(batch) } }
    return try body()
  }
}
