internal import CSwiftRuntime

/// How a weak, unowned or unmanaged reference is stored, in contrast to a strong one. It may be a class's or
/// a class-bound protocol's, optional or not. The reference is the first word. A protocol's method tables
/// follow it, and are stored like those of a strong reference.
enum ReferenceForm {
  case weak, unowned
  /// Unowned without a check that the object lives: the program guarantees it.
  case unsafe

  init?(_ form: Field.Form) {
    switch form {
    case .weak: self = .weak
    case .unowned: self = .unowned
    case .unsafe: self = .unsafe
    case .plain, .observed, .lazy: return nil
    }
  }

  /// Whether a type, or the type that it wraps as an optional, is a reference type.
  static func isReference(_ type: Any.Type) -> Bool {
    let content = unwrapped(type)
    return content is AnyClass
      || kvo_swift_is_class_existential(unsafeBitCast(content, to: UnsafeRawPointer.self))
  }

  /// Calls `body` with the address of a temporary strong form of the value.
  func withValue<R>(
    _ address: UnsafeMutableRawPointer, of type: ValueType, _ body: (UnsafeRawPointer) -> R
  ) -> R {
    let object = load(address)
    return withExtendedLifetime(object) {
      withUnsafeTemporaryAllocation(
        byteCount: type.cType.pointee.size, alignment: type.cType.pointee.alignment
      ) { value in
        // A borrowed copy: the local variable holds the reference.
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

  // The compiler lays these structs out as it does the fields.
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
