internal import CKVORuntime

/// Keys of key paths with arguments (`\.list[index]`), for the objects of one class.
///
/// Arguments may be any values, however many: so a key path leases a key for as long as something
/// holds the lease, a registration above all, and then the next one does. The C core keeps keys
/// for ever, therefore they are used again, by key paths to values of the same type that read the same.
/// Arguments are hashed and compared by the program's code, which is called without a lock.
///
/// | state | protection |
/// |---|---|
/// | `state` | its own lock |
/// | which key path has leased a key | `LeasedAccessors`' lock |
final class ArgumentKeys: Sendable {
  fileprivate struct State {
    /// By hash.
    var leases: [Int: [LeaseEntry]] = [:]
    var idle: [ArgumentKey.Kind: [ArgumentKey]] = [:]
    /// How many leases there have ever been.
    var version = 0
  }

  private let state = Locked(State())

  /// The key of a key path: the one that it has leased, or another.
  /// - Parameter make: makes a key for ever, if none is idle; called without a lock.
  func key(
    of keyPath: AnyKeyPath, _ kind: () -> ArgumentKey.Kind?,
    _ make: (ArgumentKey.Kind) -> ArgumentKey
  ) -> KeyLease? {
    let hash = keyPath.hashValue
    var found: (key: KeyLease?, version: Int) = find(keyPath, hash)
    if let key = found.key { return key }
    guard let kind = kind() else { return nil }
    let key = state.withLock { $0.takeIdle(kind) } ?? make(kind)
    let lease = KeyLease(key, keyPath, hash, self)
    // Another thread may have been first.
    while !add(lease, since: found.version) {
      found = find(keyPath, hash)
      if let key = found.key { return key }
    }
    return lease
  }

  private func find(_ keyPath: AnyKeyPath, _ hash: Int) -> (KeyLease?, Int) {
    let (keys, version) = state.withLock { state in
      (state.leases[hash]?.compactMap(\.key) ?? [], state.version)
    }
    return (keys.first { $0.keyPath == keyPath }, version)
  }

  private func add(_ lease: KeyLease, since version: Int) -> Bool {
    state.withLock { state in
      guard state.version == version else { return false }
      state.version += 1
      state.leases[lease.hash, default: []].append(LeaseEntry(lease))
      return true
    }
  }

  fileprivate func takeBack(_ key: ArgumentKey, _ hash: Int) {
    state.withLock { state in
      state.leases[hash]?.removeAll { $0.name === key.name }
      if state.leases[hash]?.isEmpty == true { state.leases[hash] = nil }
      state.idle[key.kind, default: []].append(key)
    }
  }
}

extension ArgumentKeys.State {
  // The one that has been idle longest, so that the order of keys tends to that of their use.
  fileprivate mutating func takeIdle(_ kind: ArgumentKey.Kind) -> ArgumentKey? {
    idle[kind]?.isEmpty == false ? idle[kind]!.removeFirst() : nil
  }
}

/// A key that is there for ever, for one key path after another.
final class ArgumentKey: Sendable {
  struct Kind: Hashable, @unchecked Sendable {
    let type: ObjectIdentifier
    let isPath: Bool
    let reads: [String]
  }

  let kind: Kind
  let name: KeyName
  fileprivate let accessors: LeasedAccessors

  init(_ kind: Kind, _ name: KeyName, _ accessors: LeasedAccessors) {
    self.kind = kind
    self.name = name
    self.accessors = accessors
  }
}

/// A key as long as a key path leases it: held by what uses it.
// As with a handler, an argument that is not sendable is used on whichever thread makes a change.
final class KeyLease: @unchecked Sendable {
  let keyPath: AnyKeyPath
  fileprivate let hash: Int
  private let key: ArgumentKey
  private let keys: ArgumentKeys

  var name: KeyName { key.name }

  fileprivate init(_ key: ArgumentKey, _ keyPath: AnyKeyPath, _ hash: Int, _ keys: ArgumentKeys) {
    self.key = key
    self.keyPath = keyPath
    self.hash = hash
    self.keys = keys
    key.accessors.lease(to: .keyPath(keyPath))
  }

  deinit {
    key.accessors.lease(to: nil)
    keys.takeBack(key, hash)
  }
}

private struct LeaseEntry: @unchecked Sendable {
  let name: KeyName
  private(set) weak var key: KeyLease?

  init(_ lease: KeyLease) {
    name = lease.name
    key = lease
  }
}

/// The accessors of the key path that has leased the key. A change that is under way when it is given back finds
/// nothing, and nobody to tell.
final class LeasedAccessors: Accessors, @unchecked Sendable {
  private let lessee = Locked<Accessors?>(nil)
  private var current: Accessors? { lessee.withLock { $0 } }

  fileprivate func lease(to accessors: Accessors?) {
    // The last one's argument may end with it: not under the lock.
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
