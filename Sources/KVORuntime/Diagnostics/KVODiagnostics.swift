internal import CKVORuntime

// What the runtime says of errors in the program reaches the program's hooks by this file, from the C core and the
// overlay alike, on the thread that noticed it (D10, J2). The limits are the core's own (D7).

/// Hooks into what the runtime has to say about errors in the program.
public enum KVODiagnostics {
  /// Sees a notification that no class of the observer took, in place of the stop with a message.
  /// Called on the thread of the change. Any thread.
  public static var unhandledNotification:
    (@Sendable (_ keyPath: String, _ object: Any?, _ observer: KVOObject) -> Void)?
  {
    get { hooks.withLock { $0.unhandledNotification } }
    set {
      // The earlier one, and what it captured, ends outside the lock.
      var hook = newValue
      hooks.withLock { swap(&$0.unhandledNotification, &hook) }
    }
  }

  /// Sees each reported misuse (a did without will, a pair left open …); the default logs to
  /// stderr. Called on the thread that noticed it. Any thread.
  public static var misuse: (@Sendable (String) -> Void)? {
    get { hooks.withLock { $0.misuse } }
    set {
      var hook = newValue
      hooks.withLock { swap(&$0.misuse, &hook) }
      kvo_set_misuse_handler(newValue == nil ? nil : tellMisuse)
    }
  }

  /// About how deep changes may nest on one thread: a change that an observer makes while it is told
  /// of another is one level. A program that goes deeper is stopped with a message that names class
  /// and property: some observer sets what it observes, and never stops, and would use up the
  /// thread's stack, which ends a program without a word.
  ///
  /// Looked at every sixteen levels. Whatever the limit, the program is also stopped when so little
  /// of the stack is left that sixteen more levels may not fit; 0 is no other limit than that. At
  /// first 10,000, or what `KVO_DEPTH` in the environment says. Any thread.
  public static var depthLimit: Int {
    get { Int(kvo_depth_limit()) }
    set { kvo_set_depth_limit(UInt32(clamping: newValue)) }
  }

  /// How many names the runtime may keep that are no properties of a class: keys that only
  /// `value(forUndefinedKey:)` answers and that were observed, or that were changed by hand. Each
  /// takes 200 to 500 bytes, for ever. Beyond the limit observing a new one throws
  /// `KeyValueError.notObservable`. Names that can't be observed, that are only read, set or validated,
  /// and key paths that nobody observes any more, are not kept. For programs that observe names which
  /// clients send. At first 100,000, or what `KVO_NAMES` in the environment says. Any thread.
  public static var nameLimit: Int {
    get { kvo_name_limit() }
    set { kvo_set_name_limit(max(newValue, 0)) }
  }

  /// Sees each hint at what is no error in the program, but probably meant otherwise; each is given once:
  /// when a property is observed whose setter tells nobody, or whose getter tells of a change each time, a plain
  /// one by its key, an `@Observed` one by another key under which it is declared as `stored`, or a key path
  /// through an object that is no `KVOObject`, or to a key that the class of a link that is nil does not have;
  /// when a change finds nobody since a token was let go of where it was made; when key-value coding, a proxy or a handle passes by a `didSet`, an override or the setter of a
  /// computed property; when a change of a key that an observed object does not have is announced by hand; and
  /// when a class is first used which declares something of a key that it does not have, or has methods that are
  /// named by Objective-C's conventions (`insertObject(_:inItemsAt:)`, `validateName(_:)`) and that no
  /// declaration stands for.
  ///
  /// The default logs them to stderr where the environment asks for it, by `KVO_LOG=hints` or `KVO_HELP=1`.
  /// Called on the thread that has the occasion. Any thread.
  public static var hint: (@Sendable (String) -> Void)? {
    get { hooks.withLock { $0.hint } }
    set {
      var hook = newValue
      hooks.withLock { swap(&$0.hint, &hook) }
      kvo_set_hint_handler(newValue == nil ? nil : tellHint)
    }
  }

  private struct Hooks {
    var unhandledNotification: (@Sendable (String, Any?, KVOObject) -> Void)?
    var misuse: (@Sendable (String) -> Void)?
    var hint: (@Sendable (String) -> Void)?
  }

  private static let hooks = Locked(Hooks())

  private static let tellMisuse: @convention(c) (UnsafePointer<CChar>) -> Void = { message in
    KVODiagnostics.misuse?(String(cString: message))
  }

  private static let tellHint: @convention(c) (UnsafePointer<CChar>) -> Void = { message in
    KVODiagnostics.hint?(String(cString: message))
  }
}

extension KVODiagnostics {
  /// Ends a notification that reached the root: the hook has it, or the program stops.
  static func report(unhandled keyPath: String, of object: Any?, by observer: KVOObject) {
    if let hook = unhandledNotification { return hook(keyPath, object, observer) }
    let subject =
      (object as? KVOObject).map { ObjectHeader.describe($0.header) }
      ?? object.map { "\($0)" } ?? "nil"
    stop(
      """
      \(ObjectHeader.describe(observer.header)) was told of a change of "\(keyPath)" of \
      \(subject), and no class of the observer took it. Override \
      observeValue(forKeyPath:of:change:context:), and call super only for contexts that are not \
      your own.
      """)
  }

  /// Reports an error in the program that it can live with.
  static func report(misuse message: String) { kvo_report_misuse(message) }

  /// Stops the program for an error in it, where a debugger can see it coming.
  package static func stop(_ message: String) -> Never {
    kvo_break_on_misuse(message)
    fatalError("KVORuntime: \(message)")
  }
}

/// The unqualified name, as messages have it.
func className(of type: Any.Type) -> String {
  _typeName(type, qualified: false)
}
