/// Which key a key path names, for the objects of one class. A literal's key path object is made
/// once, so its address is the quick way; others are compared.
///
/// | state | protection |
/// |---|---|
/// | `byAddress` | lock-free to read; keeps its key path objects alive |
/// | `byValue` | its own lock |
final class KeyPathCache: Sendable {
  private let byAddress = ForeverMap<KeyName>()
  private let byValue = Locked<[SharedKeyPath: KeyName]>([:])

  // Key paths that are put together at run time are new objects each time: their addresses are not
  // worth keeping beyond a number that no source text reaches with one class.
  private static let mostAddresses = 4096

  subscript(keyPath: AnyKeyPath) -> KeyName? {
    byAddress[address(of: keyPath)] ?? find(keyPath)
  }

  /// Keeps a name for a key path that has none yet; the first of several threads makes it.
  /// - Parameter make: called under the lock.
  func name(for keyPath: AnyKeyPath, _ make: () -> KeyName) -> KeyName {
    let shared = SharedKeyPath(keyPath: keyPath)
    let name = byValue.withLock { names in
      let name = names[shared] ?? make()
      names[shared] = name
      return name
    }
    keepAddress(name, of: keyPath)
    return name
  }

  private func find(_ keyPath: AnyKeyPath) -> KeyName? {
    let shared = SharedKeyPath(keyPath: keyPath)
    guard let name = byValue.withLock({ $0[shared] }) else { return nil }
    keepAddress(name, of: keyPath)
    return name
  }

  private func keepAddress(_ name: KeyName, of keyPath: AnyKeyPath) {
    guard byAddress.size < Self.mostAddresses else { return }
    // Held for ever, so that no other key path can come to its address.
    _ = byAddress.insert(name, at: UnsafeRawPointer(Unmanaged.passRetained(keyPath).toOpaque()))
  }

  private func address(of keyPath: AnyKeyPath) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
  }
}

/// A key path as dictionary key.
// Key path objects are immutable. One with a subscript argument that is not sendable is evaluated on
// whichever thread changes what it reads, as a handler is called there.
private struct SharedKeyPath: Hashable, @unchecked Sendable {
  let keyPath: AnyKeyPath
}
