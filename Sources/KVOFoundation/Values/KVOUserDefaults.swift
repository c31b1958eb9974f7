public import Foundation
public import KVORuntime

// User defaults whose keys can be observed (R8). A `UserDefaults` object stores them. A change made through
// one of these objects notifies the observers of all of them that belong to the same suite.
//
// | state | protection |
// |---|---|
// | the defaults, which all objects share | `lock`: swift-corelibs-foundation's registered defaults have none |
// | `live` | its own lock |

/// An observable replacement for `UserDefaults`: each default can be observed by its key.
///
/// ```swift
/// let defaults = KVOUserDefaults.standard
/// let token = try defaults.observe(keyPath: "fontSize", options: [.new]) { defaults, change in … }
/// defaults.set(12, forKey: "fontSize")
/// ```
///
/// A default without a value is nil, and any string is a key. (In a key path a dot separates keys, as on
/// Apple's platforms.) As there, declare typed properties in a subclass or an extension:
///
/// ```swift
/// final class Settings: KVOUserDefaults, @unchecked Sendable {
///   var fontSize: Int {
///     get { integer(forKey: "fontSize") }
///     set { set(newValue, forKey: "fontSize") }
///   }
///   override class func registerKeys() {
///     declareKeys { $0.computed("fontSize", \.fontSize) }
///   }
/// }
/// ```
///
/// Changes that bypass these objects notify no observer: those made through a `UserDefaults`, and those that
/// other processes write to the file. Observers are called on the thread of the change. All members may be
/// used on any thread.
// Unchecked `Sendable`: the defaults are accessed under the lock only.
open class KVOUserDefaults: KVOObject, @unchecked Sendable {
  private struct Peer {
    weak var object: KVOUserDefaults?
    let suite: String
  }

  // Recursive, since a subclass's getter may read several defaults.
  private static let lock = Lock(isOuter: true)
  private static let live = LockedValue((peers: [Peer](), limit: 16))

  // The name of the program's own defaults.
  private static let program = ProcessInfo.processInfo.processName

  private let defaults: UserDefaults
  private let suite: String

  /// The program's own defaults, those of `UserDefaults.standard`.
  public static let standard = KVOUserDefaults()

  /// Creates another object for the program's own defaults, which it shares with `standard`.
  public override init() {
    (defaults, suite) = (.standard, Self.program)
    super.init()
    join()
  }

  /// Creates an object for the defaults of a suite, like `UserDefaults(suiteName:)`. Nil if that returns nil. For nil, and
  /// for the program's own name, the defaults are those of `standard`.
  public init?(suiteName: String?) {
    let suite = suiteName ?? Self.program
    guard let defaults = suite == Self.program ? .standard : UserDefaults(suiteName: suite) else {
      return nil
    }
    (self.defaults, self.suite) = (defaults, suite)
    super.init()
    join()
  }

  private func join() {
    // Keeps objects from being released under the lock.
    var held: [KVOUserDefaults] = []
    Self.live.withLock { live in
      // Dead entries are removed when they may be as many as the live ones, so that joining takes amortised
      // constant time.
      if live.peers.count == live.limit {
        live.peers.removeAll { peer in
          guard let object = peer.object else { return true }
          held.append(object)
          return false
        }
        live.limit = max(2 * live.peers.count, 16)
      }
      live.peers.append(Peer(object: self, suite: suite))
    }
    withExtendedLifetime(held) {}
  }

  private func access<R>(_ body: (UserDefaults) -> R) -> R { Self.lock.withLock { body(defaults) } }

  // MARK: Notifying

  /// Changes some keys, and notifies the observers of all objects for the same defaults.
  /// - Parameters:
  ///   - ofAllSuites: whether the observers of other suites are notified, too.
  ///   - keys: the keys that change in the suite of an object; called under the lock.
  ///   - body: makes the change; called under the lock.
  private func change(
    ofAllSuites: Bool = false, _ keys: (KVOUserDefaults) -> Set<String>,
    _ body: (UserDefaults) -> Void
  ) {
    // Keeps objects from being released under a lock.
    var held: [KVOUserDefaults] = []
    KVOFoundation.change(under: Self.lock) {
      let peers = Self.live.withLock { live in
        live.peers.filter { ofAllSuites || $0.suite == suite }.compactMap(\.object)
      }
      held += peers
      var changed: [String: Set<String>] = [:]  // by suite
      for peer in peers where changed[peer.suite] == nil { changed[peer.suite] = keys(peer) }
      let all = Set(changed.values.joined()).subtracting([Self.allKeys]).sorted()
      return all.flatMap { key in
        peers.filter { changed[$0.suite]?.contains(key) == true }.map { ChangedKey($0, key) }
      }
        + peers.filter { changed[$0.suite]?.isEmpty == false }.map { ChangedKey($0, Self.allKeys) }
    } _: {
      body(defaults)
    }
    withExtendedLifetime(held) {}
  }

  private func change(_ key: String, _ body: (UserDefaults) -> Void) {
    hintAtDots(in: key)
    change({ _ in [key] }, body)
  }

  // Changes with each of the others.
  private static let allKeys = "dictionaryRepresentation"

  private func read<R>(_ key: String, _ body: (UserDefaults) -> R) -> R {
    readsAnnouncedKey(key)
    return access(body)
  }

  // MARK: Setting

  /// Sets a default to a value in the form in which a property list can have it; nil removes it. A value without such a
  /// form stops the program; `setValue(_:forKey:)` throws an error for it.
  public final func set(_ value: Any?, forKey key: String) {
    change(key) { $0.set(value.map(PropertyList.stored), forKey: key) }
  }

  /// Sets a default to an integer.
  public final func set(_ value: Int, forKey key: String) {
    change(key) { $0.set(value, forKey: key) }
  }

  /// Sets a default to a floating-point number of type `Float`.
  public final func set(_ value: Float, forKey key: String) {
    change(key) { $0.set(value, forKey: key) }
  }

  /// Sets a default to a floating-point number of type `Double`.
  public final func set(_ value: Double, forKey key: String) {
    change(key) { $0.set(value, forKey: key) }
  }

  /// Sets a default to a Boolean value.
  public final func set(_ value: Bool, forKey key: String) {
    change(key) { $0.set(value, forKey: key) }
  }

  /// Sets a default to a file URL, which is stored as its path; nil removes it.
  public final func set(_ url: URL?, forKey key: String) {
    // swift-corelibs-foundation's function never returns if the URL is nil.
    change(key) { if let url { $0.set(url, forKey: key) } else { $0.removeObject(forKey: key) } }
  }

  /// Removes a default. Its value is then the registered one, or nil.
  public final func removeObject(forKey key: String) {
    change(key) { $0.removeObject(forKey: key) }
  }

  /// Registers values for keys that have no other value, for all suites. Notifies the observers of those keys
  /// that had a registered value before, or none, in their suite.
  public final func register(defaults registered: [String: Any]) {
    change(ofAllSuites: true) {
      $0.unset(registered.keys)
    } _: {
      $0.register(defaults: registered.mapValues(PropertyList.stored))
    }
  }

  /// Removes all values of a suite, with one change for each key.
  public final func removePersistentDomain(forName name: String) {
    setPersistentDomain([:], forName: name)
  }

  /// Replaces all values of a suite, with one change for each key.
  public final func setPersistentDomain(_ domain: [String: Any], forName name: String) {
    guard let owner = suite == name ? self : KVOUserDefaults(suiteName: name) else { return }
    owner.change {
      $0.persistentKeys.union(domain.keys)
    } _: {
      $0.setPersistentDomain(domain.mapValues(PropertyList.stored), forName: name)
    }
  }

  // Those keys that have no value, or one that is merely registered.
  private func unset(_ keys: some Sequence<String>) -> Set<String> {
    let valued = access { defaults in keys.filter { defaults.object(forKey: $0) != nil } }
    return Set(keys).subtracting(valued.isEmpty ? [] : storedKeys.intersection(valued))
  }

  private var storedKeys: Set<String> {
    persistentKeys.union(
      access { $0.volatileDomain(forName: UserDefaults.argumentDomain) }.keys)
  }

  // The keys that are set. Foundation reads the program's own ones from the file, so changes have to be written first.
  private var persistentKeys: Set<String> {
    access { defaults in
      if suite == Self.program { defaults.synchronize() }
      return Set((defaults.persistentDomain(forName: suite) ?? [:]).keys)
    }
  }

  // MARK: Reading

  /// Returns the value of a default, set or registered; nil if it has none.
  public final func object(forKey key: String) -> Any? { read(key) { $0.object(forKey: key) } }

  /// Returns a default that is a string; nil if it is none.
  public final func string(forKey key: String) -> String? { read(key) { $0.string(forKey: key) } }

  /// Returns a default that is an array; nil if it is none.
  public final func array(forKey key: String) -> [Any]? { read(key) { $0.array(forKey: key) } }

  /// Returns a default that is an array of strings; nil if it is none.
  public final func stringArray(forKey key: String) -> [String]? {
    read(key) { $0.stringArray(forKey: key) }
  }

  /// Returns a default that is a dictionary; nil if it is none.
  public final func dictionary(forKey key: String) -> [String: Any]? {
    read(key) { $0.dictionary(forKey: key) }
  }

  /// Returns a default that is data; nil if it is none.
  public final func data(forKey key: String) -> Data? { read(key) { $0.data(forKey: key) } }

  /// Returns a default that is a path, as a URL; nil if it is none.
  public final func url(forKey key: String) -> URL? { read(key) { $0.url(forKey: key) } }

  /// Returns a default that is an integer; 0 if it is none.
  public final func integer(forKey key: String) -> Int { read(key) { $0.integer(forKey: key) } }

  /// Returns a default that is a number, as a `Float`; 0 if it is none.
  public final func float(forKey key: String) -> Float { read(key) { $0.float(forKey: key) } }

  /// Returns a default that is a number, as a `Double`; 0 if it is none.
  public final func double(forKey key: String) -> Double { read(key) { $0.double(forKey: key) } }

  /// Returns whether a default is true, or a number other than 0.
  public final func bool(forKey key: String) -> Bool { read(key) { $0.bool(forKey: key) } }

  /// Returns all defaults, set and registered.
  public final func dictionaryRepresentation() -> [String: Any] {
    read(Self.allKeys) { $0.dictionaryRepresentation() }
  }

  /// Writes values that were set to the file. Changes that other processes made to the file notify no
  /// observer.
  @discardableResult
  public final func synchronize() -> Bool { access { $0.synchronize() } }

  // MARK: Key-value coding

  /// Returns the value of a default: any key is one.
  open override func value(forUndefinedKey key: String) throws -> Any? { object(forKey: key) }

  /// Sets a default, as `set(_:forKey:)` does. Nil and `NSNull` remove it, and an enumeration or an option set becomes
  /// its raw value, also inside collections.
  ///
  /// - Throws: `KeyValueError.typeMismatch` for a value that no property list can contain.
  open override func setValue(_ value: Any?, forUndefinedKey key: String) throws {
    switch PropertyList.form(value) {
    case nil: removeObject(forKey: key)
    case .value(let stored)?: set(stored, forKey: key)
    case .fault(let found)?:
      throw KeyValueError.typeMismatch(
        key: key, className: className(of: type(of: self)), expected: "a property list value",
        found: found)
    }
  }

  /// False, so that a default may have the name of a stored property.
  open override class var accessInstanceVariablesDirectly: Bool { false }
}

extension KVOUserDefaults: DottedKeys {
  package final func hasKey(withDots key: String) -> Bool {
    access { $0.object(forKey: key) } != nil
  }
}
