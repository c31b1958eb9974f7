internal import CKVORuntime

/// An optional type, which knows the type that it wraps; that is cheaper than testing each value for being an
/// optional. Key-value coding sees the wrapped value.
final class OptionalValueType<Wrapped>: TypedValueType<Wrapped?>, @unchecked Sendable {
  private let wrapped: ValueType

  init() {
    wrapped = ValueType.of(Wrapped.self)
    var abilities = wrapped.abilities.intersection(.ofContent).union(.wrapper)
    // An optional of an optional reference is not stored as a reference if it is nil.
    if wrapped.isOptional, abilities.remove(.reference) != nil { abilities.insert(.object) }
    super.init(isOptional: true, abilities, shape: wrapped.optionalShape)
  }

  override var mayHoldNaN: Bool { wrapped.mayHoldNaN }

  // Compares level by level, since nil differs from `.some(nil)`.
  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    if isAbsent(at: a) || isAbsent(at: b) { return isAbsent(at: a) && isAbsent(at: b) }
    let areEqual = withContent(at: a) { first in
      withContent(at: b) { second in wrapped.areEqual(first, second) }
    }
    return (areEqual ?? false) ?? false
  }

  override func any(at address: UnsafeRawPointer) -> Any? {
    withContent(at: address) { wrapped.any(at: $0) } ?? nil
  }

  override func convert(_ value: Any?) -> Conversion {
    guard let value = value.flatMap(flattened) else { return .value(.of(Wrapped?.none)) }
    switch wrapped.convert(value) {
    // `NSNull` is nil for the wrapped optional, and so for this one.
    case .value(let converted) where converted.withAddress({ wrapped.isAbsent(at: $0) }):
      return .value(.of(Wrapped?.none))
    case .value(let converted): return .value(.of(Wrapped?.some(converted.unbox(as: Wrapped.self))))
    case .unexpectedNil: return .value(.of(Wrapped?.none))
    case .mismatch: return .mismatch
    }
  }

  override func convertContent(_ value: Any?) -> Conversion {
    guard case .value(let converted) = wrapped.convert(value) else { return wrapped.convert(value) }
    return .value(.of(Wrapped?.some(converted.unbox(as: Wrapped.self))))
  }

  override func found(_ value: Any?) -> String { wrapped.found(value) }

  override func isAbsent(at address: UnsafeRawPointer) -> Bool {
    address.assumingMemoryBound(to: Wrapped?.self).pointee == nil
  }

  override func isNil(at address: UnsafeRawPointer) -> Bool {
    withContent(at: address) { wrapped.isNil(at: $0) } ?? true
  }

  override func read(_ address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    guard withContent(at: address, { wrapped.read($0, into: value) }) == nil else { return }
    value.initialize(to: kvo_value())
  }

  // The unretained result stays valid: the optional retains the object.
  override func object(at address: UnsafeRawPointer) -> UnsafeMutablePointer<kvo_object>? {
    withContent(at: address) { wrapped.object(at: $0) } ?? nil
  }

  override func detach(at address: UnsafeMutableRawPointer) -> Bool {
    let stored = address.assumingMemoryBound(to: Wrapped?.self)
    guard var content = stored.pointee,
      withUnsafeMutablePointer(to: &content, { wrapped.detach(at: $0) })
    else { return false }
    stored.pointee = content
    return true
  }

  override func value(
    forKey key: String, at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>
  ) {
    value.initialize(to: kvo_value())
    withContent(at: address) { wrapped.value(forKey: key, at: $0, into: value) }
  }

  override func values(at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    value.initialize(to: kvo_value())
    withContent(at: address) { wrapped.values(at: $0, into: value) }
  }

  @discardableResult
  private func withContent<R>(at address: UnsafeRawPointer, _ body: (UnsafeRawPointer) -> R) -> R? {
    guard let content = address.assumingMemoryBound(to: Wrapped?.self).pointee else { return nil }
    return withUnsafePointer(to: content) { body($0) }
  }
}

extension Optional: DescribedValue {
  static func makeValueType() -> ValueType { OptionalValueType<Wrapped>() }
}

/// Any optional type.
package protocol OptionalType {
  static var wrappedType: Any.Type { get }
}

extension Optional: OptionalType {
  package static var wrappedType: Any.Type { Wrapped.self }
}

/// The type without the outermost optional.
package func unwrapped(_ type: Any.Type) -> Any.Type {
  (type as? any OptionalType.Type)?.wrappedType ?? type
}

/// Any optional value.
private protocol OptionalValue {
  /// The wrapped value, unwrapped on all levels.
  var innermost: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var innermost: Any? { flatMap { flattened($0) } }
}

/// The value without optionals around it.
package func flattened(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalValue else { return value }
  return optional.innermost
}

/// Casts an object, which may be in an `AnyHashable`, to a class or to a protocol of classes. Nil for a value that is
/// not an object.
///
/// `value as? T` first bridges such a value to an object of Foundation's, to cast that. This takes time, and overflows
/// the stack for a set of decimal numbers.
package func objectCast<T>(_ value: Any?, to type: T.Type) -> T? {
  guard let object = value.flatMap(flattened).map(ValueConversion.base),
    Swift.type(of: object) is AnyClass
  else { return nil }
  return object as? T
}

/// A value as an element of `Any`: nil is present, as an empty optional.
func present(_ value: Any?) -> Any {
  value ?? (Any?.none as Any)
}
