internal import CSwiftRuntime

/// Finds the storage of `@Observed` properties where the compiler knows no offset: in generic classes whose
/// superclass belongs to a library built for library evolution. Such a key path reads by an accessor, and
/// identifies the property by its index among all fields of the class, inherited ones first. The class's
/// metadata gives the offset of that field.
final class StorageIndex: Sendable {
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
      .map { known.insert(StorageIndex(offset: $0), at: place).offset }
  }

  private static let known = ForeverMap<StorageIndex>()

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

  // See StorageKeyPath for the layout. The component's header says that it is computed and identified by the
  // index of a stored property, which follows. Whether it can be set and has arguments does not matter.
  private static func index(in keyPath: AnyKeyPath) -> Int? {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
    let component = object.load(fromByteOffset: 32, as: UInt32.self)
    return component & 0x7f37_ffff == 0x0220_0000
      ? object.load(fromByteOffset: 40, as: Int.self) : nil
  }
}
