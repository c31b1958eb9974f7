internal import CKVORuntime

extension KeyValueObserving where Self: KVOObject {
  /// Calls a handler on each change of any of several properties, with the one that changed.
  ///
  /// ```swift
  /// let token = account.observe([\.balance, \.owner]) { account, keyPath in
  ///   if keyPath == \Account.balance { account.save() }
  /// }
  /// ```
  ///
  /// All of them are one registration in one piece of memory, which ends with the one token. What
  /// can't be observed stops the program with a message, as with `observe(_:options:changeHandler:)`.
  /// A key path that stands there twice is told twice.
  ///
  /// - Parameter changeHandler: called with the key path as it stands in the array.
  /// - Returns: a token; dropping it ends the registration. Of no key paths it is not valid.
  /// - Complexity: O(*n*) in the number of key paths, after the first use of each with the class.
  public func observe(
    _ keyPaths: [PartialKeyPath<Self>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, PartialKeyPath<Self>) -> Void
  ) -> KeyValueObservation {
    register(keyPaths, options) { object, keyPath in
      // The array that was given holds it.
      changeHandler(
        unsafeDowncast(object, to: Self.self),
        unsafeDowncast(keyPath, to: PartialKeyPath<Self>.self)
      )
    }
  }
}

extension KeyValueObserving where Self: KVOObject & Sendable {
  /// Calls a handler on each change of any of several properties, on the thread of the change.
  public func observe(
    _ keyPaths: [PartialKeyPath<Self>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, PartialKeyPath<Self>) -> Void
  ) -> KeyValueObservation {
    register(keyPaths, options) { object, keyPath in
      changeHandler(
        unsafeDowncast(object, to: Self.self),
        unsafeDowncast(keyPath, to: PartialKeyPath<Self>.self)
      )
    }
  }
}

extension KVOObject {
  fileprivate func register(
    _ keyPaths: [AnyKeyPath], _ options: KeyValueObservingOptions,
    _ deliver: @escaping (KVOObject, AnyKeyPath) -> Void
  ) -> KeyValueObservation {
    let token = KeyValueObservation()
    guard !keyPaths.isEmpty else { return token }
    let keys = keyPaths.map { observedKey(of: $0) }
    let names = keys.map(\.name.interned)
    let handler = KeysHandler.make(keyPaths, keys.compactMap(\.lent), deliver)
    let error = failure {
      kvo_add_callback_for_keys(
        header, names, names.count, options.cOptions, KeysHandler.call, handler.context,
        MemoryLayout<KeysHandler.Key>.stride, KeysHandler.end, token.handleAddress, $0)
    }
    guard let error else { return token }
    handler.letGo()
    KVODiagnostics.stop(error.text)
  }
}

/// What a registration of several keys keeps: one object, which holds the function and, behind it, an
/// entry for each key, whose address is what the C core hands back.
private final class KeysHandler: ManagedBuffer<KeysHandler.Function, KeysHandler.Key> {
  struct Function {
    let deliver: (KVOObject, AnyKeyPath) -> Void
    let count: Int
    let lent: [LentKey]
  }

  struct Key {
    let keyPath: AnyKeyPath
    let handler: Unmanaged<KeysHandler>
  }

  static func make(
    _ keyPaths: [AnyKeyPath], _ lent: [LentKey],
    _ deliver: @escaping (KVOObject, AnyKeyPath) -> Void
  ) -> KeysHandler {
    let made = create(minimumCapacity: keyPaths.count) { _ in
      Function(deliver: deliver, count: keyPaths.count, lent: lent)
    }
    // `create` gives what it was called on.
    let handler = unsafeDowncast(made, to: KeysHandler.self)
    // One reference, which the C core gives back by `end`.
    let myself = Unmanaged.passRetained(handler)
    handler.withUnsafeMutablePointerToElements { keys in
      for (index, keyPath) in keyPaths.enumerated() {
        (keys + index).initialize(to: Key(keyPath: keyPath, handler: myself))
      }
    }
    return handler
  }

  deinit {
    withUnsafeMutablePointers { _ = $1.deinitialize(count: $0.pointee.count) }
  }

  var context: UnsafeMutableRawPointer {
    withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
  }

  func letGo() { Unmanaged.passUnretained(self).release() }

  // The core keeps the handler while it is called, and the setter's caller the object.
  static let call: kvo_callback = { context, header, _, _ in
    let key = context!.assumingMemoryBound(to: Key.self).pointee
    key.handler._withUnsafeGuaranteedRef { handler in
      handler.withUnsafeMutablePointerToHeader { $0.pointee.deliver }(
        KVOObject.at(header), key.keyPath)
    }
  }

  static let end: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
    $0!.assumingMemoryBound(to: Key.self).pointee.handler.release()
  }
}
