internal import Testing

// Expectations as plain functions. Expanding and type-checking the macro `#expect` takes the compiler ten times as long
// as a function call, and would double the build time of the test modules. `#expect` is used only for thrown errors and
// exit tests.

/// Fails the running test unless two values are equal, and shows both.
public func expectEqual<Value: Equatable>(
  _ actual: Value, _ expected: Value, _ comment: @autoclosure () -> String = "",
  fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
) {
  if actual == expected { return }
  fail("\(shown(actual)) is not \(shown(expected))", comment(), fileID, filePath, line, column)
}

/// Fails the running test unless a condition holds.
public func expect(
  _ condition: Bool, _ comment: @autoclosure () -> String = "",
  fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
) {
  if condition { return }
  fail("the condition is false", comment(), fileID, filePath, line, column)
}

/// Returns the value, if there is one; fails the running test and ends it otherwise.
public func require<Value>(
  _ value: Value?, _ comment: @autoclosure () -> String = "",
  fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
) throws -> Value {
  if let value { return value }
  fail("the value is nil", comment(), fileID, filePath, line, column)
  throw RequirementFailed()
}

/// Fails the running test and ends it unless a condition holds.
public func require(
  _ condition: Bool, _ comment: @autoclosure () -> String = "",
  fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
) throws {
  if condition { return }
  fail("the condition is false", comment(), fileID, filePath, line, column)
  throw RequirementFailed()
}

/// Ends a test whose requirement has failed. `require` has recorded the failure.
public struct RequirementFailed: Error {}

private func shown<Value>(_ value: Value) -> String {
  value is String ? String(reflecting: value) : String(describing: value)
}

private func fail(
  _ problem: String, _ comment: String, _ fileID: String, _ filePath: String, _ line: Int,
  _ column: Int
) {
  let location = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  Issue.record(
    Comment(rawValue: comment.isEmpty ? problem : "\(problem): \(comment)"),
    sourceLocation: location)
}
