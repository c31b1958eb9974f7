// Changes of C's objects as asynchronous sequences (K). Threads of C send into them like any others.

extension ForeignObject {
  /// The value of a key or key path, and each one that it gets from now on, with values of a Swift type, as
  /// `observe(_:as:options:changeHandler:)` has them. As `values(of:)` of a `KVOObject`, but that the sequence, as
  /// long as it is there, keeps the C object alive; an iterator does not.
  ///
  /// - Throws: what `observe` throws.
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

  /// The changes of a key or key path, with values of a Swift type: each of them, in the order in which they are
  /// told.
  ///
  /// - Throws: what `observe` throws.
  public func changes<Value: Sendable>(
    of keyPath: String, as type: Value.Type, options: KeyValueObservingOptions = [.old, .new]
  ) throws -> KeyValueChanges<Value> {
    let source = try ForeignSource(self, keyPath, type)
    return KeyValueChanges { channel in
      source.observe(options, ending: channel) { _, change in channel.send(change) }
    }
  }
}

// Sendable: a C object is used by whichever threads the program lets use it.
private final class ForeignSource<Value>: @unchecked Sendable {
  private let object: ForeignObject
  let keyPath: String

  /// Registers once, so that what is wrong is thrown.
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
