import CFixtures
import CKVORuntime
import Expectations
import Testing

/// C4 and B4: the program's code drops the last reference to an object that the runtime is using.
@Suite struct PartingTests {
  @Test(
    "C4: an object dropped by its getter or a hook lives until its registration is made",
    arguments: [
      parting_use.PARTING_OBSERVED, .PARTING_OBSERVED_AT_ONCE, .PARTING_OBSERVED_BY_OBJECT,
      .PARTING_OBSERVER, .PARTING_GROUP,
    ])
  func registering(_ use: parting_use) { expectDeaths(use) }

  @Test(
    "B4: an object dropped by its getter or a hook lives until its key is read, set or validated",
    arguments: [
      parting_use.PARTING_READ, .PARTING_READ_TOGETHER, .PARTING_SET, .PARTING_SET_ALONG_PATH,
      .PARTING_VALIDATED,
    ])
  func coding(_ use: parting_use) { expectDeaths(use) }

  @Test("B9: an object dropped by a hook lives until its proxy is made")
  func mutating() {
    expectDeaths(.PARTING_MUTATED)
    expectDeaths(.PARTING_MUTATED_ALONG_PATH)
  }

  @Test("D6: an object dropped by a hook lives until its manual change is open")
  func bracketing() { expectDeaths(.PARTING_BRACKETED) }

  @Test(
    "D5: an object dropped by the getter for old or new lives until its change is delivered",
    arguments: [
      parting_use.PARTING_CHANGED, .PARTING_CHANGED_BY_KEY, .PARTING_CHANGED_BY_HAND,
      .PARTING_COALESCED,
    ])
  func changing(_ use: parting_use) { expectDeaths(use, by: parting_run_changes) }

  private func expectDeaths(
    _ use: parting_use,
    by run: (parting_use, UnsafeMutablePointer<Int32>) -> Int32 = parting_run
  ) {
    var dropped: Int32 = 0
    let died = run(use, &dropped)
    expect(dropped > 0)
    expectEqual(died, dropped)
  }
}
