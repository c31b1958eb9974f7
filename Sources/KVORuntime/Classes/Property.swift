internal import CKVORuntime

/// A key of a class: where its value lies, how it is read and written. Immutable; lives for ever,
/// since the C core refers to it.
// Sendable although the accessors are the program's closures: they are immutable, and called with
// an object only by code that may use that object on that thread.
final class Property: @unchecked Sendable {
  let name: KeyName
  /// The stored property behind the key.
  let storage: Field?
  /// Declared accessors, which come before the storage.
  let accessors: Accessors?
  /// Declared accessors of a to-many key, which come before plain storage only.
  let toMany: (any ToManyDeclaration)?
  /// The property as the class overrides it, where a key path has told of that: what observers are told
  /// is what it answers. Key-value coding goes by what is declared and what is stored alone.
  let override: Accessors?
  /// Whether the key's automatic notification is off.
  let isManual: Bool
  /// The key under which the class has the property, if this one is its short name: `isOpen` for `open`.
  let source: KeyName?

  init(
    name: KeyName, storage: Field?, accessors: Accessors?, toMany: (any ToManyDeclaration)? = nil,
    override: Accessors? = nil, isManual: Bool, source: KeyName? = nil
  ) {
    self.name = name
    self.storage = storage
    self.accessors = accessors
    self.toMany = toMany
    self.override = accessors == nil ? override : nil
    self.isManual = isManual
    self.source = source
  }

  /// The type that key-value coding reads.
  var type: ValueType { (readToMany?.type ?? valueType)! }

  /// The type that is set: of the accessors or the storage; nil for a key that has neither.
  var valueType: ValueType? { accessors?.type ?? storage?.type }

  /// The accessors of a to-many key where they are what the key is read by.
  fileprivate var readToMany: (any ToManyDeclaration)? {
    accessors == nil && storage?.isObserved != true ? toMany : nil
  }

  /// The storage by which the C core knows the key: an `@Observed` property's, whose setter announces
  /// changes by the storage's address, unless the type takes no room and so shares the address. Other
  /// keys go by their names, so that no declaration moves a key that is observed already.
  var observedStorage: Field? {
    guard let storage, storage.isObserved, storage.type.cType.pointee.size > 0 else { return nil }
    return storage
  }

  /// The type of the values that observers are told.
  var observedType: ValueType { observedStorage?.type ?? type }

  /// Whether the C core asks here for the value instead of copying it from the storage: where it
  /// knows of none, and where accessors of the storage's type are declared, since they may answer
  /// something else than what is stored.
  private var isReadHere: Bool {
    guard let observedStorage, override == nil else { return true }
    return accessors?.type === observedStorage.type
  }

  /// Whether the C core asks here for some elements: of accessors, and of an array in an `Any`, whose
  /// type tells nothing of elements.
  private var isPickedHere: Bool { readToMany != nil || observedType.holdsAnything }

  fileprivate func pick(
    _ object: KVOObject, _ ranges: [Range<Int>], into value: UnsafeMutablePointer<kvo_value>
  ) {
    if let readToMany { return readToMany.pick(object, ranges, into: value) }
    let elements = (try? self.value(of: object)).flatMap { $0.flatMap(anyArray) } ?? []
    let picked = ranges.flatMap { elements[$0.clamped(to: 0..<elements.count)] }
    value.initialize(to: observedValue(of: picked))
  }

  /// What observers are told of elements or members, which the caller ends; nil where the key can't
  /// have such a collection.
  func observedValue(of elements: Any) -> kvo_value {
    var made = kvo_value()
    guard case .value(let converted) = observedType.convert(elements) else { return made }
    // What fails for want of memory is nil, as which it is told.
    converted.withAddress { _ = kvo_value_init(&made, observedType.cType, $0) }
    return made
  }
}

// MARK: Key-value coding

extension Property {
  /// What the key's accessor or storage has; nil for a nil optional.
  func value(of object: KVOObject) throws -> Any? {
    if kvo_is_recording() { object.tellRead(name.interned) }
    if let accessors { return flattened(try accessors.value(of: object)) }
    if let readToMany { return readToMany.value(of: ToManyKey(object: object, name: name)) }
    return storage!.value(in: object)
  }

  /// Converts and stores, telling observers once. Nothing is stored on an error.
  func setValue(_ value: Any?, of object: KVOObject) throws {
    guard isWritable, let type = valueType else {
      throw KeyValueError.readOnly(key: name.string, className: owner(object))
    }
    switch convert(value) {
    case .value(let converted): try write(converted, to: object)
    case .unexpectedNil: try object.setNilValueForKey(name.string)
    case .mismatch: throw mismatch(value, object, type)
    }
  }

  /// The same by the setter of the property itself, whether key-value coding knows it or not.
  func setValue(_ value: Any?, of object: KVOObject, by setter: Accessors) throws {
    guard case .value(let converted) = setter.type.convert(value) else {
      throw mismatch(value, object, setter.type)
    }
    try tell(of: object) { try setter.set(converted, of: object) }
  }

  /// Whether setting the value is sure to be no error, but what the program's accessors throw: a nil is
  /// `setNilValueForKey`'s. What is sure to be one is thrown.
  func takes(_ value: Any?, of object: KVOObject) throws -> Bool {
    guard isWritable, let type = valueType else {
      throw KeyValueError.readOnly(key: name.string, className: owner(object))
    }
    switch convert(value) {
    case .value: return true
    case .unexpectedNil: return false
    case .mismatch: throw mismatch(value, object, type)
    }
  }

  /// Whether it is a lazy property that has not been used yet.
  func isUnused(in object: KVOObject) -> Bool {
    accessors == nil && storage?.isUnused(in: object) == true
  }

  var isWritable: Bool { accessors?.isWritable ?? storage?.isVariable ?? false }

  private func convert(_ value: Any?) -> ValueType.Conversion {
    accessors?.type.convert(value) ?? storage!.convert(value)
  }

  private func write(_ converted: ConvertedValue, to object: KVOObject) throws {
    try tell(of: object) {
      if let accessors { return try accessors.set(converted, of: object) }
      if Hint.areWanted { hintAtCodePassedBy(.byKey, of: object) }
      storage!.write(converted, to: object)
    }
  }

  private func tell(of object: KVOObject, _ change: () throws -> Void) rethrows {
    let frame = kvo_binding_is_observed(object.header) ? willChange(object) : nil
    defer { closeChange(frame, of: object.header, source ?? name) }
    try change()
  }

  private func willChange(_ object: KVOObject) -> OpaquePointer? {
    guard let observedStorage else {
      return kvo_uniform_will_key(object.header, (source ?? name).interned)
    }
    return kvo_uniform_will(object.header, object.address + observedStorage.offset)
  }

  private func mismatch(
    _ value: Any?, _ object: KVOObject, _ type: ValueType
  ) -> KeyValueError {
    .typeMismatch(
      key: name.string, className: owner(object), expected: swiftName(of: type.swiftType),
      found: type.found(value))
  }

  private func owner(_ object: KVOObject) -> String { className(of: Swift.type(of: object)) }
}

/// What a value's type is called in messages.
func typeName(of value: Any?) -> String {
  value.flatMap(flattened).map { swiftName(of: type(of: ValueConversion.base(of: $0))) } ?? "nil"
}

// MARK: Telling the C core

extension Property {
  /// Adds the key to a class of the C core, or replaces what it knew of it.
  func add(to cClass: OpaquePointer) {
    var description = kvo_property_description(
      key: name.interned, type: observedType.cType, offset: 0, get: nil, set: nil, show: nil,
      binding: nil,
      manual: isManual, track: nil, is_path: false, pick: isPickedHere ? pickHere : nil)
    if let observedStorage { description.offset = observedStorage.offset - ObjectHeader.offset }
    if isReadHere { description.get = readHere }
    if isWritable { description.set = setHere }
    if readToMany != nil || override != nil { description.show = showHere }
    if let accessors, accessors.isTracked {
      description.track = trackHere
      description.is_path = accessors.isPath
    }
    // The core keeps it for ever.
    description.binding = UnsafeRawPointer(Unmanaged.passRetained(self).toOpaque())
    if let error = failure({ kvo_class_add_property(cClass, &description, $0) }) {
      KVODiagnostics.stop(error.text)
    }
  }

  static func at(_ binding: UnsafeRawPointer?) -> Property {
    Unmanaged<Property>.fromOpaque(binding!).takeUnretainedValue()
  }

  /// A key that is no name, as the program's source has what it stands for; nil where nothing tells.
  var keyInSource: String? { accessors?.path?.text ?? storage?.key }

  fileprivate func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) throws {
    if let told = accessors ?? override { return try told.read(object, into: value) }
    if let readToMany { return readToMany.read(object, into: value) }
    storage!.read(object, into: value)
  }
}

private let trackHere:
  @convention(c) (UnsafeMutablePointer<kvo_object>, UnsafeRawPointer?, OpaquePointer) -> Void = {
    header, binding, reads in
    let property = Unmanaged<Property>.fromOpaque(binding!).takeUnretainedValue()
    ReadCollector.collect(property, of: KVOObject.at(header), into: reads)
  }

private let readHere:
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, UnsafeRawPointer?, UnsafeMutablePointer<kvo_value>,
    UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status = { header, property, value, error in
    value.initialize(to: kvo_value())
    return ThrownError.catching(error) {
      try Property.at(property).read(KVOObject.at(header), into: value)
    }
  }

private let showHere:
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, UnsafeRawPointer?, UnsafeMutablePointer<kvo_value>,
    UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status = { header, property, value, error in
    value.initialize(to: kvo_value())
    return ThrownError.catching(error) {
      let shown = try Property.at(property).value(of: KVOObject.at(header))
      CoreValue.make(of: shown, into: value)
    }
  }

private let setHere:
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, UnsafeRawPointer?, UnsafePointer<kvo_value>,
    UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status = { header, property, value, error in
    ThrownError.catching(error) {
      try Property.at(property).setValue(ValueType.any(of: value), of: KVOObject.at(header))
    }
  }

private let pickHere:
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, UnsafeRawPointer?, OpaquePointer,
    UnsafeMutablePointer<kvo_value>
  ) -> Void = { header, binding, indexes, value in
    Property.at(binding).pick(KVOObject.at(header), ranges(of: indexes), into: value)
  }
