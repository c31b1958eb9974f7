import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// E4: mutations in place beside registrations, batches and manual changes.
@Suite(.recording) struct InPlaceNestingTests {
  private typealias Guest = UnsafeMutablePointer<bound_object>
  private let log = Recorder()

  private func inBatch(of guest: Guest, _ body: () -> Void) {
    let batch = kvo_batch_begin(guest.header)
    body()
    batch.map { kvo_batch_end($0) }
  }

  private func withGuests(_ body: (_ guest: Guest, _ other: Guest, _ holder: Guest) -> Void) {
    withGuest { guest in
      withGuest { other in
        withGuest { holder in
          holder.pointee.partner = guest.header
          other.pointee.length = 7
          body(guest, other, holder)
          log.end()
          holder.pointee.partner = nil
        }
      }
    }
  }

  @Test(
    "E4: an observer that is registered in the mutation is notified when it has ended",
    arguments: ["summary", "tally", "partner.length"], [true, false])
  func registeredWithin(_ key: String, _ byOtherThread: Bool) {
    withGuest { guest in
      guest.pointee.partner = guest.header
      for _ in 0..<2 { log.observe(guest.header, "summary", as: "first") }
      let register = Shared({ _ = log.observe(guest.header, key, [.KVO_NEW], as: "second") })
      guest.mutate(\.length, 2) {
        if byOtherThread { onThreads(1) { _ in register.value() } } else { register.value() }
        _ = bound_object_take_tallies()
        guest.set(\.mood, 3)
        guest.set(\.partner, guest.header)
        expectEqual(bound_object_take_tallies(), 0)
        expectEqual(log.take(), [])
      }
      expectEqual(log.take().filter { $0.hasPrefix("second") }.count, 1)
      guest.set(\.mood, 4)
      expectEqual(
        log.take().filter { $0.hasPrefix("second") }.count, key == "partner.length" ? 0 : 1)
      log.end()
      guest.pointee.partner = nil
    }
  }

  @Test(
    "E4: an observer that is registered in the mutation is not notified if nothing else changes",
    arguments: [1, 2])
  func registeredAlone(_ observers: Int) {
    withGuests { guest, other, _ in
      for _ in 0..<observers { log.observe(guest.header, "summary", as: "first") }
      log.observe(other.header, "tally")
      guest.mutate(\.length, 2) {
        log.observe(guest.header, "summary", as: "second")
        other.set(\.mood, 3)
        expectEqual(log.take(), ["a: tally"])
      }
      expectEqual(log.take(), [String](repeating: "first: summary", count: observers))
    }
  }

  @Test("E4: a path that comes to a held key in the mutation is notified of all its changes")
  func comesToHeldKey() {
    withGuests { guest, other, holder in
      holder.pointee.partner = other.header
      log.observe(guest.header, "tally", [.KVO_NEW])
      log.observe(holder.header, "partner.tally", [.KVO_OLD, .KVO_NEW], as: "path")
      guest.mutate(\.length, 2) {
        guest.set(\.mood, -3)
        holder.set(\.partner, guest.header)
        guest.set(\.mood, -4)
        expectEqual(log.take(), [])
      }
      expectEqual(Set(log.take()), ["a: tally new -4", "path: partner.tally old 7 new -4"])
      guest.set(\.mood, -5)
      expectEqual(Set(log.take()), ["a: tally new -5", "path: partner.tally old -4 new -5"])
    }
  }

  @Test(
    "E4 M1: a batch notifies of a link that was set in the mutation, and of what changed behind it")
  func linkInBatch() {
    withGuests { guest, other, holder in
      log.observe(holder.header, "partner.length", [.KVO_OLD, .KVO_NEW])
      inBatch(of: holder) {
        guest.mutate(\.length, 2) { holder.set(\.partner, other.header) }
        expectEqual(log.take(), ["a: partner.length old 0 new 7"])
        other.set(\.length, 8)
        expectEqual(log.take(), [])
      }
      expectEqual(log.take(), ["a: partner.length old 7 new 8"])
    }
  }

  @Test("E4 M1: an observer that asks for the old value only gets the one it was last notified at")
  func oldOnly() {
    withGuests { guest, other, holder in
      log.observe(holder.header, "partner.length", [.KVO_OLD])
      guest.pointee.length = 1
      inBatch(of: holder) {
        guest.mutate(\.length, 2) { holder.set(\.partner, other.header) }
        other.set(\.length, 8)
      }
      expectEqual(log.take(), ["a: partner.length old 1", "a: partner.length old 7"])
    }
  }

  @Test("E4 M1: a batch of the mutated object notifies once, from the first value to the last")
  func batchOfMutated() {
    withGuests { guest, other, holder in
      log.observe(guest.header, "title")  // the guest stays observed
      log.observe(holder.header, "partner.length", [.KVO_OLD, .KVO_NEW])
      inBatch(of: guest) {
        guest.mutate(\.length, 2) { holder.set(\.partner, other.header) }
        other.set(\.length, 8)
        other.set(\.length, 9)
        expectEqual(log.take(), [])
      }
      expectEqual(log.take(), ["a: partner.length old 0 new 9"])
      other.set(\.length, 10)
      expectEqual(log.take(), ["a: partner.length old 9 new 10"])
    }
  }

  @Test("E4: of two mutations, the one that ends last notifies of what a change affects with both")
  func twoMutations() {
    withGuests { guest, other, holder in
      log.observe(guest.header, "title")  // the guest stays observed
      log.observe(holder.header, "partner.tally", [.KVO_OLD, .KVO_NEW])
      guest.mutate(\.mood, 3) {
        guest.mutate(\.length, 2) { holder.set(\.partner, other.header) }
        expectEqual(log.take(), [])
      }
      expectEqual(log.take(), ["a: partner.tally old 0 new 7"])
    }
  }

  @Test(
    "E4 D5: a pair that is opened in the mutation and closed after it has the notified old value")
  func pairClosedLater() {
    withGuests { guest, _, _ in
      for options in [[.KVO_OLD, .KVO_NEW], .KVO_OLD, [], [.KVO_OLD, .KVO_NEW]] as [kvo_options] {
        log.observe(guest.header, "tally", options)
      }
      guest.mutate(\.length, 2) { kvo_will_change(guest.header, "mood") }
      expectEqual(
        log.take(), ["a: tally old 0 new 2", "a: tally old 0", "a: tally", "a: tally old 0 new 2"])
      guest.pointee.mood = 3
      kvo_did_change(guest.header, "mood")
      expectEqual(
        log.take(), ["a: tally old 2 new 5", "a: tally old 2", "a: tally", "a: tally old 2 new 5"])
    }
  }

  @Test(
    "E4 D7: a prior call mutates the property that changes, and leaves what it changes to the change",
    arguments: 0..<3)
  func mutatedInPriorCall(_ way: Int) {
    withGuests { guest, _, _ in
      let (key, count) = ("tally", 6)
      var isNested = false
      for _ in 0..<count {
        log.observe(guest.header, key, [.KVO_PRIOR, .KVO_OLD, .KVO_NEW]) { _ in
          if isNested { return }
          isNested = true
          guest.mutate(\.length, 1) {
            for _ in 0..<count { log.observe(guest.header, "summary", as: "later") }
            guest.set(\.mood, 3)
          }
        }
      }
      let change = { guest.set(\.length, 2) }
      switch way {
      case 0: change()
      case 1: inBatch(of: guest, change)
      default:
        kvo_will_change(guest.header, "length")
        guest.pointee.length = 2
        kvo_did_change(guest.header, "length")
      }
      let calls = log.take().filter { !$0.hasPrefix("later") }
      let (prior, final) = ("a: prior tally old 0", "a: tally old 0 new 5")
      let repeated = { (call: String) in [String](repeating: call, count: count) }
      if way == 2 {
        expectEqual(calls.suffix(count), repeated("a: tally old 0 new 5")[...])
      } else {
        expectEqual(calls, repeated(prior) + repeated(final))
      }
    }
  }

  @Test("E4 D4: a pair that is closed later calls prior observers itself")
  func priorOfPair() {
    withGuests { guest, _, _ in
      log.observe(guest.header, "tally", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
      guest.mutate(\.length, 2) { kvo_will_change(guest.header, "mood") }
      expectEqual(log.take(), ["a: prior tally old 0", "a: tally old 0 new 2"])
      guest.pointee.mood = 3
      kvo_did_change(guest.header, "mood")
      expectEqual(log.take(), ["a: prior tally old 5", "a: tally old 5 new 5"])
    }
  }

  @Test("E4: a pair that is closed in the mutation leaves what it began to the mutation")
  func pairClosedWithin() {
    withGuests { guest, _, _ in
      log.observe(guest.header, "tally", [.KVO_OLD, .KVO_NEW])
      kvo_will_change(guest.header, "mood")
      guest.mutate(\.length, 2) {
        guest.pointee.mood = 3
        _ = bound_object_take_tallies()
        kvo_did_change(guest.header, "mood")
        expectEqual(bound_object_take_tallies(), 0)
        expectEqual(log.take(), [])
      }
      expectEqual(log.take(), ["a: tally old 0 new 5"])
    }
  }

  @Test("E4: a mutation that is cancelled notifies only of what has been left to it")
  func cancelled() {
    withGuests { guest, other, holder in
      log.observe(guest.header, "length")
      log.observe(guest.header, "tally")
      log.observe(holder.header, "partner.length")
      let frame = guest.beginMutation(of: \.length)
      guest.set(\.mood, 3)
      frame.map { kvo_stored_property_cancel_change($0) }
      expectEqual(log.take(), ["a: tally"])
    }
  }

  @Test("E4: a mutation gets the changes of its task, on any thread, and of no other task")
  func tasks() async {
    await #expect(processExitsWith: .success) {
      fixture_have_tasks()
      for (key, observers) in [("tally", 1), ("summary", 1), ("summary", 2)] {
        let tests = InPlaceNestingTests()
        tests.withGuests { guest, _, _ in
          let shared = Shared(guest)
          let setMood = { @Sendable (task: UInt, mood: Int64) in
            onThreads(1) { _ in
              fixture_run_task(task)
              shared.value.set(\.mood, mood)
            }
          }
          for _ in 0..<observers { tests.log.observe(guest.header, key) }
          let calls = [String](repeating: "a: \(key)", count: observers)
          fixture_run_task(1)
          let frame = guest.beginMutation(of: \.length)
          setMood(1, 3)
          expectEqual(tests.log.take(), [])
          setMood(2, 4)
          expectEqual(tests.log.take(), calls)
          fixture_run_task(2)
          guest.set(\.mood, 5)
          expectEqual(tests.log.take(), calls)
          fixture_run_task(1)
          guest.set(\.mood, 6)
          expectEqual(tests.log.take(), [])
          frame.map { kvo_stored_property_did_change($0) }
          expectEqual(tests.log.take(), calls)
          setMood(1, 7)
          expectEqual(tests.log.take(), calls)
          guest.pointee.mood = 0
        }
      }
    }
  }

  @Test("E4 G5: a change of a link is not that of other tasks, while its mutation is suspended")
  func tasksBehindLink() async {
    await #expect(processExitsWith: .success) {
      fixture_have_tasks()
      for observers in 1...2 {
        let tests = InPlaceNestingTests()
        tests.withGuests { guest, _, holder in
          for _ in 0..<observers { tests.log.observe(holder.header, "partner.mood") }
          let calls = [String](repeating: "a: partner.mood", count: observers)
          fixture_run_task(1)
          let frame = holder.beginMutation(of: \.partner)
          fixture_run_task(2)
          guest.set(\.mood, 4)
          expectEqual(tests.log.take(), calls)
          fixture_run_task(1)
          guest.set(\.mood, 5)
          expectEqual(tests.log.take(), [])
          frame.map { kvo_stored_property_did_change($0) }
          expectEqual(tests.log.take(), calls)
          guest.pointee.mood = 0
        }
      }
    }
  }

  @Test(
    "E4: a mutation that no task began gets the changes of its thread, whichever task makes them")
  func taskInMutation() async {
    await #expect(processExitsWith: .success) {
      fixture_have_tasks()
      let tests = InPlaceNestingTests()
      tests.withGuests { guest, _, _ in
        tests.log.observe(guest.header, "tally")
        let shared = Shared(guest)
        guest.mutate(\.length, 2) {
          onThreads(1) { _ in shared.value.set(\.mood, 2) }
          expectEqual(tests.log.take(), ["a: tally"])
          fixture_run_task(1)
          guest.set(\.mood, 3)
          expectEqual(tests.log.take(), [])
          fixture_run_task(0)
        }
        expectEqual(tests.log.take(), ["a: tally"])
      }
    }
  }
}
