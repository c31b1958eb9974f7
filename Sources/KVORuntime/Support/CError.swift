internal import CKVORuntime

/// An error of the C runtime. It is converted to a `KeyValueError`; a hook's own error is passed to C as a
/// status.
struct CoreError {
  let status: kvo_status
  /// The message.
  let text: String
  /// The subject of the error; empty strings where the function did not fill them in.
  let className, key, component, expected, found: String
}

/// Calls a C function; returns its error, or nil on success.
///
/// `kvo_error` has room for long names, and is written only on failure. So it is neither cleared nor copied
/// on success.
func failure(_ call: (UnsafeMutablePointer<kvo_error>) -> kvo_status) -> CoreError? {
  withUnsafeTemporaryAllocation(of: kvo_error.self, capacity: 1) { error in
    // A buffer with one element has an address.
    let error = error.baseAddress!
    return call(error) == .KVO_OK ? nil : CoreError(error)
  }
}

extension CoreError {
  @inline(never)
  init(_ error: UnsafePointer<kvo_error>) {
    self.init(
      status: error.pointee.status, text: string(error.pointee.message),
      className: string(error.pointee.class_name), key: string(error.pointee.key),
      component: string(error.pointee.component), expected: string(error.pointee.expected),
      found: string(error.pointee.found))
  }
}

/// Converts a C array of characters, up to the NUL.
private func string<Characters>(_ characters: Characters) -> String {
  withUnsafeBytes(of: characters) {
    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
  }
}

extension KeyValueError {
  /// Creates the error of a call of the C runtime about a key or key path of a class.
  init(_ error: CoreError, key: String, className: String) {
    // The key path of a collection does not begin at a class.
    let isOwned = !error.className.isEmpty && error.className != "a value"
    let owner = swiftName(isOwned ? error.className : className)
    let subject = error.key.isEmpty ? key : error.key
    switch error.status {
    case .KVO_UNDEFINED_KEY: self = .undefinedKey(key: subject, className: owner)
    case .KVO_NIL_VALUE: self = .nilValue(key: subject, className: owner)
    case .KVO_READ_ONLY: self = .readOnly(key: subject, className: owner)
    case .KVO_TYPE_MISMATCH:
      self = .typeMismatch(
        key: subject, className: owner,
        expected: error.expected.isEmpty ? "another type" : swiftName(error.expected),
        found: error.found.isEmpty ? "a value" : swiftName(error.found))
    case .KVO_INVALID_KEY_PATH:
      self = .invalidKeyPath(keyPath: key, component: error.component, className: owner)
    case .KVO_INVALID_OPERATOR:
      OperatorFault.note(swiftSentence(error.text), of: error.component, in: key)
      self = .invalidOperator(error.component, keyPath: key)
    case .KVO_VALIDATION_FAILED:
      self = .validationFailed(key: subject, className: owner, reason: error.text)
    default:
      self = .notObservable(
        key: key, className: className, reason: error.reason(about: key, className))
    }
  }

  /// The status that represents the error in C.
  var status: kvo_status {
    switch self {
    case .undefinedKey: .KVO_UNDEFINED_KEY
    case .nilValue: .KVO_NIL_VALUE
    case .typeMismatch: .KVO_TYPE_MISMATCH
    case .readOnly: .KVO_READ_ONLY
    case .notObservable: .KVO_NOT_OBSERVABLE
    case .observerNotRegistered: .KVO_NOT_REGISTERED
    case .invalidKeyPath: .KVO_INVALID_KEY_PATH
    case .invalidOperator: .KVO_INVALID_OPERATOR
    case .indexOutOfBounds: .KVO_INDEX_OUT_OF_BOUNDS
    case .validationFailed: .KVO_VALIDATION_FAILED
    }
  }

  /// The class and the key that the error is about.
  var subject: (className: String, key: String) {
    switch self {
    case .undefinedKey(let key, let name), .nilValue(let key, let name),
      .readOnly(let key, let name), .typeMismatch(let key, let name, _, _),
      .notObservable(let key, let name, _), .observerNotRegistered(let key, let name, _),
      .invalidKeyPath(let key, _, let name), .indexOutOfBounds(let key, let name, _, _),
      .validationFailed(let key, let name, _):
      (name, key)
    case .invalidOperator(_, let keyPath): ("", keyPath)
    }
  }
}

extension CoreError {
  /// The message without the words that `KeyValueError.notObservable` adds itself.
  fileprivate func reason(about key: String, _ className: String) -> String {
    let beginning = "\"\(key)\" of \(className) can't be observed: "
    return text.hasPrefix(beginning) ? String(text.dropFirst(beginning.count)) : text
  }
}
