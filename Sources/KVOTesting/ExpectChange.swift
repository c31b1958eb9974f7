public import KVORuntime
internal import Testing

// Expectations about the changes that a body makes (S3). They use a recorder that exists while the body runs.

/// Waiting for values in tests, recording changes, and comparing them with expected ones.
extension KeyValueObserving where Self: KVOObject {
  /// Fails the test unless the body changes the property, and the values before and after are the expected
  /// ones. If the body throws, the check is made as well, and the error is rethrown.
  ///
  /// ```swift
  /// account.expectChange(of: \.balance, from: 0, to: 10) { account.deposit(10) }
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - old: the value before the body; nil if it does not matter.
  ///   - new: the value after the body; nil if it does not matter.
  ///   - body: changes the property. Changes by other threads during the body count, too.
  /// - Returns: the body's result.
  @discardableResult
  public func expectChange<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, from old: Value? = nil, to new: Value? = nil,
    fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column, _ body: () throws -> R
  ) rethrows -> R {
    requireObservable(keyPath, fileID, line)
    let span = ChangeSpan(self, keyPath)
    defer {
      span.expect(
        from: old, to: new, value(at: keyPath),
        CallerLocation(fileID: fileID, filePath: filePath, line: line, column: column))
    }
    return try body()
  }

  /// Fails the test unless an asynchronous body changes the property, and the values before and after are the
  /// expected ones. If the body throws, the check is made as well, and the error is rethrown.
  ///
  /// - Parameters:
  ///   - keyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - old: the value before the body; nil if it does not matter.
  ///   - new: the value after the body; nil if it does not matter.
  ///   - body: changes the property. Changes by other threads during the body count, too.
  /// - Returns: the body's result.
  @discardableResult
  public func expectChange<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, from old: Value? = nil, to new: Value? = nil,
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column, _ body: () async throws -> R
  ) async rethrows -> R {
    requireObservable(keyPath, fileID, line)
    let span = ChangeSpan(self, keyPath)
    defer {
      span.expect(
        from: old, to: new, value(at: keyPath),
        CallerLocation(fileID: fileID, filePath: filePath, line: line, column: column))
    }
    return try await body()
  }

  /// Fails the test unless the body makes exactly these changes of the property, in this order. If the body
  /// throws, the check is made as well, and the error is rethrown.
  ///
  /// ```swift
  /// list.expectChanges(of: \.items, [.insertion(of: ["a"], at: RangeSet(0..<1))]) { list.add("a") }
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - expected: the expected changes.
  ///   - body: changes the property. Changes by other threads during the body count, too.
  /// - Returns: the body's result.
  @discardableResult
  public func expectChanges<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, _ expected: [ExpectedChange<Value>],
    fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column, _ body: () throws -> R
  ) rethrows -> R {
    requireObservable(keyPath, fileID, line)
    let recorder = recordChanges(of: keyPath)
    defer {
      recorder.expect(expected, fileID: fileID, filePath: filePath, line: line, column: column)
    }
    return try body()
  }

  /// Fails the test unless an asynchronous body makes exactly these changes of the property, in this order.
  /// If the body throws, the check is made as well, and the error is rethrown.
  ///
  /// - Parameters:
  ///   - keyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - expected: the expected changes.
  ///   - body: changes the property. Changes by other threads during the body count, too.
  /// - Returns: the body's result.
  @discardableResult
  public func expectChanges<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, _ expected: [ExpectedChange<Value>],
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column, _ body: () async throws -> R
  ) async rethrows -> R {
    requireObservable(keyPath, fileID, line)
    let recorder = recordChanges(of: keyPath)
    defer {
      recorder.expect(expected, fileID: fileID, filePath: filePath, line: line, column: column)
    }
    return try await body()
  }

  /// Fails the test if observers of the property are notified of any change while the body runs. If the body
  /// throws, the check is made as well, and the error is rethrown.
  ///
  /// - Returns: the body's result.
  @discardableResult
  public func expectNoChange<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, fileID: String = #fileID, filePath: StaticString = #filePath,
    line: Int = #line, column: Int = #column,
    _ body: () throws -> R
  ) rethrows -> R {
    try expectChanges(
      of: keyPath, [], fileID: fileID, filePath: filePath, line: line, column: column, body)
  }
}

/// The changes of a property while a body runs, and the value before it.
private struct ChangeSpan<Value: Equatable> {
  let recorder: ChangeRecorder<Value>
  let start: Value

  init<Object: KVOObject>(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
    recorder = object.recordChanges(of: keyPath)
    start = object.value(at: keyPath)
  }

  func expect(from old: Value?, to new: Value?, _ end: Value, _ location: CallerLocation) {
    let faults = [
      recorder.count == 0 ? "it was not changed" : nil,
      old.flatMap {
        areEqual(values: $0, start)
          ? nil : "expected \(described($0)) before, found \(described(start))"
      },
      new.flatMap {
        areEqual(values: $0, end)
          ? nil : "expected \(described($0)) afterwards, found \(described(end))"
      },
    ].compactMap(\.self)
    guard !faults.isEmpty else { return }
    let changes = recorder.changes.map { ExpectedChange.text($0) }.joined(separator: "; ")
    let listed = changes.isEmpty ? "" : "\n  changes: \(changes)"
    location.fail("\(recorder.subject): \(faults.joined(separator: "; "))\(listed)")
  }
}
