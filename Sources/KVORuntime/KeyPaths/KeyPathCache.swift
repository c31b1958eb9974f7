internal import Synchronization

/// Which key a key path names, for the objects of one class; of key paths without arguments, of which
/// there are no more than source text makes. A literal's key path object is made once, so its address
/// is the quick way; others are compared, which calls none of the program's code.
///
/// A declaration has everything found anew. The contents are replaced then, and the old ones left to
/// their readers: a reader that began to look for a key before keeps what it finds in those.
///
/// | state | protection |
/// |---|---|
/// | `contents` | atomic |
/// | `byAddress` | lock-free to read; keeps its key path objects alive |
/// | `byValue` | its own lock |
final class KeyPathCache: Sendable {
  final class Contents: Sendable {
    fileprivate let byAddress = ForeverMap<KeyName>()
    fileprivate let byValue = Locked<[SharedKeyPath: KeyName]>([:])
    /// The one that it replaced, for leak checkers.
    private let previous: Contents?

    fileprivate init(previous: Contents?) { self.previous = previous }
  }

  // An atomic is made to be shared; pointers merely are not marked Sendable.
  private nonisolated(unsafe) let current = Atomic<UnsafeRawPointer>(
    UnsafeRawPointer(Unmanaged.passRetained(Contents(previous: nil)).toOpaque()))

  /// What is known now. Lives for ever.
  var contents: Contents {
    let current = current.load(ordering: .acquiring)
    return Unmanaged<Contents>.fromOpaque(current).takeUnretainedValue()
  }

  /// Has everything found anew. Under `KVOClass.lock`.
  func forget() {
    let contents = contents
    guard contents.byValue.withLock({ !$0.isEmpty }) else { return }
    let empty = Unmanaged.passRetained(Contents(previous: contents)).toOpaque()
    current.store(UnsafeRawPointer(empty), ordering: .releasing)
  }
}

extension KeyPathCache.Contents {
  // Key paths that are put together at run time are new objects each time: their addresses are not
  // worth keeping beyond a number that no source text reaches with one class.
  private static let mostAddresses = 4096

  subscript(keyPath: AnyKeyPath) -> KeyName? {
    byAddress[address(of: keyPath)] ?? find(keyPath)
  }

  /// Whether the key path object lives for ever.
  func holds(_ keyPath: AnyKeyPath) -> Bool { byAddress[address(of: keyPath)] != nil }

  /// Keeps a name for a key path that has none yet; the first of several threads makes it.
  /// - Parameter make: called under `KVOClass.lock`.
  func name(for keyPath: AnyKeyPath, _ make: () -> KeyName) -> KeyName {
    let shared = SharedKeyPath(keyPath: keyPath)
    let name = KVOClass.lock.withLock {
      if let known = byValue.withLock({ $0[shared] }) { return known }
      let name = make()
      byValue.withLock { $0[shared] = name }
      return name
    }
    keepAddress(name, of: keyPath)
    return name
  }

  private func find(_ keyPath: AnyKeyPath) -> KeyName? {
    // The program's code is not to be called under the lock.
    guard !keyPath.mayHaveArguments else { return nil }
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
// Key path objects are immutable, and these hold no values of the program's.
private struct SharedKeyPath: Hashable, @unchecked Sendable {
  let keyPath: AnyKeyPath
}
