public import KVORuntime
internal import Testing

// Records changes for a test, which then compares them with the expected ones (S2).

/// Records the changes of a property from its creation on, in the order of their delivery.
///
/// ```swift
/// let changes = account.recordChanges(of: \.balance)
/// account.balance = 10
/// changes.expect([.setting(from: 0, to: 10)])
/// ```
///
/// It observes the property as long as it exists, and does not retain the object. Any threads may change the
/// object during that time.
// Unchecked `Sendable`: recorded changes are under a lock. Values pass from the changing thread to the
// reading one, as with any observer.
public final class ChangeRecorder<Value>: @unchecked Sendable {
  let log: ChangeLogbook<Value>
  let subject: String
  private let token: KeyValueObservation

  init(_ subject: String, _ log: ChangeLogbook<Value>, _ token: KeyValueObservation) {
    (self.subject, self.log, self.token) = (subject, log, token)
  }

  deinit { stop() }

  /// Ends the recording. Recorded changes are kept. Calling it again has no effect.
  public func stop() { token.invalidate() }

  /// The recorded changes that were not taken.
  public var changes: [KeyValueObservedChange<Value>] { log.read { $0 } }

  /// The number of recorded changes that were not taken.
  public var count: Int { log.read { $0.count } }

  /// The new values of the recorded changes, if the options include `new`.
  public var newValues: [Value] { changes.compactMap(\.newValue) }

  /// The old values of the recorded changes, if the options include `old`.
  public var oldValues: [Value] { changes.compactMap(\.oldValue) }

  /// Returns the recorded changes, and removes them from the recorder.
  public func take() -> [KeyValueObservedChange<Value>] { log.take() }

  /// Waits until a number of changes has been recorded. Doesn't poll.
  ///
  /// - Parameters:
  ///   - count: the number of recorded changes that were not taken.
  ///   - timeout: the longest time to wait.
  /// - Throws: `ChangeTimeout` if there are fewer changes at the end of that time; `CancellationError` if the
  ///   task is cancelled.
  public func waitForChanges(
    _ count: Int, timeout: Duration = .seconds(10),
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    let outcome = Outcome<Bool>()
    log.call(atLeast: count) { outcome.give(.success(true)) }
    let (subject, log) = (subject, log)
    _ = try await outcome.wait(atMost: timeout, isolation: isolation) { _ in
      ChangeTimeout(
        subject: "The number of changes of \(subject)", timeout: timeout,
        lastSeen: "\(log.read { $0.count }) of \(count)",
        sourceLocation: SourceLocation(
          fileID: fileID, filePath: filePath, line: line, column: column))
    }
  }
}

extension ChangeRecorder where Value: Equatable {
  /// Takes the recorded changes, and fails the test if they are not the expected ones. It records one issue
  /// at the caller's line, which names the first difference and lists all changes.
  public func expect(
    _ expected: [ExpectedChange<Value>], fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line, column: Int = #column
  ) {
    let found = take()
    guard let failure = ChangeComparison(subject, expected, found).failure else { return }
    CallerLocation(fileID: fileID, filePath: filePath, line: line, column: column).fail(failure)
  }

  /// Takes the recorded changes, and fails the test unless the property was set to exactly these values, in
  /// this order.
  public func expect(
    newValues: [Value], fileID: String = #fileID, filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) {
    expect(
      newValues.map { .setting(to: $0) }, fileID: fileID, filePath: filePath, line: line,
      column: column)
  }

  /// Takes the recorded changes, and fails the test if there are any.
  public func expectNone(
    fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) {
    expect([], fileID: fileID, filePath: filePath, line: line, column: column)
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// Records the property's changes from now on.
  ///
  /// - Parameters:
  ///   - keyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - options: what is recorded of each change; with `initial`, the present value is recorded first.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: a recorder; the recording ends when it is released.
  public func recordChanges<Value>(
    of keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [.old, .new],
    file: StaticString = #fileID, line: UInt = #line
  ) -> ChangeRecorder<Value> {
    let log = ChangeLogbook<Value>()
    let (token, subject) = named {
      observe(keyPath, options: options, changeHandler: { log.note($1) }, file: file, line: line)
    }
    return ChangeRecorder(subject, log, token)
  }

  /// Records the changes of a string key path from now on, with values of a given type. A value of another
  /// type fails the test, at the line of this call.
  ///
  /// - Parameters:
  ///   - keyPath: a key or key path.
  ///   - type: the type of the values; an optional type if they may be nil.
  ///   - options: what is recorded of each change; with `initial`, the present value is recorded first.
  /// - Returns: a recorder; the recording ends when it is released.
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key.
  public func recordChanges<Value>(
    ofKeyPath keyPath: String, as type: Value.Type,
    options: KeyValueObservingOptions = [.old, .new],
    fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) throws -> ChangeRecorder<Value> {
    let log = ChangeLogbook<Value>()
    let subject = "\"\(keyPath)\" of \(Swift.type(of: self))"
    let cast = { (value: Any?) -> Value? in
      guard let value else { return nil }
      if let cast = value as? Value { return cast }
      CallerLocation(fileID: fileID, filePath: filePath, line: line, column: column).fail(
        "\(subject) reported \(described(value)), not \(type)")
      return nil
    }
    let token = try observe(keyPath: keyPath, options: options) { _, change in
      log.note(
        KeyValueObservedChange(
          kind: change.kind, newValue: cast(change.newValue), oldValue: cast(change.oldValue),
          indexes: change.indexes, isPrior: change.isPrior))
    }
    return ChangeRecorder(subject, log, token)
  }
}
