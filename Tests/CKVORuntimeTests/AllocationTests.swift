import CFixtures
import CKVORuntime
import TestSupport
import Testing

/// Every allocation fails once, alone and with all that follow it: what a call can't do for want of
/// memory it says, and leaves everything as it was.
@Suite struct AllocationTests {
  // A process of its own: the reports of misuse are the test's.
  @Test("A1 C8 B3: a class is made step by step, each of which fails alone")
  func classes() async {
    await #expect(processExitsWith: .success) { tryAll("class", atLeast: 1) }
  }

  @Test("C2 C6 C8: nothing is registered where memory is out, and registers again later")
  func registrations() async {
    await #expect(processExitsWith: .success) { tryAll("registration", atLeast: 18) }
  }

  @Test("D5 G1 J3: a change that can't be told is reported, and what follows is told")
  func changes() async {
    await #expect(processExitsWith: .success) { tryAll("change", atLeast: 16) }
  }

  @Test("B5 B6 B11: what can't be read for want of memory is an error, not nil")
  func coding() async {
    await #expect(processExitsWith: .success) { tryAll("coding", atLeast: 16) }
  }

  @Test("B8 B9 H5: a mutable proxy changes nothing where memory is out")
  func mutations() async {
    await #expect(processExitsWith: .success) { tryAll("mutation", atLeast: 35) }
  }

  @Test("C1 C4 C5: registrations end without memory, and with the objects that die")
  func removals() async {
    await #expect(processExitsWith: .success) { tryAll("removal", atLeast: 7) }
  }

  @Test(
    "J3: a thread's first change, which there is no memory for, is reported, and the next is told",
    .enabled(if: fixture_limit_memory(-1)))
  func firstChange() async {
    await #expect(processExitsWith: .success) {
      let object = make(gauge.self)
      let probe = Probe()
      let handle = probe.register(object.object, "first")
      let shared = Shared(object)
      kvo_set_misuse_handler { _ in reports.add() }
      onThreads(1) { _ in
        _ = fixture_limit_memory(0)
        gauge_setFirst(shared.value, 1)
        _ = fixture_limit_memory(-1)
        gauge_setFirst(shared.value, 2)
      }
      precondition(reports.value == 1 && probe.calls == 1)
      kvo_handle_release(handle)
      object.release()
    }
  }
}

private let reports = Count()

private func tryAll(_ group: String, atLeast count: Int32) {
  let result = fixture_run_short_of_memory(group)
  precondition(result.scenarios >= count, "\(group): only \(result.scenarios) scenarios")
  precondition(result.wrong == 0, "\(group): \(result.wrong) went wrong")
  #if DEBUG
    precondition(result.failures >= result.scenarios, "\(group): memory never ran out")
  #endif
}
