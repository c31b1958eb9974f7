public import KVORuntime
internal import Testing

// Changes that a test records, and then compares with what it expects (S2).

/// The changes of a property since this was made, in the order in which they were told.
///
/// ```swift
/// let changes = account.recordChanges(of: \.balance)
/// account.balance = 10
/// changes.expect([.setting(from: 0, to: 10)])
/// ```
///
/// It observes as long as it lives, and does not keep the object alive. Any thread may change the object meanwhile.
// Sendable: what is recorded is under a lock; who reads it takes values from another thread, as any observer does.
public final class ChangeRecorder<Value>: @unchecked Sendable {
  let log: ChangeLogbook<Value>
  let subject: String
  private let token: KeyValueObservation

  init(_ subject: String, _ log: ChangeLogbook<Value>, _ token: KeyValueObservation) {
    (self.subject, self.log, self.token) = (subject, log, token)
  }

  deinit { stop() }

  /// Ends the recording. What was recorded stays. Again is harmless.
  public func stop() { token.invalidate() }

  /// What has been recorded, and not been taken.
  public var changes: [KeyValueObservedChange<Value>] { log.read { $0 } }

  /// How many changes there are.
  public var count: Int { log.read { $0.count } }

  /// The new values, where the options ask for them.
  public var newValues: [Value] { changes.compactMap(\.newValue) }

  /// The old values, where the options ask for them.
  public var oldValues: [Value] { changes.compactMap(\.oldValue) }

  /// What has been recorded, which is forgotten then.
  public func take() -> [KeyValueObservedChange<Value>] { log.take() }

  /// Waits until there are so many changes, for so long.
  ///
  /// - Throws: `ChangeTimeout` if there are fewer then, `CancellationError` if the task is cancelled.
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
  /// Takes what has been recorded, and fails the test where it is not what was expected: one issue, at the caller's line,
  /// which names the first change that differs, and shows all of them.
  public func expect(
    _ expected: [ExpectedChange<Value>], fileID: String = #fileID, filePath: String = #filePath,
    line: Int = #line, column: Int = #column
  ) {
    let found = take()
    guard let failure = ChangeComparison(subject, expected, found).failure else { return }
    Issue.record(
      Comment(rawValue: failure),
      sourceLocation: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    )
  }

  /// Takes what has been recorded, and fails the test where it is not that the property was set to these values.
  public func expect(
    newValues: [Value], fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
    column: Int = #column
  ) {
    expect(
      newValues.map { .setting(to: $0) }, fileID: fileID, filePath: filePath, line: line,
      column: column)
  }

  /// Fails the test if anything has been recorded, and forgets it.
  public func expectNone(
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) {
    expect([], fileID: fileID, filePath: filePath, line: line, column: column)
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// Records the property's changes from now on.
  ///
  /// - Parameters:
  ///   - keyPath: what `observe` takes.
  ///   - options: what is recorded of each change; with `initial`, the value that there is comes first.
  public func recordChanges<Value>(
    of keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [.old, .new]
  ) -> ChangeRecorder<Value> {
    let log = ChangeLogbook<Value>()
    let (token, subject) = named { observe(keyPath, options: options) { log.note($1) } }
    return ChangeRecorder(subject, log, token)
  }

  /// Records the changes of a key path that is a string, as values of a type: an optional one where there may be nil. A
  /// value of another type fails the test, at the line of this call.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key.
  public func recordChanges<Value>(
    ofKeyPath keyPath: String, as type: Value.Type,
    options: KeyValueObservingOptions = [.old, .new],
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) throws -> ChangeRecorder<Value> {
    let log = ChangeLogbook<Value>()
    let subject = "\"\(keyPath)\" of \(Swift.type(of: self))"
    let cast = { (value: Any?) -> Value? in
      guard let value else { return nil }
      if let cast = value as? Value { return cast }
      Issue.record(
        "\(subject) was told \(described(value)), no \(type)",
        sourceLocation: SourceLocation(
          fileID: fileID, filePath: filePath, line: line, column: column))
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
