import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Every allocation fails once: alone, together with one to three more, and together with all later ones. A call that lacks memory reports it and
/// changes nothing.
@Suite struct AllocationTests {
  // Runs in a process of its own, because the test checks all its misuse reports.
  @Test("A1 C8 B3: each step of making a class fails alone when memory is out")
  func classes() async {
    await #expect(processExitsWith: .success) { tryAll("class", atLeast: 1) }
  }

  @Test("C2 C6 C8: out of memory, nothing is registered, and a later registration succeeds")
  func registrations() async {
    await #expect(processExitsWith: .success) { tryAll("registration", atLeast: 19) }
  }

  @Test("D5 G1 J3: a change that can't be delivered is reported, and later ones are delivered")
  func changes() async {
    await #expect(processExitsWith: .success) { tryAll("change", atLeast: 16) }
  }

  @Test("B5 B6 B11: a read that runs out of memory is an error, not nil")
  func coding() async {
    await #expect(processExitsWith: .success) { tryAll("coding", atLeast: 17) }
  }

  @Test("B8 B9 H5: a mutable proxy changes nothing when memory is out")
  func mutations() async {
    await #expect(processExitsWith: .success) { tryAll("mutation", atLeast: 35) }
  }

  @Test("C1 C4 C5: registrations end without memory, also when objects die")
  func removals() async {
    await #expect(processExitsWith: .success) { tryAll("removal", atLeast: 7) }
  }

  @Test("B9 H2: a collection is changed by its class's methods as a whole or not at all")
  func shelves() async {
    await #expect(processExitsWith: .success) { tryAll("shelf", atLeast: 84) }
  }

  @Test("B8 B9: a proxy that can't be read reports an error, also after its class has changed")
  func proxies() async {
    await #expect(processExitsWith: .success) { tryAll("proxy", atLeast: 57) }
  }

  @Test("J1: the dump lists all observers or, out of memory, none")
  func diagnostics() async {
    await #expect(processExitsWith: .success) { tryAll("diagnostics", atLeast: 7) }
  }

  @Test("I1: a thread's first operation may find no memory for its record")
  func threads() async {
    await #expect(processExitsWith: .success) { tryAll("thread", atLeast: 14) }
  }

  @Test("D6 D7: nested changes may find no memory for more frames")
  func nesting() async {
    await #expect(processExitsWith: .success) { tryAll("nesting", atLeast: 5) }
  }

  @Test("A2 C4 D5 H1: a binding's objects are registered, changed and ended")
  func bindings() async {
    await #expect(processExitsWith: .success) { tryAll("binding", atLeast: 34) }
  }

  @Test("F5: out of memory, a tracked key keeps its old reads and catches up at its next change")
  func tracking() async {
    await #expect(processExitsWith: .success) { tryAll("tracking", atLeast: 21) }
  }

  @Test(
    "I1: running out of memory in a forked child does not affect its parent",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func forks() async {
    await #expect(processExitsWith: .success) { tryAll("fork", atLeast: 6) }
  }

  @Test(
    "A3 B8 C2: what a process's first use creates fails without memory, and is created later",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func firstUses() async {
    await #expect(processExitsWith: .success) { check(fixture_run_first_uses(), "first use", 8) }
  }

  @Test(
    "B9: a set is made as a whole, or not at all with an error that says why",
    .enabled(if: fixture_limit_memory(-1), "memory runs out in debug builds alone"))
  func sets() throws {
    let values = (0..<40).map { kvo_value_int($0 % 30) }
    var failures: Int64 = 0
    var made: OpaquePointer?
    while made == nil {
      var error = kvo_error()
      _ = fixture_limit_memory(failures)
      made = kvo_collection_create(.KVO_SET, values, values.count, &error)
      _ = fixture_limit_memory(-1)
      if made == nil {
        expectEqual(error.status, .KVO_NO_MEMORY)
        failures += 1
      }
    }
    expect(failures >= 3, "the elements, the collection and the index of a set need memory")
    let set = Many(taking: try require(made))
    expectEqual(kvo_collection_count(set.collection), 30)
  }

  @Test(
    "A1: out of memory, a class function that returns no error stops, naming the class",
    .enabled(if: fixture_limit_memory(-1), "memory runs out in debug builds alone"))
  func classOrStop() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent])
    {
      _ = fixture_limit_memory(3)
      fixture_make_class_or_stop()
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    expect(errors.contains("KVO: the class CScarceRare can't be made: "))
  }

  @Test(
    "J3: a thread's first change without memory is reported, and the next is delivered",
    .enabled(if: fixture_limit_memory(-1), "memory runs out in debug builds alone"))
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

  @Test("I1: where no thread-specific key is left, no other library's key is used")
  func noKeys() async {
    await #expect(processExitsWith: .success) {
      let object = make(gauge.self)
      let probe = Probe()
      fixture_take_all_keys()
      let others = fixture_first_key()
      kvo_handle_release(probe.register(object.object, "first"))
      precondition(probe.ended == 1 && fixture_first_key() == others)
      object.release()
    }
  }
}

private let reports = Count()

private func tryAll(_ group: String, atLeast count: Int32) {
  check(fixture_run_short_of_memory(group), group, count)
}

private func check(_ result: fixture_shortage, _ group: String, _ count: Int32) {
  precondition(result.scenarios >= count, "\(group): only \(result.scenarios) scenarios")
  precondition(result.wrong == 0, "\(group): \(result.wrong) went wrong")
  #if DEBUG
    precondition(result.failures >= result.scenarios, "\(group): memory never ran out")
  #endif
}
