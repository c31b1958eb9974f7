internal import CKVORuntime
internal import Synchronization

/// The accessors of a key without their types, from a declaration (`KeyDeclarations`) or from the getter of a
/// tracked key path. A `Property` reads and sets its key through them; the subclasses know the types.
package class Accessors {
  let type: ValueType
  /// The key path by which typed calls name the key.
  let keyPath: AnyKeyPath?
  let use: Use
  /// Whether the getter that the key path names returns the value of the `@Observed` property of the key's name. A
  /// subclass may override it.
  let isStored: Bool
  /// The links that the getter forces, if it evaluates a key path that forces some.
  private let forced: ForcedLinks?
  /// A serial number: greater than that of all accessors created before.
  let number = Accessors.made.add(1, ordering: .relaxed).newValue
  private static let made = Atomic<UInt>(0)
  /// A `PlainLinks`; it does not change once it is known.
  private let plainLinks = Atomic(PlainLinks.unknown.rawValue)

  /// The source of the key's changes.
  package enum Use {
    /// The key's setter.
    case accessors
    /// Only the keys that are declared to affect it.
    case derived
    /// All properties that its getter reads.
    case tracked(Tracked)
  }

  /// The kinds of tracked keys.
  package enum Tracked {
    /// A computed property.
    case computed
    /// A key path that begins with a computed property, or with one with property observers, which `@KVO` stores beside
    /// it. The path's observers follow after those that the property's own observers register.
    case linked
    /// A key path that begins with a stored property. Its observers are called among those of that property.
    case path
  }

  init(
    type: ValueType, keyPath: AnyKeyPath?, _ use: Use, isStored: Bool = false,
    evaluating path: AnyKeyPath? = nil
  ) {
    self.type = type
    self.keyPath = keyPath
    self.use = use
    self.isStored = isStored
    forced = path.flatMap { ForcedLinks($0) }
  }

  /// The value that a getter returns. It is nil, whatever the getter's type, if a link that the getter forces is nil.
  fileprivate final func read<Value>(
    _ type: Value.Type, of object: KVOObject, _ getter: () throws -> Value
  ) rethrows -> Value? {
    guard let forced else { return try getter() }
    return try forced.read(from: object, getter).value
  }

  /// The type of the first link that the accessors force and that is nil: through it, nothing can be set.
  final func missingLink(in object: KVOObject) -> Any.Type? { forced?.missing(in: object) }

  /// Whether reading the storage gives the same value as the getter, for objects of a class.
  final func returnsStorage(in type: KVOObject.Type) -> Bool {
    isStored && keyPath?.isSurelyOriginal(in: type) == true
  }

  /// The key path that the getter evaluates, if it is one.
  var path: AnyKeyPath? { keyPath }

  /// The key path that the getter evaluates, if all its components are stored properties.
  var storedPath: StoredPath? { nil }

  /// Whether `path` may contain keys whose reads its getters do not report, so that it must be walked by
  /// components. A later declaration may change the answer.
  final var isWalked: Bool {
    guard let path else { return false }
    return KeyPathWalk.hasUnreportedKeys(path) || mayHavePlainLinks(path)
  }

  private func mayHavePlainLinks(_ path: AnyKeyPath) -> Bool {
    let known = PlainLinks(rawValue: plainLinks.load(ordering: .relaxed))
    if let known, known != .unknown { return known == .possible }
    let found: PlainLinks = KeyPathWalk.mayHavePlainLinks(path) ? .possible : .none
    plainLinks.store(found.rawValue, ordering: .relaxed)
    return found == .possible
  }

  private enum PlainLinks: UInt8 { case unknown, none, possible }

  /// Whether all properties that the getter reads affect the key.
  var isTracked: Bool { if case .tracked = use { true } else { false } }

  /// Whether the key is declared as computed: other keys affect it.
  var isComputed: Bool { if case .accessors = use { false } else { true } }

  package var isWritable: Bool { false }
  /// Reads the value only to record the properties that the getter reads.
  func evaluate(_ object: KVOObject) {}
  func value(of object: KVOObject) throws -> Any { Any?.none as Any }
  /// - Parameter value: A value of the accessors' type.
  func set(_ value: ConvertedValue, of object: KVOObject) throws {}
  /// Reads the value into `place`, which the C core passes on. It contains nil before the call.
  func read(_ object: KVOObject, into place: UnsafeMutablePointer<kvo_value>) throws {}
}

/// Accessors with the object and value types of a declaration.
final class TypedAccessors<Root: KVOObject, Value>: Accessors {
  private let getter: (Root) throws -> Value
  private let setter: ((Root, Value) throws -> Void)?

  init(
    keyPath: AnyKeyPath?, _ use: Use = .accessors, isStored: Bool = false,
    evaluating path: AnyKeyPath? = nil, get: @escaping (Root) throws -> Value,
    set: ((Root, Value) throws -> Void)?
  ) {
    getter = get
    setter = set
    super.init(
      type: .of(Value.self), keyPath: keyPath, use, isStored: isStored, evaluating: path)
  }

  override var isWritable: Bool { setter != nil }

  override func evaluate(_ object: KVOObject) {
    _ = try? read(Value.self, of: object) { try getter(root(object)) }
  }

  override func value(of object: KVOObject) throws -> Any {
    let value = try read(Value.self, of: object) { try getter(root(object)) }
    return value.map { $0 as Any } ?? present(nil)
  }

  override func set(_ value: ConvertedValue, of object: KVOObject) throws {
    try setter?(root(object), value.unbox(as: Value.self))
  }

  override func read(_ object: KVOObject, into place: UnsafeMutablePointer<kvo_value>) throws {
    let value = try read(Value.self, of: object) { try getter(root(object)) }
    guard let answer: Value = value ?? noValue() else { return }
    _ = withUnsafePointer(to: answer) { kvo_value_init(place, type.cType, $0) }
  }

  // Safe, because a declaration reaches only objects of the declaring class and its subclasses.
  private func root(_ object: KVOObject) -> Root { unsafeDowncast(object, to: Root.self) }
}

// MARK: By key path

extension Accessors {
  /// Creates accessors that read and set a class's key path.
  package static func keyPath(_ keyPath: AnyKeyPath, _ use: Use = .accessors) -> Accessors? {
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
  private let typedPath: KeyPath<Root, Value>
  // Cast once, since each cast looks up the type.
  private let writablePath: ReferenceWritableKeyPath<Root, Value>?
  private let stored: StoredPath?

  init(_ keyPath: KeyPath<Root, Value>, _ use: Use) {
    typedPath = keyPath
    writablePath = keyPath as? ReferenceWritableKeyPath<Root, Value>
    stored = StoredPath(keyPath)
    super.init(type: .of(Value.self), keyPath: nil, use, evaluating: keyPath)
  }

  override var path: AnyKeyPath? { typedPath }
  override var storedPath: StoredPath? { stored }

  override func evaluate(_ object: KVOObject) {
    _ = read(Value.self, of: object) { root(object)[keyPath: typedPath] }
  }

  override var isWritable: Bool { writablePath != nil }

  override func value(of object: KVOObject) throws -> Any {
    let value = read(Value.self, of: object) { root(object)[keyPath: typedPath] }
    return value.map { $0 as Any } ?? present(nil)
  }

  override func set(_ value: ConvertedValue, of object: KVOObject) throws {
    guard let writablePath else { return }
    root(object)[keyPath: writablePath] = value.unbox(as: Value.self)
  }

  override func read(_ object: KVOObject, into place: UnsafeMutablePointer<kvo_value>) throws {
    let value = read(Value.self, of: object) { root(object)[keyPath: typedPath] }
    guard let answer: Value = value ?? noValue() else { return }
    _ = withUnsafePointer(to: answer) { kvo_value_init(place, type.cType, $0) }
  }

  // Safe, because `Root` is the object's class or a superclass.
  private func root(_ object: KVOObject) -> Root { unsafeBitCast(object, to: Root.self) }
}
