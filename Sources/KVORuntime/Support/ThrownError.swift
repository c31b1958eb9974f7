internal import CKVORuntime

/// Passes an error of the program's own code through the C core, which only transports what fits into a `kvo_error`.
///
/// `passing` keeps a `ThrownError` on its stack while it calls the core. If the program's code throws, `catching` stores
/// the error there, and its text in the `kvo_error`. If the call then fails with that text, `passing` throws the stored
/// error.
struct ThrownError {
  private var error: (any Error)?
  private var text = ""

  /// Calls the core, and throws if that fails: the program's own error if the call failed with it, else a
  /// `KeyValueError`.
  /// - Parameter key: the key or key path of the call.
  static func passing(
    _ key: String, of className: String, _ call: (UnsafeMutablePointer<kvo_error>) -> kvo_status
  ) throws {
    try passing(describing: { KeyValueError($0, key: key, className: className) }, call)
  }

  /// Calls the core as `passing(_:of:_:)` does.
  /// - Parameter describe: makes the error of a call that failed with another one than the program's own.
  static func passing(
    describing describe: (CoreError) -> KeyValueError,
    _ call: (UnsafeMutablePointer<kvo_error>) -> kvo_status
  ) throws {
    var slot = ThrownError()
    let failed = withUnsafeMutablePointer(to: &slot) { pointer in
      let outer = kvo_current_errors()
      kvo_set_errors(pointer)
      defer { kvo_set_errors(outer) }
      return failure(call)
    }
    guard let failed else { return }
    if let error = slot.error, slot.text == failed.text { throw error }
    throw describe(failed)
  }

  /// Calls the program's code on behalf of the core.
  static func catching(
    _ error: UnsafeMutablePointer<kvo_error>?, _ body: () throws -> Void
  ) -> kvo_status {
    do {
      try body()
      return .KVO_OK
    } catch let thrown {
      return store(thrown, in: error)
    }
  }

  @inline(never)
  private static func store(
    _ thrown: any Error, in error: UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status {
    let status = (thrown as? KeyValueError)?.status ?? .KVO_REFUSED
    guard let error else { return status }
    error.pointee.fill(with: thrown, status)
    guard let slot = kvo_current_errors()?.assumingMemoryBound(to: ThrownError.self) else {
      return status
    }
    slot.pointee = ThrownError(error: thrown, text: CoreError(error).text)
    return status
  }
}

extension kvo_error {
  fileprivate mutating func fill(with thrown: any Error, _ status: kvo_status) {
    self = kvo_error()
    self.status = status
    let keyValueError = thrown as? KeyValueError
    put(keyValueError?.subject.className ?? "", in: &class_name)
    put(keyValueError?.subject.key ?? "", in: &key)
    put(keyValueError?.description ?? String(describing: thrown), in: &message)
  }

  private func put<Characters>(_ text: String, in characters: inout Characters) {
    withUnsafeMutableBytes(of: &characters) { bytes in
      let start = bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
      _ = write(text, to: start, capacity: bytes.count)
    }
  }
}
