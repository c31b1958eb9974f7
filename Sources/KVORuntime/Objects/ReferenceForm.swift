internal import CSwiftRuntime

/// References that are kept in another form than values have: an optional class's or a class's, a
/// protocol's that only classes conform to. The reference is the first word; what follows it of a
/// protocol's, where the methods are, is kept as it is.
enum ReferenceForm {
  case weak, unowned
  /// Unowned, and whether the object lives is not looked at: the program knows.
  case unsafe

  init?(_ form: Field.Form) {
    switch form {
    case .weak: self = .weak
    case .unowned: self = .unowned
    case .unsafe: self = .unsafe
    case .plain, .observed, .lazy: return nil
    }
  }

  /// Whether a type, or what it wraps, is one of references.
  static func isReference(_ type: Any.Type) -> Bool {
    let content = (type as? any OptionalType.Type)?.wrappedType ?? type
    return content is AnyClass
      || kvo_swift_is_class_existential(unsafeBitCast(content, to: UnsafeRawPointer.self))
  }

  /// Hands on the address of a value as it is outside of the property.
  func withValue<R>(
    _ address: UnsafeMutableRawPointer, of type: ValueType, _ body: (UnsafeRawPointer) -> R
  ) -> R {
    let object = load(address)
    return withExtendedLifetime(object) {
      withUnsafeTemporaryAllocation(
        byteCount: type.cType.pointee.size, alignment: type.cType.pointee.alignment
      ) { value in
        // Borrowed: the reference is the local one's.
        value.copyMemory(from: UnsafeRawBufferPointer(start: address, count: value.count))
        let reference = object.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
        value.storeBytes(of: reference, as: UnsafeRawPointer?.self)
        return body(UnsafeRawPointer(value.baseAddress!))
      }
    }
  }

  func assign(_ value: ConvertedValue, at address: UnsafeMutableRawPointer, of type: ValueType) {
    let word = MemoryLayout<UnsafeRawPointer>.size
    value.withAddress { source in
      let rest = type.cType.pointee.size - word
      (address + word).copyMemory(from: source + word, byteCount: rest)
      store(source.assumingMemoryBound(to: AnyObject?.self).pointee, at: address)
    }
  }

  // As the compiler lays them out.
  private struct Weak { weak var object: AnyObject? }
  private struct Unowned { unowned var object: AnyObject? }
  private struct Unsafe { unowned(unsafe) var object: AnyObject? }

  private func load(_ address: UnsafeMutableRawPointer) -> AnyObject? {
    switch self {
    case .weak: address.assumingMemoryBound(to: Weak.self).pointee.object
    case .unowned: address.assumingMemoryBound(to: Unowned.self).pointee.object
    case .unsafe: address.assumingMemoryBound(to: Unsafe.self).pointee.object
    }
  }

  private func store(_ object: AnyObject?, at address: UnsafeMutableRawPointer) {
    switch self {
    case .weak: address.assumingMemoryBound(to: Weak.self).pointee.object = object
    case .unowned: address.assumingMemoryBound(to: Unowned.self).pointee.object = object
    case .unsafe: address.assumingMemoryBound(to: Unsafe.self).pointee.object = object
    }
  }
}
