public import KVORuntime
internal import Testing

// Waiting for a value of a property in a test (S1). An observer delivers it. It tests the condition on the
// thread of the change, so that no value is missed.

extension KeyValueObserving where Self: KVOObject {
  /// Waits until a condition is true of a property's value, either the present one or a later one.
  ///
  /// ```swift
  /// let state = try await download.next(\.state, where: { $0 == .done }, timeout: .seconds(5))
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - condition: called with each value, on the thread of the change.
  ///   - timeout: the longest time to wait, in real time. Waiting doesn't poll.
  /// - Returns: the value.
  /// - Throws: `ChangeTimeout` if there is no such value in time; `CancellationError` if the task is
  ///   cancelled.
  public func next<Value: Sendable>(
    _ keyPath: KeyPath<Self, Value>, where condition: @escaping @Sendable (Value) -> Bool,
    timeout: Duration = .seconds(10), isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> Value {
    requireObservable(keyPath, fileID, line)
    let outcome = Outcome<Value>()
    let (token, subject) = named {
      observe(keyPath, options: .initial) { object, _ in
        outcome.take(where: condition) { object.value(at: keyPath) }
      }
    }
    return try await outcome.wait(
      for: subject, token, timeout, isolation,
      SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Waits for a property's next change, and returns the value after it. Changes before this call don't
  /// count.
  ///
  /// ```swift
  /// async let name = person.next(\.name)
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - timeout: the longest time to wait, in real time. Waiting doesn't poll.
  /// - Returns: the value.
  /// - Throws: `ChangeTimeout` if there is no change in time; `CancellationError` if the task is cancelled.
  public func next<Value: Sendable>(
    _ keyPath: KeyPath<Self, Value>, timeout: Duration = .seconds(10),
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> Value {
    requireObservable(keyPath, fileID, line)
    let outcome = Outcome<Value>()
    let (token, subject) = named {
      observe(keyPath) { object, _ in outcome.take { object.value(at: keyPath) } }
    }
    return try await outcome.wait(
      for: subject, token, timeout, isolation,
      SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Waits until a condition is true of the value of a string key path, either the present one or a later
  /// one. Without a condition, waits for the next change. Values of another type, and nil, are ignored.
  ///
  /// - Parameters:
  ///   - keyPath: a key or key path.
  ///   - type: the type of the value.
  ///   - condition: called with each value of that type, on the thread of the change.
  ///   - timeout: the longest time to wait, in real time. Waiting doesn't poll.
  /// - Returns: the value.
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key; `ChangeTimeout` if there is no
  ///   such value in time; `CancellationError` if the task is cancelled.
  public func next<Value: Sendable>(
    keyPath: String, as type: Value.Type,
    where condition: (@Sendable (Value) -> Bool)? = nil,
    timeout: Duration = .seconds(10), isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> Value {
    let outcome = Outcome<Value>()
    let options: KeyValueObservingOptions = condition == nil ? [] : .initial
    let token = try observe(keyPath: keyPath, options: options) { object, _ in
      outcome.take(where: condition ?? { _ in true }) { try? object.value(forKeyPath: keyPath) }
    }
    return try await outcome.wait(
      for: "\"\(keyPath)\" of \(Swift.type(of: self))", token, timeout, isolation,
      SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }
}

extension Outcome {
  // Completes the outcome if the value that is read is a `Value` that satisfies the condition.
  fileprivate func take(where condition: (Value) -> Bool = { _ in true }, _ read: () -> Any?) {
    let order = beginRead()
    let found = read()
    if let value = found as? Value, condition(value) { return give(.success(value)) }
    let type = found.map { $0 is Value ? "" : ", a \(Swift.type(of: $0)) and no \(Value.self)" }
    note(found.map { "\($0)\(type ?? "")" } ?? "nil", order)
  }

  // The registration is kept until the outcome is complete.
  fileprivate func wait(
    for subject: String, _ token: KeyValueObservation, _ timeout: Duration,
    _ isolation: isolated (any Actor)?, _ sourceLocation: SourceLocation
  ) async throws -> Value {
    defer { token.invalidate() }
    return try await wait(atMost: timeout, isolation: isolation) { lastSeen in
      ChangeTimeout(
        subject: subject, timeout: timeout, lastSeen: lastSeen, sourceLocation: sourceLocation)
    }
  }
}
