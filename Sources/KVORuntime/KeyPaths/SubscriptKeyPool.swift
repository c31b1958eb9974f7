internal import CKVORuntime

/// The keys of key paths with arguments (`\.list[index]`), for the objects of one class.
///
/// Arguments can have any value, so there is no limit to the number of such key paths, but the C core never
/// frees a key. Therefore a key path only leases a key. The lease ends when its last user, usually a
/// registration, releases it; the key is then leased to another key path that has the same value type and
/// reads the same properties. Hashing and comparing arguments runs the program's code, so no lock is held
/// then.
///
/// | state | protection |
/// |---|---|
/// | `state` | its own lock |
/// | which key path has leased a key | `SubscriptKeyAccessors`' lock |
final class SubscriptKeyPool: Sendable {
  fileprivate struct State {
    /// Live leases, by the hash of their key path.
    var leases: [Int: [WeakSubscriptKeyLease]] = [:]
    var idle: [SubscriptKey.Kind: [SubscriptKey]] = [:]
    /// Counts all leases ever added. `add` uses it to detect that another thread added one since `find`.
    var version = 0
  }

  private let state = LockedValue(State())

  /// Returns the lease of the key path, or leases a key to it.
  /// - Parameters:
  ///   - kind: the kind of key to lease; nil if the key path can't be observed. Called without a lock.
  ///   - make: makes a permanent key if none is idle. Called without a lock.
  func lease(
    to keyPath: AnyKeyPath, _ kind: () -> SubscriptKey.Kind?,
    _ make: (SubscriptKey.Kind) -> SubscriptKey
  ) -> SubscriptKeyLease? {
    let hash = keyPath.hashValue
    var found = find(keyPath, hash)
    if let lease = found.lease { return lease }
    guard let kind = kind() else { return nil }
    let key = state.withLock { $0.takeIdle(kind) } ?? make(kind)
    let lease = SubscriptKeyLease(key, keyPath, hash, self)
    // Another thread may have added a lease in between, perhaps for this key path.
    while !add(lease, since: found.version) {
      found = find(keyPath, hash)
      if let lease = found.lease { return lease }
    }
    return lease
  }

  /// The key path that has leased a key, for messages.
  /// - Complexity: O(*n*) in the number of leases.
  func keyPath(ofKey key: String) -> AnyKeyPath? {
    state.withLock { $0.leases.values.joined().first { $0.name.string == key }?.lease }?.keyPath
  }

  private func find(
    _ keyPath: AnyKeyPath, _ hash: Int
  ) -> (lease: SubscriptKeyLease?, version: Int) {
    let (leases, version) = state.withLock { state in
      (state.leases[hash]?.compactMap(\.lease) ?? [], state.version)
    }
    return (leases.first { $0.keyPath == keyPath }, version)
  }

  private func add(_ lease: SubscriptKeyLease, since version: Int) -> Bool {
    state.withLock { state in
      guard state.version == version else { return false }
      state.version += 1
      state.leases[lease.hash, default: []].append(WeakSubscriptKeyLease(lease))
      return true
    }
  }

  fileprivate func takeBack(_ key: SubscriptKey, _ hash: Int) {
    state.withLock { state in
      state.leases[hash]?.removeAll { $0.name === key.name }
      if state.leases[hash]?.isEmpty == true { state.leases[hash] = nil }
      state.idle[key.kind, default: []].append(key)
    }
  }
}

extension SubscriptKeyPool.State {
  // Takes the key that has been idle longest. That keeps the keys roughly in the order of their use.
  fileprivate mutating func takeIdle(_ kind: SubscriptKey.Kind) -> SubscriptKey? {
    idle[kind]?.isEmpty == false ? idle[kind]!.removeFirst() : nil
  }
}

/// A permanent key, leased to one key path after another.
final class SubscriptKey: Sendable {
  struct Kind: Hashable, @unchecked Sendable {
    let type: ObjectIdentifier
    let kind: Accessors.Tracked
    let reads: [String]
  }

  let kind: Kind
  let name: KeyName
  fileprivate let accessors: SubscriptKeyAccessors

  init(_ kind: Kind, _ name: KeyName, _ accessors: SubscriptKeyAccessors) {
    self.kind = kind
    self.name = name
    self.accessors = accessors
  }
}

// Unchecked `Sendable`, as handlers are: an argument that is not `Sendable` is used on whichever thread makes
// a change.
/// A lease of a key to a key path. Whatever uses the key holds its lease.
final class SubscriptKeyLease: @unchecked Sendable {
  let keyPath: AnyKeyPath
  fileprivate let hash: Int
  private let key: SubscriptKey
  private let pool: SubscriptKeyPool

  var name: KeyName { key.name }

  fileprivate init(
    _ key: SubscriptKey, _ keyPath: AnyKeyPath, _ hash: Int, _ pool: SubscriptKeyPool
  ) {
    self.key = key
    self.keyPath = keyPath
    self.hash = hash
    self.pool = pool
    key.accessors.lease(to: .keyPath(keyPath))
  }

  deinit {
    key.accessors.lease(to: nil)
    pool.takeBack(key, hash)
  }
}

private struct WeakSubscriptKeyLease: @unchecked Sendable {
  /// The leased key's name, which is known even while the lease ends.
  let name: KeyName
  private(set) weak var lease: SubscriptKeyLease?

  init(_ lease: SubscriptKeyLease) {
    name = lease.name
    self.lease = lease
  }
}

/// The accessors of a leased key: those of the key path that leases it. A change that is in progress when the
/// lease ends finds no accessors, and by then the key has no observers.
final class SubscriptKeyAccessors: Accessors, @unchecked Sendable {
  private let lessee = LockedValue<Accessors?>(nil)
  private var current: Accessors? { lessee.withLock { $0 } }

  fileprivate func lease(to accessors: Accessors?) {
    // Releasing the previous accessors may release an argument, which runs the program's code: not under the
    // lock.
    let last = lessee.withLock { lessee in
      defer { lessee = accessors }
      return lessee
    }
    withExtendedLifetime(last) {}
  }

  override var path: AnyKeyPath? { current?.path }

  override func evaluate(_ object: KVOObject) { current?.evaluate(object) }

  override func value(of object: KVOObject) throws -> Any {
    try current?.value(of: object) ?? Any?.none as Any
  }

  override func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) throws {
    try current?.read(object, into: value)
  }
}
