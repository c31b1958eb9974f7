internal import Synchronization

/// Maps key paths without arguments to the keys that they name, for the objects of one class. The source text
/// bounds their number. A literal's key path object is made only once, so the fast path looks it up by its
/// address. Others are looked up by value; comparing key paths without arguments runs no code of the program.
///
/// A new declaration can change what any key path names. Then the contents are replaced by empty ones. The
/// old contents are never freed: threads that are still reading them go on using them.
///
/// | state | protection |
/// |---|---|
/// | `contents` | atomic |
/// | `byAddress` | lock-free to read; keeps its key path objects alive |
/// | `byValue` | its own lock |
final class KeyPathCache: Sendable {
  final class Contents: Sendable {
    fileprivate let byAddress = AppendOnlyMap<KeyName>()
    fileprivate let byValue = LockedValue<[SharedKeyPath: KeyName]>([:])
    /// The contents that these replaced. The reference keeps leak checkers from reporting them.
    private let previous: Contents?

    fileprivate init(previous: Contents?) { self.previous = previous }
  }

  // `Atomic` may be shared; it is not `Sendable` here only because raw pointers aren't marked so.
  private nonisolated(unsafe) let current = Atomic<UnsafeRawPointer>(
    UnsafeRawPointer(Unmanaged.passRetained(Contents(previous: nil)).toOpaque()))

  /// The current contents, which are never freed.
  var contents: Contents {
    let current = current.load(ordering: .acquiring)
    return Unmanaged<Contents>.fromOpaque(current).takeUnretainedValue()
  }

  /// Replaces the contents by empty ones. Call under `KVOClass.lock`.
  func forget() {
    let contents = contents
    guard contents.byValue.withLock({ !$0.isEmpty }) else { return }
    let empty = Unmanaged.passRetained(Contents(previous: contents)).toOpaque()
    current.store(UnsafeRawPointer(empty), ordering: .releasing)
  }
}

extension KeyPathCache.Contents {
  // A key path that is composed at run time is a new object each time. Each is kept forever, so there is a limit; it is
  // far above the number of literals for one class.
  private static let mostAddresses = 4096

  subscript(keyPath: AnyKeyPath) -> KeyName? {
    byAddress[address(of: keyPath)] ?? find(keyPath)
  }

  /// Whether the key path object is kept forever, by `byAddress`.
  func holds(_ keyPath: AnyKeyPath) -> Bool { byAddress[address(of: keyPath)] != nil }

  /// Returns the key path's name; makes and keeps it if there is none. Only one of several threads makes it.
  /// - Parameter make: makes the name; called under `KVOClass.lock`.
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
    // Looking up a key path with arguments by value would run the program's code under the lock.
    guard !keyPath.mayHaveArguments else { return nil }
    let shared = SharedKeyPath(keyPath: keyPath)
    guard let name = byValue.withLock({ $0[shared] }) else { return nil }
    keepAddress(name, of: keyPath)
    return name
  }

  private func keepAddress(_ name: KeyName, of keyPath: AnyKeyPath) {
    guard byAddress.size < Self.mostAddresses else { return }
    // Never released, so that no other key path object can get its address.
    _ = byAddress.insert(name, at: UnsafeRawPointer(Unmanaged.passRetained(keyPath).toOpaque()))
  }

  private func address(of keyPath: AnyKeyPath) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
  }
}

// Unchecked `Sendable`: key path objects are immutable, and these contain no arguments.
/// A key path as a dictionary key.
private struct SharedKeyPath: Hashable, @unchecked Sendable {
  let keyPath: AnyKeyPath
}
