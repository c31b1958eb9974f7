import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// C4, E4, H1, H4: a language binding announces which elements it changes.
@Suite(.recording) struct BindingPartTests {
  @Test("H1: an ordered key delivers its elements at the indexes, in its own type")
  func ordered() {
    withGuest { boundObject in
      boundObject.pointee.numbers = numbers(1, 2, 3)
      let log = observed(boundObject)
      change(boundObject, .KVO_REMOVAL, 1..<3, to: numbers(1))
      change(boundObject, .KVO_INSERTION, 0..<2, to: numbers(8, 9, 1))
      change(boundObject, .KVO_REPLACEMENT, 2..<3, to: numbers(8, 9, 7))
      expectEqual(
        log.take(),
        [
          "prior removal 1..<3 old [2, 3]", "removal 1..<3 old [2, 3]",
          "prior insertion 0..<2", "insertion 0..<2 new [8, 9]",
          "prior replacement 2..<3 old [1]", "replacement 2..<3 old [1] new [7]",
        ])
      log.end()
    }
  }

  @Test("H1: a type that can't pick elements delivers arrays of them")
  func arrays() {
    withGuest { boundObject in
      boundObject.pointee.numbers = numbers(1, 2, 3)
      let log = Recorder()
      var notified: [String] = []
      log.observe(boundObject.header, "digits", [.KVO_OLD, .KVO_NEW]) { call in
        let values = [kvo_change_get_old(call.change), kvo_change_get_new(call.change)]
        notified += values.map { $0.map { text($0) } ?? "-" }
      }
      change(boundObject, .KVO_REMOVAL, 1..<3, of: "digits", to: numbers(1))
      change(boundObject, .KVO_INSERTION, 0..<2, of: "digits", to: numbers(8, 9, 1))
      expectEqual(notified, ["[2, 3]", "-", "-", "[8, 9]"])
      log.end()
    }
  }

  @Test("C4: an object that begins to die while a path is followed to it is not retained any more")
  func deathOnPath() {
    withGuest { follower in
      withGuest { first in
        withGuest { second in
          let log = Recorder()
          follower.pointee.leader = first.header
          follower.pointee.partner = second.header
          // While this reads the first leader, the second one is set, which is followed first. It then dies when this,
          // which reads again, lets go of it.
          follower.pointee.at_read = { guest in
            guest.pointee.at_read = nil
            bound_object_set_leader(guest, guest.pointee.partner)
            guest.pointee.at_read = { guest in
              let second =
                UnsafeMutableRawPointer(guest.pointee.partner!)
                - MemoryLayout<bound_object>.offset(of: \.header)!
              second.assumingMemoryBound(to: bound_object.self).pointee.dies_at_release = true
            }
          }
          log.observe(follower.header, "leader.summary")
          expect(second.pointee.is_dying)
          expectEqual(second.pointee.wrong_retains, 0)
          second.pointee.is_dying = false
          second.pointee.dies_at_release = false
          log.end()
          follower.pointee.partner = nil
        }
      }
    }
  }

  @Test(
    "E4: a binding can refuse reads of stored properties, but for those in a setter's own change")
  func checkedReads() {
    withGuest { boundObject in
      let log = Recorder()
      _ = bound_object_take_checks()
      log.observe(boundObject.header, "numbers", [.KVO_INITIAL, .KVO_NEW])
      expectEqual(bound_object_take_checks(), 1)
      log.observe(boundObject.header, "numbers", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
      let address =
        UnsafeMutableRawPointer(boundObject) + MemoryLayout<bound_object>.offset(of: \.numbers)!
      let frame = kvo_stored_property_will_change(boundObject.header, address)
      boundObject.pointee.numbers = numbers(1)
      frame.map { kvo_stored_property_did_change($0) }
      expectEqual(bound_object_take_checks(), 0)
      kvo_will_change(boundObject.header, "numbers")
      expectEqual(bound_object_take_checks(), 1)
      kvo_did_change(boundObject.header, "numbers")
      expectEqual(bound_object_take_checks(), 1)
      var value = kvo_value()
      expect(kvo_value_for_key(boundObject.header, "numbers", &value, nil) == .KVO_OK)
      expectEqual(bound_object_take_checks(), 1)
      kvo_value_destroy(&value)
      log.end()
    }
  }

  @Test("H6: a change that has no effect makes no final call, and the next is delivered")
  func cancelled() {
    withGuest { boundObject in
      boundObject.pointee.numbers = numbers(1)
      let log = observed(boundObject)
      if let frame = announce(boundObject, .KVO_REMOVAL, 0..<1) {
        kvo_stored_property_cancel_change(frame)
      }
      change(boundObject, .KVO_REMOVAL, 0..<1, to: numbers())
      expectEqual(
        log.take(),
        [
          "prior removal 0..<1 old [1]", "prior removal 0..<1 old [1]", "removal 0..<1 old [1]",
        ])
      log.end()
    }
  }

  @Test(
    "D7 M1: in a batch, a change became a setting only if its own prior calls change the elements")
  func settingsInBatch() {
    withGuest { boundObject in
      boundObject.pointee.numbers = numbers(1, 2, 3)
      func becomesSetting(_ key: String) -> Bool {
        guard let frame = announce(boundObject, .KVO_REMOVAL, 0..<1, of: key) else { return false }
        defer { kvo_stored_property_did_change(frame) }
        return kvo_stored_property_change_became_setting(frame)
      }
      let log = Recorder()
      var inPrior: Bool?
      log.observe(boundObject.header, "numbers", .KVO_PRIOR) { call in
        if call.isPrior, inPrior == nil { inPrior = becomesSetting("numbers") }
      }
      log.observe(boundObject.header, "leader")
      var settings: [Bool] = []
      coalescing(boundObject.header) {
        settings = ["numbers", "leader", "leader", "numbers"].map(becomesSetting)
      }
      expectEqual(inPrior, false)
      expectEqual(settings, [true, false, false, false])
      log.end()
    }
  }

  @Test("H4: the inserted and removed elements that a binding gives are delivered unread")
  func members() {
    withGuest { boundObject in
      let log = observed(boundObject)
      var goes = guestValue(numbers(5))
      var comes = guestValue(numbers(6, 7))
      withUnsafePointer(to: &goes) { goes in
        withUnsafePointer(to: &comes) { comes in
          var part = kvo_part()
          part.kind = .KVO_REPLACEMENT
          part.goes = goes
          part.comes = comes
          let frame = kvo_stored_property_will_change_part(
            boundObject.header, kvo_key_intern("numbers")!, &part)
          frame.map { kvo_stored_property_did_change($0) }
        }
      }
      kvo_value_destroy(&goes)
      kvo_value_destroy(&comes)
      expectEqual(
        log.take(), ["prior replacement old [5]", "replacement old [5] new [6, 7]"])
      log.end()
    }
  }

  @Test("H1: a key without observers is not announced")
  func unobserved() {
    withGuest { boundObject in
      if let change = announce(boundObject, .KVO_REMOVAL, 0..<1) {
        kvo_stored_property_did_change(change)
      }
      let log = Recorder()
      log.observe(boundObject.header, "length")
      if let change = announce(boundObject, .KVO_REMOVAL, 0..<1) {
        kvo_stored_property_did_change(change)
      }
      expectEqual(log.take(), [])
      log.end()
    }
  }
}

private func numbers(_ items: Int64...) -> bound_object_numbers {
  var numbers = bound_object_numbers()
  numbers.count = items.count
  withUnsafeMutableBytes(of: &numbers.items) { bytes in
    for (index, item) in items.enumerated() {
      bytes.storeBytes(of: item, toByteOffset: index * 8, as: Int64.self)
    }
  }
  return numbers
}

private func items(_ value: UnsafePointer<kvo_value>?) -> [Int64]? {
  guard let numbers = value.flatMap({ kvo_value_bytes($0) })?.load(as: bound_object_numbers.self)
  else {
    return nil
  }
  return withUnsafeBytes(of: numbers.items) {
    Array($0.bindMemory(to: Int64.self).prefix(numbers.count))
  }
}

private func guestValue(_ numbers: bound_object_numbers) -> kvo_value {
  withGuestType { type in
    var value = kvo_value()
    _ = withUnsafePointer(to: numbers) { kvo_value_init(&value, type, $0) }
    return value
  }
}

// The fixture does not export the type, so this takes it from a value.
private func withGuestType<R>(_ body: (UnsafePointer<kvo_type>) -> R) -> R {
  var made: R?
  withGuest { boundObject in
    var value = kvo_value()
    _ = kvo_value_for_key(boundObject.header, "numbers", &value, nil)
    made = body(value.type!)
    kvo_value_destroy(&value)
  }
  return made!
}

private func announce(
  _ boundObject: UnsafeMutablePointer<bound_object>, _ kind: kvo_change_kind, _ range: Range<Int>,
  of key: String = "numbers"
) -> OpaquePointer? {
  let indexes = kvo_index_set_create_range(range.lowerBound, range.count)
  defer { kvo_index_set_destroy(indexes) }
  var part = kvo_part()
  part.kind = kind
  part.indexes = indexes
  return kvo_stored_property_will_change_part(boundObject.header, kvo_key_intern(key)!, &part)
}

private func change(
  _ boundObject: UnsafeMutablePointer<bound_object>, _ kind: kvo_change_kind, _ range: Range<Int>,
  of key: String = "numbers", to numbers: bound_object_numbers
) {
  let frame = announce(boundObject, kind, range, of: key)
  boundObject.pointee.numbers = numbers
  frame.map { kvo_stored_property_did_change($0) }
}

/// Records changes of the key with everything that they carry.
private func observed(_ boundObject: UnsafeMutablePointer<bound_object>) -> Recorder {
  let log = Recorder()
  let names = [kvo_change_kind.KVO_INSERTION: "insertion", .KVO_REMOVAL: "removal"]
  log.observe(boundObject.header, "numbers", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW]) {
    [unowned log] call in
    // Replaces the line that the recorder has written.
    var lines = Array(log.take().dropLast())
    defer { lines.forEach(log.note) }
    var words = call.isPrior ? ["prior"] : []
    words.append(names[kvo_change_get_kind(call.change)] ?? "replacement")
    if let indexes = kvo_change_get_indexes(call.change) {
      let range = kvo_index_set_range(indexes, 0)
      words.append("\(range.location..<range.location + range.length)")
    }
    if let old = items(kvo_change_get_old(call.change)) { words += ["old", "\(old)"] }
    if let new = items(kvo_change_get_new(call.change)) { words += ["new", "\(new)"] }
    lines.append(words.joined(separator: " "))
  }
  return log
}
