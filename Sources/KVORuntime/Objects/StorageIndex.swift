internal import CSwiftRuntime

/// Key paths to the storage of `@Observed` properties where the compiler knows no offset: in generic
/// classes whose superclass is of a library that is built for library evolution. Such a key path
/// reads by an accessor, and knows the property by its number among all of the class's fields, the
/// inherited ones first. Where that one lies is told by the class's metadata.
final class StorageIndex: Sendable {
  private let offset: Int

  private init(offset: Int) {
    self.offset = offset
  }

  /// Where the storage lies in an instance; nil if the key path is of another sort.
  static func offset(of keyPath: AnyKeyPath) -> Int? {
    guard let index = index(in: keyPath), let root = type(of: keyPath).rootType as? AnyClass
    else { return nil }
    let metadata = unsafeBitCast(root, to: UnsafeRawPointer.self)
    // Metadata has at least a word for each field: no two share these addresses.
    let place = metadata + index
    if let known = known[place] { return known.offset }
    return find(index, in: metadata, type(of: keyPath).valueType)
      .map { known.insert(StorageIndex(offset: $0), at: place).offset }
  }

  private static let known = ForeverMap<StorageIndex>()

  // What the number counts is not documented, hence the look at the field's type.
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

  // As in StorageKeyPath. The component's header says that it is computed and known by the number
  // of a stored property, which follows; whether it can be set, and has arguments, does not matter.
  private static func index(in keyPath: AnyKeyPath) -> Int? {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
    let component = object.load(fromByteOffset: 32, as: UInt32.self)
    return component & 0x7f37_ffff == 0x0220_0000
      ? object.load(fromByteOffset: 40, as: Int.self) : nil
  }
}
