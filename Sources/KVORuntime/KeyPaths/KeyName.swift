internal import CKVORuntime
@_spi(_Unicode) internal import Swift

/// A key or key path, as an interned C string and as a Swift string, so that a notification need not make the
/// latter. There is one per name, attached to the C string as its cookie. A key's cookie is never freed; a
/// key path's is freed when the path is no longer observed.
package final class KeyName: Sendable {
  package let string: String
  /// An interned C string: equal names have the same address.
  // The memory is never freed nor written again, so any thread may read it.
  package nonisolated(unsafe) let interned: UnsafePointer<CChar>

  private init(_ interned: UnsafePointer<CChar>) {
    self.interned = interned
    self.string = String(cString: interned)
  }

  /// Returns the name of a key that contains no NUL; canonically equivalent spellings are one name. It is
  /// never freed, so call this only for names that a class really has.
  static func of(_ string: String) -> KeyName {
    guard let interned = string.withKey({ kvo_key_intern($0) }) ?? nil else {
      KVODiagnostics.stop("No memory for the key \"\(string)\".")
    }
    return of(interned: interned)
  }

  /// Returns the name of an interned C string.
  static func of(interned: UnsafePointer<CChar>) -> KeyName {
    if let known = kvo_key_cookie(interned) { return at(known) }
    let made = Unmanaged.passRetained(KeyName(interned))
    let kept = kvo_key_set_cookie(interned, made.toOpaque())
    // Another thread set the cookie first.
    if kept != UnsafeRawPointer(made.toOpaque()) { made.release() }
    return at(kept)
  }

  /// Releases the cookie of a key path that is no longer observed.
  static let end: @convention(c) (UnsafeRawPointer) -> Void = {
    Unmanaged<KeyName>.fromOpaque($0).release()
  }

  // The cookie holds a reference.
  private static func at(_ cookie: UnsafeRawPointer) -> KeyName {
    Unmanaged<KeyName>.fromOpaque(cookie).takeUnretainedValue()
  }
}

// MARK: Conversion to C strings

extension String {
  /// Calls a body with the C string of a key or key path. All of Swift's keys reach the C core through here.
  ///
  /// Swift treats canonically equivalent strings as equal, but C compares bytes. So C gets the composed form
  /// (NFC). A string that contains a NUL is not a key: C would take it for the part before the NUL.
  ///
  /// - Returns: the body's result; nil, without calling the body, if the string contains a NUL.
  /// - Complexity: O(*n*) in the length of the string.
  @inline(__always)
  func withKey<R>(_ body: (UnsafePointer<CChar>) throws -> R) rethrows -> R? {
    try isPlain ? withCString(body) : withComposed(body)
  }

  // Plain: ASCII only, without a NUL, so that it is its own composed form.
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

  /// Calls a body with the C string of a key. Throws `undefinedKey`, with the class's name, if the string
  /// can't be a key.
  func withKey<R>(
    _ className: @autoclosure () -> String, _ body: (UnsafePointer<CChar>) throws -> R
  ) throws -> R {
    guard let result = try withKey(body) else {
      throw KeyValueError.undefinedKey(key: self, className: className())
    }
    return result
  }

  /// Whether a key can have this name: it contains no NUL.
  var mayBeKey: Bool { !utf8.contains(0) }

  private var composed: String {
    var scalars = UnicodeScalarView()
    for scalar in _nfc { scalars.append(scalar) }
    return String(scalars)
  }
}
