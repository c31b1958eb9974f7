internal import CKVORuntime
internal import CSwiftRuntime

// Names of handlers, for dumps and logs (J1, J2): where the program wrote the closure, according to its
// symbols, or the class that a method belongs to. A registration stores nothing for this. When a name is
// requested, the closure is looked for in the memory that the registration keeps anyway, where closures of
// this library and thunks of the compiler may wrap it.

/// Finds a closure's name.
enum HandlerName {
  /// Makes the C core ask for names.
  static let isAskedFor: Void = kvo_set_callback_namer { callback, context, buffer, capacity in
    guard let context, let name = name(of: callback, context) else { return 0 }
    return write(name, to: buffer, capacity: capacity)
  }

  private static func name(of callback: kvo_callback, _ context: UnsafeRawPointer) -> String? {
    let callback = unsafeBitCast(callback, to: UnsafeRawPointer.self)
    if callback == unsafeBitCast(HandlerCalls.call, to: UnsafeRawPointer.self) {
      return name(of: context.load(as: kvo_swift_handler.self))
    }
    return handlersInObjects.contains(callback) ? name(of: StoredClosure.all(in: context)) : nil
  }

  // The callbacks whose context is an object with a closure.
  private static var handlersInObjects: [UnsafeRawPointer] {
    [KeysHandler.call, ForeignHandler.call].map { unsafeBitCast($0, to: UnsafeRawPointer.self) }
  }

  static func name(of handler: kvo_swift_handler) -> String? {
    if let name = NamedHandler.name(of: handler) { return name.handlerName }
    return name(of: [handler.handler, handler.deliver].compactMap { StoredClosure($0) })
  }

  // The name of the program's closure, if there is one. A closure without a symbol is named by its address.
  private static func name(of closures: [StoredClosure]) -> String? {
    let names = closures.compactMap { $0.name(depth: 0) }
    return (names.first { !$0.isLibrarys } ?? names.first)?.text ?? closures.first?.place
  }
}

/// A closure in memory.
private struct StoredClosure {
  let function: UnsafeRawPointer
  let context: UnsafeMutableRawPointer?

  init?(_ closure: kvo_swift_closure) {
    guard let function = closure.function, kvo_is_code(function) else { return nil }
    self.function = function
    context = closure.context
  }

  /// The name of the program's closure, which is this one or one that it holds; otherwise the closure's own
  /// name.
  func name(depth: Int) -> FunctionName? {
    guard let own = Self.name(at: function) else { return nil }
    guard own.isLibrarys || own.isThunk, depth < Self.deepest, let context else {
      return own.isThunk ? nil : own
    }
    let held = Self.all(in: UnsafeRawPointer(context)).lazy.compactMap { $0.name(depth: depth + 1) }
    return held.first { !$0.isLibrarys } ?? (own.isThunk ? held.first : own)
  }

  // Cached: a program may ask for the observers of its objects at every step, and reading a long symbol takes
  // milliseconds in a debug build. The code of the program bounds the number of names.
  private static func name(at function: UnsafeRawPointer) -> FunctionName? {
    if let name = known.withLock({ $0[function] }) { return name }
    let names = SymbolTable.names(at: function).sorted().lazy.compactMap {
      FunctionName(symbol: $0)
    }
    known.withLock { $0[function] = .some(names.first) }
    return names.first
  }

  private static let known = LockedValue<[UnsafeRawPointer: FunctionName?]>([:])

  private static let deepest = 4

  /// The closures in a heap object. They are recognised by their functions, because a context does not
  /// describe where its captured values are: a word is a function if a function's symbol has that address.
  static func all(in object: UnsafeRawPointer) -> [StoredClosure] {
    let word = MemoryLayout<UInt>.size
    return withUnsafeTemporaryAllocation(byteCount: largest, alignment: 2 * word) { copy in
      // A word that looks like a closure's context may be anything, so memory is read through a copy.
      let size = kvo_swift_read_context(object, copy.baseAddress!, largest)
      return stride(from: 2 * word, through: size - 2 * word, by: word).compactMap { offset in
        StoredClosure(copy.load(fromByteOffset: offset, as: kvo_swift_closure.self))
      }
    }
  }

  // No closure of this library captures more.
  private static let largest = 256

  var place: String { "a closure at \(function)" }
}
