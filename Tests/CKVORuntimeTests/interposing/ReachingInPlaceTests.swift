import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// E4: mutations in place beside changes that reach the same observers by another way.
@Suite(.recording) struct ReachingInPlaceTests {
  fileprivate typealias Guest = UnsafeMutablePointer<bound_object>
  private let log = Recorder()

  private func withLinked(_ body: (_ holder: Guest, _ guest: Guest) -> Void) {
    withGuest { holder in
      withGuest { guest in
        holder.pointee.partner = guest.header
        body(holder, guest)
        log.end()
        holder.pointee.partner = nil
      }
    }
  }

  enum Announcement: CaseIterable { case pair, bracket, property }

  private func change(_ key: String, of guest: Guest, by way: Announcement, _ body: () -> Void) {
    switch way {
    case .pair:
      kvo_will_change(guest.header, key)
      body()
      kvo_did_change(guest.header, key)
    case .bracket:
      let frame = kvo_scoped_change_begin_named(guest.header, key)
      body()
      frame.map { kvo_scoped_change_end($0) }
    case .property:
      let frame = kvo_stored_property_will_change_key(guest.header, kvo_key_intern(key)!)
      body()
      frame.map { kvo_stored_property_did_change($0) }
    }
  }

  @Test(
    "E4: a change of a key that depends on the property is left to the mutation too",
    arguments: Announcement.allCases, [1, 2])
  func ofDerivedKey(_ way: Announcement, _ observers: Int) {
    withGuest { guest in
      for _ in 0..<observers { log.observe(guest.header, "summary", [.KVO_PRIOR, .KVO_NEW]) }
      guest.mutate(\.length, guest.pointee.length + 1) {
        expectEqual(log.take().count, observers)
        change("summary", of: guest, by: way) { guest.pointee.mood = 3 }
        expectEqual(log.take(), [])
      }
      expectEqual(log.take().filter { $0.contains("summary new") }.count, observers)
      log.end()
    }
  }

  @Test(
    "E4: a change of a key that depends on the property, ended in the mutation, is left to it",
    arguments: Announcement.allCases, [1, 2])
  func crossing(_ way: Announcement, _ observers: Int) {
    withGuest { guest in
      for _ in 0..<observers { log.observe(guest.header, "summary", [.KVO_NEW]) }
      var mutation: OpaquePointer?
      change("summary", of: guest, by: way) {
        mutation = guest.beginMutation(of: \.length)
        guest.pointee.mood = 3
      }
      expectEqual(log.take(), [])
      mutation.map { kvo_stored_property_did_change($0) }
      expectEqual(log.take().filter { $0.contains("summary new") }.count, observers)
      log.end()
    }
  }

  @Test(
    "E4 M1: a batch's prior calls include those to observers that a mutation has notified",
    arguments: [[], [.KVO_OLD], [.KVO_OLD, .KVO_NEW]] as [kvo_options])
  func priorInBatch(_ values: kvo_options) {
    withLinked { holder, guest in
      log.observe(holder.header, "partner.tally", values.union(.KVO_PRIOR))
      let old = { (value: Int) in values.contains(.KVO_OLD) ? " old \(value)" : "" }
      let new = { (value: Int) in values.contains(.KVO_NEW) ? " new \(value)" : "" }
      kvo_will_change(holder.header, "partner")
      expectEqual(log.take(), ["a: prior partner.tally\(old(0))"])
      let batch = kvo_batch_begin(guest.header)
      guest.set(\.length, 10)
      kvo_did_change(holder.header, "partner")
      expectEqual(log.take(), ["a: partner.tally\(old(0))\(new(10))"])
      guest.set(\.mood, 2)
      expectEqual(log.take(), ["a: prior partner.tally\(old(10))"])
      batch.map { kvo_batch_end($0) }
      expectEqual(log.take(), ["a: partner.tally\(old(10))\(new(12))"])
    }
  }

  @Test(
    "E4 D6: a mutation takes no notification that does not depend on it", arguments: [false, true])
  func unrelated(_ isMutating: Bool) {
    withLinked { holder, guest in
      withGuest { other in
        log.observe(other.header, "summary")
        log.observe(holder.header, "partner.length", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
        let crossing = {
          kvo_will_change(guest.header, "length")
          expectEqual(log.take(), ["a: prior partner.length old 0"])
          kvo_will_change(holder.header, "partner")
          guest.pointee.length = 5
          _ = log.take()
          kvo_did_change(guest.header, "length")
          expectEqual(log.take(), ["a: partner.length old 0 new 5"])
          kvo_did_change(holder.header, "partner")
        }
        if isMutating { other.mutate(\.length, 1, crossing) } else { crossing() }
        log.end()
      }
    }
  }

  @Test("E4: without memory at a mutation's beginning, changes in it do not read the property")
  func shortage() async {
    await #expect(processExitsWith: .success) {
      withGuest { guest in
        let tests = ReachingInPlaceTests()
        tests.log.observe(guest.header, "tally", [.KVO_NEW])
        tests.log.observe(guest.header, "summary")
        guard fixture_limit_memory(0) else { return tests.log.end() }
        let frame = guest.beginMutation(of: \.length)
        fixture_limit_memory(-1)
        _ = bound_object_take_tallies()
        guest.set(\.mood, 3)
        precondition(bound_object_take_tallies() == 0)
        frame.map { kvo_stored_property_did_change($0) }
        _ = tests.log.take()
        guest.set(\.mood, 4)
        precondition(tests.log.take().contains("a: tally new 4"))
        tests.log.end()
      }
    }
  }

  @Test(
    "E4 C4: a forked child ends a mutation that its task began on another thread",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func forkedTask() async {
    await #expect(processExitsWith: .success) {
      fixture_have_tasks()
      withGuest { guest in
        let tests = ReachingInPlaceTests()
        for key in ["summary", "tally"] { tests.log.observe(guest.header, key) }
        let frame = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
        let shared = Shared((guest, tests, frame))
        onThreads(1) { _ in
          let (guest, _, frame) = shared.value
          fixture_run_task(1)
          frame.initialize(to: guest.beginMutation(of: \.length))
        }
        fixture_run_task(1)
        withUnsafePointer(to: shared) {
          let status = fixture_fork(
            { Self.endMutation($0!.load(as: Shared<MutationOfTask>.self).value) },
            UnsafeMutableRawPointer(mutating: $0))
          precondition(status == 0)
        }
        kvo_stored_property_did_change(frame.pointee!)
        tests.log.end()
        frame.deallocate()
      }
    }
  }

  fileprivate typealias MutationOfTask = (Guest, Self, UnsafeMutablePointer<OpaquePointer?>)

  /// In a forked child: ends a mutation, which must still hold back what depends on it. Before that, new threads get the
  /// records of those that are gone.
  fileprivate static func endMutation(_ mutation: MutationOfTask) -> Bool {
    let (guest, tests, frame) = mutation
    let shared = Shared(mutation)
    onThreads(4) { _ in shared.value.0.set(\.partner, nil) }
    guest.set(\.mood, 3)
    let isHeld = tests.log.take() == []
    kvo_stored_property_did_change(frame.pointee!)
    return isHeld && tests.log.take() == ["a: summary", "a: tally"]
  }
}
