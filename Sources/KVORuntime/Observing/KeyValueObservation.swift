internal import CKVORuntime

// The token: the handle of one registration of the C core, or of several keys in one. The core ends it from any
// thread, once (C5, I2).

/// Ends its registration when invalidated or released. Neither the observed object nor anything
/// else is kept alive by it.
///
/// Keep tokens in a property: in an optimised build a local array of them is released after its
/// last use, unless `withExtendedLifetime` holds it.
///
/// Once `invalidate()` has returned, no new call of the handler begins; one in progress on another
/// thread may finish, and what it uses stays alive until it has. The handler is released then.
// Sendable: the C core's functions on a handle may be called on any thread, and the handle itself
// is set before another thread can have this token.
public final class KeyValueObservation: @unchecked Sendable {
  // Written by the C core, through its address, before it makes the initial call.
  private var handle: OpaquePointer?

  @usableFromInline
  init() {}

  deinit {
    kvo_handle_release(handle)
  }

  /// Ends the registration. Again is harmless, so is after the object's death. Any thread, also
  /// inside the handler.
  public func invalidate() {
    if let handle { kvo_handle_invalidate(handle) }
  }

  /// Whether changes are still told. Any thread.
  public var isValid: Bool {
    guard let handle else { return false }
    return kvo_handle_is_valid(handle)
  }

  /// Where the C core puts the handle.
  // A class's stored property has one address as long as the object lives. The access must not stay
  // open: the initial call may use the token.
  var handleAddress: UnsafeMutablePointer<OpaquePointer?> {
    withUnsafeMutablePointer(to: &handle) { $0 }
  }
}

/// A token equals itself alone: tokens may be kept in a set.
extension KeyValueObservation: Hashable {
  public static func == (a: KeyValueObservation, b: KeyValueObservation) -> Bool { a === b }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
