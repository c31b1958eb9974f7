internal import CKVORuntime

/// What can be observed: objects of `KVOObject`'s subclasses, and objects of the C runtime.
public protocol KeyValueObserving: AnyObject {}

extension KeyValueObserving where Self: KVOObject {
  /// Calls a handler on each change of a property.
  ///
  /// ```swift
  /// let token = account.observe(\.balance, options: [.old, .new]) { account, change in
  ///   print(change.oldValue!, "→", change.newValue!)
  /// }
  /// ```
  ///
  /// The handler is called on the thread of the change, before the setter returns, after those that
  /// were registered earlier. Neither object nor token is kept alive by the registration.
  ///
  /// Computed properties, paths over several objects (`\.boss?.name`), parts of a value
  /// (`\.point.x`, `\.list.count`) need no declaration: what their getters read is observed, of
  /// whatever objects, and they are evaluated again after each change. Registering evaluates the key
  /// path. One that reads no `@Observed` property and is no declared key stops the program with a
  /// message. What such a key path was given as subscript argument is kept as long as the registration,
  /// hashed and compared, and used on the thread of a change.
  ///
  /// - Returns: a token; dropping it ends the registration.
  /// - Complexity: O(1) after the first use of the key path with the class; of what is not a
  ///   property itself as much as its getter, with O(*n* log *n*) for *n* properties that it reads.
  @inlinable
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    // In the caller's module, so that its compiler makes the change of a `Value` that it knows.
    register(keyPath, options) { object, change in
      KeyValueObservedChange.lend(change) {
        changeHandler(unsafeDowncast(object, to: Self.self), $0)
      }
    }
  }

  /// Calls a method of an object on each change, as long as the object lives. It is not kept alive.
  ///
  /// ```swift
  /// token = account.observe(\.balance, options: .new, target: self, action: Self.balanceChanged)
  /// ```
  @inlinable
  public func observe<Value, Target: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [], target: Target,
    action: @escaping (Target) -> (KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    observe(keyPath, options: options) { [weak target] _, change, token in
      guard let target else { return token.invalidate() }
      action(target)(change)
    }
  }

  /// Calls a handler that is given its own token, so that it can end itself, also in its `initial`
  /// call. The token is not kept alive by the registration: dropping the last reference elsewhere
  /// ends it.
  @inlinable
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    withToken handler:
      @escaping (Self, KeyValueObservedChange<Value>, KeyValueObservation) -> Void
  ) -> KeyValueObservation {
    registerWithToken(keyPath, options) { object, change, token in
      KeyValueObservedChange.lend(change) {
        handler(unsafeDowncast(object, to: Self.self), $0, token)
      }
    }
  }

  /// Calls a handler on each change of a key that is named by a string. Nil values come as
  /// `Optional<Any>.none`.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key; nothing is registered.
  public func observe(
    keyPath: String, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, KeyValueObservedChange<Any>) -> Void
  ) throws -> KeyValueObservation {
    try register(key: keyPath, options) { object, change in
      KeyValueObservedChange.lend(boxing: change) {
        changeHandler(unsafeDowncast(object, to: Self.self), $0)
      }
    }
  }
}

// MARK: Without types

extension KVOObject {
  @usableFromInline
  func register(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions,
    _ deliver: @escaping (KVOObject, OpaquePointer) -> Void
  ) -> KeyValueObservation {
    let token = KeyValueObservation()
    register(observedKey(of: keyPath), options, token, deliver)
    return token
  }

  // Weak: the token must be able to end while its handler waits for the next change.
  @usableFromInline
  func registerWithToken(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions,
    _ deliver: @escaping (KVOObject, OpaquePointer, KeyValueObservation) -> Void
  ) -> KeyValueObservation {
    let token = KeyValueObservation()
    register(observedKey(of: keyPath), options, token) { [weak token] object, change in
      if let token { deliver(object, change, token) }
    }
    return token
  }

  // The key is there and single: what can fail is memory. What is lent is held by the handler.
  private func register(
    _ key: ObservedKey, _ options: KeyValueObservingOptions, _ token: KeyValueObservation,
    _ deliver: @escaping (KVOObject, OpaquePointer) -> Void
  ) {
    // Not by `map`: a closure that goes through a generic function is wrapped, and each call of it costs more.
    var handler = deliver
    if let lent = key.lent {
      handler = { object, change in withExtendedLifetime(lent) { deliver(object, change) } }
    }
    let interned = key.name.interned
    if Hint.areWanted {
      hintAtGetter(of: key.name.string)
      handler = TokenWatch.watching(handler, of: self, key.name.string, token)
    }
    if let error = Handler.register(with: self, interned, options, token, handler) {
      KVODiagnostics.stop(error.text)
    }
  }
}
