internal import CKVORuntime
internal import CSwiftRuntime

/// A key of a class: where its value is stored, and how it is read and written. Immutable, and kept forever,
/// because the C core refers to it.
// Sendable although the accessors are the program's closures. They are immutable, and only code that may use
// an object on its thread calls them with that object.
package final class Property: @unchecked Sendable {
  package let name: KeyName
  /// The stored property behind the key.
  package let storage: Field?
  /// Declared accessors, which take precedence over the storage.
  let accessors: Accessors?
  /// Keys that count as read whenever the accessors are tracked: those from which getters make the values that they cache.
  let cachedSources: [KeyName]
  /// Declared accessors of a to-many key, which take precedence over plain storage only.
  let toMany: (any ToManyDeclaration)?
  /// The class's override of the property, if a key path has revealed one. Observers get its value. Key-value
  /// coding uses only declarations and storage.
  let override: Accessors?
  /// Whether the key's automatic notification is off.
  let isManual: Bool
  /// The key of the property itself, if this key is an alias: `isOpen` for `open`.
  let source: KeyName?
  /// For a hidden property (Q2), its class and name; nil for others.
  let spelling: String?

  init(
    name: KeyName, storage: Field?, accessors: Accessors?, cachedSources: [KeyName] = [],
    toMany: (any ToManyDeclaration)? = nil, override: Accessors? = nil, isManual: Bool,
    source: KeyName? = nil, spelling: String? = nil
  ) {
    self.name = name
    self.storage = storage
    self.accessors = accessors
    self.cachedSources = cachedSources
    self.toMany = toMany
    self.override = accessors == nil ? override : nil
    self.isManual = isManual
    self.source = source
    self.spelling = spelling
  }

  /// The key path of a declared key that is affected by what its getter reads, and by nothing else.
  var keyPathOfTracked: AnyKeyPath? {
    accessors?.isTracked == true && cachedSources.isEmpty ? accessors?.path : nil
  }

  /// The type of the values that key-value coding reads.
  var type: ValueType { (toManyReader?.type ?? valueType)! }

  /// The type of the values that can be set, of the accessors or the storage. It is nil for a key with
  /// neither.
  var valueType: ValueType? { accessors?.type ?? storage?.type }

  /// The accessors of a to-many key, if the key is read by them.
  fileprivate var toManyReader: (any ToManyDeclaration)? {
    accessors == nil && storage?.isObserved != true ? toMany : nil
  }

  /// The storage by which the C core identifies the key. An `@Observed` property's setter announces changes
  /// by the storage's address, unless a zero-sized type makes that ambiguous. Other keys are identified by
  /// name, so that no declaration changes the identity of a key that is observed already.
  var observedStorage: Field? {
    guard let storage, storage.isObserved, storage.type.cType.pointee.size > 0 else { return nil }
    return storage
  }

  /// The type of the values that observers get.
  package var observedType: ValueType { observedStorage?.type ?? type }

  /// Whether the C core calls `readHere` for the value instead of copying it from the storage. It does so if
  /// the core knows no storage, if a key path has shown that a subclass overrides the property, and if accessors of the
  /// storage's type are declared that are not known to return the stored value.
  private func isReadHere(in type: KVOObject.Type) -> Bool {
    guard let observedStorage, override == nil else { return true }
    guard let accessors, accessors.type === observedStorage.type else { return false }
    return !accessors.returnsStorage(in: type)
  }

  /// Whether the C core calls `pickHere` for some elements: those of accessors, and those of an array in an
  /// `Any`, whose type does not describe the elements.
  private var isPickedHere: Bool { toManyReader != nil || observedType.holdsAnything }

  fileprivate func pick(
    _ object: KVOObject, _ ranges: [Range<Int>], into value: UnsafeMutablePointer<kvo_value>
  ) {
    if let toManyReader { return toManyReader.pick(object, ranges, into: value) }
    // Nil if there are no elements, also since the getter throws.
    guard let elements = (try? self.value(of: object)).flatMap({ $0.flatMap(anyArray) }) else {
      return value.initialize(to: kvo_value())
    }
    let picked = ranges.flatMap { elements[$0.clamped(to: 0..<elements.count)] }
    value.initialize(to: observedValue(of: picked))
  }

  /// The value of elements or members as observers get it, which the caller destroys. It is nil if the key
  /// can't have such a collection.
  func observedValue(of elements: Any) -> kvo_value {
    var made = kvo_value()
    guard case .value(let converted) = observedType.convert(elements) else { return made }
    // If memory is short, the value stays nil, and observers get nil.
    converted.withAddress { _ = kvo_value_init(&made, observedType.cType, $0) }
    return made
  }
}

// MARK: Key-value coding

extension Property {
  /// Reads the key's accessor or storage; nil for a nil optional.
  func value(of object: KVOObject) throws -> Any? {
    if kvo_is_recording() { object.reportRead(name.interned) }
    if let accessors { return flattened(try accessors.value(of: object)) }
    if let toManyReader { return toManyReader.value(of: ToManyKey(object: object, name: name)) }
    return storage!.value(in: object)
  }

  /// Converts and stores a value, and notifies observers once. On an error nothing is stored.
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

  /// Converts a value and sets it by the property's own setter, also for a key that key-value coding does not
  /// know. It notifies observers once.
  package func setValue(_ value: Any?, of object: KVOObject, by setter: Accessors) throws {
    guard case .value(let converted) = setter.type.convert(value) else {
      throw mismatch(value, object, setter.type)
    }
    try requireLinks(of: setter, in: object)
    try announce(of: object) { try setter.set(converted, of: object) }
  }

  /// Whether setting the value will succeed, apart from errors that the program's accessors throw. It returns
  /// false for a nil that goes to `setNilValueForKey`, and throws an error that is certain.
  func takes(_ value: Any?, of object: KVOObject) throws -> Bool {
    guard isWritable, let type = valueType else {
      throw KeyValueError.readOnly(key: name.string, className: owner(object))
    }
    switch convert(value) {
    case .value:
      if let accessors { try requireLinks(of: accessors, in: object) }
      return true
    case .unexpectedNil: return false
    case .mismatch: throw mismatch(value, object, type)
    }
  }

  /// A value in the type that the key takes; nil if it takes none such.
  func converted(_ value: Any?) -> Any? {
    guard let type = valueType, case .value(let converted) = convert(value) else { return nil }
    return converted.withAddress { type.any(at: $0) }
  }

  /// Whether it is a lazy property that has not been used yet.
  func isUnused(in object: KVOObject) -> Bool {
    accessors == nil && storage?.isUnused(in: object) == true
  }

  package var isWritable: Bool { accessors?.isWritable ?? storage?.isVariable ?? false }

  private func convert(_ value: Any?) -> ValueType.Conversion {
    accessors?.type.convert(value) ?? storage!.convert(value)
  }

  /// Throws if accessors force a link that is nil, before observers are called.
  func requireLinks(of accessors: Accessors, in object: KVOObject) throws {
    guard let missing = accessors.missingLink(in: object) else { return }
    throw KeyValueError.validationFailed(
      key: name.string, className: owner(object),
      reason: """
        it is set through a link that the key forces, and that is nil: one of type \(swiftName(of: missing)).
        """)
  }

  private func write(_ converted: ConvertedValue, to object: KVOObject) throws {
    if let accessors { try requireLinks(of: accessors, in: object) }
    try announce(of: object) {
      if let accessors { return try accessors.set(converted, of: object) }
      if Hint.areWanted { hintAtOverride(passedBy: "what sets it by key", of: object) }
      storage!.write(converted, to: object)
    }
  }

  private func announce(of object: KVOObject, _ change: () throws -> Void) rethrows {
    let frame = kvo_binding_is_observed(object.header) ? willChange(object) : nil
    defer { closeChange(frame, of: object.header, source ?? name) }
    try change()
  }

  /// Opens an automatic change of the key, which `closeChange` closes. Nil if it joins another one.
  func willChange(_ object: KVOObject) -> OpaquePointer? {
    guard let observedStorage else {
      return kvo_stored_property_will_change_key(object.header, (source ?? name).interned)
    }
    // An overlapping access stops the program, before observers are called.
    let address = object.address + observedStorage.offset
    kvo_swift_check_access(address, false)
    return kvo_stored_property_will_change(object.header, address)
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

/// The name of a value's type for messages.
package func typeName(of value: Any?) -> String {
  value.flatMap(flattened).map { swiftName(of: type(of: ValueConversion.base(of: $0))) } ?? "nil"
}

// MARK: Callbacks of the C core

extension Property {
  /// Adds the key to a class of the C core, or replaces its earlier description.
  func add(to cClass: OpaquePointer, of type: KVOObject.Type) {
    var description = kvo_property_description(
      key: name.interned, type: observedType.cType, offset: 0, get: nil, set: nil, show: nil,
      binding: nil,
      manual: isManual, track: nil, is_path: false, has_link: false,
      pick: isPickedHere ? pickHere : nil)
    if let observedStorage { description.offset = observedStorage.offset - ObjectHeader.offset }
    if isReadHere(in: type) { description.get = readHere }
    if isWritable { description.set = setHere }
    if toManyReader != nil || override != nil { description.show = showHere }
    if case .tracked(let kind) = accessors?.use {
      description.track = trackHere
      description.is_path = kind == .path
      description.has_link = kind == .linked
    }
    // The core keeps the property forever.
    description.binding = UnsafeRawPointer(Unmanaged.passRetained(self).toOpaque())
    if let error = failure({ kvo_class_add_property(cClass, &description, $0) }) {
      KVODiagnostics.stop(error.text)
    }
  }

  static func at(_ binding: UnsafeRawPointer?) -> Property {
    Unmanaged<Property>.fromOpaque(binding!).takeUnretainedValue()
  }

  /// The source text of the property, for a key whose name is generated; nil if it is unknown.
  var keyInSource: String? {
    spelling ?? accessors?.path?.text(ofKey: name.string) ?? storage?.key
  }

  fileprivate func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) throws {
    if let accessor = accessors ?? override { return try accessor.read(object, into: value) }
    if let toManyReader { return toManyReader.read(object, into: value) }
    storage!.read(object, into: value)
  }
}

private let trackHere:
  @convention(c) (UnsafeMutablePointer<kvo_object>, UnsafeRawPointer?, OpaquePointer) -> Void = {
    header, binding, reads in
    let property = Unmanaged<Property>.fromOpaque(binding!).takeUnretainedValue()
    ReadSetRecorder.collect(property, of: KVOObject.at(header), into: reads)
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
      let property = Property.at(property)
      let value = ValueType.any(of: value, for: property.valueType)
      try property.setValue(value, of: KVOObject.at(header))
    }
  }

private let pickHere:
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, UnsafeRawPointer?, OpaquePointer,
    UnsafeMutablePointer<kvo_value>
  ) -> Void = { header, binding, indexes, value in
    Property.at(binding).pick(KVOObject.at(header), ranges(of: indexes), into: value)
  }
