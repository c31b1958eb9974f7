internal import CKVORuntime

// The token holds the handle of one registration of the C core, which may be for several keys. The core ends
// it on any thread, once (C5, I2). A token without such a registration holds an `ObservationEnd` instead,
// whose address is tagged.

/// A token that owns an observation: the observation ends when the token is invalidated or released.
///
/// The token retains neither the observed object nor anything else. Keep tokens in a property: in an
/// optimised build a local array of them is released after its last use, unless `withExtendedLifetime` holds
/// it.
///
/// Once `invalidate()` has returned, no new call of the handler begins. A call in progress on another thread
/// may finish, and what it uses stays alive until then. The handler is released afterwards.
// Sendable: the C core's functions on a handle may be called on any thread, and the handle is set before
// another thread can have this token.
public final class KeyValueObservation: @unchecked Sendable {
  // The C core writes it through its address, before it makes the initial call.
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

  /// Ends the observation. Later calls have no effect, and neither have calls after the object's death. May
  /// be called on any thread, also inside the handler.
  public func invalidate() {
    if let end { return end.end() }
    if let handle { kvo_handle_invalidate(handle) }
  }

  /// Whether the observation still delivers changes. May be used on any thread.
  public var isValid: Bool {
    if let end { return end.isValid }
    guard let handle else { return false }
    return kvo_handle_is_valid(handle)
  }

  // Marks an `ObservationEnd`: no registration has an odd address.
  private static let endMark = 1

  private var end: ObservationEnd? {
    let address = UInt(bitPattern: handle)
    guard address & UInt(Self.endMark) != 0 else { return nil }
    let object = UnsafeRawPointer(bitPattern: address - UInt(Self.endMark))!
    return Unmanaged<ObservationEnd>.fromOpaque(object).takeUnretainedValue()
  }

  /// The address at which the C core stores the handle.
  // A class's stored property keeps its address as long as the object lives. The access must not stay open,
  // because the initial call may use the token.
  var handleAddress: UnsafeMutablePointer<OpaquePointer?> {
    withUnsafeMutablePointer(to: &handle) { $0 }
  }
}

/// The end of an observation that is not a registration of the C core.
class ObservationEnd {
  /// Ends the observation. Later calls have no effect. Any thread.
  func end() {}
  var isValid: Bool { false }
}

/// Compares tokens by identity, so that they can be kept in a set.
extension KeyValueObservation: Hashable {
  /// Returns whether both are the same token.
  public static func == (a: KeyValueObservation, b: KeyValueObservation) -> Bool { a === b }

  /// Hashes the token's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
