import CFixtures
import CKVORuntime
import Expectations
import Glibc
import TestSupport
import Testing

/// Manual changes around a body, as a binding makes them. Each test runs in a process of its own, which installs the
/// binding of the offset objects.
@Suite struct ScopedChangeTests {
  private static let ways = [false, true]

  @Test("D6 D5: a bracket notifies of its change; changes in its body notify on their own")
  func nested() async {
    await #expect(processExitsWith: .success) {
      for long in ScopedChangeTests.ways {
        let house = House(long: long)
        house.log.observe(house.header, "rent", [.KVO_OLD, .KVO_NEW])
        house.bracket("rent") {
          offset_object_set_rent(house.offsetObject, 1)
          kvo_will_change(house.header, "rent")
          house.offsetObject.pointee.rent = 2
          kvo_did_change(house.header, "rent")
          house.bracket("rent") { house.offsetObject.pointee.rent = 3 }
        }
        expectEqual(
          house.log.take(),
          [
            "a: rent old 0.0 new 1.0", "a: rent old 1.0 new 2.0", "a: rent old 2.0 new 3.0",
            "a: rent old 0.0 new 3.0",
          ])
      }
    }
  }

  @Test("E1: a binding's set of a manual key notifies no observer")
  func setsByHand() async {
    await #expect(processExitsWith: .success) {
      for options in [kvo_options(), .KVO_NEW] {
        let house = House(long: false)
        house.log.observe(house.header, "savings", options)
        offset_object_set_savings(house.offsetObject, 3)
        expectEqual(house.log.take(), [])
      }
    }
  }

  @Test("D6: a bracket inside an automatic change of the key joins it")
  func joins() async {
    await #expect(processExitsWith: .success) {
      for long in ScopedChangeTests.ways {
        let house = House(long: long)
        house.log.observe(house.header, "rent", [.KVO_OLD, .KVO_NEW])
        let frame = kvo_stored_property_will_change(house.header, house.rent)!
        house.bracket("rent") { house.offsetObject.pointee.rent = 3 }
        kvo_stored_property_did_change(frame)
        expectEqual(house.log.take(), ["a: rent old 0.0 new 3.0"])
      }
    }
  }

  @Test("D5: old is delivered also where observers were added while the body ran")
  func leavesFastPath() async {
    await #expect(processExitsWith: .success) {
      for long in ScopedChangeTests.ways {
        let house = House(long: long)
        house.log.observe(house.header, "rent", [.KVO_OLD, .KVO_NEW])
        house.bracket("rent") {
          house.offsetObject.pointee.rent = 3
          house.log.observe(house.header, "rent", .KVO_NEW, as: "late")
        }
        expectEqual(house.log.take(), ["a: rent old 0.0 new 3.0"])
      }
    }
  }

  @Test("E1: a bracket of a manual key notifies, also observers added in its body")
  func manual() async {
    await #expect(processExitsWith: .success) {
      for long in ScopedChangeTests.ways {
        let house = House(long: long)
        let shared = Shared(house)
        house.bracket("savings") {
          onThreads(1) { _ in
            shared.value.log.observe(shared.value.header, "savings", .KVO_NEW, as: "late")
          }
          house.offsetObject.pointee.savings = 3
        }
        expectEqual(house.log.take(), ["late: savings new 3.0"])
        house.bracket("savings") { house.offsetObject.pointee.savings = 4 }
        expectEqual(house.log.take(), ["late: savings new 4.0"])
      }
    }
  }

  @Test("J1: the dump shows an open bracket with its thread, and no closed one")
  func dumped() async {
    await #expect(processExitsWith: .success) {
      for long in ScopedChangeTests.ways {
        let house = House(long: long)
        house.log.observe(house.header, "rent")
        house.bracket("rent") {
          let line = house.dump.split(separator: "\n").first { $0.contains("open") }
          expect(line?.contains("\"rent\"") == true && line?.contains("thread") == true)
        }
        expect(!house.dump.contains("open"))
      }
    }
  }

  @Test("E3: a bracket does not announce what a class announces in its own way")
  func ownWay() async {
    await #expect(processExitsWith: .success) {
      for long in ScopedChangeTests.ways {
        let house = House(House.subclass(hasOwnBrackets: true), long: long)
        house.log.observe(house.header, "rent")
        expect(kvo_scoped_change_begin(house.header, kvo_key_intern("rent")!, 0) == nil)
        expect(kvo_scoped_change_begin_named(house.header, "rent") == nil)
        expectEqual(house.log.take(), [])
      }
    }
  }

  @Test("C12: a key known in a superclass does not hide a subclass's storage of that key")
  func storedAnew() async {
    await #expect(processExitsWith: .success) {
      for long in ScopedChangeTests.ways {
        let house = House(House.subclass(hasOwnBrackets: false), long: long)
        let id = kvo_binding_key_id(offset_object_class(), kvo_key_intern("rent")!)
        expect(id != kvo_binding_key_id(house.cls, kvo_key_intern("rent")!))
        house.log.observe(house.header, "rent", [.KVO_OLD, .KVO_NEW])
        house.bracket("rent", id) { house.offsetObject.pointee.room = 3 }
        house.bracket("rent") { house.offsetObject.pointee.room = 4 }
        expectEqual(house.log.take(), ["a: rent old 0.0 new 3.0", "a: rent old 3.0 new 4.0"])
      }
    }
  }

  @Test(
    "E5: a class that announces changes is called at each, in a batch too"
  )
  func announced() async {
    await #expect(processExitsWith: .success) {
      for long in [false, true] {
        let house = House(House.subclass(hasOwnBrackets: true), long: long)
        offset_object_set_silent(false)
        offset_object_set_room(house.offsetObject, 1)
        expectEqual(offset_object_take_announcements(), 0)
        house.log.observe(house.header, "rent", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
        offset_object_set_room(house.offsetObject, 2)
        expectEqual(
          house.log.take(), ["a: prior rent old 1.0", "a: rent old 1.0 new 2.0"])
        expectEqual(offset_object_take_announcements(), 2)
        let batch = kvo_batch_begin(house.header)!
        offset_object_set_room(house.offsetObject, 3)
        offset_object_set_room(house.offsetObject, 4)
        expectEqual(offset_object_take_announcements(), 4)
        expectEqual(house.log.take(), ["a: prior rent old 2.0"])
        kvo_batch_end(batch)
        expectEqual(house.log.take(), ["a: rent old 2.0 new 4.0"])
        offset_object_set_silent(true)
        offset_object_set_room(house.offsetObject, 5)
        expectEqual(offset_object_take_announcements(), 2)
        expectEqual(house.log.take(), [])
        expectEqual(house.offsetObject.pointee.room, 5)
      }
    }
  }

  @Test(
    "E5 D7: the elements of an announced change are freed with it, if the object dies first"
  )
  func announcedToTheDead() async {
    await #expect(processExitsWith: .success) {
      let house = House(House.subclass(hasOwnBrackets: true), long: false)
      house.log.observe(house.header, "rent", .KVO_NEW)
      let deaths = Deaths()
      let member = deaths.make()
      var value = kvo_value_object(member.object)
      let frame = withUnsafePointer(to: &value) { comes in
        var part = kvo_part()
        part.kind = .KVO_INSERTION
        part.comes = comes
        return kvo_stored_property_will_change_part(house.header, kvo_key_intern("rent")!, &part)!
      }
      expectEqual(offset_object_take_announcements(), 1)
      kvo_value_destroy(&value)
      member.release()
      expectEqual(deaths.count, 0)
      kvo_object_will_die(house.header)
      kvo_stored_property_did_change(frame)
      expectEqual(offset_object_take_announcements(), 0)
      expectEqual(deaths.count, 1)
    }
  }

  @Test(
    "D7 E5: a method that sets the key it announces is stopped, naming class and key",
    arguments: ways)
  func announcedEndless(_ isBeforeSuper: Bool) async throws {
    await #expect(processExitsWith: .success) { [isBeforeSuper] in
      kvo_set_depth_limit(100)
      let house = House(House.subclass(hasOwnBrackets: true), long: false)
      house.log.observe(house.header, "rent", .KVO_NEW)
      expectEqual(offset_object_raise_room(house.offsetObject, 95, isBeforeSuper), 95)
      expectEqual(house.log.take().count, 95)
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [isBeforeSuper] in
      kvo_set_depth_limit(100)
      let house = House(House.subclass(hasOwnBrackets: true), long: false)
      house.log.observe(house.header, "rent", .KVO_NEW)
      _ = offset_object_raise_room(house.offsetObject, 130, isBeforeSuper)
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(
      errors.contains("nested changes are being delivered: didChangeValue for \"rent\""))
    expect(errors.contains(" of CSublodger1 sets what it announces, again and again"))
  }

  @Test("C8: a bracket of a non-key, or of an unobserved key, notifies no observer")
  func untold() async {
    await #expect(processExitsWith: .success) {
      let house = House(long: false)
      house.log.observe(house.header, "rent")
      for key in ["savings", "nonsense", ""] { house.bracket(key) {} }
      expectEqual(kvo_binding_key_id(offset_object_class(), kvo_key_intern("nonsense")!), 0)
      expectEqual(house.log.take(), [])
    }
  }
}

/// An offset object, with a recorder of its observers.
private final class House {
  nonisolated(unsafe) static let plain: CClass = {
    offset_object_install()
    return offset_object_class()
  }()

  static func subclass(hasOwnBrackets: Bool) -> CClass {
    _ = plain
    return offset_object_subclass(hasOwnBrackets)
  }

  let offsetObject = UnsafeMutablePointer<CFixtures.offset_object>.allocate(capacity: 1)
  let log = Recorder()
  let cls: CClass

  init(_ cls: CClass? = nil, long: Bool) {
    kvo_set_fast_path_disabled(long)
    self.cls = cls ?? House.plain
    offsetObject.initialize(to: CFixtures.offset_object())
    offsetObject.pointee.cls = cls
  }

  deinit {
    log.end()
    kvo_object_will_die(header)
    offsetObject.deallocate()
  }

  var header: CObject { offsetObject.header }
  var dump: String {
    guard let text = kvo_copy_debug_dump(header) else { return "" }
    defer { free(text) }
    return String(cString: text)
  }
  var rent: UnsafeRawPointer {
    UnsafeRawPointer(offsetObject) + MemoryLayout<CFixtures.offset_object>.offset(of: \.rent)!
  }

  /// - Parameter id: the key's probable id; nil for a bracket by name.
  func bracket(_ key: String, _ id: UInt? = nil, _ body: () -> Void) {
    let frame =
      id.map { kvo_scoped_change_begin(header, kvo_key_intern(key)!, $0) }
      ?? kvo_scoped_change_begin_named(header, key)
    body()
    if let frame {
      kvo_scoped_change_end(frame)
    } else if kvo_binding_came_to_be_observed(header) {
      kvo_scoped_change_notify_late_observers(header, key)
    }
  }
}
