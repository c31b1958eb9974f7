internal import CKVORuntime

/// The keys along a key path that its getters don't tell of.
///
/// Getting the value of a key path tells of each `@Observed` property that is read. A plain stored
/// property is read without telling, and declared accessors tell of what they read, but not that the
/// key itself may be set by key-value coding or changed by hand. So the key path is gone along once
/// more while a recorder is there, from object to object, by what its components are. Beyond a link
/// that is computed and no key nothing is known.
struct KeyPathWalk {
  /// The key of an `@Observed` property that has been read of the object, by its getter.
  let wasRead: (KVOObject, UnsafeRawPointer) -> KeyName?
  /// The key that the key path itself is read for, if it has one.
  var own: KeyName?

  /// Whether there may be such keys on a key path.
  static func isWorthwhile(for keyPath: AnyKeyPath) -> Bool {
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
      case .stored(let offset): owner = follow(object, plainAt: offset) as? KVOObject
      case .computed(let getter?):
        owner = follow(object, getter, isLast: components.isAtEnd) as? KVOObject
      case .computed(nil), .part: return
      }
    }
  }

  private func follow(_ object: KVOObject, plainAt offset: Int) -> Any? {
    let known = KVOClass.of(object)
    let field = known.fields.first { !$0.isObserved && $0.offset == offset }
    let isConstant = field?.isVariable == false
    let declared = isConstant ? nil : known.declaredKey(atPlain: offset)
    guard let property = declared.flatMap({ known.property($0.string) }) else {
      return field?.value(in: object)
    }
    return read(property, of: object)
  }

  private func follow(_ object: KVOObject, _ getter: UnsafeRawPointer, isLast: Bool) -> Any? {
    let known = KVOClass.of(object)
    if let declared = known.declaredKey(by: getter).flatMap({ known.property($0.string) }) {
      return read(declared, of: object)
    }
    guard !isLast, let read = wasRead(object, getter) else { return nil }
    return known.property(read.string)?.storage?.value(in: object)
  }

  // Reading tells the recorder.
  private func read(_ property: Property, of object: KVOObject) -> Any? {
    guard property.name !== own else { return nil }
    return try? property.value(of: object)
  }
}

extension KVOClass {
  /// The getters of all properties that any class has declared.
  static let declaredGetters = ForeverMap<KeyName>()

  /// The key that was declared for the plain stored property at that offset in an object.
  fileprivate func declaredKey(atPlain offset: Int) -> KeyName? {
    declaredKeyPaths.first { declared in
      guard var components = KeyPathComponents(declared.keyPath) else { return false }
      return components.next() == .stored(offset: offset) && components.isAtEnd
    }.map { .of($0.key) }
  }

  /// The key that was declared for the property with that getter.
  fileprivate func declaredKey(by getter: UnsafeRawPointer) -> KeyName? {
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
