import Expectations
import KVORuntime
import TestSupport
import Testing

/// Random programs on graphs of objects: the Swift interface and the model must notify the same, word for word, in
/// 4,000 operations unless the environment says otherwise (`GraphProof`).
///
/// `Scripts/prove --swift` runs it in release.
@Suite struct GraphTests {
  /// Short programs and long ones.
  private static func length(_ seed: UInt64) -> Int { 10 + Int(seed % 60) }

  @Test(
    """
    C1 C3 C4 C6 C10 C11 D2 D3 D4 D5 D6 D7 D11 D12 D13 E1 E2 E3 F1 F2 F3 F4 F5 F6 G1 G2 G3 G4 H1 H2 \
    H3 H4 H5 H6: the Swift interface notifies as the model does
    """,
    arguments: 0..<GraphProof.shares)
  func sameAsTheModel(_ share: Int) {
    let result = GraphProof.run(share: share, steps: 4_000, length: Self.length, .swift) {
      SwiftGraph()
    }
    expect(result.difference == nil, "\(result.difference ?? "")")
    expect(result.tellsMuch)
  }

  @Test(
    """
    C1 C2 C3 C4 C5 C6 C7 C8 C10 C11 D1 D2 D3 D4 D5 D6 D7 D8 D11 D12 D13 E1 E2 E3 F1 F2 F3 F4 G1 G2 \
    G4 H1 H2 H3 H4 H5 H6: the Swift interface notifies as the table says
    """,
    arguments: Scenario.all)
  func sameAsTheTable(_ scenario: Scenario) {
    let difference = scenario.difference(on: SwiftGraph())
    expect(difference == nil, "\(difference ?? "")")
  }

  @Test("E2 F5 F6 G3 G5 H4 H6: behaviour that only Swift has", arguments: Scenario.swift)
  func scenariosOfSwift(_ scenario: Scenario) {
    for system in [ObservationModel(.swift), SwiftGraph()] as [any GraphSystem] {
      let difference = scenario.difference(on: system)
      expect(difference == nil, "\(type(of: system)): \(difference ?? "")")
    }
  }
}
