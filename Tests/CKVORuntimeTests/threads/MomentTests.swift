import CFixtures
import CKVORuntime
import Expectations
import Testing

/// I1 and I2 at the moment that counts, in which gates hold a thread: these fail whenever the rule
/// is broken, however threads meet.
@Suite struct MomentTests {
  @Test("I1: what a call on another thread may use stays until it is over, and is freed then")
  func endBesideCall() {
    expect(moment_end_waits_for_call())
  }

  @Test(
    "C4 C5: what waited for a call is told of its end in a child when next something ends",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func endInChild() {
    expect(moment_child_tells_what_waited())
  }

  @Test(
    "I1 C5: whoever owns an object waits for the calls of others",
    arguments: [MOMENT_OF_CHANGE, MOMENT_OF_PATH, MOMENT_OF_DERIVED_KEY, MOMENT_OF_INITIAL])
  func endByOwner(call: moment_call) {
    expect(moment_owner_waits_for_call(call))
  }

  // In a process of its own: of threads that end and begin, each takes the last one's record.
  @Test("I1 C5: nor does it end anything early while it tells what another thread has begun")
  func endInCarriedCall() async {
    await #expect(processExitsWith: .success) {
      let ends = moment_end_in_carried_call()
      expect(ends.calls == 1 && ends.early == 0 && ends.late == 3)
    }
  }

  @Test("J1: a dump may be made while another thread nests brackets")
  func dumpBesideBrackets() {
    expectEqual(moment_dump_beside_brackets(), 2000)
  }

  #if DEBUG
    // In a process of its own: what is reported is the test's.
    @Test("C8 D1: many are told of a change, or that memory is out, whichever allocation fails")
    func manyWithoutMemory() async {
      await #expect(processExitsWith: .success) {
        precondition(moment_many_told_without_memory())
      }
    }

    @Test("C5 C8: without memory for several keys, others of the keys may end meanwhile")
    func severalWithoutMemory() {
      expect(moment_several_without_memory())
    }
  #endif

  @Test(
    "I1: where the kernel has refused its barrier, it stays likewise",
    .enabled(
      if: fixture_can_fork() && system_can_harden(),
      "the thread sanitizer follows no forks, or the kernel has no seccomp"))
  func endBesideCallWithoutBarrier() {
    let status = fixture_fork(
      { _ in system_deny_membarrier() && moment_end_waits_for_call() }, nil)
    expectEqual(status, 0)
  }

  @Test(
    "I1: a child that is forked while a class is defined may define others",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func forkInDefinition() {
    expect(moment_fork_in_definition())
  }

  @Test("I2: a set that another thread begins when invalidate has returned is not told")
  func setAfterInvalidation() {
    expectEqual(moment_calls_after_invalidation(), 0)
  }
}
