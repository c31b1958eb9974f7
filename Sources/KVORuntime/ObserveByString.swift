internal import CKVORuntime

// Registration and removal by string, for the open methods of KVOObject and `observe(keyPath:)`.
extension KVOObject {
  func register(
    key: String, _ options: KeyValueObservingOptions,
    _ deliver: @escaping (KVOObject, OpaquePointer) -> Void
  ) throws -> KeyValueObservation {
    let token = KeyValueObservation()
    let areHintsWanted = Hint.areWanted
    let handler = areHintsWanted ? TokenWatch.watching(deliver, of: self, key, token) : deliver
    try register(key, areHintsWanted) { cKey in
      Handler.register(with: self, cKey, options, token, handler)
    }
    return token
  }

  func register(
    _ observer: KVOObject, _ keyPath: String, _ options: KeyValueObservingOptions,
    _ context: UnsafeMutableRawPointer?
  ) throws {
    try register(keyPath, Hint.areWanted) { cKey in
      failure { kvo_add_observer(header, observer.header, cKey, options.cOptions, context, $0) }
    }
  }

  /// - Parameter matching: the context of the registration; nil for any.
  func unregister(
    _ observer: KVOObject, _ keyPath: String, matching context: UnsafeMutableRawPointer??
  ) throws {
    let status = keyPath.withKey { keyPath in
      switch context {
      case .none: kvo_remove_observer(boundHeader, observer.header, keyPath, nil)
      case .some(let context):
        kvo_remove_observer_with_context(boundHeader, observer.header, keyPath, context, nil)
      }
    }
    guard status != .KVO_OK else { return }
    throw KeyValueError.observerNotRegistered(
      keyPath: keyPath, className: className(of: type(of: self)),
      observer: className(of: type(of: observer)))
  }

  // The class is asked first, since the C core knows a key once it has been used. What the class
  // doesn't have, the object may still answer: the core asks it.
  private func register(
    _ key: String, _ areHintsWanted: Bool, _ body: (UnsafePointer<CChar>) -> CoreError?
  ) throws {
    let known = KVOClass.of(self)
    let property = known.property(key).map { observable($0, in: known) }
    if areHintsWanted { hintAtGetter(of: key) }
    let error =
      if let property { body(property.name.interned) } else { try key.withKey(known.name, body) }
    if let error { throw KeyValueError(error, key: key, className: known.name) }
  }
}
