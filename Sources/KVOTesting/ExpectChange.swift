public import KVORuntime
internal import Testing

// Expectations around a body (S3): a recorder that lives as long as the body runs.

extension KeyValueObserving where Self: KVOObject {
  /// Fails the test unless the body changes the property, and what it leaves behind is a value.
  ///
  /// ```swift
  /// account.expectChange(of: \.balance, from: 0, to: 10) { account.deposit(10) }
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: what `observe` takes.
  ///   - old: the value before; nil if it does not matter.
  ///   - new: the value behind the last change; nil if it does not matter.
  ///   - body: what changes it. Changes that other threads make meanwhile count.
  /// - Returns: what the body does.
  @discardableResult
  public func expectChange<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, from old: Value? = nil, to new: Value? = nil,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
    column: Int = #column, _ body: () throws -> R
  ) rethrows -> R {
    let span = ChangeSpan(self, keyPath)
    defer {
      span.expect(
        from: old, to: new, self[keyPath: keyPath],
        SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
    }
    return try body()
  }

  /// The same of a body that waits.
  @discardableResult
  public func expectChange<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, from old: Value? = nil, to new: Value? = nil,
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
    column: Int = #column, _ body: () async throws -> R
  ) async rethrows -> R {
    let span = ChangeSpan(self, keyPath)
    defer {
      span.expect(
        from: old, to: new, self[keyPath: keyPath],
        SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
    }
    return try await body()
  }

  /// Fails the test unless the body makes just these changes, in this order.
  ///
  /// ```swift
  /// list.expectChanges(of: \.items, [.insertion(of: ["a"], at: RangeSet(0..<1))]) { list.add("a") }
  /// ```
  @discardableResult
  public func expectChanges<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, _ expected: [ExpectedChange<Value>],
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
    column: Int = #column, _ body: () throws -> R
  ) rethrows -> R {
    let recorder = recordChanges(of: keyPath)
    defer {
      recorder.expect(expected, fileID: fileID, filePath: filePath, line: line, column: column)
    }
    return try body()
  }

  /// The same of a body that waits.
  @discardableResult
  public func expectChanges<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, _ expected: [ExpectedChange<Value>],
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
    column: Int = #column, _ body: () async throws -> R
  ) async rethrows -> R {
    let recorder = recordChanges(of: keyPath)
    defer {
      recorder.expect(expected, fileID: fileID, filePath: filePath, line: line, column: column)
    }
    return try await body()
  }

  /// Fails the test if the body has the property's observers told of anything.
  @discardableResult
  public func expectNoChange<Value: Equatable, R>(
    of keyPath: KeyPath<Self, Value>, fileID: String = #fileID, filePath: String = #filePath,
    line: Int = #line, column: Int = #column,
    _ body: () throws -> R
  ) rethrows -> R {
    try expectChanges(
      of: keyPath, [], fileID: fileID, filePath: filePath, line: line, column: column, body)
  }
}

/// The changes between two moments.
private struct ChangeSpan<Value: Equatable> {
  let recorder: ChangeRecorder<Value>
  let start: Value

  init<Object: KVOObject>(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
    recorder = object.recordChanges(of: keyPath)
    start = object[keyPath: keyPath]
  }

  func expect(from old: Value?, to new: Value?, _ end: Value, _ sourceLocation: SourceLocation) {
    let faults = [
      recorder.count == 0 ? "it was not changed" : nil,
      old.flatMap {
        $0 == start ? nil : "expected \(described($0)) before, found \(described(start))"
      },
      new.flatMap { $0 == end ? nil : "expected \(described($0)) behind, found \(described(end))" },
    ].compactMap(\.self)
    guard !faults.isEmpty else { return }
    let changes = recorder.changes.map { ExpectedChange.text($0) }.joined(separator: "; ")
    let told = changes.isEmpty ? "" : "\n  changes: \(changes)"
    Issue.record(
      "\(recorder.subject): \(faults.joined(separator: "; "))\(told)",
      sourceLocation: sourceLocation)
  }
}
