internal import CKVORuntime

/// Records what a getter or a key path reads. While it is active, every read of an `@Observed` property on
/// this thread, of any object, calls it.
class ReadRecorder {
  private var isReadingAgain = false
  /// Reads that getters have reported, whose keys are not known yet. To find a key, the key path is evaluated, which
  /// calls the getter again: not inside the getter, because it may hold a lock.
  private var unresolved: [(object: KVOObject, keyPath: AnyKeyPath)] = []

  /// Records what a body reads; an outer recorder sees none of it.
  @inline(never) final func record(_ body: () -> Void) {
    // The thread-local variable holds an unretained address while this frame exists.
    withExtendedLifetime(self) {
      let outer = kvo_current_recorder()
      let outerSink = kvo_current_tracked_reads()
      kvo_set_recorder(Unmanaged.passUnretained(self).toOpaque())
      kvo_set_tracked_reads(nil)
      defer {
        kvo_set_recorder(outer)
        kvo_set_tracked_reads(outerSink)
      }
      body()
      resolveReads()
    }
  }

  /// Notes a read that a getter reports: now if the key is known, otherwise when the recorded code has returned.
  func noteManualRead(of keyPath: AnyKeyPath, of object: KVOObject) {
    if let name = KVOClass.of(object).keyPaths.contents[keyPath] {
      note(object.header, key: name.interned)
    } else if unresolved.last.map({ $0.object === object && $0.keyPath === keyPath }) != true {
      unresolved.append((object, keyPath))
    }
  }

  /// Notes the reads whose keys were not known. The recorded code has returned.
  final func resolveReads() {
    let reads = unresolved
    unresolved = []
    for (object, keyPath) in reads {
      if let key = object.manualKey(of: keyPath) { note(object.header, key: key.interned) }
    }
  }

  // If the superclass is from a library built for library evolution, optimised code that is specialised for
  // one generic class may have read a copy of the property. A key path reads through the unspecialised code.
  fileprivate final func readAgain(_ header: UnsafeMutableRawPointer, _ accessor: AnyKeyPath) {
    let object = KVOObject.at(header.assumingMemoryBound(to: kvo_object.self))
    guard !isReadingAgain else { StoredPropertyLookup.stop(for: object) }
    isReadingAgain = true
    _ = object[keyPath: accessor]
    isReadingAgain = false
  }

  static var current: ReadRecorder? {
    kvo_current_recorder().map { Unmanaged<ReadRecorder>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Called for each read of an `@Observed` property.
  /// - Parameters:
  ///   - header: the header of the object whose property is read.
  ///   - accessor: returns the property's key path, which is created again each time if the class is generic.
  ///   - address: where the property is stored.
  func note(
    _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
    at address: UnsafeMutableRawPointer
  ) {}

  /// Called when the recorded code announces a change of a key.
  func noteChange(of object: KVOObject, key: String) {}

  /// Called for each key that key-value coding reads, of an object of Swift or of C.
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
  /// Notifies the current recorder that the getter announces a change of a key, manually or around a body.
  @inline(__always)
  func recordChange(of key: String) {
    if kvo_is_recording() { ReadRecorder.current?.noteChange(of: self, key: key) }
  }
}

/// Finds out whether a getter announces a change of its own key.
final class ManualChangeRecorder: ReadRecorder {
  private let object: KVOObject
  private let key: String
  private var hasAnnounced = false

  private init(_ object: KVOObject, _ key: String) {
    self.object = object
    self.key = key
  }

  /// Calls the getter, and returns whether it announced a change of the key.
  static func announces(_ key: String, of object: KVOObject, _ getter: () -> Void) -> Bool {
    let recorder = ManualChangeRecorder(object, key)
    recorder.record(getter)
    return recorder.hasAnnounced
  }

  override func noteChange(of object: KVOObject, key: String) {
    if object === self.object, key == self.key { hasAnnounced = true }
  }
}

// MARK: Collecting the reads of tracked keys

/// Passes the reads of a tracked key to the C core.
final class ReadSetRecorder: ReadRecorder {
  // The property that is read. If it is stored elsewhere, it reports the read itself.
  private let header: UnsafeMutablePointer<kvo_object>
  private let name: UnsafePointer<CChar>
  private let reads: OpaquePointer
  // Whether the key path is walked afterwards, to find the keys that its getters don't report.
  private let isWalked: Bool
  private let stored: StoredPath?
  private var reported: [RecordedRead] = []

  private init(
    _ property: Property, of object: KVOObject, _ reads: OpaquePointer, isWalked: Bool,
    _ stored: StoredPath?
  ) {
    (header, name) = (object.header, property.name.interned)
    self.reads = reads
    self.isWalked = isWalked
    self.stored = stored
  }

  /// - Parameter reads: a `kvo_reads *`.
  static func collect(_ property: Property, of object: KVOObject, into reads: OpaquePointer) {
    guard let accessors = property.accessors else { return }
    let path = accessors.isWalked ? accessors.path : nil
    let collector = ReadSetRecorder(
      property, of: object, reads, isWalked: path != nil, accessors.storedPath)
    defer {
      if let stored = collector.stored {
        kvo_reads_are_path(reads, stored.count, ObjectHeader.offset)
      }
    }
    collector.record {
      if path == nil { kvo_set_tracked_reads(reads) }
      collector.evaluate(accessors, object)
      for key in property.cachedSources { kvo_reads_add(reads, object.header, key.interned) }
      guard let path else { return }
      let walk = KeyPathWalk(keyRead: collector.reported.key, own: property.name) { object, key in
        if let key { kvo_reads_add(reads, object.header, key.interned) }
      }
      walk.go(along: path, from: object)
    }
  }

  // The result is the new value for observers that ask for it, so that the getter is evaluated only once.
  private func evaluate(_ accessors: Accessors, _ object: KVOObject) {
    if let answer = kvo_reads_result(reads) {
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
    let token = StoredPropertyOffset.token(of: accessor())
    if let stored, stored.isStep(kvo_reads_count(reads), accessor(), of: KVOObject.at(object)) {
      kvo_reads_add_step(reads, object, name.interned, token, address)
    } else {
      kvo_reads_add_known(reads, object, name.interned, token)
    }
    if isWalked { reported.append(RecordedRead(header, accessor().firstGetter, name)) }
  }

  override func note(_ object: UnsafeMutablePointer<kvo_object>, key: UnsafePointer<CChar>) {
    if object != header || key != name { kvo_reads_add(reads, object, key) }
  }
}

/// A recorded read of an `@Observed` property, with the getter that read it.
struct RecordedRead {
  let header: UnsafeMutableRawPointer
  let getter: UnsafeRawPointer?
  let key: KeyName

  init(_ header: UnsafeMutableRawPointer, _ getter: UnsafeRawPointer?, _ key: KeyName) {
    self.header = header
    self.getter = getter
    self.key = key
  }
}

extension [RecordedRead] {
  /// The key of the property of an object that this getter read; nil if none did.
  func key(_ object: KVOObject, _ getter: UnsafeRawPointer) -> KeyName? {
    let header = headerAddress(of: object)
    return first {
      $0.header == header && ($0.getter == getter || isOverride(getter, of: $0.getter, object))
    }?.key
  }

  // A final class that overrides the property identifies it by another getter.
  private func isOverride(
    _ getter: UnsafeRawPointer, of other: UnsafeRawPointer?, _ object: KVOObject
  ) -> Bool {
    guard let other else { return false }
    return sequence(first: type(of: object) as AnyClass, next: { _getSuperclass($0) })
      .contains { AnyKeyPath.function(of: other, introducedBy: $0, in: type(of: object)) == getter }
  }
}

/// Called by the getters of `@Observed` properties while reads are recorded on this thread.
///
/// It has side effects, but none that the getter's caller can detect. `readonly` promises that, so that loops
/// over properties stay as fast as without recording. Always returns true.
@_effects(readonly) @inline(never) @usableFromInline
func recordRead(
  _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath, _ storage: () -> AnyKeyPath
) -> Bool {
  if let recorder = ReadRecorder.current {
    recorder.note(header, accessor, at: StoredPropertyLookup.address(of: storage(), header))
  } else if isTracked(header) {
    notifyTracker(header, accessor, at: StoredPropertyLookup.address(of: storage(), header))
  }
  return true
}

/// Records a read without a key path of the storage. Returns false, having recorded nothing, if the
/// property's offset is not known yet.
@_effects(readonly) @inline(never) @usableFromInline
func recordRead(_ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath) -> Bool {
  if let reads = kvo_current_tracked_reads() {
    let token = Unmanaged.passUnretained(accessor()).toOpaque()
    let object = header.assumingMemoryBound(to: kvo_object.self)
    if kvo_reads_follow(reads, object, token) { return true }
  }
  let recorder = ReadRecorder.current
  guard recorder != nil || isTracked(header) else { return true }
  guard let offset = StoredPropertyOffset.known(for: accessor()) else { return false }
  if let recorder {
    recorder.note(header, accessor, at: header + offset)
  } else {
    notifyTracker(header, accessor, at: header + offset)
  }
  return true
}

/// Records a read of a property at a known address. Always returns true.
@_effects(readonly) @inline(never) @usableFromInline
func recordRead(
  _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
  at address: UnsafeMutableRawPointer
) -> Bool {
  let recorder = ReadRecorder.current
  if !ObjectHeader.isInside(address, header) {
    recorder?.readAgain(header, accessor())
  } else {
    StoredPropertyOffset.keep(address - header, for: accessor())
    if let recorder {
      recorder.note(header, accessor, at: address)
    } else if isTracked(header) {
      notifyTracker(header, accessor, at: address)
    }
  }
  return true
}

/// Whether Swift's Observation, if it is linked, tracks this thread's reads.
private func isTracked(_ header: UnsafeMutableRawPointer) -> Bool {
  kvo_tracks_reads(header.assumingMemoryBound(to: kvo_object.self))
}

private func notifyTracker(
  _ header: UnsafeMutableRawPointer, _ accessor: () -> AnyKeyPath,
  at address: UnsafeMutableRawPointer
) {
  let object = header.assumingMemoryBound(to: kvo_object.self)
  let name = KVOObject.at(object).storedKey(at: address - header, accessor)
  if let name { kvo_notify_tracker(object, name.interned) }
}

extension KVOObject {
  /// Records the read of a key of this object that the object announces manually. Any thread.
  package final func readsAnnouncedKey(_ key: String) {
    if kvo_is_recording() { reportRead(KeyName.of(key).interned) }
  }

  /// Reports the read of a key of this object that did not go through a getter that reports it.
  @usableFromInline @inline(never)
  final func reportRead(_ key: UnsafePointer<CChar>) { reportRead(of: { key }) }

  /// Reports such a read. The key is asked for only if the read is recorded or tracked.
  final func reportRead(of key: () -> UnsafePointer<CChar>) {
    let recorder = kvo_current_recorder()
    guard recorder != nil || kvo_tracks_reads(header) else { return }
    // The read may be the program's first use of the library, or of a class that hides properties.
    _ = KVOClass.of(self)
    let key = key()
    if let recorder {
      ReadRecorder.listener(recorder, header, key)
    } else {
      kvo_notify_tracker(header, key)
    }
  }
}

@inline(never) @usableFromInline
func recordingFailed() -> Never {
  fatalError("KVORuntime: a recorded read failed.")
}
