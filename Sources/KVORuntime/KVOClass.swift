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
/// | `type`, `name`, `cClass`, `fields`, `lacksFields`, `superclass` | immutable |
/// | `properties` | its own lock, under which nothing is called |
/// | `keyPaths` | lock-free, see `KeyPathCache` |
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
  let keyPaths = KeyPathCache()
  /// The keys of stored properties, by where these lie.
  private let storedKeys = ForeverMap<KeyName>()

  /// The keys known so far.
  private let properties = Locked<[String: Property]>([:])
  /// How many key paths have keys of their own.
  private let trackedKeys = Locked(0)
  private var preparation = Preparation()

  private struct Preparation {
    var declared = KeyDeclarations<KVOObject>()
    /// What the class has said of automatic notification: it is asked once per key.
    var automatic: [String: Bool] = [:]
    /// Storage of `@Observed` properties that no metadata tells of.
    var learned: [String: Field] = [:]
    var accessesFields = true
    var subclasses: [KVOClass] = []
    var isComplete = false
  }

  private init(_ type: KVOObject.Type) {
    self.type = type
    name = className(of: type)
    superclass = (_getSuperclass(type) as? KVOObject.Type).map(KVOClass.of)
    fields = Field.declared(by: type) + (superclass?.fields ?? [])
    lacksFields = superclass.map { $0.lacksFields || Field.areMissing(from: type) } ?? false
    cClass = superclass.map { KVOClass.derive(type, from: $0) } ?? Binding.root
  }
}

// MARK: Finding and preparing classes

extension KVOClass {
  private static let known = ForeverMap<KVOClass>()
  private static let lock = Lock(isRecursive: true)
  // Guarded by `lock`.
  private nonisolated(unsafe) static var inPreparation: [ObjectIdentifier: KVOClass] = [:]

  /// The class of an object. O(1) after the class's first use. Any thread.
  static func of(_ object: KVOObject) -> KVOClass { of(Swift.type(of: object)) }

  /// What is known of a class.
  static func of(_ type: KVOObject.Type) -> KVOClass {
    // A class's metadata has one address, for ever.
    let address = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    return known[address] ?? prepare(type, at: address)
  }

  // A class that is asked for while its own `registerKeys` runs is the unfinished one.
  private static func prepare(_ type: KVOObject.Type, at address: UnsafeRawPointer) -> KVOClass {
    lock.withLock {
      if let prepared = known[address] ?? inPreparation[ObjectIdentifier(type)] { return prepared }
      let made = KVOClass(type)
      inPreparation[ObjectIdentifier(type)] = made
      made.prepare()
      inPreparation[ObjectIdentifier(type)] = nil
      return known.insert(made, at: address)
    }
  }

  private func prepare() {
    type.registerKeys()
    preparation.accessesFields = type.accessInstanceVariablesDirectly
    preparation.isComplete = true
    for key in keysToPrepare { _ = find(key) }
    _ = kvo_class_register(cClass, nil)
    superclass?.preparation.subclasses.append(self)
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
    guard let made else { KVODiagnostics.stop(error?.text ?? "") }
    return made
  }
}

// MARK: Keys

extension KVOClass {
  /// The property of a key; nil if the class has none. O(1) after the key's first use. Any thread.
  func property(_ key: String) -> Property? {
    if let known = properties.withLock({ $0[key] }) { return known }
    return KVOClass.lock.withLock { preparation.isComplete ? find(key) : nil }
  }

  // Under `lock`.
  private func find(_ key: String) -> Property? {
    if let known = properties.withLock({ $0[key] }) { return known }
    let accessors = declaredAccessors(key)
    let field = field(for: key)
    let toMany = declaredToMany(key)
    guard accessors != nil || field != nil || toMany != nil else { return nil }
    let property = Property(
      name: .of(key), storage: field, accessors: accessors, toMany: toMany,
      isManual: !isAutomatic(key))
    property.add(to: cClass)
    properties.withLock { $0[key] = property }
    return property
  }

  private func declaredAccessors(_ key: String) -> Accessors? {
    for known in sequence(first: self, next: \.superclass) {
      if let accessors = known.preparation.declared.accessors[key] { return accessors }
    }
    return nil
  }

  private func declaredToMany(_ key: String) -> (any ToManyDeclaration)? {
    for known in sequence(first: self, next: \.superclass) {
      if let toMany = known.preparation.declared.toMany[key] { return toMany }
    }
    return nil
  }

  // Names in the order of key-value coding's search; of equal names the subclass's.
  private func field(for key: String) -> Field? {
    let capitalised = capitalised(key)
    if let observed = observedField(key) ?? observedField("is" + capitalised) { return observed }
    guard preparation.accessesFields else { return nil }
    for name in ["_" + key, "_is" + capitalised, key, "is" + capitalised] {
      if let field = fields.first(where: { !$0.isObserved && $0.name == name }) { return field }
    }
    return nil
  }

  private func observedField(_ key: String) -> Field? {
    preparation.learned[key] ?? fields.first { $0.isObserved && $0.key == key }
  }

  private func isAutomatic(_ key: String) -> Bool {
    if let known = preparation.automatic[key] { return known }
    let answer = type.automaticallyNotifiesObservers(forKey: key)
    preparation.automatic[key] = answer
    return answer
  }
}

// MARK: Tracking

extension KVOClass {
  /// The key of the `@Observed` property that lies so far behind the header. O(1) after the first
  /// call. Any thread.
  func storedKey(at offset: Int) -> KeyName? {
    guard let address = UnsafeRawPointer(bitPattern: offset + ObjectHeader.offset) else {
      return nil
    }
    return storedKeys[address] ?? findStoredKey(at: address)
  }

  // Of two properties of one name the subclass's has the key. One that takes no room has no offset
  // of its own.
  private func findStoredKey(at address: UnsafeRawPointer) -> KeyName? {
    let offset = Int(bitPattern: address)
    let learned = KVOClass.lock.withLock { Array(preparation.learned.values) }
    for field in fields + learned where field.isObserved && field.offset == offset {
      if let property = property(field.key), property.observedStorage?.offset == offset {
        return storedKeys.insert(property.name, at: address)
      }
    }
    return nil
  }

  /// Makes a key path a key of its own: computed, and tracked.
  func track(_ keyPath: AnyKeyPath, _ reads: KeyPathReads) -> Property {
    let property = Property(
      name: nameOfTracked(reads), storage: nil,
      accessors: .keyPath(keyPath, .tracked(isPath: reads.isPath)), isManual: false)
    property.add(to: cClass)
    return property
  }

  // What it reads is what a dump can say of it. No string names it: a key has no backslash, and this
  // no dot.
  private func nameOfTracked(_ reads: KeyPathReads) -> KeyName {
    let number = trackedKeys.withLock { count in
      count += 1
      return count
    }
    let owner = String(name.map { $0 == "." ? "/" : $0 })
    return .of("\\\(owner)#\(number)(\(reads.names.joined(separator: ", ")))")
  }
}

/// The key with its first letter upper-cased, if that is an ASCII one.
private func capitalised(_ key: String) -> String {
  guard let first = key.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else {
    return key
  }
  return String(UnicodeScalar(first - 32)) + key.dropFirst()
}

// MARK: Declarations

extension KVOClass {
  /// Takes what the class says of its keys, at any time.
  func declare<Root: KVOObject>(_ declarations: KeyDeclarations<Root>) {
    KVOClass.lock.withLock {
      preparation.declared.accessors.merge(declarations.accessors) { $1 }
      preparation.declared.automatic.merge(declarations.automatic) { $1 }
      preparation.declared.toMany.merge(declarations.toMany) { $1 }
      forget(declarations.automatic.keys)
      let keys = Set(declarations.accessors.keys).union(declarations.automatic.keys)
      refresh(keys.union(declarations.toMany.keys))
    }
  }

  /// Takes a key path's accessors for a key that the class overrides: what the class answers counts,
  /// not what is stored. A declaration that there is goes first.
  func learn(_ accessors: Accessors?, of key: String) -> Property? {
    KVOClass.lock.withLock {
      if declaredAccessors(key) == nil, let accessors {
        preparation.declared.accessors[key] = accessors
        refresh([key])
      }
      return find(key)
    }
  }

  /// Takes where the `@Observed` property of a declared key is stored.
  func learn(_ storage: Field, of key: String) -> Property? {
    KVOClass.lock.withLock {
      if preparation.learned[key] == nil {
        preparation.learned[key] = storage
        refresh([key])
      }
      return find(key)
    }
  }

  /// What was declared of a key's automatic notification, in the class or a superclass.
  func declaredAutomatic(_ key: String) -> Bool? {
    KVOClass.lock.withLock {
      sequence(first: self, next: \.superclass).lazy
        .compactMap { $0.preparation.declared.automatic[key] }.first
    }
  }

  /// Declared accessors that go by a key path.
  var declaredKeyPaths: [(key: String, keyPath: AnyKeyPath)] {
    KVOClass.lock.withLock {
      sequence(first: self, next: \.superclass).flatMap { known in
        known.preparation.declared.accessors.compactMap { key, accessors in
          accessors.keyPath.map { (key, $0) }
        }
      }
    }
  }

  private func forget(_ keys: some Sequence<String>) {
    for key in keys { preparation.automatic[key] = nil }
    for subclass in preparation.subclasses { subclass.forget(keys) }
  }

  // A class that is being prepared looks at its declarations afterwards.
  private func refresh(_ keys: Set<String>) {
    guard preparation.isComplete else { return }
    for key in keys {
      // Let go of outside the lock: what its accessors captured may end with it.
      let earlier = properties.withLock { $0.removeValue(forKey: key) }
      check(find(key), replacing: earlier)
    }
    for subclass in preparation.subclasses { subclass.refresh(keys) }
  }

  // Handlers take values for what the key was when they were registered.
  private func check(_ property: Property?, replacing earlier: Property?) {
    guard let property, let earlier, property.observedType !== earlier.observedType else { return }
    KVODiagnostics.stop(
      """
      "\(property.name.string)" of \(name) is of type \
      \(className(of: earlier.observedType.swiftType)), and can't be declared as \
      \(className(of: property.observedType.swiftType)) once the class is in use.
      """)
  }
}
