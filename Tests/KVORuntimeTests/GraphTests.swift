import Glibc
import KVORuntime
import TestSupport
import Testing

/// Random programs on graphs of objects: what the Swift interface tells and what the model tells
/// must be the same, word for word.
///
/// The environment says from which seed and for how many operations, as of `ProofTests` of the C
/// runtime: what differs is printed with its program's seed, and shortened.
@Suite struct GraphTests {
  private static let shares = 4

  /// Short and long ones.
  private static func length(_ seed: UInt64) -> Int { 10 + Int(seed % 60) }

  @Test(
    """
    C1 C3 C4 C6 C10 C11 D2 D3 D4 D5 D6 D7 D11 D12 D13 E1 E2 E3 F1 F2 F3 F4 F5 F6 G1 G2 G3 G4 H1 H2 \
    H3 H4 H5 H6: the Swift interface tells what the model tells
    """,
    arguments: 0..<shares)
  func sameAsTheModel(_ share: Int) {
    let goal = Self.number("KVO_STEPS", default: 40_000) / UInt64(Self.shares)
    var seed = Self.number("KVO_SEED", default: 1) + UInt64(share)
    var steps: UInt64 = 0
    var calls = 0
    repeat {
      if Self.traces { say("seed \(seed)\n") }
      let result = GraphProof.run(seed: seed, length: Self.length(seed), .swift) { SwiftGraph() }
      if let difference = result.difference {
        Issue.record("\(difference)")
        return
      }
      steps += UInt64(result.steps)
      calls += result.calls
      seed += UInt64(Self.shares)
    } while steps < goal
    #expect(steps < 10_000 || calls > steps / 4)
  }

  @Test(
    """
    C1 C2 C3 C4 C5 C6 C7 C8 C10 C11 D1 D2 D3 D4 D5 D6 D7 D8 D11 D12 D13 E1 E2 E3 F1 F2 F3 F4 G1 G2 \
    G4 H1 H2 H3 H4 H5 H6: the Swift interface tells what the table says
    """,
    arguments: Scenario.all)
  func sameAsTheTable(_ scenario: Scenario) {
    let difference = scenario.difference(on: SwiftGraph())
    #expect(difference == nil, "\(difference ?? "")")
  }

  @Test("E2 F5 F6 G3 H4 H6: what only Swift has", arguments: Scenario.swift)
  func scenariosOfSwift(_ scenario: Scenario) {
    for system in [ObservationModel(.swift), SwiftGraph()] as [any GraphSystem] {
      let difference = scenario.difference(on: system)
      #expect(difference == nil, "\(type(of: system)): \(difference ?? "")")
    }
  }

  private static let traces = getenv("KVO_TRACE") != nil

  private static func number(_ variable: String, default otherwise: UInt64) -> UInt64 {
    getenv(variable).flatMap { UInt64(String(cString: $0)) } ?? otherwise
  }
}
