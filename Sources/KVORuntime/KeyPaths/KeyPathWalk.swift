internal import CKVORuntime

/// Finds the keys along a key path that its getters don't report.
///
/// Evaluating a key path reports each `@Observed` property that is read, but two kinds of keys are missing.
/// Reading a plain stored property reports nothing. Declared accessors report the properties that they read,
/// but not the declared key, which may be set by key-value coding or changed manually. So the key path is
/// walked once more while a recorder is active, from object to object, guided by its components.
///
/// An undeclared plain link is followed by its own name. If the class is not final, or the link is weak, the
/// key path identifies the link by a getter, as it does a computed property. That getter is called. If it
/// reports nothing, the link may be any plain property of its type, so all of those are observed.
struct KeyPathWalk {
  /// Returns the key of the `@Observed` property of the object that was read by this getter; nil if none was.
  let keyRead: (KVOObject, UnsafeRawPointer) -> KeyName?
  /// The key for which the key path itself is read, if it has one.
  var own: KeyName?
  /// Called with each undeclared plain property that is not the last component, and its object. The key is
  /// nil if the property has none.
  let plainLink: (KVOObject, KeyName?) -> Void

  /// Whether a walk may find keys that the getters don't report.
  static func isNeeded(for keyPath: AnyKeyPath) -> Bool {
    hasUnreportedKeys(keyPath) || mayHavePlainLinks(keyPath)
  }

  /// Whether the key path has components whose keys the getters don't report: stored properties whose offsets it shows,
  /// and properties with declared accessors.
  static func hasUnreportedKeys(_ keyPath: AnyKeyPath) -> Bool {
    guard let components = KeyPathComponents(keyPath) else { return false }
    return components.contains {
      switch $0 {
      case .stored: true
      case .computed(let getter?): KVOClass.declaredGetters[getter] != nil
      default: false
      }
    }
  }

  /// - Parameter keyPath: kept alive by the caller.
  func go(along keyPath: AnyKeyPath, from start: KVOObject) {
    guard var components = KeyPathComponents(keyPath) else { return }
    var owner: KVOObject? = start
    while let object = owner, let component = components.next() {
      switch component {
      case .optional: break
      case .stored(let offset):
        owner = objectCast(
          follow(object, plainAt: offset, isLast: components.isAtEnd), to: KVOObject.self)
      case .computed(let getter):
        owner = objectCast(follow(object, getter, components), to: KVOObject.self)
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
    if !isLast { reportLinks(of: [field], object, known) }
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
    guard let type = components.valueType, let function = components.functions else { return nil }
    if let getter, let key = keyRead(object, getter) {
      return known.property(key.string)?.storage?.value(in: object)
    }
    let links = known.plainLinks(of: type)
    guard !links.isEmpty || known.hidesFields else { return nil }
    let detector = ReadDetector()
    var value: Any?
    detector.record { value = flattened(function.value(of: object, as: type)) }
    if !detector.hasRead { reportLinks(of: links, object, known) }
    return value
  }

  private func reportLinks(of fields: [Field], _ object: KVOObject, _ known: KVOClass) {
    let keys = fields.flatMap { field in
      ([field.key] + KVOClass.aliases(of: field.key)).compactMap { known.property($0) }
        .filter { $0.storage?.offset == field.offset }.map(\.name)
    }
    for key in keys where key !== own { plainLink(object, key) }
    if keys.isEmpty { plainLink(object, nil) }
  }

  // Reading reports the key to the recorder.
  private func read(_ property: Property, of object: KVOObject) -> Any? {
    guard property.name !== own else { return nil }
    return try? property.value(of: object)
  }
}

/// A recorder that notes whether anything observable is read.
private final class ReadDetector: ReadRecorder {
  private(set) var hasRead = false

  override func note(
    _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
    at address: UnsafeMutableRawPointer
  ) { hasRead = true }

  override func note(_ object: UnsafeMutablePointer<kvo_object>, key: UnsafePointer<CChar>) {
    hasRead = true
  }
}

// MARK: Links known only by their types

extension KeyPathWalk {
  /// Whether a computed component may stand for a plain property, judging by its class and its type.
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
  /// The plain variables of a type, any of which a key path through objects of the class may name.
  fileprivate func plainLinks(of type: Any.Type) -> [Field] {
    fields.filter { !$0.isObserved && $0.isVariable && $0.type.swiftType == type }
  }

  /// Whether the class may have plain properties without keys.
  fileprivate var hidesFields: Bool {
    lacksFields || !KVOClass.lock.withLock { preparation.accessesFields }
  }
}

extension KVOClass {
  /// The getters of all properties that any class has declared.
  static let declaredGetters = AppendOnlyMap<KeyName>()

  /// The key that was declared for the plain stored property at an offset in the object.
  func declaredKey(atPlain offset: Int) -> KeyName? {
    declaredKeyPaths.first { declared in
      guard var components = KeyPathComponents(declared.keyPath) else { return false }
      return components.next() == .stored(offset: offset) && components.isAtEnd
    }.map { .of($0.key) }
  }

  /// The key that was declared for the property with this getter.
  func declaredKey(by getter: UnsafeRawPointer) -> KeyName? {
    guard KVOClass.declaredGetters[getter] != nil else { return nil }
    return declaredKeyPaths.first { $0.keyPath.onlyGetter == getter }.map { .of($0.key) }
  }
}

extension AnyKeyPath {
  /// The getter by which the key path identifies its property, if it names a single computed one.
  var onlyGetter: UnsafeRawPointer? {
    guard var components = KeyPathComponents(self), case .computed(let getter) = components.next(),
      components.isAtEnd, !components.hasArguments
    else { return nil }
    return getter
  }
}
