internal import CKVORuntime
internal import CSwiftRuntime

/// What a registration by handler keeps: the handler as the program gave it, and a function without captures
/// that makes of the core's change what the handler takes. Both lie in the registration itself, by their words,
/// so that nothing is allocated for them; the core gives them back when the registration has ended and the last
/// call in progress has returned.
///
/// The function is made where the handler's type is known, mostly in the caller's module, and is handed the
/// handler as an argument: if it captured it, each registration had a box for that.
// A parameter for the whole argument would be passed as what is of any type, by a thunk and a box for each.
@frozen @usableFromInline
struct Handler<Object: KVOObject, Value> {
  @usableFromInline typealias Function = (Object, KeyValueObservedChange<Value>) -> Void
  @usableFromInline typealias Delivery = (KVOObject, OpaquePointer, @escaping Function) -> Void

  // In this order, which C knows (`kvo_swift_handler`).
  @usableFromInline let deliver: Delivery
  @usableFromInline let function: Function

  @inlinable
  init(_ function: @escaping Function, deliver: @escaping Delivery) {
    self.deliver = deliver
    self.function = function
  }
}

/// A handler of whatever class, as one of the root class: to its caller an object is an address.
struct HandlerFunction<Object: KVOObject, Value> {
  let call: Handler<Object, Value>.Function

  // Not of the function itself, which would be wrapped.
  var ofAnyObject: Handler<KVOObject, Value>.Function {
    unsafeBitCast(self, to: HandlerFunction<KVOObject, Value>.self).call
  }
}

extension Handler {
  /// Registers a handler for a single key. Returns the error, if there is one: then the handler is still the
  /// caller's, else the registration's.
  /// - Parameters:
  ///   - header: of the object, which the caller holds.
  ///   - handle: the token's, set before the initial call.
  ///   - handler: the address of a `Handler`.
  static func register(
    _ header: UnsafeMutablePointer<kvo_object>, _ key: UnsafePointer<CChar>,
    _ options: KeyValueObservingOptions, _ handle: UnsafeMutablePointer<OpaquePointer?>,
    _ handler: UnsafeRawPointer
  ) -> CoreError? where Object == KVOObject, Value == Any {
    failure {
      kvo_add_callback_with_words(
        header, key, options.cOptions, HandlerCalls.call, handler,
        MemoryLayout<kvo_swift_handler>.size, HandlerCalls.end, handle, $0)
    }
  }
}

extension KVOObject {
  func register(
    _ key: UnsafePointer<CChar>, _ options: KeyValueObservingOptions, _ token: KeyValueObservation,
    _ handler: UnsafeRawPointer
  ) -> CoreError? {
    Handler.register(header, key, options, token.handleAddress, handler)
  }

  /// The same for a key path that has been observed before; false if it has to be looked up.
  @inline(__always)
  func registerAgain(
    _ keyPath: AnyKeyPath, _ options: KeyValueObservingOptions, _ token: KeyValueObservation,
    _ handler: UnsafeRawPointer
  ) -> Bool {
    kvo_add_callback_by_token(
      header, ObjectHeader.metadata(of: header), Unmanaged.passUnretained(keyPath).toOpaque(),
      options.cOptions, HandlerCalls.call, handler, MemoryLayout<kvo_swift_handler>.size,
      HandlerCalls.end, token.handleAddress)
  }
}

/// A handler that calls another one, after a function that holds what is to live as long.
struct WrappingHandler {
  // In memory they are what a `Handler` is, which C knows.
  private let deliver: (KVOObject, OpaquePointer, UnsafeRawPointer?, UnsafeRawPointer?) -> Void
  private let function: UnsafeRawPointer? = nil
  private let context: UnsafeRawPointer? = nil

  /// - Parameter handler: the address of a `Handler`, which is this one's from now on.
  init(_ handler: UnsafeRawPointer, _ note: @escaping () -> Void) {
    let given = GivenHandler(handler)
    deliver = { object, change, _, _ in
      note()
      given.call(object, change)
    }
  }
}

private final class GivenHandler: Sendable {
  // Never written again, and called on the threads that handlers are called on.
  private nonisolated(unsafe) let words: kvo_swift_handler

  init(_ handler: UnsafeRawPointer) {
    words = handler.load(as: kvo_swift_handler.self)
  }

  deinit {
    withUnsafePointer(to: words) { kvo_swift_release_handler($0) }
  }

  func call(_ object: KVOObject, _ change: OpaquePointer) {
    withUnsafePointer(to: words) {
      kvo_swift_call_handler($0, object.address, UnsafeRawPointer(change))
    }
  }
}

/// What the core calls. Functions of C, so that nothing lies between the core and the handler.
private enum HandlerCalls {
  // The core keeps the handler while it is called, and the setter's caller the object.
  static var call: kvo_callback { kvo_swift_callback }

  static var end: @convention(c) (UnsafeMutableRawPointer) -> Void {
    { kvo_swift_release_handler($0.assumingMemoryBound(to: kvo_swift_handler.self)) }
  }
}

extension KeyValueObservingOptions {
  var cOptions: kvo_options { kvo_options(rawValue: UInt32(truncatingIfNeeded: rawValue & 31)) }
}
