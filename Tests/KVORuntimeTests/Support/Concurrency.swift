import KVORuntime
import ModelFixtures
import TestSupport

/// An observer object that any thread may notify. It can be observed itself.
final class Counting: Tracked, @unchecked Sendable {
  let count: Count
  @Observed var number = 0

  init(_ count: Count = Count()) {
    self.count = count
    super.init()
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    count.add()
  }
}

/// The last reference to an object, which one thread may drop while others use it.
final class Slot<Object: AnyObject>: Sendable {
  private let object: Locked<Object?>

  init(_ object: Object) { self.object = Locked(object) }

  func drop() {
    let last = object.withLock { object in
      defer { object = nil }
      return object
    }
    withExtendedLifetime(last) {}
  }

  /// Uses the object, if it still exists, and retains it during the use.
  func use(_ body: (Object) -> Void) {
    if let object = object.withLock({ $0 }) { body(object) }
  }
}
