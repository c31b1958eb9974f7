import Expectations
import Synchronization
import Testing

/// The expectation functions of all tests.
@Suite struct ExpectationTests {
  /// The texts of the issues that a body records.
  private func issues(_ body: () throws -> Void) throws -> [String] {
    let texts = Mutex<[String]>([])
    try withKnownIssue {
      try body()
    } matching: { issue in
      texts.withLock { $0.append(issue.comments.map(\.rawValue).joined()) }
      return true
    }
    return texts.withLock { $0 }
  }

  @Test("A comparison that fails shows both values and the comment")
  func different() throws {
    #expect(
      try issues { expectEqual([1, 2], [1, 3], "the list") } == ["[1, 2] is not [1, 3]: the list"])
    #expect(try issues { expectEqual("a", nil) } == ["Optional(\"a\") is not nil"])
  }

  @Test("A condition that does not hold fails the test, and a requirement also ends it")
  func unmet() throws {
    var isReached = false
    #expect(try issues { expect(1 > 2, "numbers") } == ["the condition is false: numbers"])
    #expect(
      try issues {
        try require(1 > 2)
        isReached = true
      }.first == "the condition is false")
    #expect(
      try issues {
        _ = try require(Int("x"), "a number")
        isReached = true
      }.first == "the value is nil: a number")
    #expect(!isReached)
  }

  @Test("A condition that holds is no issue")
  func met() throws {
    expectEqual(1, 1)
    expect(true)
    try require(true)
    #expect(try require(Int("3")) == 3)
  }
}
