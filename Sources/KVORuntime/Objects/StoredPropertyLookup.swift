internal import CSwiftRuntime

/// Finds the storage that a key path to an `@Observed` property leads to. The key path object usually
/// contains the offset or the property's index (`StoredPropertyIndex`). Otherwise the key path is projected, and
/// must lead into the object.
enum StoredPropertyLookup {
  /// The address of the storage in the object with that header.
  static func address(
    of keyPath: AnyKeyPath, _ header: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    let object = header - ObjectHeader.offset
    if isLayoutKnown, let offset = offset(in: keyPath) ?? StoredPropertyIndex.offset(of: keyPath) {
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

/// The offset of the `@Observed` property that an accessor's key path names. The accessor determines it
/// itself the first time that its read is recorded.
final class StoredPropertyOffset: Sendable {
  private let fromHeader: Int

  private init(_ fromHeader: Int) {
    self.fromHeader = fromHeader
  }

  // Keyed by the address of the key path object. A literal's object is created once. Code specialised for one
  // form of a generic class may create it each time; the limit, which no source text reaches, covers that.
  private static let offsets = AppendOnlyMap<StoredPropertyOffset>()
  private static let mostOffsets = 8192

  /// The property's offset from the header, or nil at the first read. O(1), any thread.
  static func known(for accessor: AnyKeyPath) -> Int? {
    offsets[address(of: accessor)]?.fromHeader
  }

  /// A pointer that identifies the accessor's property forever, or nil if the offset is not known yet.
  static func token(of accessor: AnyKeyPath) -> UnsafeRawPointer? {
    offsets[address(of: accessor)].map { _ in address(of: accessor) }
  }

  /// Remembers the property's offset from the header.
  static func keep(_ offset: Int, for accessor: AnyKeyPath) {
    guard offsets.size < mostOffsets else { return }
    _ = Unmanaged.passRetained(accessor)
    _ = offsets.insert(StoredPropertyOffset(offset), at: address(of: accessor))
  }

  private static func address(of keyPath: AnyKeyPath) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
  }
}

/// Finds the storage of `@Observed` properties where the compiler knows no offset: in generic classes whose
/// superclass belongs to a library built for library evolution. Such a key path reads by an accessor, and
/// identifies the property by its index among all fields of the class, inherited ones first. The class's
/// metadata gives the offset of that field.
final class StoredPropertyIndex: Sendable {
  private let offset: Int

  private init(offset: Int) {
    self.offset = offset
  }

  /// The storage's offset in an instance, or nil if the key path is of another kind.
  static func offset(of keyPath: AnyKeyPath) -> Int? {
    guard let index = index(in: keyPath), let root = type(of: keyPath).rootType as? AnyClass
    else { return nil }
    let metadata = unsafeBitCast(root, to: UnsafeRawPointer.self)
    // Metadata has at least a word for each field, so these addresses are unique.
    let place = metadata + index
    if let known = known[place] { return known.offset }
    return find(index, in: metadata, type(of: keyPath).valueType)
      .map { known.insert(StoredPropertyIndex(offset: $0), at: place).offset }
  }

  private static let known = AppendOnlyMap<StoredPropertyIndex>()

  // The meaning of the index is undocumented, so we compare the field's type.
  private static func find(
    _ index: Int, in metadata: UnsafeRawPointer, _ storageType: Any.Type
  ) -> Int? {
    guard (0..<kvo_swift_field_count(metadata)).contains(index) else { return nil }
    var field = kvo_swift_field()
    let fieldType = kvo_swift_field_type(metadata, index, &field)
    field.free_name?(field.name)
    guard fieldType == unsafeBitCast(storageType, to: UnsafeRawPointer.self) else { return nil }
    return kvo_swift_field_offset(metadata, index)
  }

  // See StoredPropertyLookup for the layout. The component's header says that it is computed and identified by the
  // index of a stored property, which follows. Whether it can be set and has arguments does not matter.
  private static func index(in keyPath: AnyKeyPath) -> Int? {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
    let component = object.load(fromByteOffset: 32, as: UInt32.self)
    return component & 0x7f37_ffff == 0x0220_0000
      ? object.load(fromByteOffset: 40, as: Int.self) : nil
  }
}
