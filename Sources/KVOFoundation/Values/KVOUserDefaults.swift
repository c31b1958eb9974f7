public import Foundation
public import KVORuntime

// User defaults whose keys are observed (R8). They are a `UserDefaults`'s; what is set, removed or registered through one
// of these objects is told to the observers of all of its suite.
//
// | state | protection |
// |---|---|
// | the defaults, which all objects share | `lock`: swift-corelibs-foundation's registered ones have none |
// | `live` | its own lock |

/// `UserDefaults`, to be observed: each default by its own key.
///
/// ```swift
/// let defaults = KVOUserDefaults.standard
/// let token = try defaults.observe(keyPath: "fontSize", options: [.new]) { defaults, change in … }
/// defaults.set(12, forKey: "fontSize")
/// ```
///
/// A default that has no value is nil, and any string is a key (but in a key path a dot separates keys, as on Apple's
/// platforms). A typed property is made in a subclass, or an extension, as it is there:
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
/// What goes past these objects is told to nobody: what a `UserDefaults` is given directly, and what other processes
/// write into the file. Observers are called on the thread of the change. Any thread.
// Sendable: the defaults are reached under the lock alone.
open class KVOUserDefaults: KVOObject, @unchecked Sendable {
  private struct Peer {
    weak var object: KVOUserDefaults?
    let suite: String?
  }

  // It may be taken again, since a subclass's getter reads several.
  private static let lock = Lock(isOuter: true)
  private static let live = LockedValue((peers: [Peer](), limit: 16))

  private let defaults: UserDefaults
  private let suite: String?

  /// The program's own, `UserDefaults.standard`.
  public static let standard = KVOUserDefaults()

  /// Another object for the program's own. What it is given is what `standard` is given.
  public override init() {
    (defaults, suite) = (.standard, nil)
    super.init()
    join()
  }

  /// Those of a suite, as `UserDefaults(suiteName:)`; nil where that is.
  public init?(suiteName: String?) {
    guard let defaults = UserDefaults(suiteName: suiteName) else { return nil }
    (self.defaults, suite) = (defaults, suiteName)
    super.init()
    join()
  }

  private func join() {
    // None of them dies under the lock.
    var held: [KVOUserDefaults] = []
    Self.live.withLock { live in
      // Dead ones are looked for when there may be as many as live ones, so that joining takes constant time.
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

  // MARK: Telling

  /// Makes a change of some keys, and notifies the observers of all that stand for the same defaults.
  /// - Parameter keys: called under the lock.
  private func change(
    ofAllSuites: Bool = false, _ keys: () -> some Sequence<String>, _ body: (UserDefaults) -> Void
  ) {
    // None of them dies under a lock.
    var held: [KVOUserDefaults] = []
    KVOFoundation.change(under: Self.lock) {
      let peers = Self.live.withLock { live in
        live.peers.filter { ofAllSuites || $0.suite == suite }.compactMap(\.object)
      }
      held += peers
      return keys().sorted().flatMap { key in peers.map { ChangedKey($0, key) } }
    } _: {
      body(defaults)
    }
    withExtendedLifetime(held) {}
  }

  private func change(_ key: String, _ body: (UserDefaults) -> Void) {
    change({ [key] }, body)
  }

  // MARK: Setting

  /// Sets a default to a value of a property list; nil removes it. Any other value stops the program.
  public final func set(_ value: Any?, forKey key: String) {
    change(key) { $0.set(value, forKey: key) }
  }

  /// Sets a default to an integer.
  public final func set(_ value: Int, forKey key: String) {
    change(key) { $0.set(value, forKey: key) }
  }

  /// Sets a default to a number.
  public final func set(_ value: Float, forKey key: String) {
    change(key) { $0.set(value, forKey: key) }
  }

  /// Sets a default to a number.
  public final func set(_ value: Double, forKey key: String) {
    change(key) { $0.set(value, forKey: key) }
  }

  /// Sets a default to true or false.
  public final func set(_ value: Bool, forKey key: String) {
    change(key) { $0.set(value, forKey: key) }
  }

  /// Sets a default to a file's URL, which is kept as its path; nil removes it.
  public final func set(_ url: URL?, forKey key: String) {
    // swift-corelibs-foundation's never returns where the URL is nil.
    change(key) { if let url { $0.set(url, forKey: key) } else { $0.removeObject(forKey: key) } }
  }

  /// Takes a default away: what is registered for the key is its value then, or nothing.
  public final func removeObject(forKey key: String) {
    change(key) { $0.removeObject(forKey: key) }
  }

  /// Says which values keys have that no value has been set for, in all suites. Told are those keys whose value was
  /// registered before, or that had none.
  public final func register(defaults registered: [String: Any]) {
    change(ofAllSuites: true) {
      let stored = storedKeys
      return registered.keys.filter { !stored.contains($0) }
    } _: {
      $0.register(defaults: registered)
    }
  }

  /// Takes away all that has been set in a suite, one change of each key.
  public final func removePersistentDomain(forName name: String) {
    setPersistentDomain([:], forName: name)
  }

  /// Puts other values in the place of all that has been set in a suite, one change of each key.
  public final func setPersistentDomain(_ domain: [String: Any], forName name: String) {
    let owner = suite == name ? self : KVOUserDefaults(suiteName: name)
    owner?.change {
      let before = access { $0.persistentDomain(forName: name) } ?? [:]
      return Set(before.keys).union(domain.keys)
    } _: {
      $0.setPersistentDomain(domain, forName: name)
    }
  }

  // What is not merely registered.
  private var storedKeys: Set<String> {
    access { defaults in
      let name = suite ?? ProcessInfo.processInfo.processName
      let arguments = defaults.volatileDomain(forName: UserDefaults.argumentDomain)
      return Set(defaults.persistentDomain(forName: name)?.keys.map { $0 } ?? []).union(
        arguments.keys)
    }
  }

  // MARK: Reading

  /// A default's value, set or registered; nil if it has none.
  public final func object(forKey key: String) -> Any? { access { $0.object(forKey: key) } }

  /// A default that is a string; nil if it is none.
  public final func string(forKey key: String) -> String? { access { $0.string(forKey: key) } }

  /// A default that is an array; nil if it is none.
  public final func array(forKey key: String) -> [Any]? { access { $0.array(forKey: key) } }

  /// A default that is an array of strings; nil if it is none.
  public final func stringArray(forKey key: String) -> [String]? {
    access { $0.stringArray(forKey: key) }
  }

  /// A default that is a dictionary; nil if it is none.
  public final func dictionary(forKey key: String) -> [String: Any]? {
    access { $0.dictionary(forKey: key) }
  }

  /// A default that is data; nil if it is none.
  public final func data(forKey key: String) -> Data? { access { $0.data(forKey: key) } }

  /// A default that is a path, as a URL; nil if it is none.
  public final func url(forKey key: String) -> URL? { access { $0.url(forKey: key) } }

  /// A default that is an integer; 0 if it is none.
  public final func integer(forKey key: String) -> Int { access { $0.integer(forKey: key) } }

  /// A default that is a number; 0 if it is none.
  public final func float(forKey key: String) -> Float { access { $0.float(forKey: key) } }

  /// A default that is a number; 0 if it is none.
  public final func double(forKey key: String) -> Double { access { $0.double(forKey: key) } }

  /// Whether a default is true, or a number but 0.
  public final func bool(forKey key: String) -> Bool { access { $0.bool(forKey: key) } }

  /// All defaults, set and registered.
  public final func dictionaryRepresentation() -> [String: Any] {
    access { $0.dictionaryRepresentation() }
  }

  /// Writes what was set into the file; what was there changes nothing that observers know of.
  @discardableResult
  public final func synchronize() -> Bool { access { $0.synchronize() } }

  // MARK: Key-value coding

  /// A default's value: any key is one.
  open override func value(forUndefinedKey key: String) throws -> Any? { object(forKey: key) }

  /// Sets a default, as `set(_:forKey:)` does.
  open override func setValue(_ value: Any?, forUndefinedKey key: String) throws {
    set(value, forKey: key)
  }

  /// False: a default may be called as a property is.
  open override class var accessInstanceVariablesDirectly: Bool { false }
}
