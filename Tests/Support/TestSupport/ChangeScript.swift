/// The expected notifications of manual pairs and sets, step by step, in order.
///
/// A step such as `wA` is will, did, set by the setter, or `f`, store into the field; of key A or B. Each set or
/// store adds 1, starting from 0. A line is `prior A` with the old value, or `A` with the old and the new one, for an
/// observer that asks for all of it.
package struct ChangeScript: Sendable, CustomStringConvertible {
  package let steps: String
  package let lines: [String]

  private init(_ steps: String, _ lines: String...) {
    self.steps = steps
    self.lines = lines
  }

  package var description: String { steps }

  package static let all = [
    ChangeScript("wA dA", "prior A 0", "A 0 0"),
    ChangeScript("wA fA dA", "prior A 0", "A 0 1"),
    ChangeScript("wA fA dA wA fA dA", "prior A 0", "A 0 1", "prior A 1", "A 1 2"),
    // Pairs of different keys nest or cross.
    ChangeScript("wA wB dB dA", "prior A 0", "prior B 0", "B 0 0", "A 0 0"),
    ChangeScript("wA wB dA dB", "prior A 0", "prior B 0", "A 0 0", "B 0 0"),
    ChangeScript("wA fA wB fB dA dB", "prior A 0", "prior B 0", "A 0 1", "B 0 1"),
    ChangeScript("wA wB fA fB dB dA", "prior A 0", "prior B 0", "B 0 1", "A 0 1"),
    // Pairs of one key nest; the last opened is the first to close.
    ChangeScript("wA wA dA dA", "prior A 0", "prior A 0", "A 0 0", "A 0 0"),
    ChangeScript("wA fA wA fA dA dA", "prior A 0", "prior A 1", "A 1 2", "A 0 2"),
    ChangeScript("wA fA wA dA fA dA", "prior A 0", "prior A 1", "A 1 1", "A 0 2"),
    ChangeScript(
      "wA wA wA fA dA dA dA", "prior A 0", "prior A 0", "prior A 0", "A 0 1", "A 0 1", "A 0 1"),
    ChangeScript(
      "wA wB wA fA dB dA dA", "prior A 0", "prior B 0", "prior A 0", "B 0 0", "A 0 1", "A 0 1"),
    // A set inside a manual pair is a change of its own.
    ChangeScript("wA sA dA", "prior A 0", "prior A 0", "A 0 1", "A 0 1"),
    ChangeScript("wA sA sA dA", "prior A 0", "prior A 0", "A 0 1", "prior A 1", "A 1 2", "A 0 2"),
    ChangeScript("wA sB dA", "prior A 0", "prior B 0", "B 0 1", "A 0 0"),
    ChangeScript(
      "sA wA fA dA sA", "prior A 0", "A 0 1", "prior A 1", "A 1 2", "prior A 2", "A 2 3"),
  ]
}
