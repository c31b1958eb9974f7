internal import CKVORuntime

/// What the core knows as an object: both sorts have the header that it takes. Other values travel as their own
/// Swift type's `kvo_type` (`ValueType`), copied into the core's value and out of it.
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

/// Swift values of any type as values of the core, and back.
enum CoreValue {
  /// Makes an uninitialised core value of a Swift one, of its own type.
  static func make(of value: Any?, into target: UnsafeMutablePointer<kvo_value>) {
    func open<T>(_ value: T) {
      withUnsafePointer(to: value) { ValueType.of(T.self).read($0, into: target) }
    }
    guard let value = value.flatMap(flattened) else { return target.initialize(to: kvo_value()) }
    _openExistential(value, do: open)
  }

  /// A core value of a Swift one, which the caller destroys.
  static func of(_ value: Any?) -> kvo_value {
    var made = kvo_value()
    make(of: value, into: &made)
    return made
  }

  /// Calls with a core value that ends with the call.
  static func with<R>(
    _ value: Any?, _ body: (UnsafeMutablePointer<kvo_value>) throws -> R
  ) rethrows -> R {
    var made = of(value)
    defer { kvo_value_destroy(&made) }
    return try body(&made)
  }

  /// A number as one of the core's, without loss where there is one that has it; nil of what is none.
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
    // No memory is needed for a word.
    _ = kvo_value_init(&made, type, &unsigned)
    return made
  }
}

extension ValueType {
  /// A core value as Swift's, nil for a nil one.
  static func any(of value: UnsafePointer<kvo_value>) -> Any? {
    guard let cType = value.pointee.type, let bytes = kvo_value_bytes(value) else { return nil }
    if cType.pointee.kind == .KVO_KIND_BINDING { return of(cType).any(at: bytes) }
    return ForeignValue.any(of: value, type: cType)
  }
}
