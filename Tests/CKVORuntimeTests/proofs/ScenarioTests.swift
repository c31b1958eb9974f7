import CKVORuntime
import Expectations
import TestSupport
import Testing

/// The model and the runtime agree with the table of scenarios, which is written by hand.
@Suite struct ScenarioTests {
  // MARK: Registration

  @Test(
    "C1: as many calls as registrations, and each removal takes one away",
    arguments: Scenario.of("C1")
  )
  func c1(_ scenario: Scenario) { check(scenario) }

  @Test("C2: what is not registered can't be removed", arguments: Scenario.of("C2"))
  func c2(_ scenario: Scenario) { check(scenario) }

  @Test("C3: initial comes before registration returns", arguments: Scenario.of("C3"))
  func c3(_ scenario: Scenario) { check(scenario) }

  @Test("C4: deaths end registrations", arguments: Scenario.of("C4"))
  func c4(_ scenario: Scenario) { check(scenario) }

  @Test(
    "C5: invalidation, also repeated, also inside the token's own callback",
    arguments: Scenario.of("C5"))
  func c5(_ scenario: Scenario) { check(scenario) }

  @Test("C6: operators over collections, elements and membership", arguments: Scenario.of("C6"))
  func c6(_ scenario: Scenario) { check(scenario) }

  @Test("C7: an object observes itself", arguments: Scenario.of("C7"))
  func c7(_ scenario: Scenario) { check(scenario) }

  @Test("C8: unknown keys are refused", arguments: Scenario.of("C8"))
  func c8(_ scenario: Scenario) { check(scenario) }

  @Test("C10: a registration replaced inside its own callback", arguments: Scenario.of("C10"))
  func c10(_ scenario: Scenario) { check(scenario) }

  @Test("C11: contexts are passed back", arguments: Scenario.of("C11"))
  func c11(_ scenario: Scenario) { check(scenario) }

  // MARK: Delivery

  @Test("D1: all observers are called when the setter returns", arguments: Scenario.of("D1"))
  func d1(_ scenario: Scenario) { check(scenario) }

  @Test("D2: the order of registration", arguments: Scenario.of("D2"))
  func d2(_ scenario: Scenario) { check(scenario) }

  @Test("D3: equal values are delivered, unless distinct", arguments: Scenario.of("D3"))
  func d3(_ scenario: Scenario) { check(scenario) }

  @Test("D4: each observer gets what it asked for", arguments: Scenario.of("D4"))
  func d4(_ scenario: Scenario) { check(scenario) }

  @Test("D5: old is read before the change, new after it", arguments: Scenario.of("D5"))
  func d5(_ scenario: Scenario) { check(scenario) }

  @Test("D6: pairs nest, cross, and join automatic changes", arguments: Scenario.of("D6"))
  func d6(_ scenario: Scenario) { check(scenario) }

  @Test("D7: observers that set, register, remove and drop", arguments: Scenario.of("D7"))
  func d7(_ scenario: Scenario) { check(scenario) }

  // In a process of its own, because the handler is global.
  @Test("D8: a will without a did, and a did without a will")
  func d8() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { _ in }
      for scenario in Scenario.of("D8") { check(scenario) }
    }
  }

  @Test("D11: two contexts of one observer", arguments: Scenario.of("D11"))
  func d11(_ scenario: Scenario) { check(scenario) }

  @Test("D12: pairs from a prior to the final call", arguments: Scenario.of("D12"))
  func d12(_ scenario: Scenario) { check(scenario) }

  @Test("D13: the order across keys", arguments: Scenario.of("D13"))
  func d13(_ scenario: Scenario) { check(scenario) }

  // MARK: Automatic and manual

  @Test("E1: automatic notification turned off", arguments: Scenario.of("E1"))
  func e1(_ scenario: Scenario) { check(scenario) }

  @Test("E2: key-value coding notifies once", arguments: Scenario.of("E2"))
  func e2(_ scenario: Scenario) { check(scenario) }

  @Test("E3: a setter with a manual pair", arguments: Scenario.of("E3"))
  func e3(_ scenario: Scenario) { check(scenario) }

  // MARK: Dependent keys

  @Test("F1: derived keys", arguments: Scenario.of("F1"))
  func f1(_ scenario: Scenario) { check(scenario) }

  @Test("F2: one notification, cycles, aliases", arguments: Scenario.of("F2"))
  func f2(_ scenario: Scenario) { check(scenario) }

  @Test("F3: derived keys in paths", arguments: Scenario.of("F3"))
  func f3(_ scenario: Scenario) { check(scenario) }

  @Test("F4: derived keys and manual notification", arguments: Scenario.of("F4"))
  func f4(_ scenario: Scenario) { check(scenario) }

  // MARK: Key paths

  @Test("G1: any object on the path", arguments: Scenario.of("G1"))
  func g1(_ scenario: Scenario) { check(scenario) }

  @Test("G2: detached and attached objects", arguments: Scenario.of("G2"))
  func g2(_ scenario: Scenario) { check(scenario) }

  @Test("G4: relinking by what was observed before", arguments: Scenario.of("G4"))
  func g4(_ scenario: Scenario) { check(scenario) }

  @Test("G5: changes behind an open change of a link", arguments: Scenario.of("G5"))
  func g5(_ scenario: Scenario) { check(scenario) }

  // MARK: To-many

  @Test("H1: kinds, indexes, elements", arguments: Scenario.of("H1"))
  func h1(_ scenario: Scenario) { check(scenario) }

  @Test("H2: one notification per mutation", arguments: Scenario.of("H2"))
  func h2(_ scenario: Scenario) { check(scenario) }

  @Test("H3: the count", arguments: Scenario.of("H3"))
  func h3(_ scenario: Scenario) { check(scenario) }

  @Test("H4: set mutations", arguments: Scenario.of("H4"))
  func h4(_ scenario: Scenario) { check(scenario) }

  @Test("H5: replacing and inserting", arguments: Scenario.of("H5"))
  func h5(_ scenario: Scenario) { check(scenario) }

  @Test("H6: indexes out of range", arguments: Scenario.of("H6"))
  func h6(_ scenario: Scenario) { check(scenario) }

  @Test func everyScenarioIsOfATestAbove() {
    let tested = Set(rules)
    expectEqual(Scenario.all.map(\.rule).filter { !tested.contains($0) }, [])
  }

  private let rules = [
    "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C10", "C11", "D1", "D2", "D3", "D4", "D5",
    "D6", "D7", "D8", "D11", "D12", "D13", "E1", "E2", "E3", "F1", "F2", "F3", "F4", "G1", "G2",
    "G4", "G5", "H1", "H2", "H3", "H4", "H5", "H6",
  ]
}

private func check(_ scenario: Scenario) {
  for system in [ObservationModel(), GraphRuntime()] as [any GraphSystem] {
    let difference = scenario.difference(on: system)
    expect(difference == nil, "\(type(of: system)): \(difference ?? "")")
  }
}
