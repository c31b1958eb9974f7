import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// B10: validation, on request only.
@Suite(.leakFree) struct ValidationTests {
  static let cases: [(proposed: (any Sendable)?, result: String)] = [
    (30, "30"), (200, "150"), (-1, "negative, still -1"), (nil, "18"), (7.9, "7"),
    ([1], "\"age\" of Voter takes Int, not [Int]., still [1]"),
  ]

  @Test(
    "B10: the validator accepts, replaces, or refuses with its own error and an unchanged value",
    arguments: 0..<cases.count)
  func validating(_ index: Int) throws {
    let (proposed, result) = Self.cases[index]
    let company = Company()
    let voter = Voter("Ada")
    company.head = voter
    var direct: Any? = proposed
    var byPath: Any? = proposed
    expectEqual(outcome(&direct) { try voter.validateValue(&$0, forKey: "age") }, result)
    expectEqual(outcome(&byPath) { try company.validateValue(&$0, forKeyPath: "head.age") }, result)
    expectEqual(voter.age, 30)
  }

  private func outcome(_ value: inout Any?, _ body: (inout Any?) throws -> Void) -> String {
    do {
      try body(&value)
      return shown(value)
    } catch { return "\(error), still \(shown(value))" }
  }

  @Test(
    "B10: every value is valid without a validator or with nil on the path; KVC never asks"
  )
  func unasked() throws {
    let company = Company()
    var value: Any? = "anything"
    try company.validateValue(&value, forKeyPath: "head.age")
    try company.validateValue(&value, forKey: "hat")
    try Worker("Bob").validateValue(&value, forKey: "age")
    expect(value as? String == "anything")
    let voter = Voter("Ada")
    try voter.setValue(-5, forKey: "age")
    expectEqual(voter.age, -5)
    expectEqual(
      keyValueError { try company.validateValue(&value, forKeyPath: "head..age") },
      .invalidKeyPath(keyPath: "head..age", component: "", className: "Company"))
  }

  @Test("B10: inherited, replaced by a subclass, and overridden as a whole")
  func inherited() throws {
    var value: Any? = 200
    try Elector("Eve").validateValue(&value, forKey: "age")
    expect(value as? Int == 150)
    value = ""
    #expect(
      throws: KeyValueError.validationFailed(key: "name", className: "Elector", reason: "empty")
    ) {
      try Elector("Eve").validateValue(&value, forKeyPath: "name")
    }
  }
}

private class Voter: Worker {
  enum Refusal: Error { case negative }

  override class func registerKeys() {
    Voter.declareKeys { keys in
      keys.validator("age") { (_, age: inout Int?) in
        guard let years = age else {
          age = 18
          return
        }
        if years < 0 { throw Refusal.negative }
        age = min(years, 150)
      }
    }
  }
}

private final class Elector: Voter {
  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    if key == "name", value as? String == "" {
      throw KeyValueError.validationFailed(key: key, className: "Elector", reason: "empty")
    }
    try super.validateValue(&value, forKey: key)
  }
}
