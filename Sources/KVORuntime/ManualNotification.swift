// Changes by hand, by key path and around a body.
extension KeyValueObserving where Self: KVOObject {
  /// As `willChangeValue(forKey:)` for the key that the key path names. One that names no
  /// observable key stops the program with a message.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    willChangeValue(forKey: keyName(of: keyPath).string)
  }

  /// As `didChangeValue(forKey:)` for the key that the key path names.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    didChangeValue(forKey: keyName(of: keyPath).string)
  }

  /// Brackets a body that changes the property: will, body, did, also when the body throws.
  ///
  /// ```swift
  /// sensor.withChange(of: \.reading) { sensor.reading = hardware.read() }
  /// ```
  public func withChange<Value, R>(
    of keyPath: KeyPath<Self, Value>, _ body: () throws -> R
  ) rethrows -> R {
    try withChange(forKey: keyName(of: keyPath).string, body)
  }

  /// Brackets a body that changes the key's value: will, body, did, also when the body throws.
  public func withChange<R>(forKey key: String, _ body: () throws -> R) rethrows -> R {
    willChangeValue(forKey: key)
    defer { didChangeValue(forKey: key) }
    return try body()
  }
}
