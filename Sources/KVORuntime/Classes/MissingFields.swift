/// Classes that were compiled without reflection metadata, so that their stored properties are unknown. Their
/// declared keys work; using another key is a programming error.
extension KVOClass {
  /// Stops the program because the class may have a key that is unknown for lack of metadata.
  func requireDeclaration(of key: @autoclosure () -> String) {
    guard lacksFields else { return }
    KVODiagnostics.stop(
      """
      \(name) was compiled without reflection metadata, so \(key()) is not known. Declare it in \
      registerKeys(): declareKeys { $0.stored("<key>", \\.<key>) }. Or build its module without \
      -disable-reflection-metadata.
      """)
  }
}

extension KVOObject {
  /// The property of a key, with its storage. If a declared key is that of an `@Observed` property without
  /// metadata, the first object that is observed finds the storage.
  package func observable(_ property: Property, in known: KVOClass) -> Property {
    guard known.lacksFields, property.storage == nil, let accessors = property.accessors,
      let keyPath = accessors.keyPath, let offset = StorageFinder.offset(of: keyPath, in: self)
    else { return property }
    let storage = Field(
      name: "_" + property.name.string, offset: offset, type: accessors.type, form: .observed,
      isVariable: accessors.isWritable)
    return known.learn(storage, of: property.name.string) ?? property
  }

  /// Finds the storage of the properties that begin some key paths.
  func findStorage(ofFirstKeysIn keyPaths: Set<String>, in known: KVOClass) {
    guard known.lacksFields else { return }
    for keyPath in keyPaths {
      if let property = known.property(String(keyPath.prefix { $0 != "." })) {
        _ = observable(property, in: known)
      }
    }
  }

  /// The key of the `@Observed` property at an offset from the header. A property of a zero-sized type shares
  /// its offset with another one, so its key path identifies it.
  func storedKey(at offset: Int, _ accessor: () -> AnyKeyPath) -> KeyName? {
    guard KVOClass.of(self).hasRoomless else { return storedKey(at: offset) }
    let keyPath = accessor()
    return ValueType.of(any: type(of: keyPath).valueType).hasRoom
      ? storedKey(at: offset) : knownKey(of: keyPath)?.name
  }

  /// The key of the `@Observed` property at an offset from the header.
  func storedKey(at offset: Int) -> KeyName? {
    let known = KVOClass.of(self)
    if let key = known.storedKey(at: offset) { return key }
    guard known.lacksFields else { return nil }
    for declared in known.declaredKeyPaths {
      if let property = known.property(declared.key) { _ = observable(property, in: known) }
    }
    let key = known.storedKey(at: offset)
    if key == nil { known.requireDeclaration(of: "an @Observed property that was read") }
    return key
  }
}

/// Finds the storage of the `@Observed` property that a key path names.
private final class StorageFinder: ReadRecorder {
  private let header: UnsafeMutableRawPointer
  private let keyPath: AnyKeyPath
  private var found: Int?

  private init(_ keyPath: AnyKeyPath, _ header: UnsafeMutableRawPointer) {
    self.header = header
    self.keyPath = keyPath
  }

  /// The offset from the object's address to the storage, or nil if the key path names no `@Observed`
  /// property.
  static func offset(of keyPath: AnyKeyPath, in object: KVOObject) -> Int? {
    let finder = StorageFinder(keyPath, headerAddress(of: object))
    finder.record { _ = object[keyPath: keyPath] }
    return finder.found
  }

  // Finding its key would look for the storage again.
  override func noteManualRead(of keyPath: AnyKeyPath, of object: KVOObject) {}

  override func note(
    _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
    at address: UnsafeMutableRawPointer
  ) {
    guard header == self.header, keyPath.isSame(as: accessor()) else { return }
    found = address - header + ObjectHeader.offset
  }
}
