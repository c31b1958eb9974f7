internal import CKVORuntime

/// Converts values of the C runtime's own types to Swift values and back, for `ForeignObject` and
/// `ForeignCollection`. A struct is represented by its bytes.
enum ForeignValue {
  /// Converts a C value as documented at `ForeignObject.value(forKey:)`.
  static func any(of value: UnsafePointer<kvo_value>, type: UnsafePointer<kvo_type>) -> Any? {
    switch type.pointee.kind {
    case .KVO_KIND_BOOL: kvo_value_get_bool(value)
    case .KVO_KIND_FLOAT: Float(kvo_value_get_double(value))
    case .KVO_KIND_DOUBLE, .KVO_KIND_LONG_DOUBLE: kvo_value_get_double(value)
    case .KVO_KIND_UINT64: UInt(bitPattern: Int(kvo_value_get_int(value)))
    case .KVO_KIND_STRING: kvo_value_get_string(value).map { String(cString: $0) }
    case .KVO_KIND_OBJECT:
      kvo_collection_of_value(value).map { ForeignCollection.swiftValue(of: $0) }
        ?? kvo_value_get_object(value).map { ForeignObject.swiftValue(of: $0) }
    case .KVO_KIND_POINTER, .KVO_KIND_SELECTOR:
      bytes(of: value).flatMap { $0.load(as: UnsafeMutableRawPointer?.self) }
    case .KVO_KIND_STRUCT: bytes(of: value).map { Array($0) }
    default: Int(kvo_value_get_int(value))
    }
  }

  /// The name of a C value's type for messages: the Swift type that represents it, or the encoding of a
  /// struct.
  static func typeName(of value: UnsafePointer<kvo_value>) -> String {
    guard let type = value.pointee.type, let swiftValue = ValueType.any(of: value) else {
      return "another type"
    }
    return type.pointee.kind == .KVO_KIND_STRUCT
      ? String(cString: type.pointee.encoding) : swiftName(of: Swift.type(of: swiftValue))
  }

  /// Converts a C value to a Swift type; nil if that is not possible.
  static func read<Value>(_ value: UnsafePointer<kvo_value>, as type: Value.Type) -> Value? {
    if let same = bits(of: value, as: type) ?? elements(of: value, as: type) { return same }
    // Bytes of a struct are not converted to an array of numbers.
    let isStruct = value.pointee.type?.pointee.kind == .KVO_KIND_STRUCT
    guard !isStruct || [UInt8].self is Value.Type else { return nil }
    let found = ValueType.any(of: value, for: .of(type))
    // Setting converts a text to a number, but reading does not.
    guard !(found is String) || !ValueConversion.isNumber(type) else { return nil }
    let conversion = ValueType.of(type).convert(found)
    guard case .value(let converted) = conversion else { return nil }
    return converted.unbox(as: type)
  }

  /// Converts a Swift value to a C value, which the caller destroys; nil if C has no type for it.
  static func make(from value: Any) -> kvo_value? {
    let value = ValueConversion.base(of: value)
    // Swift would cast some of Foundation's numbers to its own number types.
    guard !(Swift.type(of: value) is AnyClass) || value is any CoreObject else {
      return scalar(value) ?? AnyElements(value).flatMap { collection(of: $0) }
    }
    if let object = objectCast(value, to: (any CoreObject).self) {
      return kvo_value_object(object.coreHeader)
    }
    return switch value {
    case let truth as Bool: kvo_value_bool(truth)
    case let number as UInt: unsigned(UInt64(number))
    case let number as UInt64: unsigned(number)
    case let number as any BinaryInteger: CoreValue.number(number)
    case let number as any BinaryFloatingPoint: real(number)
    // C would take a text that contains a NUL for the part before it.
    case let string as String: string.utf8.contains(0) ? nil : kvo_value_string(string)
    case let pointer as UnsafeMutableRawPointer: make(UInt(bitPattern: pointer), encoding: "^v")
    case let pointer as UnsafeRawPointer: make(UInt(bitPattern: pointer), encoding: "^v")
    case let pointer as OpaquePointer: make(UInt(bitPattern: pointer), encoding: "^v")
    default: AnyElements(value).flatMap { collection(of: $0) } ?? scalar(value)
    }
  }

  private static func real(_ number: any BinaryFloatingPoint) -> kvo_value? {
    #if arch(x86_64)
      if let number = number as? Float80 { return make(number, encoding: "D") }
    #endif
    return kvo_value_double(Double(number))
  }

  /// The exact value of a C `long double`; nil if the value or the platform has none.
  static func longDouble(of value: UnsafePointer<kvo_value>) -> Any? {
    #if arch(x86_64)
      if value.pointee.type?.pointee.kind == .KVO_KIND_LONG_DOUBLE {
        return kvo_value_bytes(value)?.loadUnaligned(as: Float80.self)
      }
    #endif
    return nil
  }

  // Foundation's numbers, raw values, and other texts.
  private static func scalar(_ value: Any) -> kvo_value? {
    if let number = Number(value) { return make(from: number.swiftNumber) }
    if let rawValue = ValueConversion.rawValue(of: value) { return make(from: rawValue) }
    guard let text = ValueConversion.convert(value, to: String.self) else { return nil }
    return make(from: text)
  }

  // A C array or set. Its elements become C values if C has a type for them.
  private static func collection(of elements: AnyElements) -> kvo_value? {
    var values = elements.all.map { element in
      flattened(element).map { make(from: $0) ?? CoreValue.of($0) } ?? kvo_value()
    }
    defer { for index in values.indices { kvo_value_destroy(&values[index]) } }
    let kind: kvo_collection_kind = elements.isOrdered ? .KVO_ARRAY : .KVO_SET
    guard let made = kvo_collection_create(kind, values, values.count, nil) else { return nil }
    defer { kvo_object_release(UnsafeMutablePointer(made)) }
    return kvo_value_object(UnsafeMutablePointer(made))
  }

  /// Converts a Swift value with the layout of a C struct, or the struct's bytes, to that struct.
  static func structure(_ value: Any, as type: UnsafePointer<kvo_type>) -> kvo_value? {
    if let bytes = value as? [UInt8], type.pointee.kind == .KVO_KIND_STRUCT {
      var made = kvo_value()
      guard bytes.count == type.pointee.size, kvo_value_init(&made, type, bytes) == .KVO_OK
      else { return nil }
      return made
    }
    func make<T>(_ value: T) -> kvo_value? {
      guard isLaidOut(T.self, like: type) else { return nil }
      var bytes = [UInt8](repeating: 0, count: max(type.pointee.size, MemoryLayout<T>.stride))
      // The Swift value is shorter than the struct if that ends in padding.
      withUnsafeBytes(of: value) { source in
        bytes.withUnsafeMutableBytes { $0.copyMemory(from: source) }
      }
      var made = kvo_value()
      return kvo_value_init(&made, type, bytes) == .KVO_OK ? made : nil
    }
    return _openExistential(value, do: make)
  }

  private static func unsigned(_ number: UInt64) -> kvo_value? { make(number, encoding: "Q") }

  private static func make<T: BitwiseCopyable>(_ value: T, encoding: String) -> kvo_value? {
    guard let type = kvo_type_for_encoding(encoding, nil) else { return nil }
    var copy = value
    var made = kvo_value()
    return kvo_value_init(&made, type, &copy) == .KVO_OK ? made : nil
  }

  private static func bits<Value>(
    of value: UnsafePointer<kvo_value>, as type: Value.Type
  ) -> Value? {
    guard let cType = value.pointee.type, isLaidOut(type, like: cType) else { return nil }
    return kvo_value_bytes(value)?.loadUnaligned(as: type)
  }

  // Converts to a Swift collection type, element by element.
  private static func elements<Value>(
    of value: UnsafePointer<kvo_value>, as type: Value.Type
  ) -> Value? {
    let type = ValueType.of(type)
    guard type.shape != nil, kvo_value_is_collection(value, nil) else { return nil }
    var converted = kvo_value()
    defer { kvo_value_destroy(&converted) }
    guard kvo_value_convert(&converted, type.cType, value) == .KVO_OK else { return nil }
    return ValueType.value(of: &converted)
  }

  // Whether a type without references has the same scalars at the same offsets as a C struct or pointer.
  private static func isLaidOut<T>(_ type: T.Type, like cType: UnsafePointer<kvo_type>) -> Bool {
    let kind = cType.pointee.kind
    guard kind == .KVO_KIND_STRUCT || kind == .KVO_KIND_POINTER, _isPOD(type),
      [MemoryLayout<T>.size, MemoryLayout<T>.stride].contains(cType.pointee.size)
    else { return false }
    return layout(of: cType)?.matches(type) ?? false
  }

  // C types are never freed.
  private static let layouts = LockedValue<[UnsafePointer<kvo_type>: StructLayout?]>([:])

  private static func layout(of type: UnsafePointer<kvo_type>) -> StructLayout? {
    if let known = layouts.withLock({ $0[type] }) { return known }
    let made = StructLayout(encoding: String(cString: type.pointee.encoding))
    layouts.withLock { $0[type] = made }
    return made
  }

  private static func bytes(of value: UnsafePointer<kvo_value>) -> UnsafeRawBufferPointer? {
    guard let type = value.pointee.type, let bytes = kvo_value_bytes(value) else { return nil }
    return UnsafeRawBufferPointer(start: bytes, count: type.pointee.size)
  }
}
