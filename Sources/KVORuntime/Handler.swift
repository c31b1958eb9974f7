internal import CKVORuntime

/// What a registration by handler keeps: one reference to this, which the C core gives back, when
/// the registration has ended and the last call in progress has returned. The function is handed
/// the core's change, and takes of it what it needs.
final class Handler {
  private let deliver: (KVOObject, OpaquePointer) -> Void

  private init(_ deliver: @escaping (KVOObject, OpaquePointer) -> Void) {
    self.deliver = deliver
  }

  /// Registers a handler for a single key. Returns the error, if there is one: nothing is kept
  /// then.
  /// - Parameter token: given its handle before the initial call.
  static func register(
    with object: KVOObject, _ key: UnsafePointer<CChar>, _ options: KeyValueObservingOptions,
    _ token: KeyValueObservation, _ deliver: @escaping (KVOObject, OpaquePointer) -> Void
  ) -> CoreError? {
    let handler = Unmanaged.passRetained(Handler(deliver))
    let error = failure {
      kvo_add_callback(
        object.header, key, options.cOptions, call, handler.toOpaque(), end, token.handleAddress,
        $0)
    }
    if error != nil { handler.release() }
    return error
  }

  // The core keeps the handler while it is called, and the setter's caller the object.
  private static let call: kvo_callback = { handler, header, _, change in
    Unmanaged<Handler>.fromOpaque(handler!)._withUnsafeGuaranteedRef { handler in
      Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: header))._withUnsafeGuaranteedRef {
        handler.deliver($0, change)
      }
    }
  }

  private static let end: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
    Unmanaged<Handler>.fromOpaque($0!).release()
  }
}

extension KeyValueObservingOptions {
  var cOptions: kvo_options { kvo_options(rawValue: UInt32(truncatingIfNeeded: rawValue & 31)) }
}
