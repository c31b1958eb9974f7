internal import CKVORuntime

/// A retained object of the C runtime: key-value coding and observing from Swift.
///
/// ```swift
/// let account = ForeignObject(OpaquePointer(c_account))
/// let token = try account.observe("balance", as: Double.self, options: .new) { _, change in
///   print(change.newValue!)
/// }
/// ```
///
/// Several may stand for one object. Values are read and written by whoever may call the object's
/// accessors on that thread.
public final class ForeignObject: KeyValueObserving {
  let header: UnsafeMutablePointer<kvo_object>

  /// What a C object is to Swift.
  ///
  /// - Parameter object: a `kvo_object *`, retained here.
  public init(_ object: OpaquePointer) {
    header = kvo_object_retain(UnsafeMutablePointer(object))
  }

  deinit {
    kvo_object_release(header)
  }

  /// The name of the object's class, never the dynamic subclass's.
  public var className: String {
    String(cString: kvo_class_name(kvo_class_of(header)))
  }

  /// The value of a key: an `Int` for an integer (a `UInt` for an unsigned one of 64 bits), `Bool`,
  /// `Float` or `Double`, `String`, `ForeignObject` or `KVOObject`, a raw pointer, a struct's bytes as
  /// `[UInt8]`, a collection as `[Any]` or `Set<AnyHashable>`; nil for a null string, object or
  /// pointer.
  ///
  /// - Throws: `KeyValueError.undefinedKey` unless the class or its hook answers.
  public func value(forKey key: String) throws -> Any? {
    try withValue(of: key) { ValueType.any(of: $0) }
  }

  /// Sets a key. Numbers convert to the property's type; a struct may be given as a Swift value of
  /// the same size, a collection as an array or a set.
  ///
  /// - Throws: `KeyValueError`, with nothing stored.
  public func setValue(_ value: Any?, forKey key: String) throws {
    guard let value = value.flatMap(flattened) else { return try set(nil, forKey: key, from: nil) }
    // What is told of a struct as bytes is one again.
    let isBytes = value is [UInt8]
    var made =
      (isBytes ? structure(value, forKey: key) : nil) ?? ForeignValue.make(from: value)
      ?? structure(value, forKey: key) ?? CoreValue.of(value)
    defer { kvo_value_destroy(&made) }
    try set(&made, forKey: key, from: value)
  }

  /// The value that a key path leads to, as `KVOObject.value(forKeyPath:)`: through objects of C and
  /// of Swift.
  ///
  /// - Throws: `KeyValueError`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    guard KeyPathCoding.isPath(keyPath) else { return try value(forKey: keyPath) }
    return try KeyPathCoding.value(keyPath, of: self)
  }

  /// Sets the last key of a key path, as `KVOObject.setValue(_:forKeyPath:)`.
  ///
  /// - Throws: `KeyValueError`, with nothing stored.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) throws {
    guard KeyPathCoding.isPath(keyPath) else { return try setValue(value, forKey: keyPath) }
    try KeyPathCoding.setValue(value, keyPath, of: self)
  }

  /// Calls a handler on each change of a key, with values of a Swift type: numbers convert, structs
  /// are taken as Swift types that have the same scalars at the same places. Neither the C object nor this one is kept alive.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key,
  ///   `KeyValueError.typeMismatch` if its value can't become a `Value`; nothing is registered.
  public func observe<Value>(
    _ keyPath: String, as type: Value.Type, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (ForeignObject, KeyValueObservedChange<Value>) -> Void
  ) throws -> KeyValueObservation {
    try check(keyPath, becomes: type)
    return try register(keyPath, options) { object, change in
      changeHandler(object, KeyValueObservedChange(converting: change))
    }
  }

  /// Who is registered with the object. Any thread.
  public var observationInfo: ObservationInfo { ObservationInfo(of: header) }
}

// MARK: Values

extension ForeignObject {
  private func withValue<R>(
    of key: String, _ body: (UnsafePointer<kvo_value>) throws -> R
  ) throws -> R {
    var value = kvo_value()
    let error = try key.withKey(className) { key in
      failure { kvo_value_for_key(header, key, &value, $0) }
    }
    if let error {
      throw KeyValueError(error, key: key, className: className)
    }
    defer { kvo_value_destroy(&value) }
    return try body(&value)
  }

  /// The value of a key or key path as a Swift type: a number of another type converted, a C struct as a Swift struct
  /// or tuple that has the same scalars at the same places, text, objects, collections.
  ///
  /// ```swift
  /// struct Point { var x, y: Double }
  /// let target = try voice.value(forKeyPath: "target", as: Point.self)
  /// ```
  ///
  /// - Throws: what `value(forKeyPath:)` throws, and `KeyValueError.typeMismatch` for what can't become one.
  public func value<Value>(
    forKeyPath keyPath: String, as type: Value.Type = Value.self
  ) throws -> Value {
    var value = kvo_value()
    let error = try keyPath.withKey(className) { keyPath in
      failure { kvo_value_for_key_path(header, keyPath, &value, $0) }
    }
    if let error { throw KeyValueError(error, key: keyPath, className: className) }
    defer { kvo_value_destroy(&value) }
    if let read = ForeignValue.read(&value, as: type) { return read }
    throw KeyValueError.typeMismatch(
      key: keyPath, className: className, expected: swiftName(of: type),
      found: kvo_value_is_nil(&value) ? "nil" : ForeignValue.typeName(of: &value))
  }

  private func set(
    _ value: UnsafePointer<kvo_value>?, forKey key: String, from original: Any?
  ) throws {
    let error = try key.withKey(className) { key in
      failure { kvo_set_value_for_key(header, key, value, $0) }
    }
    guard let error else { return }
    if error.status == .KVO_TYPE_MISMATCH, let original { throw mismatch(key, original) }
    throw KeyValueError(error, key: key, className: className)
  }

  /// A value of the key's struct type, if the key has one of that size.
  private func structure(_ value: Any, forKey key: String) -> kvo_value? {
    try? withValue(of: key) { present in
      present.pointee.type.flatMap { ForeignValue.structure(value, as: $0) }
    }
  }

  private func mismatch(_ key: String, _ value: Any) -> KeyValueError {
    let expected = try? withValue(of: key) { ForeignValue.typeName(of: $0) }
    return .typeMismatch(
      key: key, className: className, expected: expected ?? "another type",
      found: typeName(of: value))
  }

  private func check<Value>(_ key: String, becomes type: Value.Type) throws {
    // Paths are the core's to judge.
    guard !key.utf8.contains(UInt8(ascii: ".")) else { return }
    try withValue(of: key) { present in
      guard !kvo_value_is_nil(present), ForeignValue.read(present, as: type) == nil else { return }
      throw KeyValueError.typeMismatch(
        key: key, className: className, expected: ForeignValue.typeName(of: present),
        found: swiftName(of: type))
    }
  }
}

// MARK: Registration

extension ForeignObject {
  private func register(
    _ key: String, _ options: KeyValueObservingOptions,
    _ deliver: @escaping (ForeignObject, OpaquePointer) -> Void
  ) throws -> KeyValueObservation {
    let token = KeyValueObservation()
    let error = try key.withKey(className) { register($0, options, token, deliver) }
    if let error { throw KeyValueError(error, key: key, className: className) }
    return token
  }

  private func register(
    _ key: UnsafePointer<CChar>, _ options: KeyValueObservingOptions,
    _ token: KeyValueObservation, _ deliver: @escaping (ForeignObject, OpaquePointer) -> Void
  ) -> CoreError? {
    let handler = Unmanaged.passRetained(ForeignHandler(self, deliver))
    let error = failure {
      kvo_add_callback(
        header, key, options.cOptions, ForeignHandler.call, handler.toOpaque(), ForeignHandler.end,
        token.handleAddress, $0)
    }
    if error != nil { handler.release() }
    return error
  }

  /// What Swift sees of an object that the C runtime shows: a Swift object as itself, one of C
  /// retained.
  static func swiftValue(of header: UnsafeMutablePointer<kvo_object>) -> AnyObject {
    kvo_class_is_subclass_of(kvo_class_of(header), CoreBinding.root)
      ? KVOObject.at(header) : ForeignObject(OpaquePointer(header))
  }
}

/// What a registration with a C object keeps, as `Handler` is for Swift's.
private final class ForeignHandler {
  // Weak: a registration keeps neither the C object nor what stands for it.
  private weak var object: ForeignObject?
  private let deliver: (ForeignObject, OpaquePointer) -> Void

  init(_ object: ForeignObject, _ deliver: @escaping (ForeignObject, OpaquePointer) -> Void) {
    self.object = object
    self.deliver = deliver
  }

  static let call: kvo_callback = { handler, header, _, change in
    Unmanaged<ForeignHandler>.fromOpaque(handler!)._withUnsafeGuaranteedRef { handler in
      handler.deliver(handler.object ?? ForeignObject(OpaquePointer(header)), change)
    }
  }

  static let end: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
    Unmanaged<ForeignHandler>.fromOpaque($0!).release()
  }
}
