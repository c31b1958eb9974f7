import CFixtures
import CKVORuntime
import Expectations
import Testing

/// I1 and I2 at the critical moment, at which gates hold a thread. These tests fail whenever the rule is broken,
/// whatever the scheduling.
@Suite struct CallRaceTests {
  @Test("I1: what a call on another thread may use lives until it is over, and is freed then")
  func endBesideCall() {
    expect(call_race_end_waits_for_call())
  }

  @Test(
    "C4 C5: in a forked child, `ended` calls that waited for a call are made at the next removal",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func endInChild() {
    expect(call_race_child_reports_what_waited())
  }

  @Test(
    "I1 C5: a removal waits for other threads' calls, whichever thread owns the object",
    arguments: [
      CALL_RACE_OF_CHANGE, CALL_RACE_OF_PATH, CALL_RACE_OF_DERIVED_KEY, CALL_RACE_OF_INITIAL,
    ])
  func endByOwner(call: call_race_call) {
    expect(call_race_owner_waits_for_call(call))
  }

  // In a process of its own, because each new thread must reuse the record of the last one that ended.
  @Test(
    "I1 C5: nor does it free anything early while it delivers a change another thread has begun")
  func endInCarriedCall() async {
    await #expect(processExitsWith: .success) {
      let ends = call_race_end_in_carried_call()
      expect(ends.calls == 1 && ends.early == 0 && ends.late == 3)
    }
  }

  // The thread sanitizer fails it if the threads use the change without a common lock.
  @Test("D5 I1: an edit finds the change that another thread closes open, or not at all")
  func editBesideClose() {
    expect(call_race_edit_beside_close())
  }

  @Test("J1: a dump may be made while another thread nests brackets")
  func dumpBesideBrackets() {
    expectEqual(call_race_dump_beside_brackets(), 2000)
  }

  #if DEBUG
    // In a process of its own, because the test checks all its reports.
    @Test(
      "C8 D1: many observers are notified, or memory is reported out, whichever allocation fails")
    func manyWithoutMemory() async {
      await #expect(processExitsWith: .success) {
        precondition(call_race_many_notified_without_memory())
      }
    }

    @Test("C5 C8: without memory for several keys, others of the keys may end during the call")
    func severalWithoutMemory() {
      expect(call_race_several_without_memory())
    }
  #endif

  @Test(
    "I1: once the kernel has refused membarrier, the runtime does not ask it again",
    .enabled(
      if: fixture_can_fork() && system_can_harden(),
      "the thread sanitizer follows no forks, or the kernel has no seccomp"))
  func endBesideCallWithoutBarrier() {
    let status = fixture_fork(
      { _ in system_deny_membarrier() && call_race_end_waits_for_call() }, nil)
    expectEqual(status, 0)
  }

  @Test(
    "I1: a child forked while a class is being defined may define others",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func forkInDefinition() {
    expect(call_race_fork_in_definition())
  }

  @Test("I2: a set that another thread begins after invalidate has returned is not delivered")
  func setAfterInvalidation() {
    expectEqual(call_race_calls_after_invalidation(), 0)
  }
}
