internal import Testing

#if canImport(XCTest)
  internal import XCTest
#endif

/// The line of a test that called a function of this library.
struct CallerLocation {
  let fileID: String
  let filePath: StaticString
  let line: Int
  let column: Int

  /// Fails the test that is running. Swift Testing ignores an issue that is recorded in a test of XCTest, and XCTest
  /// ignores a failure outside its own tests, so it goes to both.
  func fail(_ text: String) {
    Issue.record(
      Comment(rawValue: text),
      sourceLocation: SourceLocation(
        fileID: fileID, filePath: "\(filePath)", line: line, column: column))
    #if canImport(XCTest)
      XCTFail(text, file: filePath, line: UInt(line))
    #endif
  }
}
