/// Classes that were compiled without reflection metadata, so that nothing tells of their stored
/// properties. The keys that they declare work; another one is a programming error.
extension KVOClass {
  /// Stops the program for a key that the class may have, but doesn't tell of.
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
  /// The property of a key. A declared one that is an `@Observed` property's, of which no metadata
  /// tells, has its storage found: by the first object that is observed.
  func observable(_ property: Property, in known: KVOClass) -> Property {
    guard known.lacksFields, property.storage == nil, let accessors = property.accessors,
      let keyPath = accessors.keyPath, let read = ReadRecorder.read(of: keyPath, in: self)
    else { return property }
    let storage = Field(
      name: "_" + property.name.string, offset: read.storageOffset, type: accessors.type,
      isObserved: true, isVariable: accessors.isWritable)
    return known.learn(storage, of: property.name.string) ?? property
  }
}
