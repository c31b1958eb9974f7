internal import CSwiftRuntime

/// A weak reference that leaves the object's reference counts where they are.
///
/// The first `weak` variable moves them to a side table for the rest of the object's life. Then each of its retains and
/// releases takes three times as many instructions.
final class WeakReference<Object: AnyObject>: @unchecked Sendable {
  // An unowned reference: the memory is not freed before this is destroyed.
  private let address: UnsafeMutableRawPointer

  init(_ object: Object) {
    address = Unmanaged.passUnretained(object).toOpaque()
    kvo_swift_unowned_retain(address)
  }

  deinit { kvo_swift_unowned_release(address) }

  /// The object, unless it has died. Any thread.
  var object: Object? {
    guard kvo_swift_try_retain(address) else { return nil }
    return Unmanaged<Object>.fromOpaque(address).takeRetainedValue()
  }
}
