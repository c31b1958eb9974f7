internal import CKVORuntime

// Registration and removal by string, for the open methods of KVOObject and `observe(keyPath:)`. Closures
// capture addresses, because a captured reference would be counted; the callers hold the objects.

extension Handler where Object == KVOObject, Value == Any {
  /// A handler for values of any type.
  static func boxing<Class>(
    _ function: @escaping (Class, KeyValueObservedChange<Any>) -> Void
  ) -> Handler where Class: KVOObject {
    Handler(HandlerFunction(call: function).ofAnyObject) { object, change, function in
      KeyValueObservedChange.lend(boxing: change) { function(object, $0) }
    }
  }
}

extension KVOObject {
  func register(
    key: String, _ options: KeyValueObservingOptions, _ handler: Handler<KVOObject, Any>
  ) throws -> KeyValueObservation {
    let token = KeyValueObservation()
    let areHintsWanted = Hint.areWanted
    let watch = areHintsWanted ? UnusedTokenCheck(self, key, token) : nil
    let handler = watch.map { watched(handler, $0) } ?? handler
    try withUnsafeTemporaryAllocation(of: Handler<KVOObject, Any>.self, capacity: 1) {
      let words = $0.baseAddress!
      words.initialize(to: handler)
      let (header, handle) = (header, token.handleAddress)
      do {
        try register(key, areHintsWanted) { Handler.register(header, $0, options, handle, words) }
      } catch {
        watch?.noteCall()  // the error is enough
        words.deinitialize(count: 1)
        throw error
      }
    }
    return token
  }

  private func watched(
    _ handler: Handler<KVOObject, Any>, _ watch: UnusedTokenCheck
  ) -> Handler<KVOObject, Any> {
    Handler(handler.function) { object, change, function in
      watch.noteCall()
      handler.deliver(object, change, function)
    }
  }

  func register(
    _ observer: KVOObject, _ keyPath: String, _ options: KeyValueObservingOptions,
    _ context: UnsafeMutableRawPointer?
  ) throws {
    let (header, observing) = (header, observer.header)
    try register(keyPath, Hint.areWanted) { cKey in
      failure { kvo_add_observer(header, observing, cKey, options.cOptions, context, $0) }
    }
  }

  /// - Parameter matching: The context of the registration, or nil for any context.
  func unregister(
    _ observer: KVOObject, _ keyPath: String, matching context: UnsafeMutableRawPointer??
  ) throws {
    let (header, observing) = (boundHeader, observer.header)
    let status = keyPath.withKey { keyPath in
      switch context {
      case .none: kvo_remove_observer(header, observing, keyPath, nil)
      case .some(let context):
        kvo_remove_observer_with_context(header, observing, keyPath, context, nil)
      }
    }
    guard status != .KVO_OK else { return }
    throw KeyValueError.observerNotRegistered(
      keyPath: keyPath, className: className(of: type(of: self)),
      observer: className(of: type(of: observer)))
  }

  // The class is asked first, because the C core knows a key only once it has been used. If the class doesn't
  // have the key, the core asks the object, which may still answer it.
  @inline(__always)
  private func register(
    _ key: String, _ areHintsWanted: Bool, _ body: (UnsafePointer<CChar>) -> CoreError?
  ) throws {
    let header = boundHeader
    // An error that is nil inside the outer optional means that the key was ready and is observed now.
    let error: CoreError?? =
      key.withKey { kvo_key_is_ready(header, $0) ? .some(body($0)) : nil } ?? nil
    guard let error else { return try registerFirst(key, areHintsWanted, body) }
    if let error { throw KeyValueError(error, key: key, className: KVOClass.of(self).name) }
  }

  @inline(never)
  private func registerFirst(
    _ key: String, _ areHintsWanted: Bool, _ body: (UnsafePointer<CChar>) -> CoreError?
  ) throws {
    let known = KVOClass.of(self)
    try checkDots(in: key)
    let property = known.property(key).map { observable($0, in: known) }
    if areHintsWanted { hintAtGetter(of: key) }
    let error =
      if let property { body(property.name.interned) } else { try key.withKey(known.name, body) }
    if let error { throw KeyValueError(error, key: key, className: known.name) }
    if areHintsWanted { hintAtUnresolvedPath(of: key) }
  }
}
