import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// E4: a language binding mutates a stored property in place.
@Suite(.recording) struct InPlaceTests {
  private typealias Guest = UnsafeMutablePointer<bound_object>

  private func withGuests(_ count: Int, _ body: ([Guest]) -> Void) {
    guard count > 0 else { return body([]) }
    withGuest { guest in withGuests(count - 1) { body([guest] + $0) } }
  }

  @Test("E4: keys that depend on the property are neither read nor notified before its own change")
  func derived() {
    withGuest { guest in
      let log = Recorder()
      log.observe(guest.header, "summary")
      log.observe(guest.header, "tally", [.KVO_OLD, .KVO_NEW])
      log.observe(guest.header, "mood")
      _ = bound_object_take_tallies()
      guest.mutate(\.length, 2) {
        _ = bound_object_take_tallies()
        guest.set(\.mood, 3)
        guest.set(\.mood, 4)
        expectEqual(bound_object_take_tallies(), 0)
        expectEqual(log.take(), ["a: mood", "a: mood"])
      }
      expectEqual(Set(log.take()), ["a: summary", "a: tally old 0 new 6"])
      guest.set(\.mood, 5)
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
        ? nil : kvo_stored_property_will_change(guest.header, guest.address(of: \.length))
      _ = bound_object_take_tallies()
      guest.mutate(\.length, 2) {
        guest.set(\.mood, 3)
        expectEqual(bound_object_take_tallies(), isInBatch ? 1 : 0)
      }
      expectEqual(log.take(), [])
      outer.map { kvo_stored_property_did_change($0) }
      batch.map { kvo_batch_end($0) }
      expectEqual(log.take(), ["a: tally old 0 new 5"])
      guest.set(\.mood, 4)
      expectEqual(log.take(), ["a: tally old 5 new 6"])
      log.end()
    }
  }

  @Test("E4: a mutation that is cancelled while it is part of another change ends with that")
  func cancelled() {
    withGuest { guest in
      let log = Recorder()
      log.observe(guest.header, "tally", [.KVO_NEW])
      let outer = kvo_stored_property_will_change(guest.header, guest.address(of: \.length))
      let inner = guest.beginMutation(of: \.length)
      guest.set(\.mood, 3)
      expectEqual(log.take(), [])
      inner.map { kvo_stored_property_cancel_change($0) }
      guest.set(\.mood, 4)
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
      let frame = guest.beginMutation(of: \.partner)
      guest.set(\.mood, -3)
      expectEqual(log.take(), ["a: tally new -3"])
      let length = kvo_stored_property_will_change(guest.header, guest.address(of: \.length))
      length.map { kvo_stored_property_did_change($0) }
      expectEqual(log.take(), [])
      frame.map { kvo_stored_property_did_change($0) }
      expectEqual(log.take(), ["a: partner.length"])
      log.end()
    }
  }

  @Test(
    "E4: a key that ceases to depend on the property in the mutation is notified once",
    arguments: [1, 2])
  func dependsNoMore(_ observers: Int) {
    withGuest { guest in
      let log = Recorder()
      for _ in 0..<observers { log.observe(guest.header, "tally", [.KVO_OLD, .KVO_NEW]) }
      let once = { (call: String) in [String](repeating: call, count: observers) }
      guest.mutate(\.length, 2) { guest.set(\.mood, -3) }
      expectEqual(log.take(), once("a: tally old 0 new -3"))
      guest.set(\.mood, -4)
      expectEqual(log.take(), once("a: tally old -3 new -4"))
      log.end()
    }
  }

  @Test(
    "E4: a mutation that is cancelled notifies what changes in it have left to it",
    arguments: ["summary", "tally", "partner.length"], [1, 2])
  func cancelledWithChanges(_ key: String, _ observers: Int) {
    withGuest { guest in
      guest.pointee.partner = guest.header
      let log = Recorder()
      for _ in 0..<observers { log.observe(guest.header, key) }
      let cancelled = { (body: () -> Void) in
        let frame = guest.beginMutation(of: \.length)
        body()
        frame.map { kvo_stored_property_cancel_change($0) }
      }
      cancelled {}
      expectEqual(log.take(), [])
      cancelled {
        guest.set(\.mood, 3)
        let frame = kvo_stored_property_will_change(guest.header, guest.address(of: \.partner))
        frame.map { kvo_stored_property_did_change($0) }
        expectEqual(log.take(), [])
      }
      expectEqual(log.take(), [String](repeating: "a: \(key)", count: observers))
      log.end()
      guest.pointee.partner = nil
    }
  }

  @Test("E4: a registration at the address of one that the mutation's change has found is another")
  func reusedAddress() {
    withGuest { guest in
      withGuest { holder in
        holder.pointee.partner = guest.header
        let log = Recorder()
        log.observe(guest.header, "title")  // the guest stays observed
        let found = log.observe(holder.header, "partner.length")
        var kept = 0
        guest.mutate(\.length, 2) {
          let address = found.handle
          found.release()
          var others = [log.observe(guest.header, "summary")]
          while others.last?.handle != address, others.count < 64 {
            others.append(log.observe(guest.header, "summary"))
          }
          guest.set(\.mood, 3)
          expectEqual(log.take(), [])
          kept = others.count
        }
        expectEqual(log.take(), [String](repeating: "a: summary", count: kept))
        log.end()
        holder.pointee.partner = nil
      }
    }
  }

  @Test("E4 G5: a batch that ends later has the value that was notified as the old one")
  func batchEndsLater() {
    withGuest { guest in
      withGuest { holder in
        holder.pointee.partner = guest.header
        let log = Recorder()
        log.observe(holder.header, "partner.length", [.KVO_OLD, .KVO_NEW])
        let setLength = { (length: Double) in
          let frame = kvo_stored_property_will_change(guest.header, guest.address(of: \.length))
          guest.pointee.length = length
          frame.map { kvo_stored_property_did_change($0) }
        }
        let setInLink = { (length: Double) in
          let frame = holder.beginMutation(of: \.partner)
          setLength(length)
          frame.map { kvo_stored_property_did_change($0) }
        }
        var batch = kvo_batch_begin(guest.header)
        setInLink(2)
        expectEqual(log.take(), ["a: partner.length old 0 new 2"])
        batch.map { kvo_batch_end($0) }
        expectEqual(log.take(), ["a: partner.length old 2 new 2"])
        batch = kvo_batch_begin(guest.header)
        setInLink(3)
        expectEqual(log.take(), ["a: partner.length old 2 new 3"])
        setLength(4)
        batch.map { kvo_batch_end($0) }
        expectEqual(log.take(), ["a: partner.length old 3 new 4"])
        log.end()
        holder.pointee.partner = nil
      }
    }
  }

  @Test("E4: a batch in the mutation leaves a path that several of its keys reach to the mutation")
  func batchInMutation() {
    withGuest { guest in
      guest.pointee.partner = guest.header
      let log = Recorder()
      log.observe(guest.header, "partner.partner.length", [.KVO_OLD, .KVO_NEW])
      log.observe(guest.header, "partner.length", [.KVO_OLD, .KVO_NEW])
      guest.mutate(\.length, 2) {
        let batch = kvo_batch_begin(guest.header)
        for _ in 0..<2 {
          let frame = kvo_stored_property_will_change(guest.header, guest.address(of: \.partner))
          frame.map { kvo_stored_property_did_change($0) }
          guest.set(\.mood, 3)
        }
        batch.map { kvo_batch_end($0) }
        expectEqual(log.take(), [])
      }
      let calls = ["a: partner.length old 0 new 2", "a: partner.partner.length old 0 new 2"]
      expectEqual(log.take().sorted(), calls)
      log.end()
      guest.pointee.partner = nil
    }
  }

  @Test(
    "D2 E4: paths that leave the property in the mutation are notified in their order, among others",
    arguments: [[], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]])
  func order(_ leaving: [Int]) {
    withGuests(4) { guests in
      let guest = guests[3]
      let log = Recorder()
      log.observe(guest.header, "title")  // the guest stays observed
      for number in [0, 1, 2, 0, 1, 2] {
        guests[number].pointee.partner = guest.header
        log.observe(guests[number].header, "partner.summary", as: "\(number)")
      }
      guest.mutate(\.length, 2) {
        guest.set(\.mood, 3)
        for number in leaving { guests[number].set(\.partner, nil) }
        expectEqual(log.take(), [])
      }
      expectEqual(log.take(), [0, 1, 2, 0, 1, 2].map { "\($0): partner.summary" })
      log.end()
      for guest in guests { guest.pointee.partner = nil }
    }
  }

  @Test("E4: a mutation may end on a thread that has not used the runtime")
  func endedElsewhere() {
    withGuest { guest in
      let log = Recorder()
      for _ in 0..<2 { log.observe(guest.header, "summary") }
      let frame = Shared(
        guest.beginMutation(of: \.length))
      guest.set(\.mood, 3)
      expectEqual(log.take(), [])
      onThreads(1) { _ in kvo_stored_property_did_change(frame.value!) }
      expectEqual(log.take(), ["a: summary", "a: summary"])
      log.end()
    }
  }

  @Test("E4: a mutation that another thread cancels is over for the thread that began it")
  func cancelledElsewhere() {
    withGuest { guest in
      let log = Recorder()
      for _ in 0..<2 { log.observe(guest.header, "summary") }
      let frame = Shared(
        guest.beginMutation(of: \.length))
      onThreads(1) { _ in kvo_stored_property_cancel_change(frame.value!) }
      expectEqual(log.take(), [])
      guest.set(\.mood, 3)
      expectEqual(log.take(), ["a: summary", "a: summary"])
      log.end()
    }
  }
}
