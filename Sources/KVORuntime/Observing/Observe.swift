internal import CKVORuntime

// Observing by key path, with a handler and a token. The key is found by the class (`KeyPathKeys`); the handler
// lies in the registration itself (`Handler`).

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
  /// whatever objects, and they are evaluated again after each change; a path of stored properties only
  /// where it has come to lead elsewhere. Registering evaluates the key path. One that reads no `@Observed` property and is no declared key stops the program with a
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
    register(keyPath, options, .typed(changeHandler))
  }

  /// Calls a method of an object on each change, as long as the object lives. It is not kept alive.
  ///
  /// ```swift
  /// token = account.observe(\.balance, options: .new, target: self, action: Self.balanceChanged)
  /// ```
  ///
  /// If code on an actor registers the method, for example on the main actor, the method is called on that actor: before the
  /// setter returns if the change is made on the actor, otherwise later. Calls are made in the order of the changes that one thread
  /// makes. The actor is not kept alive.
  ///
  /// - Parameters:
  ///   - keyPath: the property that is observed.
  ///   - options: the values that the change carries, and when the method is called besides.
  ///   - target: the object that has the method.
  ///   - action: the method, as a function of its object: `Panel.balanceChanged`.
  ///   - isolation: the actor on which the method is called; by default that of the code that registers.
  /// - Returns: a token; dropping it ends the observation.
  @inlinable
  public func observe<Value, Target: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [], target: Target,
    action: @escaping (Target) -> (KeyValueObservedChange<Value>) -> Void,
    isolation: (any Actor)? = #isolation
  ) -> KeyValueObservation {
    let actor = CallingActor(isolation)
    return registerWithToken(keyPath, options) { [weak target] (_, change, token) in
      guard let called = target else { return token.invalidate() }
      if let actor, !actor.isCurrent {
        actor.callLater { [weak target, weak token] in
          if let target, token?.isValid == true { action(target)(change) }
        }
      } else {
        if let actor {
          actor.catchUp()
          guard token.isValid else { return }
        }
        action(called)(change)
      }
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
    registerWithToken(keyPath, options, handler)
  }

  /// Calls a handler on each change of a key that is named by a string. Nil values come as
  /// `Optional<Any>.none`.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key; nothing is registered.
  public func observe(
    keyPath: String, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, KeyValueObservedChange<Any>) -> Void
  ) throws -> KeyValueObservation {
    try register(key: keyPath, options, .boxing(changeHandler))
  }
}

// MARK: Registering

extension Handler {
  // In the caller's module, so that its compiler makes the change of a `Value` that it knows.
  @inlinable @inline(__always)
  static func typed(_ function: @escaping Function) -> Handler {
    Handler(function) { object, change, function in
      KeyValueObservedChange.lend(change) {
        function(unsafeDowncast(object, to: Object.self), $0)
      }
    }
  }
}

extension KeyValueObserving where Self: KVOObject {
  @inlinable @inline(__always)
  func register<Value>(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions,
    _ handler: Handler<Self, Value>
  ) -> KeyValueObservation {
    let token = KeyValueObservation()
    register(keyPath, options, token, handler)
    return token
  }

  // Weak: the token must be able to end while its handler waits for the next change.
  @inlinable @inline(__always)
  func registerWithToken<Value>(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions,
    _ handler: @escaping (Self, KeyValueObservedChange<Value>, KeyValueObservation) -> Void
  ) -> KeyValueObservation {
    let token = KeyValueObservation()
    register(
      keyPath, options, token,
      .typed { [weak token] (object: Self, change: KeyValueObservedChange<Value>) in
        if let token { handler(object, change, token) }
      })
    return token
  }

  // The handler moves into the registration: a copy of its words goes there, and is not let go of here.
  @inlinable @inline(__always)
  func register<Value>(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions, _ token: KeyValueObservation,
    _ handler: Handler<Self, Value>
  ) {
    withUnsafeTemporaryAllocation(
      of: Handler<Self, Value>.self, capacity: 1
    ) {
      // A buffer of one has an address.
      let words = $0.baseAddress!
      words.initialize(to: handler)
      register(keyPath, options, token, words: UnsafeRawPointer(words))
    }
  }
}

extension KVOObject {
  @usableFromInline
  func register(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions, _ token: KeyValueObservation,
    words handler: UnsafeRawPointer
  ) {
    if registerAgain(keyPath, options, token, handler) { return }
    registerFirst(keyPath, options, token, handler)
  }

  // The key is there and single: what can fail is memory.
  @inline(never)
  private func registerFirst(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions, _ token: KeyValueObservation,
    _ handler: UnsafeRawPointer
  ) {
    let changes = kvo_class_changes(boundHeader)
    let key = observedKey(of: keyPath)
    let error =
      if let note = whatHolds(key, token) {
        wrapping(handler, note) { register(key.name.interned, options, token, $0) }
      } else { register(key.name.interned, options, token, handler) }
    if let error { KVODiagnostics.stop(error.text) }
    guard key.lease == nil else { return }
    remember(keyPath, as: key.name, after: changes)
  }

  // Its address is its own for ever, if the cache holds it.
  private func remember(_ keyPath: AnyKeyPath, as name: KeyName, after changes: UInt32) {
    guard KVOClass.of(self).keyPaths.contents.holds(keyPath) else { return }
    kvo_remember_token(
      header, ObjectHeader.metadata(of: header), Unmanaged.passUnretained(keyPath).toOpaque(),
      name.interned, changes)
  }

  // What is to live as long as the handler: a key's lease, and where hints are wanted what watches the token.
  private func whatHolds(_ key: ObservedKey, _ token: KeyValueObservation) -> (() -> Void)? {
    let lease = key.lease
    guard Hint.areWanted else { return lease.map { lease in { withExtendedLifetime(lease) {} } } }
    hintAtGetter(of: key.name.string)
    let watch = TokenWatch(self, key.name.string, token)
    return { withExtendedLifetime(lease) { watch.noteCall() } }
  }

  private func wrapping<R>(
    _ handler: UnsafeRawPointer, _ note: @escaping () -> Void, _ body: (UnsafeRawPointer) -> R
  ) -> R {
    withUnsafeTemporaryAllocation(of: WrappingHandler.self, capacity: 1) {
      let words = $0.baseAddress!
      words.initialize(to: WrappingHandler(handler, note))
      return body(UnsafeRawPointer(words))
    }
  }
}
