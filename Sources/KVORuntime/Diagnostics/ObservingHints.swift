internal import CKVORuntime
internal import CSwiftRuntime

// Hints at registrations that succeed, but will probably not notify as the program expects.

extension KVOObject {
  /// Gives a hint at a plain property that is observed by its key, or at the start of an observed key path:
  /// assigning to it alone notifies no observer.
  /// - Parameter derived: The observed key, if the key path only affects that.
  func hintAtPlainProperty(of keyPath: String, affecting derived: String? = nil) {
    let key = String(keyPath.prefix { $0 != "." })
    guard let property = KVOClass.of(self).property(key), property.accessors == nil,
      property.toMany == nil, let field = property.storage, !field.isObserved, field.isVariable
    else { return }
    // A path that leads nowhere has a hint of its own.
    if KVOClass.of(self).unresolvedPath(of: keyPath)?.isKeyless == true { return }
    let name = className(of: type(of: self))
    let known = KVOClass.of(self)
    let mark = known.mark(for: field)
    let word = field.name == key ? "a plain property" : "the plain property \"\(field.name)\""
    let use = derived.map { "affects \(quoted(known.spelling(of: $0))), which is observed" }
    Hint.give(
      """
      "\(key)" of \(name) \(use ?? "is observed"), and is \(word): assigning to it alone notifies no observer. \
      \(field.takesWrapper ? "\(mark) Or assign" : "Assign") to it in withChange(forKey: "\(key)") \
      { … }. Setting it by key notifies, unless automatic notification is off for it.
      """)
  }

  /// Gives a hint at an `@Observed` property that is declared as stored under another key.
  func hintAtOtherName(of key: String) {
    let known = KVOClass.of(self)
    guard !known.lacksFields, let property = known.property(key),
      property.storage?.isObserved != true,
      let accessors = property.accessors, case .accessors = accessors.use,
      let keyPath = accessors.keyPath
    else { return }
    let reads = KeyPathReadRecorder(of: keyPath, in: self)
    guard reads.named != nil, let own = reads.names.first, own != key else { return }
    Hint.give(
      """
      "\(key)" of \(known.name) is observed, and is declared as stored, but is the @Observed property "\(own)": \
      assigning to that notifies observers of the key "\(own)" only. A property under another key is declared in \
      registerKeys() as computed: declareKeys { $0.computed("\(key)", \\.\(own.inSource)) }.
      """)
  }

  /// Gives a hint at an object on a key path whose changes notify no observer.
  func hintAtKeylessObject(on keyPath: AnyKeyPath) {
    guard let type = keyPath.keylessClass else { return }
    Hint.give(
      """
      The key path \(keyPath.text) is observed, and goes through an object of \(className(of: type)), which is not a \
      KVOObject: replacing the object notifies observers, changing what it contains does not.
      """)
  }
}

extension KVOClass {
  /// Gives a hint at a key path that affects a key and continues behind an object that has no keys.
  func hintAtKeylessLink(of keyPath: String, affecting key: String) {
    guard KeyPathCoding.isPath(keyPath), let end = unresolvedPath(of: keyPath), end.isKeyless else {
      return
    }
    Hint.give(
      """
      The key path \(quoted(keyPath)) affects \(quoted(spelling(of: key))) of \(name), but a change of \(quoted(end.key)) \
      notifies no observer. \(end.reason(in: self))
      """)
  }
}

// MARK: Tokens

/// Gives a hint if a token is released where it was made. If hints are wanted, the handler of a registration
/// holds this object and releases it when the registration ends.
final class UnusedTokenCheck {
  private weak var object: KVOObject?
  private weak var token: KeyValueObservation?
  private let known: KVOClass
  private let key: String
  private let keyPath: AnyKeyPath?
  private let isCalled = LockedValue(false)
  private let start: UInt64

  // In milliseconds. A token that is kept lives longer.
  private static let moment: UInt64 = 10

  /// - Parameter keyPath: The key path that has leased the key. When the hint is given, another one may have it.
  init(
    _ object: KVOObject, _ key: String, leasedTo keyPath: AnyKeyPath? = nil,
    _ token: KeyValueObservation
  ) {
    self.object = object
    self.token = token
    self.key = key
    self.keyPath = keyPath
    known = KVOClass.of(object)
    start = kvo_milliseconds()
  }

  /// Called when the handler is called.
  func noteCall() { isCalled.withLock { $0 = true } }

  // If the token still exists, it was invalidated. If the object is gone, its death ended the registration.
  deinit {
    guard object != nil, token == nil, !isCalled.withLock({ $0 }),
      kvo_milliseconds() - start < Self.moment
    else { return }
    Hint.give(
      """
      An observation of \(keyPath?.text ?? known.subject(ofKey: key)) ended where it was made, before its handler was called. Keep the token that observe \
      returns, in a property: a release build lets go of a local variable or array after its last use.
      """)
  }
}
