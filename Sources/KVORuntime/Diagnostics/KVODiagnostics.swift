internal import CKVORuntime

// The reports of errors in the program. Those of the C core and of the overlay reach the program's hooks
// here, on the thread that found the error (D10, J2). The limits are stored in the core (D7).

/// Hooks for the runtime's reports of errors in the program, and limits on its use of stack and memory.
public enum KVODiagnostics {
  /// A hook for notifications that no class of the observer handles. Without one such a notification stops
  /// the program with a message.
  ///
  /// It is called on the thread of the change. May be set on any thread.
  public static var unhandledNotification:
    (@Sendable (_ keyPath: String, _ object: Any?, _ observer: KVOObject) -> Void)?
  {
    get { hooks.withLock { $0.unhandledNotification } }
    set {
      // The earlier hook and its captures are destroyed outside the lock.
      var hook = newValue
      hooks.withLock { swap(&$0.unhandledNotification, &hook) }
    }
  }

  /// A hook for reports of misuse, such as a `didChangeValue` without its `willChangeValue`. By default they
  /// are logged to stderr.
  ///
  /// It is called on the thread that found the misuse. May be set on any thread.
  public static var misuse: (@Sendable (String) -> Void)? {
    get { hooks.withLock { $0.misuse } }
    set {
      var hook = newValue
      hooks.withLock { swap(&$0.misuse, &hook) }
      kvo_set_misuse_handler(newValue == nil ? nil : reportMisuse)
    }
  }

  /// The maximum depth of nested changes on one thread. A change that an observer makes while it is notified
  /// of another one is one level deeper.
  ///
  /// A program that exceeds the limit stops with a message that names the class and the property. The usual
  /// cause is an observer that always sets the property it observes, which would use up the thread's stack
  /// and end the program without a message.
  ///
  /// The depth is checked at every sixteenth level. Whatever the limit, the program also stops if too little
  /// of the stack is left for sixteen more levels; 0 means only that check. The default is 10,000, or the
  /// value of `KVO_DEPTH` in the environment. May be used on any thread.
  public static var depthLimit: Int {
    get { Int(kvo_depth_limit()) }
    set { kvo_set_depth_limit(UInt32(clamping: newValue)) }
  }

  /// The maximum number of observed names that are not properties of a class. It protects programs that
  /// observe names sent by clients.
  ///
  /// Such names are keys that only `value(forUndefinedKey:)` answers, if they were observed or changed
  /// manually. Each takes 200 to 500 bytes, which are never freed. Beyond the limit, observing a new one
  /// throws `KeyValueError.notObservable`. Other names are not kept: those that can't be observed or are only
  /// read, set or validated, and key paths without observers.
  ///
  /// The default is 100,000, or the value of `KVO_NAMES` in the environment. May be used on any thread.
  public static var nameLimit: Int {
    get { kvo_name_limit() }
    set { kvo_set_name_limit(max(newValue, 0)) }
  }

  /// A hook for hints at code that is valid but probably not what was meant. Each hint is given once.
  ///
  /// Hints are given at these occasions:
  /// - A property is observed whose setter does not notify, or whose getter announces a change at each call.
  /// - A plain property is observed by its key, or an `@Observed` one by another key under which it is
  ///   declared as `stored`.
  /// - An observed key path leads through an object that is no `KVOObject`, or to a key that the class of a
  ///   nil link does not have.
  /// - An observation ends because its token was released where it was made.
  /// - Key-value coding or a proxy bypasses an override that a key path has revealed.
  /// - A manual change names a key that the observed object does not have.
  /// - A class is first used that declares something for a key that it does not have.
  ///
  /// By default hints are logged to stderr if the environment has `KVO_LOG=hints` or `KVO_HELP=1`. The hook
  /// is called on the thread that causes the hint. May be set on any thread.
  public static var hint: (@Sendable (String) -> Void)? {
    get { hooks.withLock { $0.hint } }
    set {
      var hook = newValue
      hooks.withLock { swap(&$0.hint, &hook) }
      kvo_set_hint_handler(newValue == nil ? nil : giveHint)
    }
  }

  private struct Hooks {
    var unhandledNotification: (@Sendable (String, Any?, KVOObject) -> Void)?
    var misuse: (@Sendable (String) -> Void)?
    var hint: (@Sendable (String) -> Void)?
  }

  private static let hooks = LockedValue(Hooks())

  private static let reportMisuse: @convention(c) (UnsafePointer<CChar>) -> Void = { message in
    KVODiagnostics.misuse?(String(cString: message))
  }

  private static let giveHint: @convention(c) (UnsafePointer<CChar>) -> Void = { message in
    KVODiagnostics.hint?(String(cString: message))
  }
}

extension KVODiagnostics {
  /// Handles a notification that reached the root: calls the hook, or stops the program.
  static func report(unhandled keyPath: String, of object: Any?, by observer: KVOObject) {
    if let hook = unhandledNotification { return hook(keyPath, object, observer) }
    let subject =
      objectCast(object, to: KVOObject.self).map { ObjectHeader.describe($0.header) }
      ?? object.map { "\($0)" } ?? "nil"
    stop(
      """
      \(ObjectHeader.describe(observer.header)) was notified of a change of "\(keyPath)" of \
      \(subject), and no class of the observer took it. Override \
      observeValue(forKeyPath:of:change:context:), and call super only for contexts that are not \
      your own.
      """)
  }

  /// Reports an error in the program after which it can continue.
  package static func report(misuse message: String) { kvo_report_misuse(message) }

  /// Stops the program for an error in it. A debugger can stop at the break function first. The message has the
  /// caller's file and line if they are known.
  package static func stop(_ message: String, for caller: Caller? = nil) -> Never {
    kvo_break_on_misuse(message)
    let text = "KVORuntime: \(message)"
    if let caller { fatalError(text, file: caller.file, line: caller.line) }
    fatalError(text)
  }
}

/// The unqualified name of a type, for messages.
package func className(of type: Any.Type) -> String {
  _typeName(type, qualified: false)
}
