internal import CSwiftRuntime

/// A weak reference that leaves the object's reference counts where they are.
///
/// The first `weak` variable moves them to a side table for the rest of the object's life, where each retain and
/// release takes longer. The object's memory, but nothing that it owns, stays allocated as long as this reference
/// exists.
package final class WeakReference<Object: AnyObject>: @unchecked Sendable {
  // An unowned reference: the memory is not freed before this is destroyed.
  private let address: UnsafeMutableRawPointer

  package init(_ object: Object) {
    address = Unmanaged.passUnretained(object).toOpaque()
    kvo_swift_unowned_retain(address)
  }

  deinit { kvo_swift_unowned_release(address) }

  /// The object, unless it has died. Any thread.
  package var object: Object? {
    guard kvo_swift_try_retain(address) else { return nil }
    return Unmanaged<Object>.fromOpaque(address).takeRetainedValue()
  }
}
