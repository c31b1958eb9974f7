internal import CKVORuntime
internal import Synchronization

/// A retained object of the C runtime, for key-value coding and observing from Swift.
///
/// ```swift
/// let account = ForeignObject(OpaquePointer(c_account))
/// let token = try account.observe("balance", as: Double.self, options: .new) { _, change in
///   print(change.newValue!)
/// }
/// ```
///
/// Several `ForeignObject`s may represent the same C object. Reading and setting values calls the object's
/// accessors on the calling thread, so the C class decides which threads may do that.
public final class ForeignObject: KeyValueObserving {
  let header: UnsafeMutablePointer<kvo_object>

  /// Creates a Swift representative of a C object.
  ///
  /// - Parameter object: a `kvo_object *`, retained here.
  public init(_ object: OpaquePointer) {
    header = kvo_object_retain(UnsafeMutablePointer(object))
  }

  deinit {
    kvo_object_release(header)
  }

  /// The name of the object's class, never that of the dynamic subclass.
  public var className: String {
    String(cString: kvo_class_name(kvo_class_of(header)))
  }

  /// Returns the value of a key, converted to a Swift type.
  ///
  /// Integers become `Int`, or `UInt` if they are unsigned and have 64 bits. Other types become `Bool`,
  /// `Float`, `Double`, `String`, `ForeignObject`, `KVOObject`, or a raw pointer. A `long double` becomes a
  /// `Double`, which may round it: on x86-64, read it as a `Float80` by `value(forKeyPath:as:)`. The bytes of a
  /// struct become `[UInt8]`, a collection `[Any]` or `Set<AnyHashable>`.
  ///
  /// - Returns: the value; nil for a null string, object or pointer.
  /// - Throws: `KeyValueError.undefinedKey` if neither the class nor its hook for undefined keys has the key.
  public func value(forKey key: String) throws -> Any? {
    try withValue(of: key) { ValueType.any(of: $0) }
  }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: a value that can be converted to the property's type. Numbers are converted. A struct may be
  ///     a Swift value of the same size, a collection an array or a set.
  ///   - key: the key.
  /// - Throws: `KeyValueError`; then nothing has changed.
  public func setValue(_ value: Any?, forKey key: String) throws {
    guard let value = value.flatMap(flattened) else { return try set(nil, forKey: key, from: nil) }
    // Bytes that were read from a struct become a struct again.
    let isBytes = value is [UInt8]
    var made =
      (isBytes ? structure(value, forKey: key) : nil) ?? ForeignValue.make(from: value)
      ?? structure(value, forKey: key) ?? CoreValue.of(value)
    defer { kvo_value_destroy(&made) }
    try set(&made, forKey: key, from: value)
  }

  /// Returns the value at the end of a key path, which may lead through objects of C and of Swift.
  ///
  /// - Returns: the value, converted as by `value(forKey:)`.
  /// - Throws: `KeyValueError`.
  public func value(forKeyPath keyPath: String) throws -> Any? {
    guard KeyPathCoding.isPath(keyPath) else { return try value(forKey: keyPath) }
    return try KeyPathCoding.value(keyPath, of: self)
  }

  /// Sets the value at the end of a key path, which may lead through objects of C and of Swift.
  ///
  /// - Throws: `KeyValueError`; then nothing has changed.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) throws {
    guard KeyPathCoding.isPath(keyPath) else { return try setValue(value, forKey: keyPath) }
    try KeyPathCoding.setValue(value, keyPath, of: self)
  }

  /// Calls a handler on each change of a key or key path, on the thread of the change.
  ///
  /// Numbers are converted to `Value`. A struct becomes any Swift type that has the same scalars at the same
  /// offsets. Neither the C object nor this `ForeignObject` is retained.
  ///
  /// - Parameters:
  ///   - keyPath: a key or key path of the C object.
  ///   - type: the type of the values in a change.
  ///   - options: what a change contains, and when the handler is called.
  ///   - changeHandler: called with the object and the change.
  /// - Returns: a token; releasing it ends the observation.
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key, `KeyValueError.typeMismatch` if
  ///   its value can't be converted to `Value`. Then nothing is registered. A value that is nil now is converted when it
  ///   changes; if that fails, it is reported as misuse, and the change has no value.
  public func observe<Value>(
    _ keyPath: String, as type: Value.Type, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (ForeignObject, KeyValueObservedChange<Value>) -> Void
  ) throws -> KeyValueObservation {
    try check(keyPath, becomes: type)
    let values = ChangedValues<Value>(of: keyPath)
    return try register(keyPath, options) { object, change in
      changeHandler(object, values.convert(change, of: object))
    }
  }

  /// The object's registrations. May be used on any thread.
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

  /// Returns the value of a key or key path as a Swift type.
  ///
  /// ```swift
  /// struct Point { var x, y: Double }
  /// let target = try voice.value(forKeyPath: "target", as: Point.self)
  /// ```
  ///
  /// Numbers, strings, objects and collections are converted. A C struct becomes a Swift struct or tuple that
  /// has the same scalars at the same offsets.
  ///
  /// - Throws: the errors of `value(forKeyPath:)`; `KeyValueError.typeMismatch` if the value can't be
  ///   converted.
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
    if error.status == .KVO_TYPE_MISMATCH, let original {
      throw mismatch(key, original, expected: error.expected)
    }
    throw KeyValueError(error, key: key, className: className)
  }

  /// A value of the key's struct type; nil if the key has no struct of that size.
  private func structure(_ value: Any, forKey key: String) -> kvo_value? {
    try? withValue(of: key) { present in
      present.pointee.type.flatMap { ForeignValue.structure(value, as: $0) }
    }
  }

  private func mismatch(_ key: String, _ value: Any, expected cName: String) -> KeyValueError {
    // A nil value has no type.
    let present = try? withValue(of: key) {
      kvo_value_is_nil($0) ? nil : ForeignValue.typeName(of: $0)
    }
    let hasNUL = ValueConversion.convert(value, to: String.self)?.utf8.contains(0) ?? false
    return .typeMismatch(
      key: key, className: className,
      expected: (present ?? nil) ?? (cName.isEmpty ? "another type" : swiftName(cName)),
      found: typeName(of: value) + (hasNUL ? " with a NUL, where a C string would end" : ""))
  }

  // The core checks the key path.
  private func check<Value>(_ keyPath: String, becomes type: Value.Type) throws {
    var present = kvo_value()
    let error = try keyPath.withKey(className) { keyPath in
      failure { kvo_value_for_key_path(header, keyPath, &present, $0) }
    }
    if error != nil { return }
    defer { kvo_value_destroy(&present) }
    guard !kvo_value_is_nil(&present), ForeignValue.read(&present, as: type) == nil else { return }
    throw KeyValueError.typeMismatch(
      key: keyPath, className: className, expected: ForeignValue.typeName(of: &present),
      found: swiftName(of: type))
  }
}

/// The values of a registration's changes. Those that can't be converted are absent, which is reported once.
private final class ChangedValues<Value>: Sendable {
  private let keyPath: String
  private let isReported = Atomic(false)

  init(of keyPath: String) { self.keyPath = keyPath }

  func convert(
    _ change: OpaquePointer, of object: ForeignObject
  ) -> KeyValueObservedChange<Value> {
    func read(_ value: UnsafePointer<kvo_value>) -> Value? {
      let converted = ForeignValue.read(value, as: Value.self)
      if converted == nil, !kvo_value_is_nil(value) { report(value, of: object) }
      return converted
    }
    return KeyValueObservedChange(
      change, newValue: kvo_change_get_new(change).flatMap(read),
      oldValue: kvo_change_get_old(change).flatMap(read))
  }

  private func report(_ value: UnsafePointer<kvo_value>, of object: ForeignObject) {
    guard !isReported.exchange(true, ordering: .relaxed) else { return }
    KVODiagnostics.report(
      misuse: """
        \(quoted(keyPath)) of \(object.className) is observed as \(swiftName(of: Value.self)), and is \
        \(ForeignValue.typeName(of: value)): its change is delivered without that value.
        """)
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
    _ = HandlerName.isAskedFor
    let handler = Unmanaged.passRetained(ForeignHandler(self, deliver))
    let error = failure {
      kvo_add_callback(
        header, key, options.cOptions, ForeignHandler.call, handler.toOpaque(), ForeignHandler.end,
        token.handleAddress, $0)
    }
    if error != nil { handler.release() }
    return error
  }

  /// Converts an object of the C runtime: a Swift object to itself, a C object to a `ForeignObject`, which
  /// retains it.
  static func swiftValue(of header: UnsafeMutablePointer<kvo_object>) -> AnyObject {
    kvo_class_is_subclass_of(kvo_class_of(header), CoreBinding.root)
      ? KVOObject.at(header) : ForeignObject(OpaquePointer(header))
  }
}

/// The context of a registration with a C object; `Handler` is its counterpart for Swift objects.
final class ForeignHandler {
  // Weak: a registration retains neither the C object nor its `ForeignObject`.
  private weak var object: ForeignObject?
  private let deliver: (ForeignObject, OpaquePointer) -> Void

  fileprivate init(
    _ object: ForeignObject, _ deliver: @escaping (ForeignObject, OpaquePointer) -> Void
  ) {
    self.object = object
    self.deliver = deliver
  }

  static let call: kvo_callback = { handler, header, _, change in
    Unmanaged<ForeignHandler>.fromOpaque(handler!)._withUnsafeGuaranteedRef { handler in
      handler.deliver(handler.object ?? ForeignObject(OpaquePointer(header)), change)
    }
  }

  fileprivate static let end: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
    Unmanaged<ForeignHandler>.fromOpaque($0!).release()
  }
}
