internal import CKVORuntime

/// A key or key path with its one C string and its Swift string, so that a notification has the
/// string at hand without making it. One per name, hung at the C string as its cookie: that of a
/// key lives for ever, that of a key path while it is observed.
final class KeyName: Sendable {
  let string: String
  /// Interned: equal names have one address.
  // A pointer to memory that lives for ever and is never written again may be read on any thread.
  nonisolated(unsafe) let interned: UnsafePointer<CChar>

  private init(_ interned: UnsafePointer<CChar>) {
    self.interned = interned
    self.string = String(cString: interned)
  }

  /// The name of that spelling. Only for names that a class really has: it is kept for ever.
  static func of(_ string: String) -> KeyName {
    guard let interned = string.withCString({ kvo_key_intern($0) }) else {
      KVODiagnostics.stop("No memory for the key \"\(string)\".")
    }
    return of(interned: interned)
  }

  /// The name of an interned C string.
  static func of(interned: UnsafePointer<CChar>) -> KeyName {
    if let known = kvo_key_cookie(interned) { return at(known) }
    let made = Unmanaged.passRetained(KeyName(interned))
    let kept = kvo_key_set_cookie(interned, made.toOpaque())
    // Another thread was first.
    if kept != UnsafeRawPointer(made.toOpaque()) { made.release() }
    return at(kept)
  }

  /// Lets go of the cookie of a key path that nobody observes any more.
  static let end: @convention(c) (UnsafeRawPointer) -> Void = {
    Unmanaged<KeyName>.fromOpaque($0).release()
  }

  // The cookie holds a reference.
  private static func at(_ cookie: UnsafeRawPointer) -> KeyName {
    Unmanaged<KeyName>.fromOpaque(cookie).takeUnretainedValue()
  }
}
