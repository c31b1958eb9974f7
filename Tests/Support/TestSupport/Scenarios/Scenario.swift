/// The rules' predictions for a short program, written by hand: operations (`GraphText.swift` has their notation),
/// and after `=>` the notifications during each, in order.
///
/// There are four objects a, b, c, d. Initially numbers are 0, links nil, `items` and `tags` empty, `wares` nil. A
/// line such as `x prior old 0` is a call of the callback x; `b#1 a.value new 3` is one of the observer object b,
/// with its context, the object and the key path.
package struct Scenario: Sendable, CustomStringConvertible {
  /// The number in `Documentation/Behaviour.md`.
  package let rule: String
  /// The subject, and the passage it comes from, if any: in Apple's guide on key-value observing ("guide"), or in
  /// objc.io's article on key-value coding and observing ("article").
  package let title: String
  package let text: String
  private let dialect: GraphDialect

  init(_ rule: String, _ title: String, _ text: String, _ dialect: GraphDialect = .c) {
    self.rule = rule
    self.title = title
    self.text = text
    self.dialect = dialect
  }

  package var description: String { title }

  package static let all =
    registration + delivery + reentrancy + order + manual + dependent + paths + toMany + sets

  package static func of(_ rule: String) -> [Scenario] {
    let found = all.filter { $0.rule == rule }
    precondition(!found.isEmpty, "no scenario of \(rule)")
    return found
  }

  /// The first difference between a system and the table; nil if there is none.
  package func difference(on system: GraphSystem) -> String? {
    var program = GraphReader.program(text)
    program.dialect = dialect
    let notified = GraphRun(program, on: system, isCautious: false).lines(
      callbacks: program.callbacks)
    let expected = lines.map(\.expected) + [[]]
    let index = expected.indices.first { expected[$0] != notified[$0] }
    return index.map { index in
      let operation = index < lines.count ? lines[index].operation : "the end"
      return """
        \(rule): \(title): at "\(operation)"
          expected \(expected[index])
          was notified \(notified[index])
        """
    }
  }

  private var lines: [(operation: String, expected: [String])] {
    text.split(separator: "\n").map { line in
      let parts = line.split(separator: "=>", omittingEmptySubsequences: false)
      let expected = parts.dropFirst().first?.split(separator: ";").map(trimmed) ?? []
      return (trimmed(parts[0]), expected)
    }
  }
}

private func trimmed(_ text: Substring) -> String {
  text.split(separator: " ").joined(separator: " ")
}
