internal import CKVORuntime

/// What the runtime needs to know of a Swift type so that its values travel through the C core
/// without being converted: a `kvo_type` whose functions come back here. One per type, for ever.
class ValueType: @unchecked Sendable {
  // Immutable after init, and so is what it points to: that is why this class is Sendable.
  let cType: UnsafePointer<kvo_type>
  let swiftType: Any.Type
  /// What takes nil.
  let isOptional: Bool
  /// Of an array or a set, optional or not.
  let shape: CollectionShape?

  fileprivate init(
    _ description: consuming kvo_type, _ swiftType: Any.Type, isOptional: Bool,
    shape: CollectionShape?
  ) {
    let cType = UnsafeMutablePointer<kvo_type>.allocate(capacity: 1)
    cType.initialize(to: description)
    cType.pointee.operations = Self.makeOperations(shape)
    self.cType = UnsafePointer(cType)
    self.swiftType = swiftType
    self.isOptional = isOptional
    self.shape = shape
    // This lives for ever: `of` keeps it.
    cType.pointee.binding = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  private static func makeOperations(
    _ shape: CollectionShape?
  ) -> UnsafePointer<kvo_type_operations>? {
    guard let shape else { return nil }
    let operations = UnsafeMutablePointer<kvo_type_operations>.allocate(capacity: 1)
    operations.initialize(to: kvo_type_operations())
    operations.pointee.is_nil = shape.isOptional ? isNil : nil
    operations.pointee.collection = shape.makeOperations()
    return UnsafePointer(operations)
  }

  /// The value at an address; nil for a nil optional, never an optional inside.
  func any(at address: UnsafeRawPointer) -> Any? { nil }
  /// What key-value coding makes of a value that shall become one of this type.
  func convert(_ value: Any?) -> Conversion { .mismatch }
  /// Overwrites the value at an address with one of this type.
  func assign(_ value: ConvertedValue, at address: UnsafeMutableRawPointer) {}

  fileprivate func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {}
  fileprivate func destroy(_ value: UnsafeMutableRawPointer) {}
  fileprivate func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool { false }

  /// What came of a conversion.
  enum Conversion {
    /// A value of this very type.
    case value(ConvertedValue)
    /// Nil for a type that has none.
    case unexpectedNil
    /// Something that can't become this type.
    case mismatch
  }
}

/// A value of a type that the holder knows. Not an `Any`, whose casts lose count of optionals.
class ConvertedValue {
  static func of<T>(_ value: T) -> ConvertedValue { Box(value) }

  func unbox<T>(as type: T.Type) -> T { unsafeDowncast(self, to: Box<T>.self).value }
  /// Where the value is, to be read or overwritten.
  func withAddress<R>(_ body: (UnsafeMutableRawPointer) -> R) -> R { fatalError("abstract") }

  private final class Box<T>: ConvertedValue {
    var value: T
    init(_ value: T) { self.value = value }

    override func withAddress<R>(_ body: (UnsafeMutableRawPointer) -> R) -> R {
      withUnsafeMutablePointer(to: &value) { body(UnsafeMutableRawPointer($0)) }
    }
  }
}

extension ValueType {
  private static let known = ForeverMap<ValueType>()

  /// The one description of a type. O(1) after the first call. Any thread.
  static func of<T>(_ type: T.Type) -> ValueType {
    // A type's metadata has one address, for ever.
    let address = unsafeBitCast(type as Any.Type, to: UnsafeRawPointer.self)
    return known[address] ?? known.insert(make(type), at: address)
  }

  private static func make<T>(_ type: T.Type) -> ValueType {
    if let optional = type as? any OptionalValue.Type { return optional.makeValueType() }
    let collection = type as? any CollectionValue.Type
    return TypedValueType<T>(shape: collection?.makeShape(isOptional: false))
  }

  /// The description that a `kvo_type` of this binding carries.
  static func of(_ cType: UnsafePointer<kvo_type>) -> ValueType {
    Unmanaged<ValueType>.fromOpaque(cType.pointee.binding!).takeUnretainedValue()
  }

  /// A core value that is a `T`; nil if it is something else.
  static func value<T>(of value: UnsafePointer<kvo_value>) -> T? {
    guard value.pointee.type == of(T.self).cType else { return nil }
    return kvo_value_bytes(value)?.assumingMemoryBound(to: T.self).pointee
  }

  /// A core value as Swift's, nil for a nil one.
  static func any(of value: UnsafePointer<kvo_value>) -> Any? {
    guard let cType = value.pointee.type, let bytes = kvo_value_bytes(value) else { return nil }
    if cType.pointee.kind == .KVO_KIND_BINDING { return of(cType).any(at: bytes) }
    return ForeignValue.any(of: value, type: cType)
  }
}

private class TypedValueType<T>: ValueType, @unchecked Sendable {
  init(isOptional: Bool = false, shape: CollectionShape? = nil) {
    super.init(Self.description, T.self, isOptional: isOptional, shape: shape)
  }

  override func any(at address: UnsafeRawPointer) -> Any? {
    let value: Any = address.assumingMemoryBound(to: T.self).pointee
    // An existential may hold an optional.
    return type(of: value) == T.self ? value : flattened(value)
  }

  override func convert(_ value: Any?) -> Conversion {
    if let same = value as? T, type(of: same as Any) == T.self { return .value(.of(same)) }
    guard let value = value.flatMap(flattened) else { return .unexpectedNil }
    return ValueConversion.convert(value, to: T.self).map { .value(.of($0)) } ?? .mismatch
  }

  override func assign(_ value: ConvertedValue, at address: UnsafeMutableRawPointer) {
    address.assumingMemoryBound(to: T.self).pointee = value.unbox(as: T.self)
  }

  override func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {
    let source = source.assumingMemoryBound(to: T.self)
    target.assumingMemoryBound(to: T.self).initialize(to: source.pointee)
  }

  override func destroy(_ value: UnsafeMutableRawPointer) {
    value.assumingMemoryBound(to: T.self).deinitialize(count: 1)
  }

  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    guard let equatable = T.self as? any Equatable.Type else { return false }
    return areEqual(a, b, as: equatable)
  }

  private func areEqual<E: Equatable>(
    _ a: UnsafeRawPointer, _ b: UnsafeRawPointer, as type: E.Type
  ) -> Bool {
    a.assumingMemoryBound(to: type).pointee == b.assumingMemoryBound(to: type).pointee
  }

  // Values without references are copied as bytes, by the core itself.
  private static var description: kvo_type {
    kvo_type(
      encoding: KeyName.of(className(of: T.self)).interned,
      size: MemoryLayout<T>.size,
      alignment: MemoryLayout<T>.alignment,
      kind: .KVO_KIND_BINDING,
      copy: _isPOD(T.self) ? nil : copyValue,
      destroy: _isPOD(T.self) ? nil : destroyValue,
      equal: T.self is any Equatable.Type ? compareValues : nil,
      describe: describeValue,
      binding: nil,
      operations: nil)
  }
}

/// Optionals know what they wrap, which is cheaper than asking a value whether it is one.
private final class OptionalValueType<Wrapped>: TypedValueType<Wrapped?>, @unchecked Sendable {
  private let wrapped = ValueType.of(Wrapped.self)

  init() {
    let collection = Wrapped.self as? any CollectionValue.Type
    super.init(isOptional: true, shape: collection?.makeShape(isOptional: true))
  }

  override func any(at address: UnsafeRawPointer) -> Any? {
    guard let value = address.assumingMemoryBound(to: Wrapped?.self).pointee else { return nil }
    return withUnsafePointer(to: value) { wrapped.any(at: $0) }
  }

  override func convert(_ value: Any?) -> Conversion {
    guard let value = value.flatMap(flattened) else { return .value(.of(Wrapped?.none)) }
    guard case .value(let converted) = wrapped.convert(value) else { return .mismatch }
    return .value(.of(Wrapped?.some(converted.unbox(as: Wrapped.self))))
  }
}

/// An optional, whatever it wraps.
private protocol OptionalValue {
  /// What is inside, nil or not an optional itself.
  var innermost: Any? { get }
  static func makeValueType() -> ValueType
}

extension Optional: OptionalValue {
  fileprivate var innermost: Any? { flatMap { flattened($0) } }
  fileprivate static func makeValueType() -> ValueType { OptionalValueType<Wrapped>() }
}

/// The value without optionals around it.
func flattened(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalValue else { return value }
  return optional.innermost
}

/// A value as it stands in a dictionary or array of `Any`: nil is present, as an empty optional.
func present(_ value: Any?) -> Any {
  value ?? (Any?.none as Any)
}

// MARK: The functions that the core calls

private let copyValue:
  @convention(c) (UnsafePointer<kvo_type>, UnsafeMutableRawPointer, UnsafeRawPointer) -> Void = {
    ValueType.of($0).copy($2, to: $1)
  }

private let destroyValue:
  @convention(c) (UnsafePointer<kvo_type>, UnsafeMutableRawPointer) -> Void = {
    ValueType.of($0).destroy($1)
  }

private let compareValues:
  @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeRawPointer) -> Bool = {
    ValueType.of($0).areEqual($1, $2)
  }

private let isNil: @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer) -> Bool = {
  ValueType.of($0).any(at: $1) == nil
}

private let describeValue:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeMutablePointer<CChar>, Int
  ) -> Int = {
    let value = ValueType.of($0).any(at: $1)
    return write(value.map { String(describing: $0) } ?? "nil", to: $2, capacity: $3)
  }

/// Writes as snprintf does: at most `capacity` bytes with the NUL; returns the whole length.
func write(_ text: String, to buffer: UnsafeMutablePointer<CChar>, capacity: Int) -> Int {
  let bytes = text.utf8
  guard capacity > 0 else { return bytes.count }
  var end = buffer
  for byte in bytes.prefix(capacity - 1) {
    end.pointee = CChar(bitPattern: byte)
    end += 1
  }
  end.pointee = 0
  return bytes.count
}
