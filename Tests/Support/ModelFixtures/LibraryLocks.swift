import KVORuntime
import TestSupport

/// Makes the locks of the library's Swift code gates of programs that `inAllOrders` runs. A release build has none;
/// only the programs' own gates remain there.
public enum LibraryLocks {
  /// Called once, before a program runs.
  public static func areGates() { _ = installed }

  private static let installed: Void = {
    LockGates.install { lock, isTaken in
      if isTaken { Orders.willTake(lock) } else { Orders.didRelease(lock) }
    }
  }()
}
