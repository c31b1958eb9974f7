public import CKVORuntime

// Reads of properties whose changes are announced manually (E3, F5). A getter that reads an `@Observed` property is
// found out by that property. One that reads a plain variable, a file or a device has to say so.
extension KeyValueObserving where Self: KVOObject {
  /// Reports that a getter reads a property whose changes are announced manually.
  ///
  /// Computed properties that read the property by its name are then notified of its changes, as are typed key
  /// paths through it and, with KVOObservation, `withObservationTracking`. Call it in the property's own
  /// getter:
  ///
  /// ```swift
  /// var balance: Int {
  ///   get {
  ///     access(keyPath: \.balance)
  ///     return storage.withLock { $0 }
  ///   }
  ///   set { withChange(of: \.balance) { storage.withLock { $0 = newValue } } }
  /// }
  /// var isOverdrawn: Bool { balance < 0 }
  /// ```
  ///
  /// In a program without KVOObservation, the call only makes the key path and tests a flag unless the thread's reads
  /// are recorded, and the getter may make it while it holds a lock. With KVOObservation, it asks whether the read is
  /// tracked. If it is, the property is observed at once, which calls the getter again: so make the call before a lock
  /// is taken.
  ///
  /// It may be made on any thread. A plain stored property can be reported if it can't be overridden, by other getters
  /// that read it. What can't be announced manually is reported as misuse: a key path with arguments (a subscript's),
  /// and one that reads nothing observable.
  ///
  /// - Complexity: O(1) after the first call for a class and key path.
  @inlinable @inline(__always)
  public func access<Value>(keyPath: KeyPath<Self, Value>) {
    if kvo_is_recording() { reportManualRead(of: keyPath) }
  }
}

extension KVOObject {
  @usableFromInline @inline(never)
  final func reportManualRead(of keyPath: AnyKeyPath) {
    guard let recorder = ReadRecorder.current else { return notifyTracker(ofReading: keyPath) }
    // The class is being asked what the getter reads: itself, by its own report.
    if let classifier = KeyPathReadRecorder.classifier(of: keyPath, of: self) {
      classifier.noteOwnRead()
    } else {
      recorder.noteManualRead(of: keyPath, of: self)
    }
  }

  private func notifyTracker(ofReading keyPath: AnyKeyPath) {
    guard kvo_tracks_reads(header), let key = manualKey(of: keyPath) else { return }
    kvo_notify_tracker(header, key.interned)
  }

  /// The key of a property whose read a getter reports; nil, and reported as misuse, if its changes can't be
  /// announced. Evaluates the key path on its first use with the class.
  func manualKey(of keyPath: AnyKeyPath) -> KeyName? {
    guard let key = announcedKey(of: keyPath) else {
      KVODiagnostics.report(
        misuse: "access(keyPath:) reports no read: \(notObservable(keyPath, KVOClass.of(self)))")
      return nil
    }
    guard key.lease == nil else {
      KVODiagnostics.report(
        misuse: """
          access(keyPath:) was called with \(keyPath.text), which has arguments: only a property's changes can be \
          announced manually.
          """)
      return nil
    }
    return key.name
  }
}
