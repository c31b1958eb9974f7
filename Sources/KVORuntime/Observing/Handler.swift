internal import CKVORuntime
internal import CSwiftRuntime

/// The handler of a registration in two parts: the program's closure, and a function without captures that
/// converts the core's change to the type that the closure takes. Their words are stored in the registration
/// itself, so that they need no allocation. The core releases them when the registration has ended and the
/// last call in progress has returned.
///
/// The function is compiled where the handler's type is known, usually in the caller's module. It takes the
/// closure as an argument, because capturing it would allocate a box for each registration.
// A generic parameter for the whole argument would make the compiler pass it indirectly, with a thunk and a
// box each.
@frozen @usableFromInline
struct Handler<Object: KVOObject, Value> {
  @usableFromInline typealias Function = (Object, KeyValueObservedChange<Value>) -> Void
  @usableFromInline typealias Delivery = (KVOObject, OpaquePointer, @escaping Function) -> Void

  // C relies on this order (`kvo_swift_handler`).
  @usableFromInline let deliver: Delivery
  @usableFromInline let function: Function

  @inlinable
  init(_ function: @escaping Function, deliver: @escaping Delivery) {
    self.deliver = deliver
    self.function = function
  }
}

/// Converts a handler for any class to one for the root class. To its caller, an object is only an address.
struct HandlerFunction<Object: KVOObject, Value> {
  let call: Handler<Object, Value>.Function

  // Casts the struct, because a cast of the function itself would wrap it in a thunk.
  var ofAnyObject: Handler<KVOObject, Value>.Function {
    unsafeBitCast(self, to: HandlerFunction<KVOObject, Value>.self).call
  }
}

extension Handler {
  /// Registers a handler for a single key.
  /// - Parameters:
  ///   - header: The header of the object, which the caller holds.
  ///   - handle: The token's handle, which is set before the initial call.
  ///   - handler: The address of a `Handler`.
  /// - Returns: The error, or nil on success. On success the registration owns the handler; on error the
  ///   caller still does.
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
  /// Registers a handler for an interned key, which may be one that as a string would be a key path.
  func register(
    _ key: UnsafePointer<CChar>, _ options: KeyValueObservingOptions, _ token: KeyValueObservation,
    _ handler: UnsafeRawPointer
  ) -> CoreError? {
    failure {
      kvo_add_callback_of_key_with_words(
        header, key, options.cOptions, HandlerCalls.call, handler,
        MemoryLayout<kvo_swift_handler>.size, HandlerCalls.end, token.handleAddress, $0)
    }
  }

  /// Registers a handler for a key path that was observed before. Returns false if the key path must be
  /// looked up.
  @usableFromInline
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

/// The name of one of this library's own handlers in dumps and logs.
protocol HandlerNaming: AnyObject {
  var handlerName: String? { get }
}

/// One of this library's own handlers, named by an object.
struct NamedHandler {
  typealias Delivery = (KVOObject, OpaquePointer, UnsafeRawPointer?, UnsafeRawPointer?) -> Void

  // The memory layout is that of `Handler`, which C relies on: the mark is in place of the function of the program's
  // closure, and the object in place of its context, which the registration releases.
  private let deliver: Delivery
  private let mark = Self.mark
  private let name: Unmanaged<AnyObject>

  // No function's address. Never written.
  private nonisolated(unsafe) static let mark = UnsafeRawPointer(
    UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

  /// - Parameters:
  ///   - name: retained until the registration ends, to which the result must be passed.
  ///   - deliver: called with the registration's object, its change, and two words of no use.
  init(_ name: any HandlerNaming, _ deliver: @escaping Delivery) {
    self.name = .passRetained(name as AnyObject)
    self.deliver = deliver
  }

  /// A handler that calls a note function and then another handler. The note's captures live as long as the
  /// handler.
  /// - Parameter handler: The address of a `Handler`. This object takes its ownership.
  init(_ handler: UnsafeRawPointer, after note: @escaping () -> Void) {
    let given = GivenHandler(handler)
    self.init(given) { object, change, _, _ in
      note()
      given.call(object, change)
    }
  }

  /// The object that names a handler, if it is one of these.
  static func name(of handler: kvo_swift_handler) -> (any HandlerNaming)? {
    guard handler.handler.function == mark, let name = handler.handler.context else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(name).takeUnretainedValue() as? any HandlerNaming
  }
}

private final class GivenHandler: Sendable, HandlerNaming {
  // Safe on any thread: written once, and called where handlers are called.
  private nonisolated(unsafe) let words: kvo_swift_handler

  init(_ handler: UnsafeRawPointer) {
    words = handler.load(as: kvo_swift_handler.self)
  }

  var handlerName: String? { HandlerName.name(of: words) }

  deinit {
    withUnsafePointer(to: words) { kvo_swift_release_handler($0) }
  }

  func call(_ object: KVOObject, _ change: OpaquePointer) {
    withUnsafePointer(to: words) {
      kvo_swift_call_handler($0, object.address, UnsafeRawPointer(change))
    }
  }
}

/// The callbacks of the core. They are C functions, so that no thunk runs between the core and the handler.
enum HandlerCalls {
  // During a call the core holds the handler, and the setter's caller holds the object.
  // Not inlined, because each object file that names the C function has a copy of it with an address of its own, by
  // which `HandlerName` recognises handlers.
  static var call: kvo_callback { @inline(never) get { kvo_swift_callback } }

  static var end: @convention(c) (UnsafeMutableRawPointer) -> Void {
    { kvo_swift_release_handler($0.assumingMemoryBound(to: kvo_swift_handler.self)) }
  }
}

extension KeyValueObservingOptions {
  var cOptions: kvo_options { kvo_options(rawValue: UInt32(truncatingIfNeeded: rawValue & 31)) }
}
