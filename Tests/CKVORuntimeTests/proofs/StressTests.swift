import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// I1 to I3, C4 and C5 under stress: many threads do at random what the rules allow, on the same objects and keys,
/// and every call and end is accounted for. Debug builds poison freed memory and make hazard pointers visible as late
/// as possible (kvo_reclaim.h).
///
/// `Stress` has the environment variables that make it run longer.
@Suite(.serialized) struct StressTests {
  struct Scenario: CustomTestStringConvertible {
    let number: Int32
    let testDescription: String

    static let all = (0..<stress_scenario_count()).map {
      Scenario(number: $0, testDescription: String(cString: stress_scenario($0)))
    }
  }

  /// The number of steps of each thread in a round.
  private static let steps: UInt32 = 1_024

  @Test(
    "I1 I2 I3 C4 C5: no call is lost, doubled or late when sets, registrations and deaths overlap",
    arguments: Scenario.all)
  func everyCallIsAccountedFor(_ scenario: Scenario) {
    var (sets, calls, registrations) = (0 as UInt64, 0 as UInt64, 0 as UInt64)
    for seed in Stress.seed..<Stress.seed + Stress.rounds {
      var result = stress_run(scenario.number, Self.steps, seed)
      let problem = withUnsafeBytes(of: &result.problem) { text in
        String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
      }
      expectEqual(result.wrong, 0, "seed \(seed): \(problem)")
      expect(result.sets > 0)
      if result.wrong > 0 { break }
      sets += result.sets
      calls += result.calls
      registrations += result.registrations
    }
    Stress.tell(
      """
      \(scenario.testDescription): \(sets) sets, \(calls) calls, \(registrations) registrations
      """)
  }

  @Test(
    "C4: a forked child uses and frees its copy of the objects, and the parent's are intact",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func fork() {
    let object = make(gauge.self)
    let probe = Probe()
    let handle = probe.register(object.object, "first")
    let status = fixture_fork(
      { context in
        let object = context!.assumingMemoryBound(to: gauge.self)
        gauge_setFirst(object, 1)
        kvo_remove_all_observers(object.object)
        let swappedBack = kvo_isa(object.object) == gauge_class()
        kvo_object_release(object.object)
        return swappedBack
      }, object)
    expectEqual(status, 0)
    expect(probe.calls == 0 && probe.ended == 0)
    gauge_setFirst(object, 2)
    expectEqual(probe.calls, 1)
    kvo_handle_release(handle)
    expectEqual(probe.ended, 1)
    object.release()
  }

  @Test(
    "C5 I1: an observer may fork, and calls and removals go on in the child as in the parent",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"),
    arguments: [false, true])
  func forkInCall(isCarried: Bool) {
    expect(transferred_changes_fork_in_call(isCarried))
  }

  @Test(
    "E5 I1: a forked child does not continue a method that another thread was in",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func forkBesideMethod() async {
    await #expect(processExitsWith: .success) {
      precondition(transferred_changes_calls_after_fork_in_method() == 2)
    }
  }

  @Test(
    "E5 I1: a method that announces a change begun by another thread may fork",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func forkInMethod() async {
    await #expect(processExitsWith: .success) {
      precondition(transferred_changes_calls_of_forking_method() == 2)
    }
  }

  @Test("I1: a thread that ends in a call leaves a change that another began with its record")
  func exitInCall() async {
    await #expect(processExitsWith: .success) {
      precondition(transferred_changes_calls_after_exit() == 1)
    }
  }

  @Test("D7 I1: a thread's change does not join one that another thread began with its record")
  func changeBeside() async {
    await #expect(processExitsWith: .success) {
      precondition(transferred_changes_calls_beside() == 2)
    }
  }

  @Test(
    "C4: a binding's locks are free in a forked child, though another thread held them",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func locksOfBindings() {
    // In a forked child, which is killed if its threads deadlock.
    expectEqual(fixture_fork({ _ in StressTests.locksAreFreeInChildren() }, nil), 0)
  }

  private static func locksAreFreeInChildren() -> Bool {
    let locks = UnsafeMutablePointer<kvo_binding_lock>.allocate(capacity: 2)
    defer { locks.deallocate() }
    kvo_binding_lock_init(locks, true)
    kvo_binding_lock_init(locks + 1, false)
    let shared = Shared(locks)
    let wrong = Count()
    let forks = Count()
    onThreads(2) { thread in
      while forks.value < 20 {
        if thread == 0 {
          takeAndGiveBack(shared.value)
        } else {
          let status = fixture_fork(
            { context in
              takeAndGiveBack(context!.assumingMemoryBound(to: kvo_binding_lock.self))
              return true
            }, shared.value)
          if status != 0 { wrong.add() }
          forks.add()
        }
      }
    }
    kvo_binding_lock_destroy(locks)
    kvo_binding_lock_destroy(locks + 1)
    return wrong.value == 0 && fixture_fork({ _ in true }, nil) == 0
  }

  @Test(
    "C4: a binding may make a lock under an outer one while another thread forks",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func locksMadeWhileForking() {
    expectEqual(fixture_fork({ _ in fixture_make_locks_while_forking(20) }, nil), 0)
  }

  @Test(
    "I1: if the kernel starts to refuse membarrier, threads fence on their own",
    .enabled(
      if: fixture_can_fork() && system_can_harden(),
      "the thread sanitizer follows no forks, or the kernel has no seccomp"))
  func barrierRefused() {
    let status = fixture_fork(
      { _ in
        guard system_deny_membarrier() else { return false }
        return (0..<stress_scenario_count()).allSatisfy { stress_run($0, 64, 1).wrong == 0 }
      }, nil)
    expectEqual(status, 0)
  }
}

/// Takes an outer lock twice, with another lock inside.
private func takeAndGiveBack(_ locks: UnsafeMutablePointer<kvo_binding_lock>) {
  kvo_binding_lock_acquire(locks)
  kvo_binding_lock_acquire(locks)
  kvo_binding_lock_acquire(locks + 1)
  kvo_binding_lock_release(locks + 1)
  kvo_binding_lock_release(locks)
  kvo_binding_lock_release(locks)
}
