import KVORuntime
import TestSupport

/// The locks of the library's Swift code, as gates of programs that `inAllOrders` runs. A release build has none: there the
/// gates of the programs themselves remain.
public enum LibraryLocks {
  /// Once is enough, before a program runs.
  public static func areGates() { _ = installed }

  private static let installed: Void = {
    LockGates.install { lock, isTaken in
      if isTaken { Orders.willTake(lock) } else { Orders.gaveBack(lock) }
    }
  }()
}
