import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// A1: a language binding sets a stored property in one call, and may skip unobserved properties.
@Suite(.recording) struct StoredPropertySetTests {
  /// Sets the length as a binding does. Returns whether the runtime has set it.
  private func set(_ boundObject: UnsafeMutablePointer<bound_object>, _ length: Double) -> Bool {
    kvo_stored_property_set_word(boundObject.header, lengthAddress(boundObject), length.bitPattern)
  }

  private func lengthAddress(_ boundObject: UnsafeMutablePointer<bound_object>)
    -> UnsafeMutableRawPointer
  {
    UnsafeMutableRawPointer(boundObject) + MemoryLayout<bound_object>.offset(of: \.length)!
  }

  private func moodAddress(_ boundObject: UnsafeMutablePointer<bound_object>)
    -> UnsafeMutableRawPointer
  {
    UnsafeMutableRawPointer(boundObject) + MemoryLayout<bound_object>.offset(of: \.mood)!
  }

  @Test(
    "A1: a property that is set in one call notifies as between will and did",
    arguments: [
      [] as kvo_options, .KVO_OLD, .KVO_NEW, [.KVO_OLD, .KVO_NEW], [.KVO_PRIOR, .KVO_OLD],
      .KVO_DISTINCT,
    ])
  func likeWillAndDid(_ options: kvo_options) {
    withGuest { boundObject in
      let log = Recorder()
      log.observe(boundObject.header, "length", options)
      expect(set(boundObject, 1) && set(boundObject, 2.5) && set(boundObject, 2.5))
      let notified = log.take()
      let address = lengthAddress(boundObject)
      for length in [1, 2.5, 2.5] {
        let frame = kvo_stored_property_will_change(boundObject.header, address)
        boundObject.pointee.length = length
        frame.map { kvo_stored_property_did_change($0) }
      }
      expectEqual(notified.count, log.take().count)
      expectEqual(boundObject.pointee.length, 2.5)
      log.end()
    }
  }

  @Test("A1: values of several observers, old, new and prior, are those before and after the set")
  func values() {
    withGuest { boundObject in
      let log = Recorder()
      var notified: [String] = []
      for options in [[.KVO_OLD, .KVO_NEW], [.KVO_PRIOR, .KVO_OLD]] as [kvo_options] {
        log.observe(boundObject.header, "length", options) { call in
          let values = [kvo_change_get_old(call.change), kvo_change_get_new(call.change)]
          notified.append(values.map { $0.map { text($0) } ?? "-" }.joined(separator: " "))
          notified.append("\(boundObject.pointee.length)")
        }
      }
      boundObject.pointee.length = 1
      expect(set(boundObject, 2))
      expectEqual(notified, ["1 -", "1.0", "1 2", "2.0", "1 -", "2.0"])
      log.end()
    }
  }

  @Test(
    "A1: a set within a change of the same property sets nothing, and leaves that to the caller")
  func joined() {
    withGuest { boundObject in
      let log = Recorder()
      log.observe(boundObject.header, "length")
      let change = kvo_stored_property_will_change(boundObject.header, lengthAddress(boundObject))
      expect(!set(boundObject, 3))
      expectEqual(boundObject.pointee.length, 0)
      change.map { kvo_stored_property_did_change($0) }
      expectEqual(log.take().count, 1)
      log.end()
    }
  }

  @Test("A1: the address of a copy is refused")
  func copy() {
    withGuest { boundObject in
      let log = Recorder()
      log.observe(boundObject.header, "length")
      // The address determines a bit of the isa; these cover all of its marks.
      let copies = UnsafeMutablePointer<Double>.allocate(capacity: Int(KVO_ISA_MARK_COUNT))
      defer { copies.deallocate() }
      copies.initialize(repeating: 1, count: Int(KVO_ISA_MARK_COUNT))
      for copy in copies..<copies + Int(KVO_ISA_MARK_COUNT) {
        expect(!kvo_stored_property_set_word(boundObject.header, copy, 2.0.bitPattern))
        expectEqual(copy.pointee, 1)
        expect(kvo_isa_marks(kvo_binding_marked_isa(boundObject.header), boundObject.header, copy))
      }
      expectEqual(log.take(), [])
      log.end()
    }
  }

  @Test(
    "A1: of an observed object only observed properties may be observed, until all observers have gone"
  )
  func marks() {
    withGuest(parrot_class()) { boundObject in
      func mayBeObserved() -> [Bool] {
        [lengthAddress(boundObject), moodAddress(boundObject)].map { address in
          let may = kvo_isa_marks(
            kvo_binding_marked_isa(boundObject.header), boundObject.header, address)
          expectEqual(kvo_binding_came_to_be_marked(boundObject.header, address), may)
          return may
        }
      }
      expectEqual(mayBeObserved(), [false, false])
      let log = Recorder()
      let length = log.observe(boundObject.header, "length")
      expectEqual(mayBeObserved(), [true, false])
      let mood = log.observe(boundObject.header, "mood")
      expectEqual(mayBeObserved(), [true, true])
      expect(
        String(cString: kvo_class_name(kvo_isa(boundObject.header)!)).hasPrefix("KVONotifying_"))
      length.invalidate()
      expectEqual(mayBeObserved()[1], true)
      mood.invalidate()
      expectEqual(mayBeObserved(), [false, false])
      expectEqual(kvo_isa(boundObject.header), nil)
      log.end()
    }
  }

  @Test("A1: each key of a token of several is observed")
  func group() {
    withGuest(parrot_class()) { boundObject in
      var handle: OpaquePointer?
      var count = 0
      let keys = [kvo_key_intern("length")!, kvo_key_intern("mood")!]
      let status = kvo_add_callback_for_keys(
        boundObject.header, keys, keys.count, [],
        { context, _, _, _ in context!.assumingMemoryBound(to: Int.self).pointee += 1 },
        &count, 0, nil, &handle, nil)
      expectEqual(status, .KVO_OK)
      expect(
        kvo_isa_marks(
          kvo_binding_marked_isa(boundObject.header), boundObject.header, moodAddress(boundObject)))
      expect(set(boundObject, 4))
      expectEqual(count, 1)
      kvo_handle_invalidate(handle!)
      kvo_handle_release(handle!)
    }
  }
}
