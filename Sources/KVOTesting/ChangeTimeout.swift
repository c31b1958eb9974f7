public import Testing

// The error for a change that a test awaits in vain (S1).

/// An awaited value or change did not occur in time. The error shows what was awaited, where, and what
/// occurred instead.
public struct ChangeTimeout: Error, CustomStringConvertible, Sendable {
  /// The property or key path, and the class of its object.
  public let subject: String
  /// The time that the test waited.
  public let timeout: Duration
  /// The last value that was seen and was not the awaited one; nil if there was none.
  public let lastSeen: String?
  /// The place in the test that waited.
  public let sourceLocation: SourceLocation

  /// The text that a failing test shows.
  public var description: String {
    let found = lastSeen.map { "the last value was \($0)" } ?? "it did not change"
    return """
      \(subject) did not become what was waited for within \(timeout): \(found) \
      (\(sourceLocation.fileName):\(sourceLocation.line))
      """
  }
}
