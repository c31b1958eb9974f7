import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Key-value coding from C on objects and values that a language binding owns.
@Suite(.recording) struct BindingCodingTests {
  @Test("B5: a path goes through a binding's objects by the properties that the binding describes")
  func reading() {
    let crew = Crew()
    let ada = crew.make("Ada", age: 36)
    withGuest { boundObject in
      boundObject.pointee.length = 2.5
      boundObject.pointee.partner = ada.object
      let paths = [
        "length": "2", "title": "guest", "wish": "42", "partner.age": "36",
        "partner.name": "Ada", "partner.boss.name": "nil",
        "length.x": "KVO_INVALID_KEY_PATH CGuest.length.x",
        "nothing": "KVO_UNDEFINED_KEY CGuest.nothing",
        "partner.nothing": "KVO_UNDEFINED_KEY CWorker.nothing",
      ]
      for (path, value) in paths {
        expectEqual(readPath(boundObject.header, path), value, "\(path)")
      }
      boundObject.pointee.partner = nil
      expectEqual(readPath(boundObject.header, "partner.name"), "nil")
    }
    crew.end()
  }

  @Test(
    "B2: a binding's key is set in its storage, converted by the binding; the old value is freed")
  func setting() {
    let crew = Crew()
    let (ada, bob) = (crew.make("Ada"), crew.make("Bob"))
    withGuest { boundObject in
      expectEqual(setPath(boundObject.header, "length", .int(3)).status, .KVO_OK)
      expectEqual(boundObject.pointee.length, 3)
      for worker in [ada, bob] {
        var value = kvo_value_object(worker.object)
        expectEqual(kvo_set_value_for_key(boundObject.header, "partner", &value, nil), .KVO_OK)
        kvo_value_destroy(&value)
      }
      expectEqual(boundObject.pointee.partner, bob.object)
      expectEqual(setPath(boundObject.header, "partner.age", .int(9)).status, .KVO_OK)
      expectEqual(bob.pointee.age, 9)
      expectEqual(setPath(boundObject.header, "partner", .nil).status, .KVO_OK)
      expect(boundObject.pointee.partner == nil)
    }
    crew.end()
  }

  @Test("B2: a value that a binding's key can't take is an error and stores nothing")
  func refusals() {
    withGuest { boundObject in
      boundObject.pointee.length = 1
      let outcomes = [
        (setPath(boundObject.header, "length", .nil), "KVO_NIL_VALUE CGuest.length"),
        (setPath(boundObject.header, "length", .string("x")), "KVO_TYPE_MISMATCH CGuest.length"),
        (setPath(boundObject.header, "partner", .int(1)), "KVO_TYPE_MISMATCH CGuest.partner"),
        (setPath(boundObject.header, "numbers", .int(1)), "KVO_TYPE_MISMATCH CGuest.numbers"),
        (setPath(boundObject.header, "numbers", .nil), "KVO_NIL_VALUE CGuest.numbers"),
        (setPath(boundObject.header, "title", .string("x")), "KVO_READ_ONLY CGuest.title"),
        (setPath(boundObject.header, "wish", .int(1)), "KVO_UNDEFINED_KEY CGuest.wish"),
      ]
      for (outcome, expected) in outcomes { expectEqual(brief(outcome), expected) }
      expectEqual(boundObject.pointee.length, 1)
      expectEqual(boundObject.pointee.numbers.count, 0)
    }
  }

  @Test("B5: a binding's own hooks for reading and setting are called for every key")
  func hooks() {
    withGuest(parrot_class()) { parrot in
      expectEqual(readPath(parrot.header, "length"), "length")
      expectEqual(readPath(parrot.header, "anything"), "anything")
      expectEqual(setPath(parrot.header, "length", .int(100)).status, .KVO_OK)
      expectEqual(set(parrot.header, "anything", .int(100)).status, .KVO_OK)
      expectEqual(parrot.pointee.length, 2)
    }
  }

  @Test("B7: a binding's collection answers keys, key paths and operators, and accepts C's")
  func collections() {
    let crew = Crew()
    let ada = crew.make("Ada")
    withGuest { boundObject in
      withCollection(.KVO_ARRAY, [.int(4), .int(84), .int(2)]) { collection in
        var value = kvo_value_object(CObject(collection))
        expectEqual(kvo_set_value_for_key(boundObject.header, "numbers", &value, nil), .KVO_OK)
        kvo_value_destroy(&value)
      }
      expectEqual(readPath(boundObject.header, "numbers"), "[4, 84, 2]")
      expectEqual(readPath(boundObject.header, "numbers.@max.self"), "84")
      expectEqual(readPath(boundObject.header, "numbers.@sum.self"), "90")
      expectEqual(readPath(boundObject.header, "numbers.@count"), "3")
      expectEqual(readPath(boundObject.header, "digits"), "[4, 84, 2]")
      expectEqual(readPath(boundObject.header, "digits.@unionOfObjects.self"), "[4, 84, 2]")
      var numbers = kvo_value()
      expectEqual(kvo_value_for_key(boundObject.header, "numbers", &numbers, nil), .KVO_OK)
      expectEqual(kvo_set_value_for_key(ada.object, "staff", &numbers, nil), .KVO_OK)
      expectEqual(readPath(ada.object, "staff"), "[4, 84, 2]")
      var staff = kvo_value()
      expectEqual(kvo_value_for_key(ada.object, "staff", &staff, nil), .KVO_OK)
      expect(kvo_value_equal(&numbers, &staff) && kvo_value_equal(&staff, &numbers))
      kvo_value_destroy(&numbers)
      kvo_value_destroy(&staff)
      let five = [Value](repeating: .int(1), count: 5)
      let tooMany: kvo_status = withCollection(.KVO_ARRAY, five) { collection in
        var value = kvo_value_object(CObject(collection))
        defer { kvo_value_destroy(&value) }
        return kvo_set_value_for_key(boundObject.header, "numbers", &value, nil)
      }
      expectEqual(tooMany, .KVO_TYPE_MISMATCH)
      expectEqual(boundObject.pointee.numbers.count, 3)
    }
    crew.end()
  }

  @Test("B6: a binding's numbers and objects work in operators and conversions")
  func valuesOfBindings() {
    let crew = Crew()
    let ada = crew.make("Ada", age: 36)
    withGuest { boundObject in
      withGuest { other in
        boundObject.pointee.length = 2.5
        other.pointee.length = 4
        other.pointee.partner = ada.object
        ada.lead([boundObject.header, other.header])
        expectEqual(readPath(ada.object, "staff.@sum.length"), "6.5")
        expectEqual(readPath(ada.object, "staff.@avg.length"), "3.25")
        expectEqual(readPath(ada.object, "staff.@max.partner.age"), "36")
        expectEqual(readPath(ada.object, "staff.partner.name"), "[nil, Ada]")
        var longest = kvo_value()
        expectEqual(kvo_value_for_key_path(ada.object, "staff.@max.length", &longest, nil), .KVO_OK)
        expectEqual(kvo_value_get_double(&longest), 4)
        expectEqual(kvo_set_value_for_key(ada.object, "age", &longest, nil), .KVO_OK)
        expectEqual(ada.pointee.age, 4)
        other.pointee.partner = nil
        worker_setStaff(ada, nil)
      }
    }
    crew.end()
  }

  @Test("B6: values of a binding's type are compared by the binding")
  func comparedByBinding() {
    let crew = Crew()
    let ada = crew.make("Ada")
    withGuest { boundObject in
      withGuest { other in
        boundObject.pointee.mood = 9
        other.pointee.mood = 3
        ada.lead([boundObject.header, other.header])
        func mood(_ path: String) -> Int64? {
          var mood = kvo_value()
          defer { kvo_value_destroy(&mood) }
          expectEqual(kvo_value_for_key_path(ada.object, path, &mood, nil), .KVO_OK)
          return kvo_value_bytes(&mood)?.load(as: Int64.self)
        }
        expectEqual(mood("staff.@min.mood"), 9)
        expectEqual(mood("staff.@max.mood"), 3)
        for path in ["staff.@sum.mood", "staff.@max.numbers"] {
          expectEqual(readPath(ada.object, path), "KVO_TYPE_MISMATCH CWorker.\(path)")
        }
        expectEqual(
          brief(setPath(boundObject.header, "mood", .int(1))), "KVO_TYPE_MISMATCH CGuest.mood")
        worker_setStaff(ada, nil)
      }
    }
    crew.end()
  }

  @Test("B2: a binding's values equal the runtime's equal values, object or nil")
  func equality() {
    let crew = Crew()
    let ada = crew.make("Ada")
    withGuest { boundObject in
      boundObject.pointee.length = 2
      func equals(_ key: String, _ other: kvo_value) -> Bool {
        var other = other
        var value = kvo_value()
        expectEqual(kvo_value_for_key(boundObject.header, key, &value, nil), .KVO_OK)
        defer {
          kvo_value_destroy(&value)
          kvo_value_destroy(&other)
        }
        let equal = kvo_value_equal(&value, &other)
        expectEqual(kvo_value_equal(&other, &value), equal)
        return equal
      }
      expect(equals("length", kvo_value_int(2)))
      expect(!equals("length", kvo_value_double(2.5)))
      expect(!equals("length", kvo_value_string("2")))
      expect(equals("partner", kvo_value()))
      expect(!equals("partner", kvo_value_object(ada.object)))
      boundObject.pointee.partner = ada.object
      expect(equals("partner", kvo_value_object(ada.object)))
      expect(!equals("partner", kvo_value()))
      expect(!equals("numbers", kvo_value()))
      boundObject.pointee.partner = nil
    }
    crew.end()
  }

  @Test("B2: a binding's object and its nil can be set to a C property")
  func objectsOfBindings() {
    let crew = Crew()
    let (ada, bob) = (crew.make("Ada"), crew.make("Bob"))
    withGuest { boundObject in
      boundObject.pointee.partner = bob.object
      for expected in [Optional(bob), nil] {
        var partner = kvo_value()
        expectEqual(kvo_value_for_key(boundObject.header, "partner", &partner, nil), .KVO_OK)
        expectEqual(kvo_value_is_nil(&partner), (expected == nil))
        expectEqual(kvo_set_value_for_key(ada.object, "boss", &partner, nil), .KVO_OK)
        expectEqual(worker_boss(ada), expected)
        kvo_value_destroy(&partner)
        boundObject.pointee.partner = nil
      }
    }
    crew.end()
  }

  @Test("B10: a binding's object without a validator is valid")
  func validation() {
    withGuest { boundObject in
      expectEqual(validate(boundObject.header, "length", .string("x")), Validated("KVO_OK", "x"))
    }
  }
}

extension UnsafeMutablePointer<bound_object> {
  var header: CObject {
    CObject(
      OpaquePointer(
        UnsafeMutableRawPointer(self) + MemoryLayout<bound_object>.offset(of: \.header)!))
  }
}

/// A bound object. The test checks that no reference to it is left.
func withGuest(
  _ cls: CClass = bound_object_class(), _ body: (UnsafeMutablePointer<bound_object>) -> Void
) {
  let made = UnsafeMutablePointer<bound_object>.allocate(capacity: 1)
  defer { made.deallocate() }
  made.initialize(to: bound_object())
  made.pointee.header.isa = cls
  body(made)
  expectEqual(made.pointee.references, 0)
}
