import Expectations
import TestSupport
import Testing

/// Random programs on graphs of objects: the runtime and the model must notify the same, word for word, in 50,000
/// operations unless the environment says otherwise (`GraphProof`).
///
/// `Scripts/prove` runs it in release.
@Suite struct ProofTests {
  private static let length = 60

  @Test(
    """
    C1 C3 C4 C6 D2 D3 D4 D5 D6 D7 D12 D13 F1 F2 F3 F4 G1 G2 G4 H1 H2 H3 H4 H5 H6: the runtime \
    notifies as the model does
    """,
    arguments: 0..<GraphProof.shares)
  func sameAsTheModel(_ share: Int) {
    let length = { (_: UInt64) in Self.length }
    let result = GraphProof.run(share: share, steps: 50_000, length: length) { GraphRuntime() }
    expect(result.difference == nil, "\(result.difference ?? "")")
    expect(result.tellsMuch)
  }

  @Test func aProgramReadsAsItIsWritten() {
    for seed in 1...100 as ClosedRange<UInt64> {
      var generator = GraphGenerator(seed: seed)
      let lines = generator.program(length: Self.length).lines
      expectEqual(GraphReader.program(lines.joined(separator: "\n")).lines, lines)
    }
  }

  @Test func aFailureIsShortenedToWhatItNeeds() {
    var generator = GraphGenerator(seed: 1)
    let short = GraphShrinker.shrink(generator.program(length: 200)) { program in
      program.lines.contains { $0.hasPrefix("renew") }
        && program.lines.contains { $0.hasPrefix("on") && $0.contains(" prior") }
    }
    expectEqual(short.lines.map { $0.split(separator: " ")[0] }.sorted(), ["on", "renew"])
    expect(short.lines.contains { $0.hasSuffix(" prior") })
  }
}
