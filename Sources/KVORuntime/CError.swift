internal import CKVORuntime

/// What a function of the C runtime did not do, and why.
struct CoreError {
  let status: kvo_status
  /// The sentence that it wrote.
  let text: String
}

/// Calls a function of the C runtime; its error, if it did not do what it was called for.
///
/// The C structure has room for long names and is written only on failure: it is neither cleared
/// nor copied on each call.
func failure(_ call: (UnsafeMutablePointer<kvo_error>) -> kvo_status) -> CoreError? {
  withUnsafeTemporaryAllocation(of: kvo_error.self, capacity: 1) { error in
    // A buffer of one has an address.
    let error = error.baseAddress!
    return call(error) == .KVO_OK ? nil : CoreError(error)
  }
}

extension CoreError {
  @inline(never)
  init(_ error: UnsafePointer<kvo_error>) {
    status = error.pointee.status
    text = withUnsafeBytes(of: error.pointee.message) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

extension KeyValueError {
  /// What a call of the C runtime came to, about a key of a class.
  init(_ error: CoreError, key: String, className: String) {
    switch error.status {
    case .KVO_UNDEFINED_KEY: self = .undefinedKey(key: key, className: className)
    case .KVO_NIL_VALUE: self = .nilValue(key: key, className: className)
    case .KVO_READ_ONLY: self = .readOnly(key: key, className: className)
    case .KVO_INVALID_KEY_PATH:
      self = .invalidKeyPath(
        keyPath: key, component: key.meaninglessComponent, className: className)
    case .KVO_INVALID_OPERATOR: self = .invalidOperator(key, keyPath: key)
    default:
      self = .notObservable(
        key: key, className: className, reason: error.reason(about: key, className))
    }
  }
}

extension CoreError {
  /// The sentence without the words that `KeyValueError.notObservable` begins with, too.
  fileprivate func reason(about key: String, _ className: String) -> String {
    let beginning = "\"\(key)\" of \(className) can't be observed: "
    return text.hasPrefix(beginning) ? String(text.dropFirst(beginning.count)) : text
  }
}

extension String {
  /// The component of a key path that stands for nothing: an empty one if there is one.
  fileprivate var meaninglessComponent: String {
    let components = split(separator: ".", omittingEmptySubsequences: false)
    return components.contains("") ? "" : components.first.map(String.init) ?? ""
  }
}
