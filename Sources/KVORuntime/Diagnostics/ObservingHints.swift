internal import CKVORuntime
internal import CSwiftRuntime

// Hints at registrations that succeed, but will probably not notify as the program expects.

extension KVOObject {
  /// Gives a hint at a plain property that is observed by its key, or at the start of an observed key path:
  /// assigning to it notifies no observer.
  func hintAtPlainProperty(of keyPath: String) {
    let key = String(keyPath.prefix { $0 != "." })
    guard let property = KVOClass.of(self).property(key), property.accessors == nil,
      property.toMany == nil, let field = property.storage, !field.isObserved, field.isVariable
    else { return }
    // A path that leads nowhere has a hint of its own.
    if case .keyless? = KVOClass.of(self).deadEnd(of: keyPath)?.cause { return }
    let name = className(of: type(of: self))
    let known = KVOClass.of(self)
    let mark = known.isByMacro(field) ? known.mark(for: field) : "Mark it @Observed."
    let word = field.name == key ? "a plain property" : "the plain property \"\(field.name)\""
    Hint.tell(
      """
      "\(key)" of \(name) is observed, and is \(word): assigning to it tells nobody. \
      \(field.takesWrapper ? "\(mark) Or assign" : "Assign") to it in withChange(forKey: "\(key)") \
      { … }. Setting it by key tells always.
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
    let reads = KeyPathReads(of: keyPath, in: self)
    guard reads.named != nil, let own = reads.names.first, own != key else { return }
    Hint.tell(
      """
      "\(key)" of \(known.name) is observed, and is declared as stored, but is the @Observed property "\(own)": \
      assigning to that tells of the key "\(own)" alone. A property under another key is declared in \
      registerKeys() as computed: declareKeys { $0.computed("\(key)", \\.\(own.inSource)) }.
      """)
  }

  /// Gives a hint at an object on a key path whose changes notify no observer.
  func hintAtKeylessObject(on keyPath: AnyKeyPath) {
    guard let object = keyPath.keylessObject else { return }
    Hint.tell(
      """
      The key path \(keyPath.text) is observed, and goes through \(object.phrase): another object in its place \
      is told, a change of what it has is not.
      """)
  }
}

// MARK: Tokens

/// Detects that a token is released where it was made. If hints are wanted, the handler of a registration
/// holds this object and releases it when the registration ends.
final class TokenWatch {
  private weak var object: KVOObject?
  private weak var token: KeyValueObservation?
  private let known: KVOClass
  private let key: String
  private let isCalled = Locked(false)
  private let start: UInt64

  // In milliseconds. A token that is kept lives longer.
  private static let moment: UInt64 = 10

  init(_ object: KVOObject, _ key: String, _ token: KeyValueObservation) {
    self.object = object
    self.token = token
    known = KVOClass.of(object)
    self.key = key
    start = kvo_milliseconds()
  }

  /// Called when the handler is called.
  func noteCall() { isCalled.withLock { $0 = true } }

  // If the token still exists, it was invalidated. If the object is gone, its death ended the registration.
  deinit {
    guard let object, token == nil, !isCalled.withLock({ $0 }),
      kvo_milliseconds() - start < Self.moment
    else { return }
    MissedChange.wait(for: key, of: object, known)
  }
}

/// Waits for the change that a handler would have been called for if its token had been kept. Without such a
/// change there is no hint, because the token may have been meant to live briefly. It waits with a
/// registration of its own, until that is called or the object dies.
private final class MissedChange {
  private struct Place: Hashable {
    let object: ObjectIdentifier
    let key: String
  }

  private static let waiting = Locked<Set<Place>>([])

  private let place: Place
  private let token = Locked<KeyValueObservation?>(nil)

  private init(_ place: Place) { self.place = place }

  static func wait(for key: String, of object: KVOObject, _ known: KVOClass) {
    let place = Place(object: ObjectIdentifier(object), key: key)
    guard waiting.withLock({ $0.insert(place).inserted }) else { return }
    let missed = MissedChange(place)
    let token = try? object.register(
      key: key, [],
      .boxing { (object: KVOObject, _) in missed.hint(object, known) }, isWatched: false)
    missed.token.withLock { $0 = token }
  }

  private func hint(_ object: KVOObject, _ known: KVOClass) {
    token.withLock {
      let token = $0
      $0 = nil
      return token
    }?.invalidate()
    let subject =
      known.trackedKeyPath(ofKey: place.key)?.text ?? "\(quoted(place.key)) of \(known.name)"
    Hint.tell(
      """
      An observation of \(subject) ended where it was made, before its handler was called, and now there is a change. If \
      the token that observe returns was let go of, keep it, in a property: a release build lets go of a local variable \
      or array after its last use.
      """)
  }

  deinit { Self.waiting.withLock { _ = $0.remove(place) } }
}
