// An object that threads share calls its handlers on whichever thread sets it. So a shared object
// takes only handlers that may run anywhere: one that belongs to the main actor, say, is refused by
// the compiler. These overloads are chosen for objects of Sendable classes; apart from that they
// are those of Observe.swift.
extension KeyValueObserving where Self: KVOObject & Sendable {
  /// Calls a handler on each change of a property, on the thread of the change.
  @inlinable
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    register(keyPath, options, .typed(changeHandler))
  }

  /// Calls a handler that is given its own token, on the thread of the change.
  @inlinable
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    withToken handler:
      @escaping @Sendable (Self, KeyValueObservedChange<Value>, KeyValueObservation) -> Void
  ) -> KeyValueObservation {
    registerWithToken(keyPath, options, handler)
  }

  /// Calls a handler on each change of a key that is named by a string, on the thread of the
  /// change.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key; nothing is registered.
  public func observe(
    keyPath: String, options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, KeyValueObservedChange<Any>) -> Void
  ) throws -> KeyValueObservation {
    try register(key: keyPath, options, .boxing(changeHandler))
  }
}
