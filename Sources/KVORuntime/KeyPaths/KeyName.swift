internal import CKVORuntime
@_spi(_Unicode) internal import Swift

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

  /// The name of a key, however it is spelled, that has no NUL. Only for names that a class really has:
  /// it is kept for ever.
  static func of(_ string: String) -> KeyName {
    guard let interned = string.withKey({ kvo_key_intern($0) }) ?? nil else {
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

// MARK: On the way to C

extension String {
  /// Calls a body with a key or key path as the C core knows it. Every one of Swift's goes there by
  /// this way.
  ///
  /// To Swift, canonically equivalent strings are equal; to C, which compares bytes, each has one
  /// spelling, the composed one. And C's would end at a NUL and be another: what has one in it is no
  /// key.
  ///
  /// - Returns: nil, without a call, for what is no key.
  /// - Complexity: O(*n*).
  @inline(__always)
  func withKey<R>(_ body: (UnsafePointer<CChar>) throws -> R) rethrows -> R? {
    try isPlain ? withCString(body) : withComposed(body)
  }

  // Neither a NUL nor a byte of a character beyond ASCII.
  @inline(__always)
  private var isPlain: Bool {
    utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 &- 1 < 127 } } ?? false
  }

  @inline(never)
  private func withComposed<R>(
    _ body: (UnsafePointer<CChar>) throws -> R
  ) rethrows -> R? {
    guard mayBeKey else { return nil }
    return try composed.withCString(body)
  }

  /// The same; an unknown key of the class where it is none.
  func withKey<R>(
    _ className: @autoclosure () -> String, _ body: (UnsafePointer<CChar>) throws -> R
  ) throws -> R {
    guard let result = try withKey(body) else {
      throw KeyValueError.undefinedKey(key: self, className: className())
    }
    return result
  }

  /// Whether there can be a key of that name.
  var mayBeKey: Bool { !utf8.contains(0) }

  private var composed: String {
    var scalars = UnicodeScalarView()
    for scalar in _nfc { scalars.append(scalar) }
    return String(scalars)
  }
}
