internal import CKVORuntime

/// The keys along a key path that its getters don't tell of.
///
/// Getting the value of a key path tells of each `@Observed` property that is read. A plain stored
/// property is read without telling, and declared accessors tell of what they read, but not that the
/// key itself may be set by key-value coding or changed by hand. So the key path is gone along once
/// more while a recorder is there, from object to object, by what its components are.
///
/// A plain link that is not declared is followed by its own name. Where a class is not final, a key
/// path knows such a link as it knows a computed property: by a getter, which is called then; so it does where
/// the link is weak. One that reads nothing that can be told may be any plain property of its type.
struct KeyPathWalk {
  /// The key of an `@Observed` property that has been read of the object, by its getter.
  let wasRead: (KVOObject, UnsafeRawPointer) -> KeyName?
  /// The key that the key path itself is read for, if it has one.
  var own: KeyName?
  /// Takes a plain property that is not declared, but has more behind it, with its object; or nil for
  /// one that has no key.
  let plainLink: (KVOObject, KeyName?) -> Void

  /// Whether there may be such keys on a key path.
  static func isWorthwhile(for keyPath: AnyKeyPath) -> Bool {
    hasTold(on: keyPath) || mayHavePlainLinks(keyPath)
  }

  /// Whether the key path goes through stored properties that it tells of, or declared ones.
  static func hasTold(on keyPath: AnyKeyPath) -> Bool {
    guard let components = KeyPathComponents(keyPath) else { return false }
    return components.contains {
      switch $0 {
      case .stored: true
      case .computed(let getter?): KVOClass.declaredGetters[getter] != nil
      default: false
      }
    }
  }

  /// - Parameter keyPath: kept by the caller.
  func go(along keyPath: AnyKeyPath, from start: KVOObject) {
    guard var components = KeyPathComponents(keyPath) else { return }
    var owner: KVOObject? = start
    while let object = owner, let component = components.next() {
      switch component {
      case .optional: break
      case .stored(let offset):
        owner = follow(object, plainAt: offset, isLast: components.isAtEnd) as? KVOObject
      case .computed(let getter): owner = follow(object, getter, components) as? KVOObject
      case .part: return
      }
    }
  }

  private func follow(_ object: KVOObject, plainAt offset: Int, isLast: Bool) -> Any? {
    let known = KVOClass.of(object)
    let field = known.fields.first { !$0.isObserved && $0.offset == offset }
    guard let field, field.isVariable else { return field?.value(in: object) }
    if let property = known.declaredKey(atPlain: offset).flatMap({ known.property($0.string) }) {
      return read(property, of: object)
    }
    if !isLast { tell(of: [field], object, known) }
    return field.value(in: object)
  }

  private func follow(
    _ object: KVOObject, _ getter: UnsafeRawPointer?, _ components: KeyPathComponents
  ) -> Any? {
    let known = KVOClass.of(object)
    if let getter,
      let declared = known.declaredKey(by: getter).flatMap({ known.property($0.string) })
    {
      return read(declared, of: object)
    }
    guard let type = components.valueType, let function = components.getter else { return nil }
    if let getter, let read = wasRead(object, getter) {
      return known.property(read.string)?.storage?.value(in: object)
    }
    let links = known.plainLinks(of: type)
    guard !links.isEmpty || known.hidesFields else { return nil }
    let silence = Silence()
    var value: Any?
    silence.record { value = flattened(function.value(of: object, as: type)) }
    if silence.isKept { tell(of: links, object, known) }
    return value
  }

  private func tell(of fields: [Field], _ object: KVOObject, _ known: KVOClass) {
    let keys = fields.flatMap { field in
      ([field.key] + KVOClass.aliases(of: field.key)).compactMap { known.property($0) }
        .filter { $0.storage?.offset == field.offset }.map(\.name)
    }
    for key in keys where key !== own { plainLink(object, key) }
    if keys.isEmpty { plainLink(object, nil) }
  }

  // Reading tells the recorder.
  private func read(_ property: Property, of object: KVOObject) -> Any? {
    guard property.name !== own else { return nil }
    return try? property.value(of: object)
  }
}

/// Sees whether anything is read.
private final class Silence: ReadRecorder {
  private(set) var isKept = true

  override func note(
    _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
    at address: UnsafeMutableRawPointer
  ) { isKept = false }

  override func note(_ object: UnsafeMutablePointer<kvo_object>, key: UnsafePointer<CChar>) {
    isKept = false
  }
}

// MARK: Links by their types

extension KeyPathWalk {
  /// Whether a computed component may stand for a plain property, by its class and its type.
  static func mayHavePlainLinks(_ keyPath: AnyKeyPath) -> Bool {
    guard var components = KeyPathComponents(keyPath) else { return false }
    var owner: Any.Type? = Swift.type(of: keyPath).rootType
    while let component = components.next() {
      if case .computed = component, let type = components.valueType,
        let owner = owner as? KVOObject.Type
      {
        let known = KVOClass.of(owner)
        if known.hidesFields || !known.plainLinks(of: type).isEmpty { return true }
      }
      owner = components.valueType
    }
    return false
  }
}

extension KVOClass {
  /// The plain properties of a type, which key paths through objects of the class may go through.
  fileprivate func plainLinks(of type: Any.Type) -> [Field] {
    fields.filter { !$0.isObserved && $0.isVariable && $0.type.swiftType == type }
  }

  /// Whether there may be plain properties that have no keys.
  fileprivate var hidesFields: Bool {
    lacksFields || !KVOClass.lock.withLock { preparation.accessesFields }
  }
}

extension KVOClass {
  /// The getters of all properties that any class has declared.
  static let declaredGetters = ForeverMap<KeyName>()

  /// The key that was declared for the plain stored property at that offset in an object.
  func declaredKey(atPlain offset: Int) -> KeyName? {
    declaredKeyPaths.first { declared in
      guard var components = KeyPathComponents(declared.keyPath) else { return false }
      return components.next() == .stored(offset: offset) && components.isAtEnd
    }.map { .of($0.key) }
  }

  /// The key that was declared for the property with that getter.
  func declaredKey(by getter: UnsafeRawPointer) -> KeyName? {
    guard KVOClass.declaredGetters[getter] != nil else { return nil }
    return declaredKeyPaths.first { $0.keyPath.onlyGetter == getter }.map { .of($0.key) }
  }
}

extension AnyKeyPath {
  /// By which getter the key path knows its property, if it names a single computed one.
  var onlyGetter: UnsafeRawPointer? {
    guard var components = KeyPathComponents(self), case .computed(let getter) = components.next(),
      components.isAtEnd, !components.hasArguments
    else { return nil }
    return getter
  }
}
