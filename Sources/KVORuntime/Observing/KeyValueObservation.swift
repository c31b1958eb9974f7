internal import CKVORuntime

// The token: the handle of one registration of the C core, or of several keys in one. The core ends it from any
// thread, once (C5, I2). What is no registration is ended by an object (`ObservationEnd`), whose address is marked.

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

  init(_ end: ObservationEnd) {
    let address = Unmanaged.passRetained(end).toOpaque()
    handle = OpaquePointer(address + Self.endMark)
  }

  deinit {
    guard let end else { return kvo_handle_release(handle) }
    end.end()
    Unmanaged.passUnretained(end).release()
  }

  /// Ends the registration. Again is harmless, so is after the object's death. Any thread, also
  /// inside the handler.
  public func invalidate() {
    if let end { return end.end() }
    if let handle { kvo_handle_invalidate(handle) }
  }

  /// Whether changes are still told. Any thread.
  public var isValid: Bool {
    if let end { return end.isValid }
    guard let handle else { return false }
    return kvo_handle_is_valid(handle)
  }

  // No registration's address is odd.
  private static let endMark = 1

  private var end: ObservationEnd? {
    let address = UInt(bitPattern: handle)
    guard address & UInt(Self.endMark) != 0 else { return nil }
    let object = UnsafeRawPointer(bitPattern: address - UInt(Self.endMark))!
    return Unmanaged<ObservationEnd>.fromOpaque(object).takeUnretainedValue()
  }

  /// Where the C core puts the handle.
  // A class's stored property has one address as long as the object lives. The access must not stay
  // open: the initial call may use the token.
  var handleAddress: UnsafeMutablePointer<OpaquePointer?> {
    withUnsafeMutablePointer(to: &handle) { $0 }
  }
}

/// What a token ends that is no registration of the C core's.
class ObservationEnd {
  /// Again is harmless. Any thread.
  func end() {}
  var isValid: Bool { false }
}

/// A token equals itself alone: tokens may be kept in a set.
extension KeyValueObservation: Hashable {
  /// Whether both are the same token.
  public static func == (a: KeyValueObservation, b: KeyValueObservation) -> Bool { a === b }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
