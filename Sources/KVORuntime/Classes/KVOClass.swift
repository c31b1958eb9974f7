internal import CKVORuntime
internal import CSwiftRuntime

/// The runtime's knowledge of one Swift class: the Swift side of a `kvo_class`. It is created when the class
/// is first observed or used by key, after its superclass's, and lives forever.
///
/// Keys are looked up in this order: declared accessors, `@Observed` properties, plain stored properties (as
/// instance variables). Each key is added to the C core, again for each subclass, because a subclass may
/// answer differently about automatic notification.
///
/// | state | protection |
/// |---|---|
/// | `type`, `name`, `cClass`, `fields`, `lacksFields`, `hasRoomless`, `superclass`, `depth` | immutable |
/// | `layout`, `hidden` | immutable once the class has declared its keys |
/// | `properties` | its own lock, under which no other code is called |
/// | `keyPaths`, `spelledKeys`, `argumentKeys` | their own locks, see there |
/// | `preparation`, and the set of classes in preparation | `KVOClass.lock` |
///
/// `KVOClass.lock` is recursive, because `registerKeys` is called under it. The program's other class
/// functions are called without it.
package final class KVOClass: @unchecked Sendable {
  let type: KVOObject.Type
  package let name: String
  let superclass: KVOClass?
  /// The number of superclasses.
  let depth: Int
  let cClass: OpaquePointer
  /// The class's stored properties, then those of its superclasses.
  let fields: [Field]
  /// Whether metadata for the stored properties of the class or a superclass is missing.
  let lacksFields: Bool
  /// Whether there are `@Observed` properties of zero-sized types.
  let hasRoomless: Bool
  let keyPaths = KeyPathCache()
  let argumentKeys = SubscriptKeyPool()
  /// The results of `key(of:)`.
  let spelledKeys = KeyPathCache()
  /// The keys of stored properties, by offset.
  let storedKeys = AppendOnlyMap<KeyName>()

  /// The stored properties that the class adds to its superclass's.
  var ownFields: ArraySlice<Field> { fields.dropLast(superclass?.fields.count ?? 0) }

  /// The keys that are known so far.
  let properties = LockedValue<[String: Property]>([:])
  let trackedKeys = LockedValue(TrackedKeys())
  var preparation = Preparation()
  /// Properties of superclasses that the class's own or those of another superclass hide, lowest first.
  private(set) var hidden: [HiddenProperty] = []
  /// The layout of a record's values; nil for other classes.
  private(set) var layout: RecordLayout?

  struct Preparation {
    var declared = KeyDeclarations<KVOObject>()
    /// The macro's part of `declared`. A hand-written declaration replaces it.
    var generated = KeyDeclarations<KVOObject>()
    /// The answers that `_registerProperties` and `registerKeys` have given about the class's keys.
    var answersByMacro = Answers()
    var answersByHand = Answers()
    /// The keys with hand-written declarations, whose generated declarations are gone.
    var declaredByHand: Set<String> = []
    /// The threads that are preparing the class.
    var threads: Set<BindingThread> = []
    /// The class's answers about automatic notification.
    var automatic: [String: Bool] = [:]
    /// Storage of `@Observed` properties that have no metadata.
    var learned: [String: Field] = [:]
    /// The class's overrides of `@Observed` properties, learned from typed calls.
    var overrides: [String: Accessors] = [:]
    /// The keys' own key paths, learned from typed calls.
    var keyPaths: [String: AnyKeyPath] = [:]
    /// The class's answers about the key paths that affect a key; `affectingKeyPaths` has the typed ones.
    var affecting: [String: Set<String>] = [:]
    /// The number of declarations so far. An answer from before the last one may be outdated.
    var declarations = 0
    var declarationsByThread: [BindingThread: Int] = [:]
    var affectingKeyPaths: [String: Set<AnyKeyPath>] = [:]
    var automaticByKeyPath: [String: Bool] = [:]
    var accessesFields = true
    var subclasses: [KVOClass] = []
    var isComplete = false

    /// The declarations of the class, with those dependencies that the macro has generated.
    var allDeclared: KeyDeclarations<KVOObject> {
      var all = declared
      all.dependencies.add(generated.dependencies) { $0.union($1) }
      return all
    }
  }

  private init(_ type: KVOObject.Type) {
    self.type = type
    let name = className(of: type)
    self.name = name
    superclass = (_getSuperclass(type) as? KVOObject.Type).map(KVOClass.of)
    depth = superclass.map { $0.depth + 1 } ?? 0
    fields = Field.declared(by: type) + (superclass?.fields ?? [])
    hasRoomless = fields.contains { $0.isObserved && !$0.type.hasRoom }
    lacksFields = superclass.map { $0.lacksFields || Field.areMissing(from: type) } ?? false
    cClass = superclass.map { KVOClass.derive(type, from: $0) } ?? CoreBinding.root
  }
}

// MARK: Finding and preparing classes

extension KVOClass {
  // Unmanaged, because each look-up would retain and release a reference.
  private static let known = Unmanaged.passRetained(AppendOnlyMap<KVOClass>())
  private static let byName = LockedValue<[String: [KVOClass]]>([:])
  static let lock = Lock(isOuter: true)
  // Protected by `lock`.
  private nonisolated(unsafe) static var inPreparation: [ObjectIdentifier: KVOClass] = [:]

  /// The `KVOClass` of an object. O(1) after the class's first use. Any thread.
  package static func of(_ object: KVOObject) -> KVOClass { of(Swift.type(of: object)) }

  /// The C core's class of the object with that header.
  static func cClass(of header: UnsafePointer<kvo_object>) -> OpaquePointer {
    let metadata = ObjectHeader.metadata(of: header)
    guard let used = known._withUnsafeGuaranteedRef({ $0.unretained(at: metadata) }) else {
      return of(ObjectHeader.type(of: header)).cClass
    }
    return used._withUnsafeGuaranteedRef { $0.cClass }
  }

  /// The Swift classes of that name that have been used.
  static func used(named name: String) -> [KVOClass] { byName.withLock { $0[name] ?? [] } }

  /// The `KVOClass` of a class, created if necessary. O(1) after the class's first use. Any thread.
  package static func of(_ type: KVOObject.Type) -> KVOClass {
    // A class's metadata keeps its address forever.
    let address = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    return found(at: address) ?? prepare(type, at: address)
  }

  private static func found(at address: UnsafeRawPointer) -> KVOClass? {
    known._withUnsafeGuaranteedRef { $0[address] }
  }

  // A class is made and declares its keys under the lock. Then it is asked without the lock, and finished
  // under it. Another thread that needs the class in between also asks, and the first one that has all answers
  // finishes it. If the class's own code asks for it, the unfinished one is returned.
  private static func prepare(_ type: KVOObject.Type, at address: UnsafeRawPointer) -> KVOClass {
    // First, because the superclass's code is not called under the lock either.
    if let superclass = _getSuperclass(type) as? KVOObject.Type { _ = of(superclass) }
    let (begun, isReady) = lock.withLock { begin(type, at: address) }
    if isReady { return begun }
    let accessesFields = type.accessInstanceVariablesDirectly
    lock.withLock { begun.complete(accessesFields) }
    var declared: KeyDeclarations<KVOObject>?
    let finished = withAnswers {
      found(at: address) == nil ? begun.keysToPrepare.flatMap { begun.questions(for: $0) } : []
    } _: {
      if let finished = found(at: address) { return finished }
      declared = begun.preparation.allDeclared
      return begun.finish(at: address)
    }
    if let declared { finished.hintAtUnknownKeys(of: declared) }
    return finished
  }

  // Returns whether the caller can use the class as it is. The caller holds `lock`.
  private static func begin(
    _ type: KVOObject.Type, at address: UnsafeRawPointer
  ) -> (begun: KVOClass, isReady: Bool) {
    if let finished = found(at: address) { return (finished, true) }
    if let begun = inPreparation[ObjectIdentifier(type)] {
      return (begun, !begun.preparation.threads.insert(.current).inserted)
    }
    let made = KVOClass(type)
    inPreparation[ObjectIdentifier(type)] = made
    made.preparation.threads = [.current]
    made.prepare()
    // Now, so that declarations of the superclass's that are made before it is finished reach it.
    made.superclass?.preparation.subclasses.append(made)
    return (made, false)
  }

  private func prepare() {
    declareKeys(byHand: false) { type._registerProperties() }
    declareKeys(byHand: true) { type.registerKeys() }
    hidden = findHidden()
    if type is KeyValueRecord.Type {
      layout = .make(superclass?.layout, preparation.declared.accessors) {
        self.superclass?.declaredAccessors($0)
      }
    }
  }

  // The caller holds `lock`.
  private func complete(_ accessesFields: Bool) {
    guard !preparation.isComplete else { return }
    preparation.accessesFields = accessesFields
    preparation.isComplete = true
  }

  // The caller holds `lock`, and the class has answered.
  private func finish(at address: UnsafeRawPointer) -> KVOClass {
    for key in keysToPrepare { _ = find(key) }
    _ = kvo_class_register(cClass, nil)
    preparation.threads = []
    KVOClass.inPreparation[ObjectIdentifier(type)] = nil
    KVOClass.byName.withLock { $0[name, default: []].append(self) }
    return KVOClass.known._withUnsafeGuaranteedRef { $0.insert(self, at: address) }
  }

  // Aliases (`hidden` for a field `isHidden`) are looked up on demand.
  private var keysToPrepare: Set<String> {
    var keys = Set(fields.map(\.key))
    keys.formUnion(fields.filter { $0.name.hasPrefix("_") }.map { String($0.name.dropFirst()) })
    for known in sequence(first: self, next: \.superclass) {
      keys.formUnion(known.preparation.declared.accessors.keys)
      keys.formUnion(known.preparation.declared.toMany.keys)
    }
    keys.formUnion(hidden.map(\.name.string))
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
