public import KVORuntime
internal import Testing

// Waiting in a test for what a property becomes (S1). An observer gives it; conditions are asked on the thread of the
// change, so that no value between two looks is missed.

extension KeyValueObserving where Self: KVOObject {
  /// Waits until a property's value is one of which a condition is true: the one that it has, or one that it gets.
  ///
  /// ```swift
  /// let state = try await download.next(\.state, where: { $0 == .done }, timeout: .seconds(5))
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: what `observe` takes.
  ///   - condition: called with each value, on the thread of the change.
  ///   - timeout: how long is waited. Real time: nothing is polled meanwhile.
  /// - Returns: the value.
  /// - Throws: `ChangeTimeout` if there is no such value in time, `CancellationError` if the task is cancelled.
  public func next<Value: Sendable>(
    _ keyPath: KeyPath<Self, Value>, where condition: @escaping @Sendable (Value) -> Bool,
    timeout: Duration = .seconds(10), isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> Value {
    let outcome = Outcome<Value>()
    let (token, subject) = named {
      observe(keyPath, options: .initial) { object, _ in
        outcome.take(where: condition) { object[keyPath: keyPath] }
      }
    }
    return try await outcome.wait(
      for: subject, token, timeout, isolation,
      SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Waits for a property's next change, and returns the value that it has then.
  ///
  /// ```swift
  /// async let name = person.next(\.name)
  /// ```
  ///
  /// - Throws: as `next(_:where:timeout:)`. What has changed before this is called is not waited for.
  public func next<Value: Sendable>(
    _ keyPath: KeyPath<Self, Value>, timeout: Duration = .seconds(10),
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> Value {
    let outcome = Outcome<Value>()
    let (token, subject) = named {
      observe(keyPath) { object, _ in outcome.take { object[keyPath: keyPath] } }
    }
    return try await outcome.wait(
      for: subject, token, timeout, isolation,
      SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Waits until the value of a key path that is a string is one of which a condition is true: the one that it has, or
  /// one that it gets. Values of another type, and nil, are passed over.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if there is no such key, otherwise as `next(_:where:timeout:)`.
  public func next<Value: Sendable>(
    keyPath: String, as type: Value.Type,
    where condition: @escaping @Sendable (Value) -> Bool = { _ in true },
    timeout: Duration = .seconds(10), isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> Value {
    let outcome = Outcome<Value>()
    let token = try observe(keyPath: keyPath, options: .initial) { object, _ in
      outcome.take(where: condition) { try? object.value(forKeyPath: keyPath) }
    }
    return try await outcome.wait(
      for: "\"\(keyPath)\" of \(Swift.type(of: self))", token, timeout, isolation,
      SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }
}

extension Outcome {
  // Gives what is read if it is a `Value` that the condition takes.
  fileprivate func take(where condition: (Value) -> Bool = { _ in true }, _ read: () -> Any?) {
    let order = beginRead()
    let found = read()
    if let value = found as? Value, condition(value) { return give(.success(value)) }
    note(found.map { "\($0)" } ?? "nil", order)
  }

  // The registration is held until what it waits for has come.
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
