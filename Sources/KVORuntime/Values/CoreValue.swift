package import CKVORuntime

/// An object that the C core treats as an object: both kinds have the header that it needs. Values of other
/// types are copied into core values and out of them, with the `kvo_type` of their own Swift type
/// (`ValueType`).
protocol CoreObject: AnyObject {
  var coreHeader: UnsafeMutablePointer<kvo_object> { get }
}

extension KVOObject: CoreObject {
  var coreHeader: UnsafeMutablePointer<kvo_object> { boundHeader }
}

extension ForeignObject: CoreObject, DescribedValue {
  var coreHeader: UnsafeMutablePointer<kvo_object> { header }
  static func makeValueType() -> ValueType { CoreObjectValueType<ForeignObject>() }
}

/// Converts Swift values of any type to values of the C core, and back.
enum CoreValue {
  /// Initialises a core value with a Swift one, of the value's dynamic type.
  static func make(of value: Any?, into target: UnsafeMutablePointer<kvo_value>) {
    func open<T>(_ value: T) {
      withUnsafePointer(to: value) { ValueType.of(T.self).read($0, into: target) }
    }
    guard let value = value.flatMap(flattened) else { return target.initialize(to: kvo_value()) }
    _openExistential(value, do: open)
  }

  /// Returns a core value of a Swift one. The caller destroys it.
  static func of(_ value: Any?) -> kvo_value {
    var made = kvo_value()
    make(of: value, into: &made)
    return made
  }

  /// Calls a body with a core value, which is destroyed afterwards.
  static func with<R>(
    _ value: Any?, _ body: (UnsafeMutablePointer<kvo_value>) throws -> R
  ) rethrows -> R {
    var made = of(value)
    defer { kvo_value_destroy(&made) }
    return try body(&made)
  }

  /// Converts a number to a number type of the core, without loss if one can represent it. Nil if the value
  /// is not a number.
  static func number(_ value: Any) -> kvo_value? {
    switch value {
    case let truth as Bool: kvo_value_bool(truth)
    case let integer as any BinaryInteger: whole(integer)
    case let real as any BinaryFloatingPoint: kvo_value_double(Double(real))
    default: nil
    }
  }

  private static func whole<I: BinaryInteger>(_ value: I) -> kvo_value {
    if let signed = Int64(exactly: value) { return kvo_value_int(signed) }
    guard var unsigned = UInt64(exactly: value), let type = kvo_type_for_encoding("Q", nil) else {
      return kvo_value_double(Double(value))
    }
    var made = kvo_value()
    // Needs no memory for a word, so it can't fail.
    _ = kvo_value_init(&made, type, &unsigned)
    return made
  }
}

extension ValueType {
  /// Converts a core value to a Swift one; nil for nil.
  package static func any(of value: UnsafePointer<kvo_value>) -> Any? {
    guard let cType = value.pointee.type, let bytes = kvo_value_bytes(value) else { return nil }
    if cType.pointee.kind == .KVO_KIND_BINDING { return of(cType).any(at: bytes) }
    return ForeignValue.any(of: value, type: cType)
  }

  /// Converts a core value to a Swift one that is to be converted to a type. A C `long double` stays exact for a
  /// number, which may be a `Float80`. For any other type it is a `Double`, which every platform has.
  static func any(of value: UnsafePointer<kvo_value>, for type: ValueType?) -> Any? {
    guard let exact = ForeignValue.longDouble(of: value), let type,
      ValueConversion.isNumber(type.swiftType)
    else { return any(of: value) }
    return exact
  }

  /// The type for the core, if its values fit into a word and need no destruction; otherwise nil.
  package var wordType: UnsafePointer<kvo_type>? {
    cType.pointee.destroy == nil && cType.pointee.size <= 8 ? cType : nil
  }

  /// The value that has the bytes of a word.
  package func any(ofWord word: UInt64) -> Any? {
    withUnsafePointer(to: word) { any(at: $0) }
  }
}
