internal import KVORuntime

// The text of a failure for recorded changes that are not the expected ones (S2).

/// Compares expected changes with recorded ones.
struct ChangeComparison<Value: Equatable> {
  let subject: String
  let expected: [ExpectedChange<Value>]
  let found: [KeyValueObservedChange<Value>]

  init(
    _ subject: String, _ expected: [ExpectedChange<Value>],
    _ found: [KeyValueObservedChange<Value>]
  ) {
    self.subject = subject
    self.expected = expected
    self.found = found
  }

  /// The text of a failure; nil if all changes are as expected.
  var failure: String? {
    for (place, pair) in zip(expected, found).enumerated() {
      if let difference = pair.0.difference(from: pair.1) {
        return text("change \(place + 1): \(difference)")
      }
    }
    guard expected.count != found.count else { return nil }
    let numbers = "expected \(counted(expected.count)), found \(found.count)"
    let next =
      expected.count > found.count
      ? "the first that is missing is \(expected[found.count])"
      : "the first that was not expected is \(ExpectedChange.text(found[expected.count]))"
    return text("\(numbers); \(next)")
  }

  private func counted(_ count: Int) -> String { count == 1 ? "1 change" : "\(count) changes" }

  private func text(_ fault: String) -> String {
    """
    \(subject), \(fault)
      expected: \(listed(expected.map(\.description)))
      found:    \(listed(found.map { ExpectedChange.text($0) }))
    """
  }

  private func listed(_ texts: [String]) -> String {
    texts.isEmpty ? "nothing" : texts.joined(separator: "; ")
  }
}
