/// The offset of the `@Observed` property that an accessor's key path names. The accessor determines it
/// itself the first time that its read is recorded.
final class StorageOffset: Sendable {
  private let fromHeader: Int

  private init(_ fromHeader: Int) {
    self.fromHeader = fromHeader
  }

  // Keyed by the address of the key path object. A literal's object is created once. Code specialised for one
  // form of a generic class may create it each time; the limit, which no source text reaches, covers that.
  private static let offsets = ForeverMap<StorageOffset>()
  private static let mostOffsets = 8192

  /// The property's offset from the header, or nil at the first read. O(1), any thread.
  static func known(for accessor: AnyKeyPath) -> Int? {
    offsets[address(of: accessor)]?.fromHeader
  }

  /// A pointer that identifies the accessor's property for ever, or nil if the offset is not known yet.
  static func token(of accessor: AnyKeyPath) -> UnsafeRawPointer? {
    offsets[address(of: accessor)].map { _ in address(of: accessor) }
  }

  /// Remembers the property's offset from the header.
  static func keep(_ offset: Int, for accessor: AnyKeyPath) {
    guard offsets.size < mostOffsets else { return }
    _ = Unmanaged.passRetained(accessor)
    _ = offsets.insert(StorageOffset(offset), at: address(of: accessor))
  }

  private static func address(of keyPath: AnyKeyPath) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
  }
}
