internal import CKVORuntime

// Observing several keys with one handler and one token: one registration of the C core (`group.c`), which calls with
// the key's index.

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
  /// The handler is given no change, whose type would differ from key to key: it learns which property changed
  /// by comparing the key path (`keyPath == \Account.balance`), and reads the new value of the object; who
  /// needs the old one, or a prior call's mark, observes that property by itself.
  ///
  /// - Parameters:
  ///   - keyPaths: properties of this object, of any types.
  ///   - options: the same for all of them.
  ///   - changeHandler: called with the key path as it stands in the array.
  /// - Returns: a token; dropping it ends the registration. Of no key paths it is not valid.
  /// - Complexity: O(*n*) in the number of key paths, after the first use of each with the class.
  public func observe(
    _ keyPaths: [PartialKeyPath<Self>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping (Self, PartialKeyPath<Self>) -> Void
  ) -> KeyValueObservation {
    register(keyPaths, options) { object, index, _ in
      changeHandler(unsafeDowncast(object, to: Self.self), keyPaths[index])
    }
  }
}

extension KeyValueObserving where Self: KVOObject & Sendable {
  /// Calls a handler on each change of any of several properties, on the thread of the change.
  public func observe(
    _ keyPaths: [PartialKeyPath<Self>], options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, PartialKeyPath<Self>) -> Void
  ) -> KeyValueObservation {
    register(keyPaths, options) { object, index, _ in
      changeHandler(unsafeDowncast(object, to: Self.self), keyPaths[index])
    }
  }
}

extension KVOObject {
  fileprivate func register(
    _ keyPaths: [AnyKeyPath], _ options: KeyValueObservingOptions,
    _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void
  ) -> KeyValueObservation {
    let keys = keyPaths.map { observedKey(of: $0) }
    return register(keys.map(\.name.interned), keys.compactMap(\.lease), options, deliver)
  }

  /// Registers a function for several keys.
  /// - Parameter deliver: called with the place of the key that changed.
  @usableFromInline
  func register(
    _ keys: [UnsafePointer<CChar>], _ options: KeyValueObservingOptions,
    _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void
  ) -> KeyValueObservation {
    register(keys, [], options, deliver)
  }

  private func register(
    _ keys: [UnsafePointer<CChar>], _ lease: [KeyLease], _ options: KeyValueObservingOptions,
    _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void
  ) -> KeyValueObservation {
    let token = KeyValueObservation()
    guard !keys.isEmpty else { return token }
    // One reference, which the C core gives back by `end`.
    let handler = Unmanaged.passRetained(KeysHandler(lease, deliver))
    let error = failure {
      kvo_add_callback_for_keys(
        header, keys, keys.count, options.cOptions, KeysHandler.call, handler.toOpaque(), 0,
        KeysHandler.end, token.handleAddress, $0)
    }
    guard let error else { return token }
    handler.release()
    KVODiagnostics.stop(error.text)
  }
}

/// What a registration of several keys keeps. The C core says with each call which of the keys it is.
private final class KeysHandler {
  private let deliver: (KVOObject, Int, OpaquePointer) -> Void
  private let lease: [KeyLease]

  init(_ lease: [KeyLease], _ deliver: @escaping (KVOObject, Int, OpaquePointer) -> Void) {
    self.deliver = deliver
    self.lease = lease
  }

  // The core keeps the handler while it is called, and the setter's caller the object.
  static let call: kvo_callback = { context, header, _, change in
    Unmanaged<KeysHandler>.fromOpaque(context!)._withUnsafeGuaranteedRef { handler in
      Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: header))._withUnsafeGuaranteedRef {
        handler.deliver($0, Int(kvo_binding_key_index(change)), change)
      }
    }
  }

  static let end: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
    Unmanaged<KeysHandler>.fromOpaque($0!).release()
  }
}
