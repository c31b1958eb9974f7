internal import CKVORuntime

// Observing by key path, with a handler and a token. The class finds the key (`KeyPathKeys`). The handler is
// stored in the registration itself (`Handler`).

/// An object that can be observed: an instance of a subclass of `KVOObject`, or an object of the C runtime.
public protocol KeyValueObserving: AnyObject {}

extension KeyValueObserving where Self: KVOObject {
  /// Calls a handler on each change of a property or key path.
  ///
  /// ```swift
  /// let token = account.observe(\.balance, options: [.old, .new]) { account, change in
  ///   print(change.oldValue!, "→", change.newValue!)
  /// }
  /// ```
  ///
  /// The handler is called on the thread of the change, before the setter returns. Handlers are called in the
  /// order of registration. The registration retains neither the object nor the token.
  ///
  /// Computed properties, paths over several objects (`\.boss?.name`) and parts of a value (`\.point.x`,
  /// `\.list.count`) need no declaration. The runtime observes what their getters read, on any object, and
  /// evaluates them again after each change. A path of stored properties is evaluated again only if it leads
  /// elsewhere.
  ///
  /// Registering evaluates the key path. A key path that reads no observable property, and is not a declared
  /// key, stops the program with a message. The subscript arguments of a key path are kept as long as the
  /// registration, are hashed and compared, and are used on the thread of a change.
  ///
  /// - Parameters:
  ///   - keyPath: The property, or a path over several objects.
  ///   - options: The values that the change contains, and any additional calls of the handler.
  ///   - changeHandler: The handler.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: A token. Dropping it ends the observation.
  /// - Complexity: O(1) for a property, after the first use of the key path with the class. For other key
  ///   paths the cost of the getter, and O(*n* log *n*) in the number of properties that it reads.
  @inlinable
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, KeyValueObservedChange<Value>) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    register(keyPath, options, .typed(changeHandler), Caller(file, line))
  }

  /// Calls a method of an object on each change, as long as that object lives. The registration does not
  /// retain it.
  ///
  /// ```swift
  /// token = account.observe(\.balance, options: .new, target: self) { $0.balanceChanged }
  /// ```
  ///
  /// If code on an actor registers the method, for example on the main actor, the method is called on that
  /// actor: before the setter returns if the change is made on the actor, otherwise later. The calls for
  /// changes that one thread makes are in the order of the changes. The actor is not retained.
  ///
  /// - Parameters:
  ///   - keyPath: The property to observe.
  ///   - options: The values that the change contains, and any additional calls of the method.
  ///   - target: The object that has the method.
  ///   - action: The method, as a function of its object: `{ $0.balanceChanged }`, or `Panel.balanceChanged`, which
  ///     Swift 6 refuses if `Panel` is on an actor and not `Sendable`.
  ///   - isolation: The actor on which the method is called; by default that of the code that registers.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: A token. Dropping it ends the observation.
  @inlinable
  public func observe<Value, Target: AnyObject>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [], target: Target,
    action: @escaping (Target) -> (KeyValueObservedChange<Value>) -> Void,
    isolation: (any Actor)? = #isolation,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    let actor = CallingActor(isolation)
    return registerWithToken(keyPath, options, Caller(file, line)) {
      [weak target] (_, change, token) in
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

  /// Calls a handler with its own token on each change of a property or key path.
  ///
  /// The handler can end the observation by the token, also in its `initial` call. The registration does not
  /// retain the token: dropping the last other reference ends the observation.
  ///
  /// - Returns: A token. Dropping it ends the observation.
  @inlinable
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    withToken handler:
      @escaping (Self, KeyValueObservedChange<Value>, KeyValueObservation) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    registerWithToken(keyPath, options, Caller(file, line), handler)
  }

  /// Calls a handler on each change of a string key or key path. Nil values are `Optional<Any>.none`.
  ///
  /// - Returns: A token. Dropping it ends the observation.
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key; nothing is registered then.
  public func observe(
    keyPath: String, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, KeyValueObservedChange<Any>) -> Void
  ) throws -> KeyValueObservation {
    try register(key: keyPath, options, .boxing(changeHandler))
  }
}

// MARK: Registering

extension Handler {
  // Inlined into the caller's module, whose compiler knows `Value` and can create the change without
  // metadata.
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
    _ handler: Handler<Self, Value>, _ caller: Caller
  ) -> KeyValueObservation {
    let token = KeyValueObservation()
    register(keyPath, options, token, handler, caller)
    return token
  }

  // Weak, so that the token can end the observation while its handler waits for the next change.
  @inlinable @inline(__always)
  func registerWithToken<Value>(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions, _ caller: Caller,
    _ handler: @escaping (Self, KeyValueObservedChange<Value>, KeyValueObservation) -> Void
  ) -> KeyValueObservation {
    let token = KeyValueObservation()
    register(
      keyPath, options, token,
      .typed { [weak token] (object: Self, change: KeyValueObservedChange<Value>) in
        if let token { handler(object, change, token) }
      }, caller)
    return token
  }

  // The handler moves into the registration: its words are copied there and not released here.
  @inlinable @inline(__always)
  func register<Value>(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions, _ token: KeyValueObservation,
    _ handler: Handler<Self, Value>, _ caller: Caller
  ) {
    withUnsafeTemporaryAllocation(
      of: Handler<Self, Value>.self, capacity: 1
    ) {
      // A buffer with room for one element has a base address.
      let words = $0.baseAddress!
      words.initialize(to: handler)
      if !registerAgain(keyPath, options, token, UnsafeRawPointer(words)) {
        registerFirst(keyPath, options, token, UnsafeRawPointer(words), caller)
      }
    }
  }
}

extension KVOObject {
  // The key exists and is single, so only an allocation can fail.
  @inline(never) @usableFromInline
  func registerFirst(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions, _ token: KeyValueObservation,
    _ handler: UnsafeRawPointer, _ caller: Caller
  ) {
    let changes = kvo_class_changes(boundHeader)
    let key = observedKey(of: keyPath, caller)
    let error =
      if let note = noteHolding(key, token) {
        wrapping(handler, note) { register(key.name.interned, options, token, $0) }
      } else { register(key.name.interned, options, token, handler) }
    if let error { KVODiagnostics.stop(error.text, for: caller) }
    guard key.lease == nil else { return }
    remember(keyPath, as: key.name, after: changes)
  }

  // A key path's address identifies it forever only if the cache retains the key path.
  private func remember(_ keyPath: AnyKeyPath, as name: KeyName, after changes: UInt32) {
    guard KVOClass.of(self).keyPaths.contents.holds(keyPath) else { return }
    kvo_remember_token(
      header, ObjectHeader.metadata(of: header), Unmanaged.passUnretained(keyPath).toOpaque(),
      name.interned, changes)
  }

  // Returns a function to be called before the handler, which retains what must live as long as the handler: a key's lease
  // and, if hints are wanted, the check of the token. Nil if there is nothing to retain.
  private func noteHolding(_ key: ObservedKey, _ token: KeyValueObservation) -> (() -> Void)? {
    let lease = key.lease
    guard Hint.areWanted else { return lease.map { lease in { withExtendedLifetime(lease) {} } } }
    hintAtGetter(of: key.name.string)
    let watch = UnusedTokenCheck(self, key.name.string, leasedTo: lease?.keyPath, token)
    return { withExtendedLifetime(lease) { watch.noteCall() } }
  }

  private func wrapping<R>(
    _ handler: UnsafeRawPointer, _ note: @escaping () -> Void, _ body: (UnsafeRawPointer) -> R
  ) -> R {
    withUnsafeTemporaryAllocation(of: NamedHandler.self, capacity: 1) {
      let words = $0.baseAddress!
      words.initialize(to: NamedHandler(handler, after: note))
      return body(UnsafeRawPointer(words))
    }
  }
}
