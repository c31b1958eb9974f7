internal import CKVORuntime
@_spi(ObservableRerootKeyPath) internal import Swift

/// Finds the stored property that a key path names: while the key path is evaluated, every read of
/// an `@Observed` property on this thread passes by here, and the one through an accessor that the
/// key path names is the one that was meant. Properties that a computed one reads are not.
final class ReadRecorder {
  private let header: UnsafeMutableRawPointer
  private let keyPath: AnyKeyPath
  private var found: Read?

  /// What a key path was found to read.
  struct Read {
    /// Of the property's storage in the object.
    let storageOffset: Int
    /// Whether the object's class overrides the property: its getter may answer something else
    /// than what is stored.
    let isOverridden: Bool
  }

  private init(_ object: KVOObject, _ keyPath: AnyKeyPath) {
    header = headerAddress(of: object)
    self.keyPath = keyPath
  }

  /// The property that the key path names; nil if it is none of the object's `@Observed` ones.
  /// Evaluates the key path once.
  static func read(of keyPath: AnyKeyPath, in object: KVOObject) -> Read? {
    let recorder = ReadRecorder(object, keyPath)
    // The thread's variable holds the address for as long as this frame does.
    withExtendedLifetime(recorder) {
      let outer = kvo_current_recorder()
      kvo_set_recorder(Unmanaged.passUnretained(recorder).toOpaque())
      defer { kvo_set_recorder(outer) }
      _ = object[keyPath: keyPath]
    }
    return recorder.found
  }

  fileprivate static var current: ReadRecorder? {
    kvo_current_recorder().map { Unmanaged<ReadRecorder>.fromOpaque($0).takeUnretainedValue() }
  }

  fileprivate func note(
    _ header: UnsafeMutableRawPointer, _ accessor: AnyKeyPath, _ storage: () -> AnyKeyPath
  ) {
    guard header == self.header, keyPath.isSame(as: accessor) else { return }
    let address = StorageKeyPath.address(of: storage(), header)
    let object = KVOObject.at(header.assumingMemoryBound(to: kvo_object.self))
    found = Read(
      storageOffset: address - header + ObjectHeader.offset,
      isOverridden: accessor.isOverridden(in: type(of: object)))
  }
}

/// Called by the getters of `@Observed` properties while reads are recorded on this thread.
///
/// It has effects, but none that the getter's callers could tell. `readonly` says so, and leaves
/// loops over properties as quick as they are without recording. Always true.
@_effects(readonly) @inline(never) @usableFromInline
func recordRead(
  _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath, _ storage: () -> AnyKeyPath
) -> Bool {
  ReadRecorder.current?.note(header, accessor(), storage)
  return true
}

@inline(never) @usableFromInline
func recordingFailed() -> Never {
  fatalError("KVORuntime: a recorded read failed.")
}

extension AnyKeyPath {
  /// Whether the two name one property, the other in this one's root class or in a superclass.
  func isSame(as other: AnyKeyPath) -> Bool {
    guard let root = type(of: self).rootType as? KVOObject.Type,
      let otherRoot = type(of: other).rootType as? KVOObject.Type
    else { return self == other }
    if root == otherRoot { return self == other }
    // Key paths of different roots are never equal: the superclass's is given this one's root.
    return root.isSubclass(of: otherRoot)
      && (self == other.rerooted(like: self) || overrides(other))
  }

  // The type is taken from the key path, not from a `KVOObject.Type`: opening a class's metatype
  // that was made an existential one gives optimised code the static class.
  private func rerooted(like other: AnyKeyPath) -> AnyKeyPath {
    func reroot<Root>(_ root: Root.Type) -> AnyKeyPath { _rerootKeyPath(self, to: root) }
    return _openExistential(type(of: other).rootType, do: reroot)
  }
}

extension KVOObject {
  fileprivate static func isSubclass(of other: KVOObject.Type) -> Bool {
    sequence(first: self as AnyClass, next: { _getSuperclass($0) }).contains { $0 == other }
  }
}
