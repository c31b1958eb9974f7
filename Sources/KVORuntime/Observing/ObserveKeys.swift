internal import CKVORuntime

// Observes several keys with one handler and one token. They are one registration of the C core (`group.c`),
// which passes the key's index to the handler.

extension KeyValueObserving where Self: KVOObject {
  /// Calls a handler on each change of any of several properties, with the key path of the changed one.
  ///
  /// ```swift
  /// let token = account.observe([\.balance, \.owner]) { account, keyPath in
  ///   if keyPath == \Account.balance { account.save() }
  /// }
  /// ```
  ///
  /// All key paths share one registration, which ends with the token. A key path that can't be observed stops
  /// the program with a message, as with `observe(_:options:changeHandler:)`. If a key path occurs twice, its
  /// changes call the handler twice.
  ///
  /// The handler gets no change record, whose type would differ from key to key. It finds the changed
  /// property by comparing the key path (`keyPath == \Account.balance`), and reads the new value from the
  /// object. Observe a property by itself if its old value or the mark of a prior call is needed.
  ///
  /// - Parameters:
  ///   - keyPaths: Properties of this object, of any types.
  ///   - options: The options for all of them.
  ///   - changeHandler: The handler, called with an element of `keyPaths`.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: A token. Dropping it ends the observation. If `keyPaths` is empty, the token is not valid.
  /// - Complexity: O(*n*) in the number of key paths, after the first use of each with the class.
  public func observe(
    _ keyPaths: [PartialKeyPath<Self>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, PartialKeyPath<Self>) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    register(keyPaths, options, Caller(file, line)) { object, index, _ in
      changeHandler(unsafeDowncast(object, to: Self.self), keyPaths[index])
    }
  }
}

extension KeyValueObserving where Self: KVOObject & Sendable {
  /// Calls a handler on each change of any of several properties of a `Sendable` object, on the thread of the
  /// change.
  ///
  /// All key paths share one registration. The handler gets the key path of the changed property and reads
  /// the new value from the object. It must be `Sendable`, because any thread may change the object. A key
  /// path that can't be observed stops the program with a message.
  ///
  /// - Returns: A token. Dropping it ends the observation. If `keyPaths` is empty, the token is not valid.
  /// - Complexity: O(*n*) in the number of key paths, after the first use of each with the class.
  public func observe(
    _ keyPaths: [PartialKeyPath<Self>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, PartialKeyPath<Self>) -> Void,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    register(keyPaths, options, Caller(file, line)) { object, index, _ in
      changeHandler(unsafeDowncast(object, to: Self.self), keyPaths[index])
    }
  }
}

extension KVOObject {
  fileprivate func register(
    _ keyPaths: [AnyKeyPath], _ options: KeyValueObservingOptions, _ caller: Caller,
    _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void
  ) -> KeyValueObservation {
    let keys = keyPaths.map { observedKey(of: $0, caller) }
    return register(keys.map(\.name.interned), keys.compactMap(\.lease), options, caller, deliver)
  }

  /// Registers a function for several keys.
  /// - Parameter deliver: Called with the index of the changed key.
  package func register(
    _ keys: [UnsafePointer<CChar>], _ options: KeyValueObservingOptions, _ caller: Caller?,
    _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void
  ) -> KeyValueObservation {
    register(keys, [], options, caller, deliver)
  }

  private func register(
    _ keys: [UnsafePointer<CChar>], _ lease: [SubscriptKeyLease],
    _ options: KeyValueObservingOptions,
    _ caller: Caller?, _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void
  ) -> KeyValueObservation {
    let token = KeyValueObservation()
    guard !keys.isEmpty else { return token }
    // One reference, which the C core releases through `end`.
    let handler = Unmanaged.passRetained(KeysHandler(lease, deliver))
    let error = failure {
      kvo_add_callback_for_keys(
        header, keys, keys.count, options.cOptions, KeysHandler.call, handler.toOpaque(), 0,
        KeysHandler.end, token.handleAddress, $0)
    }
    guard let error else { return token }
    handler.release()
    KVODiagnostics.stop(error.text, for: caller)
  }
}

/// The context of a registration for several keys. The C core passes the index of the changed key to each
/// call.
final class KeysHandler {
  private let deliver: (KVOObject, Int, OpaquePointer) -> Void
  private let lease: [SubscriptKeyLease]

  fileprivate init(
    _ lease: [SubscriptKeyLease], _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void
  ) {
    self.deliver = deliver
    self.lease = lease
  }

  // During a call the core holds the handler, and the setter's caller holds the object.
  static let call: kvo_callback = { context, header, _, change in
    Unmanaged<KeysHandler>.fromOpaque(context!)._withUnsafeGuaranteedRef { handler in
      Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: header))._withUnsafeGuaranteedRef {
        handler.deliver($0, Int(kvo_binding_key_index(change)), change)
      }
    }
  }

  fileprivate static let end: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
    Unmanaged<KeysHandler>.fromOpaque($0!).release()
  }
}
