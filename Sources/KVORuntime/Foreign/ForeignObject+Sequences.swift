// Changes of C objects as asynchronous sequences (K). Threads of C send to them like any other threads.

extension ForeignObject {
  /// Returns an asynchronous sequence of the value of a key or key path and each later value.
  ///
  /// The value at the time when the iterator is made comes first. While the reader is busy, only the newest
  /// value is kept. The sequence retains the C object; an iterator does not. It ends when the object dies or
  /// the reading task is cancelled.
  ///
  /// - Parameters:
  ///   - keyPath: a key or key path of the C object.
  ///   - type: the Swift type to which values are converted, as by `observe(_:as:options:changeHandler:)`.
  /// - Throws: the errors of `observe(_:as:options:changeHandler:)`.
  public func values<Value: Sendable>(
    of keyPath: String, as type: Value.Type
  ) throws -> KeyValueValues<Value> {
    let source = try ForeignSource(self, keyPath, type)
    return KeyValueValues { channel in
      source.observe(.initial, ending: channel) { object, _ in
        channel.sendNewest { try? object.value(forKeyPath: source.keyPath, as: Value.self) }
      }
    }
  }

  /// Returns an asynchronous sequence of all changes of a key or key path, in the order of their delivery.
  ///
  /// While the reader is busy, all changes are kept. The sequence retains the C object; an iterator does not.
  /// It ends when the object dies or the reading task is cancelled.
  ///
  /// - Parameters:
  ///   - keyPath: a key or key path of the C object.
  ///   - type: the Swift type to which values are converted, as by `observe(_:as:options:changeHandler:)`.
  ///   - options: what each change contains.
  /// - Throws: the errors of `observe(_:as:options:changeHandler:)`.
  public func changes<Value: Sendable>(
    of keyPath: String, as type: Value.Type, options: KeyValueObservingOptions = [.old, .new]
  ) throws -> KeyValueChanges<Value> {
    let source = try ForeignSource(self, keyPath, type)
    return KeyValueChanges { channel in
      source.observe(options, ending: channel) { _, change in channel.send(change) }
    }
  }
}

// Unchecked `Sendable`: the program decides which threads may use a C object.
private final class ForeignSource<Value>: @unchecked Sendable {
  private let object: ForeignObject
  let keyPath: String

  /// Registers and unregisters once, so that an invalid key path or type throws here.
  init(_ object: ForeignObject, _ keyPath: String, _ type: Value.Type) throws {
    try object.observe(keyPath, as: type) { _, _ in }.invalidate()
    self.object = object
    self.keyPath = keyPath
  }

  func observe<Element>(
    _ options: KeyValueObservingOptions, ending channel: ChangeChannel<Element>,
    _ send: @escaping (ForeignObject, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation? {
    let ending = ChannelEnding(channel)
    return try? object.observe(keyPath, as: Value.self, options: options) { object, change in
      withExtendedLifetime(ending) { send(object, change) }
    }
  }
}
