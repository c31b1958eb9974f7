internal import CKVORuntime
@_spi(ObservableRerootKeyPath) internal import Swift

/// Sees what a getter or a key path reads: while it records, every read of an `@Observed` property
/// on this thread passes by here, of whatever object.
class ReadRecorder {
  private var isReadingAgain = false

  /// Records what a body reads, and nothing that an outer recorder would have seen. It is never
  /// inlined: Scripts/thread-sanitizer.txt knows it by name.
  @inline(never) final func record(_ body: () -> Void) {
    // The thread's variable holds the address for as long as this frame does.
    withExtendedLifetime(self) {
      let outer = kvo_current_recorder()
      let outerSink = kvo_current_sink()
      kvo_set_recorder(Unmanaged.passUnretained(self).toOpaque())
      kvo_set_sink(nil)
      defer {
        kvo_set_recorder(outer)
        kvo_set_sink(outerSink)
      }
      body()
    }
  }

  // Optimised code for one form of a generic class may have read a copy, where the superclass is of a
  // library built for library evolution. The key path reads by the code for all forms.
  fileprivate final func readAgain(_ header: UnsafeMutableRawPointer, _ accessor: AnyKeyPath) {
    let object = KVOObject.at(header.assumingMemoryBound(to: kvo_object.self))
    guard !isReadingAgain else { StorageKeyPath.stop(for: object) }
    isReadingAgain = true
    _ = object[keyPath: accessor]
    isReadingAgain = false
  }

  static var current: ReadRecorder? {
    kvo_current_recorder().map { Unmanaged<ReadRecorder>.fromOpaque($0).takeUnretainedValue() }
  }

  /// - Parameters:
  ///   - header: of the object whose property is read.
  ///   - accessor: the key path of the property; made anew where the class is generic.
  ///   - address: where the property is stored.
  func note(
    _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
    at address: UnsafeMutableRawPointer
  ) {}

  /// A change by hand of a key was announced by what is recorded.
  func noteChange(of object: KVOObject, key: String) {}

  /// The same of a key that key-value coding reads, of an object of Swift or of C.
  func note(_ object: UnsafeMutablePointer<kvo_object>, key: UnsafePointer<CChar>) {}

  static let listener:
    @convention(c) (
      UnsafeMutableRawPointer, UnsafeMutablePointer<kvo_object>, UnsafePointer<CChar>
    ) -> Void = { recorder, object, key in
      let recorder = Unmanaged<ReadRecorder>.fromOpaque(recorder).takeUnretainedValue()
      recorder.note(object, key: key)
    }
}

extension KVOObject {
  /// Tells the recorder of what a getter reads that the getter announces a change by hand.
  @inline(__always)
  func recordChange(of key: String) {
    if kvo_is_recording() { ReadRecorder.current?.noteChange(of: self, key: key) }
  }
}

/// Sees whether a getter announces a change of its own key.
final class AnnouncementRecorder: ReadRecorder {
  private let object: KVOObject
  private let key: String
  private var hasAnnounced = false

  private init(_ object: KVOObject, _ key: String) {
    self.object = object
    self.key = key
  }

  /// Calls the getter.
  static func announces(_ key: String, of object: KVOObject, _ getter: () -> Void) -> Bool {
    let recorder = AnnouncementRecorder(object, key)
    recorder.record(getter)
    return recorder.hasAnnounced
  }

  override func noteChange(of object: KVOObject, key: String) {
    if object === self.object, key == self.key { hasAnnounced = true }
  }
}

// MARK: Following what is read

/// Tells the C core what a tracked key reads.
final class ReadCollector: ReadRecorder {
  private let reads: OpaquePointer
  // Where keys are looked for that nothing tells of.
  private let isFollowed: Bool
  private let stored: StoredPath?
  private var told: [ToldRead] = []

  private init(_ reads: OpaquePointer, isFollowed: Bool, _ stored: StoredPath?) {
    self.reads = reads
    self.isFollowed = isFollowed
    self.stored = stored
  }

  /// - Parameter reads: a `kvo_reads *`.
  static func collect(_ property: Property, of object: KVOObject, into reads: OpaquePointer) {
    guard let accessors = property.accessors else { return }
    let path = accessors.isWalked ? accessors.path : nil
    let collector = ReadCollector(reads, isFollowed: path != nil, accessors.storedPath)
    defer {
      if let stored = collector.stored {
        kvo_reads_are_path(reads, stored.count, ObjectHeader.offset)
      }
    }
    collector.record {
      guard let path else {
        kvo_set_sink(reads)
        return collector.evaluate(accessors, object)
      }
      collector.evaluate(accessors, object)
      let walk = KeyPathWalk(wasRead: collector.told.key, own: property.name) { object, key in
        if let key { kvo_reads_add(reads, object.header, key.interned) }
      }
      walk.go(along: path, from: object)
    }
  }

  // What comes of it is for the observers, if they ask for that: so it is evaluated but once.
  private func evaluate(_ accessors: Accessors, _ object: KVOObject) {
    if let answer = kvo_reads_answer(reads) {
      try? accessors.read(object, into: answer)
    } else {
      accessors.evaluate(object)
    }
  }

  override func note(
    _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
    at address: UnsafeMutableRawPointer
  ) {
    let object = header.assumingMemoryBound(to: kvo_object.self)
    guard let name = KVOObject.at(object).storedKey(at: address - header, accessor) else { return }
    let token = StorageOffset.token(of: accessor())
    if let stored, stored.isStep(kvo_reads_count(reads), accessor(), of: KVOObject.at(object)) {
      kvo_reads_add_step(reads, object, name.interned, token, address)
    } else {
      kvo_reads_add_known(reads, object, name.interned, token)
    }
    if isFollowed { told.append(ToldRead(header, accessor().firstGetter, name)) }
  }

  override func note(_ object: UnsafeMutablePointer<kvo_object>, key: UnsafePointer<CChar>) {
    kvo_reads_add(reads, object, key)
  }
}

/// An `@Observed` property that was read, with its getter.
private struct ToldRead {
  let header: UnsafeMutableRawPointer
  let getter: UnsafeRawPointer?
  let key: KeyName

  init(_ header: UnsafeMutableRawPointer, _ getter: UnsafeRawPointer?, _ key: KeyName) {
    self.header = header
    self.getter = getter
    self.key = key
  }
}

extension [ToldRead] {
  fileprivate func key(_ object: KVOObject, _ getter: UnsafeRawPointer) -> KeyName? {
    let header = headerAddress(of: object)
    return first {
      $0.header == header && ($0.getter == getter || isOverride(getter, of: $0.getter, object))
    }?.key
  }

  // A final class that overrides the property knows it by another getter.
  private func isOverride(
    _ getter: UnsafeRawPointer, of other: UnsafeRawPointer?, _ object: KVOObject
  ) -> Bool {
    guard let other else { return false }
    return sequence(first: type(of: object) as AnyClass, next: { _getSuperclass($0) })
      .contains { AnyKeyPath.function(of: other, introducedBy: $0, in: type(of: object)) == getter }
  }
}

// MARK: Finding out what a key path is

/// Finds out what a key path of an object names.
final class KeyPathReads: ReadRecorder {
  private let header: UnsafeMutableRawPointer
  private let keyPath: AnyKeyPath
  /// The property that the key path names itself, read through no getter but its own.
  private(set) var named: Property?
  /// The names of the first properties that were read, and the first's own key path, if it is of the
  /// object.
  private(set) var names: [String] = []
  private(set) var first: AnyKeyPath?
  private var told: [ToldRead] = []
  private var endsAtHidden = false
  /// Whether it goes through a plain property that is not declared.
  private(set) var hasPlainLink = false

  /// A stored property as it was read.
  struct Property {
    /// Of the storage, from the header.
    let storageOffset: Int
    /// Whether the object's class overrides the property: its getter may answer something else
    /// than what is stored.
    let isOverridden: Bool
    /// Its own key path, of the class that declares it.
    let accessor: AnyKeyPath
  }

  private static let mostNames = 4

  /// Evaluates the key path once.
  init(of keyPath: AnyKeyPath, in object: KVOObject) {
    header = headerAddress(of: object)
    self.keyPath = keyPath
    super.init()
    record {
      _ = object[keyPath: keyPath]
      guard KeyPathWalk.isWorthwhile(for: keyPath) else { return }
      let walk = KeyPathWalk(wasRead: told.key) { _, key in
        self.hasPlainLink = true
        self.endsAtHidden = key == nil
      }
      walk.go(along: keyPath, from: object)
    }
  }

  override func note(
    _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
    at address: UnsafeMutableRawPointer
  ) {
    let object = KVOObject.at(header.assumingMemoryBound(to: kvo_object.self))
    let isOwn = header == self.header
    let isNamed = isOwn && keyPath.isSame(as: accessor())
    if isOwn, names.isEmpty { first = accessor() }
    // What is named itself is found by its place.
    let offset = address - header
    let key = isNamed ? object.storedKey(at: offset) : object.storedKey(at: offset, accessor)
    if let key {
      if names.count < Self.mostNames { names.append(key.string) }
      told.append(ToldRead(header, accessor().firstGetter, key))
    }
    guard isNamed else { return }
    named = Property(
      storageOffset: offset,
      isOverridden: accessor().isOverridden(in: type(of: object)), accessor: accessor())
  }

  override func note(_ object: UnsafeMutablePointer<kvo_object>, key: UnsafePointer<CChar>) {
    if names.count < Self.mostNames { names.append(KeyName.of(interned: key).string) }
  }

  /// Whether the key path goes through a stored property of the object first, or stands for one.
  var isPath: Bool {
    keyPath.goesThroughPlainProperty || hasPlainLink || isRequirement
      || first.map { keyPath.isLonger(thanItsFirst: $0) } ?? false
  }

  /// Whether that key path of that object is just being evaluated, to find out what it names.
  static func isLookingAt(_ keyPath: AnyKeyPath, of object: KVOObject) -> Bool {
    guard let current = current as? KeyPathReads else { return false }
    return current.header == headerAddress(of: object) && current.keyPath == keyPath
  }

  // A key path that is made by way of a protocol knows what the protocol requires by a number. By which
  // property the class answers is not told: the one of that type that alone was read, as a rule.
  private var isRequirement: Bool {
    guard keyPath.isByNumber, names.count == 1, let first else { return false }
    return Swift.type(of: first).valueType == Swift.type(of: keyPath).valueType
  }

  /// Whether it reads what can be observed. Behind a nil there may be what another object of the class
  /// reads, but for a link that has no key.
  var isObservable: Bool {
    !names.isEmpty || !endsAtHidden && keyPath.debugDescription.contains("?")
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
  if let recorder = ReadRecorder.current {
    recorder.note(header, accessor, at: StorageKeyPath.address(of: storage(), header))
  } else if isTracked(header) {
    tellTracker(header, accessor, at: StorageKeyPath.address(of: storage(), header))
  }
  return true
}

/// The same where the storage needs no key path. False if it is not known yet where the property is
/// stored, and nothing has been recorded.
@_effects(readonly) @inline(never) @usableFromInline
func recordRead(_ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath) -> Bool {
  if let reads = kvo_current_sink() {
    let token = Unmanaged.passUnretained(accessor()).toOpaque()
    let object = header.assumingMemoryBound(to: kvo_object.self)
    if kvo_reads_follow(reads, object, token) { return true }
  }
  let recorder = ReadRecorder.current
  guard recorder != nil || isTracked(header) else { return true }
  guard let offset = StorageOffset.known(for: accessor()) else { return false }
  if let recorder {
    recorder.note(header, accessor, at: header + offset)
  } else {
    tellTracker(header, accessor, at: header + offset)
  }
  return true
}

/// The same with the address. Always true.
@_effects(readonly) @inline(never) @usableFromInline
func recordRead(
  _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
  at address: UnsafeMutableRawPointer
) -> Bool {
  let recorder = ReadRecorder.current
  if !ObjectHeader.isInside(address, header) {
    recorder?.readAgain(header, accessor())
  } else {
    StorageOffset.keep(address - header, for: accessor())
    if let recorder {
      recorder.note(header, accessor, at: address)
    } else if isTracked(header) {
      tellTracker(header, accessor, at: address)
    }
  }
  return true
}

/// Whether Swift's Observation, where it is linked, tracks what is read on this thread.
private func isTracked(_ header: UnsafeMutableRawPointer) -> Bool {
  kvo_tracks_reads(header.assumingMemoryBound(to: kvo_object.self))
}

private func tellTracker(
  _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
  at address: UnsafeMutableRawPointer
) {
  let object = header.assumingMemoryBound(to: kvo_object.self)
  let name = KVOObject.at(object).storedKey(at: address - header, accessor)
  if let name { kvo_tell_tracker(object, name.interned) }
}

extension KVOObject {
  /// That a computed key of this object is read, for Observation alone: a recorder sees what its getter reads.
  final func tellTracker(_ key: String) {
    guard kvo_current_recorder() == nil, kvo_tracks_reads(header) else { return }
    kvo_tell_tracker(header, KeyName.of(key).interned)
  }

  /// That a key of this object is read, past the getter that would tell of it.
  @usableFromInline @inline(never)
  final func tellRead(_ key: UnsafePointer<CChar>) {
    if let recorder = kvo_current_recorder() {
      ReadRecorder.listener(recorder, header, key)
    } else if kvo_tracks_reads(header) {
      kvo_tell_tracker(header, key)
    }
  }
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
      && (other.canBeRerooted && self == other.rerooted(like: self) || overrides(other))
  }

  // The type is taken from the key path, not from a `KVOObject.Type`: opening a class's metatype
  // that was made an existential one gives optimised code the static class.
  private func rerooted(like other: AnyKeyPath) -> AnyKeyPath {
    func reroot<Root>(_ root: Root.Type) -> AnyKeyPath { _rerootKeyPath(self, to: root) }
    return _openExistential(type(of: other).rootType, do: reroot)
  }

  /// The same key path of a subclass of its root class; itself where that can't be made.
  func rerooted(to subclass: KVOObject.Type) -> AnyKeyPath {
    guard canBeRerooted else { return self }
    func reroot<Root>(_ root: Root.Type) -> AnyKeyPath { _rerootKeyPath(self, to: root) }
    // By way of an address, for the reason above.
    let metadata = unsafeBitCast(subclass as AnyClass, to: UnsafeRawPointer.self)
    let type = unsafeBitCast(metadata, to: Any.Type.self)
    return Swift.type(of: self).rootType == type ? self : _openExistential(type, do: reroot)
  }
}

extension KVOObject {
  static func isSubclass(of other: KVOObject.Type) -> Bool {
    sequence(first: self as AnyClass, next: { _getSuperclass($0) }).contains { $0 == other }
  }
}
