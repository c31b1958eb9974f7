/// Where the `@Observed` property lies that an accessor's own key path names. The accessor finds out
/// itself, the first time that it is recorded.
final class StorageOffset: Sendable {
  private let fromHeader: Int

  private init(_ fromHeader: Int) {
    self.fromHeader = fromHeader
  }

  // By the address of the key path object: a literal's, which is made once. In code for one form of a
  // generic class it may be made each time; hence the limit, which no source text reaches.
  private static let offsets = ForeverMap<StorageOffset>()
  private static let mostOffsets = 8192

  /// From the header; nil the first time. O(1), any thread.
  static func known(for accessor: AnyKeyPath) -> Int? {
    offsets[address(of: accessor)]?.fromHeader
  }

  /// What stands for the accessor's property and for nothing else, for ever; nil if nothing does.
  static func token(of accessor: AnyKeyPath) -> UnsafeRawPointer? {
    offsets[address(of: accessor)].map { _ in address(of: accessor) }
  }

  /// Remembers where the accessor's property lies, from the header.
  static func keep(_ offset: Int, for accessor: AnyKeyPath) {
    guard offsets.size < mostOffsets else { return }
    _ = Unmanaged.passRetained(accessor)
    _ = offsets.insert(StorageOffset(offset), at: address(of: accessor))
  }

  private static func address(of keyPath: AnyKeyPath) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
  }
}
