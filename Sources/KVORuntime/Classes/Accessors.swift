internal import CKVORuntime
internal import Synchronization

/// A key's declared accessors, without their types: what `KeyDeclarations` has been given, and the getters of
/// key paths that are tracked. A `Property` reads and sets its key by them; the subclasses know the types.
class Accessors {
  let type: ValueType
  /// The key path under which typed calls name the key.
  let keyPath: AnyKeyPath?
  let use: Use
  /// Greater than that of any accessors made before.
  let number = Accessors.made.add(1, ordering: .relaxed).newValue
  private static let made = Atomic<UInt>(0)
  /// `PlainLinks`, which never changes once it is known.
  private let plainLinks = Atomic(PlainLinks.unknown.rawValue)

  /// What changes the key.
  enum Use {
    /// Its setter.
    case accessors
    /// Other keys alone, which are declared.
    case derived
    /// Whatever its getter reads; it may stand for a path along other properties.
    case tracked(isPath: Bool)
  }

  init(type: ValueType, keyPath: AnyKeyPath?, _ use: Use) {
    self.type = type
    self.keyPath = keyPath
    self.use = use
  }

  /// The key path that the getter goes along, if it is one.
  var path: AnyKeyPath? { keyPath }

  /// The same, if it is nothing but stored properties.
  var storedPath: StoredPath? { nil }

  /// Whether there may be keys on the way of `path` that its getters don't tell of. That may change
  /// with what is declared.
  final var isWalked: Bool {
    guard let path else { return false }
    return KeyPathWalk.hasTold(on: path) || mayHavePlainLinks(path)
  }

  private func mayHavePlainLinks(_ path: AnyKeyPath) -> Bool {
    let known = PlainLinks(rawValue: plainLinks.load(ordering: .relaxed))
    if let known, known != .unknown { return known == .possible }
    let found: PlainLinks = KeyPathWalk.mayHavePlainLinks(path) ? .possible : .none
    plainLinks.store(found.rawValue, ordering: .relaxed)
    return found == .possible
  }

  private enum PlainLinks: UInt8 { case unknown, none, possible }

  /// Whether the key is affected by whatever the getter reads.
  var isTracked: Bool { if case .tracked = use { true } else { false } }
  /// Of a tracked key: whether it stands for a path along other properties.
  var isPath: Bool { if case .tracked(isPath: true) = use { true } else { false } }

  var isWritable: Bool { false }
  /// Reads the value, for what the getter reads.
  func evaluate(_ object: KVOObject) {}
  func value(of object: KVOObject) throws -> Any { Any?.none as Any }
  /// - Parameter value: of the accessors' type.
  func set(_ value: ConvertedValue, of object: KVOObject) throws {}
  /// Makes the value that the C core hands on, which was nil.
  func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) throws {}
}

/// Accessors of the objects and values that a declaration names.
final class TypedAccessors<Root: KVOObject, Value>: Accessors {
  private let getter: (Root) throws -> Value
  private let setter: ((Root, Value) throws -> Void)?

  init(
    keyPath: AnyKeyPath?, _ use: Use = .accessors, get: @escaping (Root) throws -> Value,
    set: ((Root, Value) throws -> Void)?
  ) {
    getter = get
    setter = set
    super.init(type: .of(Value.self), keyPath: keyPath, use)
  }

  override var isWritable: Bool { setter != nil }

  override func evaluate(_ object: KVOObject) { _ = try? getter(root(object)) }

  override func value(of object: KVOObject) throws -> Any { try getter(root(object)) }

  override func set(_ value: ConvertedValue, of object: KVOObject) throws {
    try setter?(root(object), value.unbox(as: Value.self))
  }

  override func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) throws {
    let read = try getter(root(object))
    _ = withUnsafePointer(to: read) { kvo_value_init(value, type.cType, $0) }
  }

  // A declaration reaches objects of the declaring class and its subclasses only.
  private func root(_ object: KVOObject) -> Root { unsafeDowncast(object, to: Root.self) }
}

// MARK: By key path

extension Accessors {
  /// The accessors that a key path of a class leads to.
  static func keyPath(_ keyPath: AnyKeyPath, _ use: Use = .accessors) -> Accessors? {
    func openRoot<Root>(_ root: Root.Type) -> Accessors? {
      func openValue<Value>(_ value: Value.Type) -> Accessors? {
        (keyPath as? KeyPath<Root, Value>).map { KeyPathAccessors($0, use) }
      }
      return _openExistential(Swift.type(of: keyPath).valueType, do: openValue)
    }
    return _openExistential(Swift.type(of: keyPath).rootType, do: openRoot)
  }
}

private final class KeyPathAccessors<Root, Value>: Accessors {
  private let read: KeyPath<Root, Value>
  private let stored: StoredPath?

  init(_ keyPath: KeyPath<Root, Value>, _ use: Use) {
    read = keyPath
    stored = StoredPath(keyPath)
    super.init(type: .of(Value.self), keyPath: nil, use)
  }

  override var path: AnyKeyPath? { read }
  override var storedPath: StoredPath? { stored }

  override func evaluate(_ object: KVOObject) { _ = root(object)[keyPath: read] }

  override var isWritable: Bool { read is ReferenceWritableKeyPath<Root, Value> }

  override func value(of object: KVOObject) throws -> Any { root(object)[keyPath: read] }

  override func set(_ value: ConvertedValue, of object: KVOObject) throws {
    guard let write = read as? ReferenceWritableKeyPath<Root, Value> else { return }
    root(object)[keyPath: write] = value.unbox(as: Value.self)
  }

  override func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) throws {
    let answer = root(object)[keyPath: read]
    _ = withUnsafePointer(to: answer) { kvo_value_init(value, type.cType, $0) }
  }

  // The key path is one of the object's class or a superclass, which is what `Root` is.
  private func root(_ object: KVOObject) -> Root { unsafeBitCast(object, to: Root.self) }
}
