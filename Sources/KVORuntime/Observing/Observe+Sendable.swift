// An object that several threads share calls its handlers on whichever thread sets it. So it takes only
// handlers that may run on any thread; the compiler refuses, for example, one that belongs to the main actor.
// The compiler chooses these overloads for objects of Sendable classes. Otherwise they equal those in
// Observe.swift.
extension KeyValueObserving where Self: KVOObject & Sendable {
  /// Calls a handler on each change of a property of a `Sendable` object, on the thread of the change.
  ///
  /// The handler must be `Sendable`, because any thread may change the object. Registering evaluates the key
  /// path. A key path that reads no observable property, and is not a declared key, stops the program with a
  /// message.
  ///
  /// - Parameters:
  ///   - keyPath: The property, or a path over several objects.
  ///   - options: The values that the change contains, and any additional calls of the handler.
  ///   - changeHandler: The handler, called before the setter returns.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: A token. Dropping it ends the observation.
  @inlinable
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, KeyValueObservedChange<Value>) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    register(keyPath, options, .typed(changeHandler), Caller(file, line))
  }

  /// Calls a handler with its own token on each change of a property of a `Sendable` object, on the thread of
  /// the change.
  ///
  /// The handler can end the observation by the token, also in its `initial` call. The registration does not
  /// retain the token.
  ///
  /// - Returns: A token. Dropping it ends the observation.
  @inlinable
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    withToken handler:
      @escaping @Sendable (Self, KeyValueObservedChange<Value>, KeyValueObservation) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    registerWithToken(keyPath, options, Caller(file, line), handler)
  }

  /// Calls a handler on each change of a string key of a `Sendable` object, on the thread of the change. Nil
  /// values are `Optional<Any>.none`.
  ///
  /// - Returns: A token. Dropping it ends the observation.
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key; nothing is registered then.
  public func observe(
    keyPath: String, options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, KeyValueObservedChange<Any>) -> Void
  ) throws -> KeyValueObservation {
    try register(key: keyPath, options, .boxing(changeHandler))
  }
}
