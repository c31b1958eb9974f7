internal import CSwiftRuntime

/// Finds the storage that a key path to an `@Observed` property leads to. The key path object usually
/// contains the offset or the property's index (`StorageIndex`). Otherwise the key path is projected, and
/// must lead into the object.
enum StorageKeyPath {
  /// The address of the storage in the object with that header.
  static func address(
    of keyPath: AnyKeyPath, _ header: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    let object = header - ObjectHeader.offset
    if isLayoutKnown, let offset = offset(in: keyPath) ?? StorageIndex.offset(of: keyPath) {
      return object + offset
    }
    return project(keyPath, object)
  }

  // A key path object has two header words, a word for the key-value coding string, and a word with the
  // buffer's size and flags. A 32-bit header for each component follows: kind, flags and, for a stored
  // property of a class, the offset. This is undocumented, so `isLayoutKnown` checks it; if the check fails,
  // the key path is projected.
  private static func offset(in keyPath: AnyKeyPath) -> Int? {
    let component = UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
      .load(fromByteOffset: 32, as: UInt32.self)
    let isMutableFieldOfClass = component & 0x7f80_0000 == 0x0380_0000
    let offset = component & 0x007f_ffff
    let isInline = offset < 0x007f_fffd
    return isMutableFieldOfClass && isInline ? Int(offset) : nil
  }

  private static let isLayoutKnown: Bool = {
    let object = LayoutProbe()
    let first = object.address + (offset(in: \LayoutProbe.first) ?? 0)
    let second = object.address + (offset(in: \LayoutProbe.second) ?? 0)
    return withUnsafeMutablePointer(to: &object.first) { first == $0 }
      && withUnsafeMutablePointer(to: &object.second) { second == $0 }
  }()

  // If a superclass belongs to a library built for library evolution, a key path may be longer, or call
  // accessors and lead to a copy. So we check that the address is inside the object.
  private static func project(
    _ keyPath: AnyKeyPath, _ object: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    let instance = Unmanaged<KVOObject>.fromOpaque(object).takeUnretainedValue()
    let storage = type(of: keyPath).valueType as? any ObservedStorage.Type
    let address = storage?.address(of: keyPath, in: instance)
    guard let address, ObjectHeader.isInside(address, object + ObjectHeader.offset) else {
      stop(for: instance)
    }
    return address
  }

  /// Stops the program because the storage of a property can't be found.
  static func stop(for object: KVOObject) -> Never {
    KVODiagnostics.stop(
      """
      The storage of an @Observed property of \(className(of: type(of: object))) can't be found. \
      Its class needs a KVORuntime that is built without library evolution.
      """)
  }
}

private final class LayoutProbe: KVOObject {
  final var first = 0
  final var second: [Int] = []
}
