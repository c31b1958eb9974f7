internal import CKVORuntime
internal import CSwiftRuntime

/// What the runtime knows of one Swift class: the Swift side of a `kvo_class`. Made when the class
/// is first used by key or observed, its superclass's before it; lives for ever.
///
/// Keys are found in this order: declared accessors, then `@Observed` properties, then plain stored
/// properties, which answer as instance variables do. Every key is made known to the C core, again
/// for each subclass, whose answer about automatic notification may differ.
///
/// | state | protection |
/// |---|---|
/// | `type`, `name`, `cClass`, `fields`, `lacksFields`, `hasRoomless`, `superclass` | immutable |
/// | `layout` | immutable once the class is known |
/// | `properties` | its own lock, under which nothing is called |
/// | `keyPaths`, `spelledKeys`, `argumentKeys` | their own, see there |
/// | `preparation`, and which classes are in it | `KVOClass.lock` |
///
/// `KVOClass.lock` is recursive: the program's class functions are called under it.
final class KVOClass: @unchecked Sendable {
  let type: KVOObject.Type
  let name: String
  let superclass: KVOClass?
  let cClass: OpaquePointer
  /// Its own and its superclasses' stored properties, its own first.
  let fields: [Field]
  /// Whether the metadata of the class or a superclass doesn't tell of its stored properties.
  let lacksFields: Bool
  /// Whether there are `@Observed` properties whose types take no room.
  let hasRoomless: Bool
  let keyPaths = KeyPathCache()
  let argumentKeys = ArgumentKeys()
  /// What `key(of:)` has answered.
  let spelledKeys = KeyPathCache()
  /// The keys of stored properties, by where these lie.
  let storedKeys = ForeverMap<KeyName>()

  /// The keys known so far.
  let properties = Locked<[String: Property]>([:])
  let trackedKeys = Locked(TrackedKeys())
  var preparation = Preparation()
  /// Where objects have the values of keys that are data; of records alone.
  private(set) var layout: RecordLayout?

  struct Preparation {
    var declared = KeyDeclarations<KVOObject>()
    /// What of that the macro has generated, as it did: what is declared by hand takes its place.
    var generated = KeyDeclarations<KVOObject>()
    /// The keys that are declared by hand, and of which nothing generated is left.
    var declaredByHand: Set<String> = []
    /// What the class has said of automatic notification: it is asked once per key.
    var automatic: [String: Bool] = [:]
    /// Storage of `@Observed` properties that no metadata tells of.
    var learned: [String: Field] = [:]
    /// What the class has made of `@Observed` properties, which typed calls have shown.
    var overrides: [String: Accessors] = [:]
    /// The keys' own key paths, which typed calls have shown as well.
    var keyPaths: [String: AnyKeyPath] = [:]
    /// What the class has answered of the key paths that affect a key, and what of that by key path.
    var affecting: [String: Set<String>] = [:]
    /// How often something has been declared: an answer from before may be wrong.
    var declarations = 0
    var affectingKeyPaths: [String: Set<AnyKeyPath>] = [:]
    var automaticByKeyPath: [String: Bool] = [:]
    var accessesFields = true
    var subclasses: [KVOClass] = []
    var isComplete = false
  }

  private init(_ type: KVOObject.Type) {
    self.type = type
    let name = className(of: type)
    self.name = name
    superclass = (_getSuperclass(type) as? KVOObject.Type).map(KVOClass.of)
    fields = Field.declared(by: type) + (superclass?.fields ?? [])
    hasRoomless = fields.contains { $0.isObserved && !$0.type.hasRoom }
    lacksFields = superclass.map { $0.lacksFields || Field.areMissing(from: type) } ?? false
    cClass = superclass.map { KVOClass.derive(type, from: $0) } ?? CoreBinding.root
  }
}

// MARK: Finding and preparing classes

extension KVOClass {
  // A reference would be counted at each look.
  private static let known = Unmanaged.passRetained(ForeverMap<KVOClass>())
  private static let byName = Locked<[String: [KVOClass]]>([:])
  static let lock = Lock(isOuter: true)
  // LockedValue by `lock`.
  private nonisolated(unsafe) static var inPreparation: [ObjectIdentifier: KVOClass] = [:]

  /// The class of an object. O(1) after the class's first use. Any thread.
  static func of(_ object: KVOObject) -> KVOClass { of(Swift.type(of: object)) }

  /// The class of the object of a header, as the C core knows it.
  static func cClass(of header: UnsafePointer<kvo_object>) -> OpaquePointer {
    let metadata = ObjectHeader.metadata(of: header)
    guard let used = known._withUnsafeGuaranteedRef({ $0.unretained(at: metadata) }) else {
      return of(ObjectHeader.type(of: header)).cClass
    }
    return used._withUnsafeGuaranteedRef { $0.cClass }
  }

  /// The classes of Swift's of that name that have been used.
  static func used(named name: String) -> [KVOClass] { byName.withLock { $0[name] ?? [] } }

  /// What is known of a class.
  static func of(_ type: KVOObject.Type) -> KVOClass {
    // A class's metadata has one address, for ever.
    let address = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    return found(at: address) ?? prepare(type, at: address)
  }

  private static func found(at address: UnsafeRawPointer) -> KVOClass? {
    known._withUnsafeGuaranteedRef { $0[address] }
  }

  // A class that is asked for while its own `registerKeys` runs is the unfinished one.
  private static func prepare(_ type: KVOObject.Type, at address: UnsafeRawPointer) -> KVOClass {
    lock.withLock {
      if let prepared = found(at: address) ?? inPreparation[ObjectIdentifier(type)] {
        return prepared
      }
      let made = KVOClass(type)
      inPreparation[ObjectIdentifier(type)] = made
      made.prepare()
      inPreparation[ObjectIdentifier(type)] = nil
      byName.withLock { $0[made.name, default: []].append(made) }
      return known._withUnsafeGuaranteedRef { $0.insert(made, at: address) }
    }
  }

  private func prepare() {
    type._registerProperties()
    type.registerKeys()
    if type is KeyValueRecord.Type {
      layout = .make(superclass?.layout, preparation.declared.accessors) {
        self.superclass?.declaredAccessors($0)
      }
    }
    preparation.accessesFields = type.accessInstanceVariablesDirectly
    preparation.isComplete = true
    for key in keysToPrepare { _ = find(key) }
    _ = kvo_class_register(cClass, nil)
    superclass?.preparation.subclasses.append(self)
    hintAtConventions()
    hintAtUnknownKeys(of: preparation.declared)
  }

  // Aliases (`hidden` for a field `isHidden`) are found when they are asked for.
  private var keysToPrepare: Set<String> {
    var keys = Set(fields.map(\.key))
    keys.formUnion(fields.filter { $0.name.hasPrefix("_") }.map { String($0.name.dropFirst()) })
    for known in sequence(first: self, next: \.superclass) {
      keys.formUnion(known.preparation.declared.accessors.keys)
      keys.formUnion(known.preparation.declared.toMany.keys)
    }
    return keys
  }

  private static func derive(_ type: KVOObject.Type, from superclass: KVOClass) -> OpaquePointer {
    let size = kvo_swift_instance_size(unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self))
    var made: OpaquePointer?
    let error = failure {
      made = kvo_class_create(className(of: type), superclass.cClass, size, $0)
      return made == nil ? $0.pointee.status : .KVO_OK
    }
    guard let made, CoreBinding.addCodingHooks(to: made, of: type) == .KVO_OK else {
      KVODiagnostics.stop(error?.text ?? "")
    }
    return made
  }
}
