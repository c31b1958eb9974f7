import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// E4: a language binding mutates a stored property in place.
@Suite(.recording) struct InPlaceTests {
  private typealias Guest = UnsafeMutablePointer<bound_object>

  private func address(_ guest: Guest, _ property: PartialKeyPath<bound_object>)
    -> UnsafeMutableRawPointer
  {
    UnsafeMutableRawPointer(guest) + MemoryLayout<bound_object>.offset(of: property)!
  }

  private func mutateLength(_ guest: Guest, _ length: Double, _ body: () -> Void) {
    let frame = kvo_stored_property_will_change_in_place(guest.header, address(guest, \.length))
    guest.pointee.length = length
    body()
    frame.map { kvo_stored_property_did_change($0) }
  }

  private func setMood(_ guest: Guest, _ mood: Int64) {
    let frame = kvo_stored_property_will_change(guest.header, address(guest, \.mood))
    guest.pointee.mood = mood
    frame.map { kvo_stored_property_did_change($0) }
  }

  @Test("E4: keys that depend on the property are neither read nor notified before its own change")
  func derived() {
    withGuest { guest in
      let log = Recorder()
      log.observe(guest.header, "summary")
      log.observe(guest.header, "tally", [.KVO_OLD, .KVO_NEW])
      log.observe(guest.header, "mood")
      _ = bound_object_take_tallies()
      mutateLength(guest, 2) {
        _ = bound_object_take_tallies()
        setMood(guest, 3)
        setMood(guest, 4)
        expectEqual(bound_object_take_tallies(), 0)
        expectEqual(log.take(), ["a: mood", "a: mood"])
      }
      expectEqual(Set(log.take()), ["a: summary", "a: tally old 0 new 6"])
      setMood(guest, 5)
      expectEqual(
        Set(log.take()), ["a: mood", "a: summary", "a: tally old 6 new 7"])
      log.end()
    }
  }

  @Test(
    "E4: this also holds for a mutation that is part of an open change of the property or a batch",
    arguments: [true, false])
  func joined(_ isInBatch: Bool) {
    withGuest { guest in
      let log = Recorder()
      log.observe(guest.header, "tally", [.KVO_OLD, .KVO_NEW])
      let batch = isInBatch ? kvo_batch_begin(guest.header) : nil
      let outer =
        isInBatch
        ? nil : kvo_stored_property_will_change(guest.header, address(guest, \.length))
      _ = bound_object_take_tallies()
      mutateLength(guest, 2) {
        setMood(guest, 3)
        expectEqual(bound_object_take_tallies(), isInBatch ? 1 : 0)
      }
      expectEqual(log.take(), [])
      outer.map { kvo_stored_property_did_change($0) }
      batch.map { kvo_batch_end($0) }
      expectEqual(log.take(), ["a: tally old 0 new 5"])
      setMood(guest, 4)
      expectEqual(log.take(), ["a: tally old 5 new 6"])
      log.end()
    }
  }

  @Test("E4: a mutation that is cancelled while it is part of another change ends with that")
  func cancelled() {
    withGuest { guest in
      let log = Recorder()
      log.observe(guest.header, "tally", [.KVO_NEW])
      let outer = kvo_stored_property_will_change(guest.header, address(guest, \.length))
      let inner = kvo_stored_property_will_change_in_place(
        guest.header, address(guest, \.length))
      setMood(guest, 3)
      expectEqual(log.take(), [])
      inner.map { kvo_stored_property_cancel_change($0) }
      setMood(guest, 4)
      expectEqual(log.take(), ["a: tally new 4"])
      outer.map { kvo_stored_property_did_change($0) }
      expectEqual(log.take(), ["a: tally new 4"])
      log.end()
    }
  }

  @Test("E4: keys that do not depend on the property are followed and notified in the mutation")
  func others() {
    withGuest { guest in
      let log = Recorder()
      log.observe(guest.header, "partner.length")
      log.observe(guest.header, "tally", [.KVO_NEW])
      let frame = kvo_stored_property_will_change_in_place(
        guest.header, address(guest, \.partner))
      setMood(guest, -3)
      expectEqual(log.take(), ["a: tally new -3"])
      let length = kvo_stored_property_will_change(guest.header, address(guest, \.length))
      length.map { kvo_stored_property_did_change($0) }
      expectEqual(log.take(), [])
      frame.map { kvo_stored_property_did_change($0) }
      expectEqual(log.take(), ["a: partner.length"])
      log.end()
    }
  }
}
