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
  /// The call costs one branch unless the thread's reads are recorded. It may be made on any thread. A key path
  /// with arguments (a subscript's) can't be announced manually, so it is reported as misuse.
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
    // The class is being asked what the getter reads: itself, by its own report.
    if let classifier = KeyPathReadRecorder.classifier(of: keyPath, of: self) {
      return classifier.noteOwnRead()
    }
    guard let key = knownKey(of: keyPath) else { return }
    guard key.lease == nil else {
      KVODiagnostics.report(
        misuse: """
          access(keyPath:) was called with \(keyPath.text), which has arguments: only a property's changes can be \
          announced manually.
          """)
      return
    }
    reportRead(key.name.interned)
  }
}
