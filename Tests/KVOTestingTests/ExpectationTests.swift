import Expectations
import Testing

/// The functions that all tests compare with.
@Suite struct ExpectationTests {
  /// What the issues of a body say.
  private func issues(_ body: () throws -> Void) -> [String] {
    var said: [String] = []
    withKnownIssue {
      try body()
    } matching: { issue in
      said.append(issue.comments.map(\.rawValue).joined())
      return true
    }
    return said
  }

  @Test("A comparison that fails shows both values and the comment")
  func different() {
    #expect(
      issues { expectEqual([1, 2], [1, 3], "the list") } == ["[1, 2] is not [1, 3]: the list"])
    #expect(issues { expectEqual("a", nil) } == ["Optional(\"a\") is not nil"])
  }

  @Test("A condition that does not hold fails the test, and a requirement also ends it")
  func unmet() {
    var isReached = false
    #expect(issues { expect(1 > 2, "numbers") } == ["the condition is false: numbers"])
    #expect(
      issues {
        try require(1 > 2)
        isReached = true
      }.first == "the condition is false")
    #expect(
      issues {
        _ = try require(Int("x"), "a number")
        isReached = true
      }.first == "the value is nil: a number")
    #expect(!isReached)
  }

  @Test("What holds is no issue")
  func met() throws {
    expectEqual(1, 1)
    expect(true)
    try require(true)
    #expect(try require(Int("3")) == 3)
  }
}
