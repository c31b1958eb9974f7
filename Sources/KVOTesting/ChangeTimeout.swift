public import Testing

// What is thrown where something that a test waits for does not come (S1).

/// What a test waited for has not come in time. It says what was waited for, where, and what came instead.
public struct ChangeTimeout: Error, CustomStringConvertible, Sendable {
  /// The property or key path, and its object's class.
  public let subject: String
  /// How long was waited.
  public let timeout: Duration
  /// The last value that was seen, which was not the one; nil where there was none.
  public let lastSeen: String?
  /// Where the test waited.
  public let sourceLocation: SourceLocation

  /// What a failing test shows.
  public var description: String {
    let found = lastSeen.map { "the last value was \($0)" } ?? "it did not change"
    return """
      \(subject) did not become what was waited for within \(timeout): \(found) \
      (\(sourceLocation.fileName):\(sourceLocation.line))
      """
  }
}
