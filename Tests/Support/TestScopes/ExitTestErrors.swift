package import Testing

extension ExitTest.Result {
  /// The process's output on stderr.
  package var errors: String { String(decoding: standardErrorContent, as: UTF8.self) }
}
