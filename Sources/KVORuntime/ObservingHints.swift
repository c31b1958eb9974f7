internal import CKVORuntime
internal import CSwiftRuntime

// What there is to say of a registration that is made without an error, and probably won't tell what the
// program expects.

extension KVOObject {
  /// Tells of a plain property that is observed by its key, or begins a key path that is: assigning to it tells
  /// nobody.
  func hintAtPlainProperty(of keyPath: String) {
    let key = String(keyPath.prefix { $0 != "." })
    guard let property = KVOClass.of(self).property(key), property.accessors == nil,
      property.toMany == nil, let field = property.storage, !field.isObserved, field.isVariable
    else { return }
    let name = className(of: type(of: self))
    let word = field.name == key ? "a plain property" : "the plain property \"\(field.name)\""
    Hint.tell(
      """
      "\(key)" of \(name) is observed, and is \(word): assigning to it tells nobody. \
      \(field.takesWrapper ? "Mark it @Observed. Or assign" : "Assign") to it in withChange(forKey: "\(key)") \
      { … }. Setting it by key tells always.
      """)
  }

  /// Tells of an object on a key path that nobody hears of when it changes.
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

/// Sees that a token is let go of where it was made. The function of a registration holds it, where hints are
/// wanted, and ends with that.
final class TokenWatch {
  private weak var object: KVOObject?
  private weak var token: KeyValueObservation?
  private let known: KVOClass
  private let key: String
  private let isCalled = Locked(false)
  private let start: UInt64

  // Whoever keeps a token keeps it longer.
  private static let moment: UInt64 = 10

  init(_ object: KVOObject, _ key: String, _ token: KeyValueObservation) {
    self.object = object
    self.token = token
    known = KVOClass.of(object)
    self.key = key
    start = kvo_milliseconds()
  }

  /// The handler has been called.
  func noteCall() { isCalled.withLock { $0 = true } }

  // A token that is there was invalidated, and one whose object dies ends with that.
  deinit {
    guard object != nil, token == nil, !isCalled.withLock({ $0 }),
      kvo_milliseconds() - start < Self.moment
    else { return }
    let subject = known.trackedKeyPath(ofKey: key)?.text ?? "\(quoted(key)) of \(known.name)"
    Hint.tell(
      """
      An observation of \(subject) ended in the moment in which it was made, before its handler was \
      called. If the token that observe returns was let go of there, keep it, in a property.
      """)
  }
}
