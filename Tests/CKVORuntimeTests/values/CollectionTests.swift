import CFixtures
import CKVORuntime
import Expectations
import Glibc
import TestSupport
import Testing

/// C's stored collections, which key-value coding accepts and returns (B7), and values that are collections of C or a
/// binding.
@Suite(.recording) struct CollectionTests {
  @Test(
    "B7: an array keeps order and repeats, a set and an ordered set keep the first of equal ones")
  func kinds() {
    let values: [Value] = [.int(3), .int(1), .double(3), .string("a"), .nil, .string("a"), .nil]
    let array = Many(.KVO_ARRAY, values)
    expect(array.text == "[3, 1, 3.0, a, nil, a, nil]" && array.count == 7)
    expectEqual(Many(.KVO_SET, values).text, "{1, 3, a, nil}")
    let ordered = Many(.KVO_ORDERED_SET, values)
    expect(ordered.text == "<3, 1, a, nil>" && ordered.kind == .KVO_ORDERED_SET)
    expect(ordered.index(of: .nil) == 3 && ordered.index(of: .double(1)) == 1)
    expect(array.index(of: .string("a")) == 3 && array.index(of: .int(4)) == nil)
    expect(!array.contains(.string("b")) && array.contains(.bool(true)))
    expectEqual(Many(.KVO_SET, []).text, "{}")
  }

  @Test("H6: an index out of range is an error and gives nil")
  func bounds() {
    let many = Many(ints: 0..<3)
    expect(many[2] == "2" && many.last == "2")
    for index in [3, notFound] {
      expect(many[index].hasPrefix("KVO_INDEX_OUT_OF_BOUNDS KVOCollection."))
    }
    expect(Many(ints: 0..<0).last.hasPrefix("KVO_INDEX_OUT_OF_BOUNDS"))
  }

  @Test("B7: a set finds every equal value, whatever its type, with few and many members")
  func equalValuesAreFound() {
    let same: [[Value]] = [
      [.int(1), .bool(true), .double(1)], [.int(0), .bool(false), .double(-0.0)],
      [.int(-7), .double(-7)], [.double(0.5)], [.double(1e300)], [.double(1e19)],
      [.int(.max)], [.string("")], [.string("long enough to be hashed")],
      [.point(1, 2)], [.point(0, -0.0), .point(-0.0, 0)], [.nil],
    ]
    for others in [0, 40] {
      for (group, values) in same.enumerated() {
        let strangers = (0..<others).map { Value.int(Int64($0 + 1000)) }
        for value in values {
          let set = Many(.KVO_SET, strangers + [value] + strangers)
          expectEqual(set.count, others + 1)
          for (other, candidates) in same.enumerated() {
            for candidate in candidates {
              expectEqual(set.contains(candidate), (group == other), "\(value) \(candidate)")
            }
          }
        }
      }
    }
  }

  @Test("B7: NaN is in a set once, whatever its type and bits", arguments: [2, 20])
  func notANumber(_ count: Int) {
    let values = (0..<count).map { Value.double($0 % 2 == 0 ? .nan : -.nan) }
    for kind in [kvo_collection_kind.KVO_SET, .KVO_ORDERED_SET] {
      let strangers = (2...count).map { Value.int(Int64($0)) }
      let set = Many(kind, strangers + values + [.int(1)])
      expect(set.count == count + 1 && set.contains(.double(.nan)) && !set.contains(.int(0)))
      expect(equal(set, Many(kind, strangers + [.double(.nan), .double(1)])))
    }
    expect(equal(Many([.point(.nan, 1)]), Many([.point(.nan, 1)])))
    expect(!equal(Many([.point(.nan, 1)]), Many([.point(.nan, 2)])))
    expect(!equal(Many([.double(.nan)]), Many([.double(0)])))
  }

  @Test("B7: collections are compared by contents, sets without order")
  func contents() {
    let kinds: [kvo_collection_kind] = [.KVO_ARRAY, .KVO_SET, .KVO_ORDERED_SET]
    for kind in kinds {
      let numbers = Many(kind, ints: 0..<20)
      let reversed = Many(kind, ints: (0..<20).reversed())
      expect(equal(numbers, Many(kind, (0..<20).map { Value.double(Double($0)) })))
      expectEqual(equal(numbers, reversed), (kind == .KVO_SET))
      expect(
        !equal(numbers, Many(kind, ints: 0..<19)) && !equal(numbers, Many(kind, ints: 1..<21)))
      for other in kinds where other != kind {
        expect(!equal(numbers, Many(other, ints: 0..<20)))
      }
    }
  }

  @Test("B7: a set of collections holds equal ones once")
  func nested() {
    let inner = (0..<30).map { Many(.KVO_SET, ints: [$0 % 10, 100]) }
    withExtendedLifetime(inner) {
      withCollection(.KVO_SET, of: inner.map(\.object)) {
        expectEqual(kvo_collection_count($0), 10)
      }
    }
    let boxes = (0..<12).map { Many(.KVO_ARRAY, ints: [$0 / 2]) }
    withExtendedLifetime(boxes) {
      withCollection(.KVO_ORDERED_SET, of: boxes.map(\.object)) {
        expectEqual(kvo_collection_count($0), 6)
      }
    }
  }

  @Test("B7: objects are equal by identity, and are retained by a collection")
  func objects() {
    let deaths = Deaths()
    var marks: [UnsafeMutablePointer<tracked>] = (0..<12).map { deaths.make(mark: $0) }
    var set: Many? = withCollection(.KVO_SET, of: (marks + marks).map(\.object)) { borrowed in
      kvo_object_retain(CObject(borrowed))
      return Many(taking: borrowed)
    }
    expectEqual(set?.count, 12)
    marks.removeLast().release()
    expectEqual(set?.text.contains("#11"), true)
    releaseAll(marks)
    expectEqual(deaths.count, 0)
    set = nil
    expectEqual(deaths.count, 12)
  }

  @Test("B7: a collection is described by its elements")
  func description() {
    let values: [Value] = [.int(1), .string("a"), .nil]
    expectEqual(Many(.KVO_ARRAY, values).description, "[1, \"a\", nil]")
    expectEqual(Many(.KVO_SET, values).description, "{1, \"a\", nil}")
    expectEqual(Many(.KVO_ORDERED_SET, values).description, "(1, \"a\", nil)")
    let many = Many(ints: 0..<10)
    var buffer = [CChar](repeating: 1, count: 8)
    expectEqual(many.lend { kvo_object_describe(CObject($0), &buffer, 8) }, 30)
    expectEqual(String(decoding: buffer.map(UInt8.init(bitPattern:)), as: UTF8.self), "[0, 1, \0")
  }

  @Test("B7: a snapshot of a stored collection is that collection")
  func snapshot() {
    let many = Many(ints: 0..<3)
    withExtendedLifetime(many) { expectEqual(many.snapshot?.object, many.object) }
  }

  @Test("B7: values that are not collections have no elements")
  func otherValues() {
    for value in [Value.nil, .int(1), .string("a")] {
      value.withValue { value in
        var element = kvo_value()
        expect(!kvo_value_is_collection(value!, nil) && kvo_value_count(value!) == 0)
        expect(kvo_collection_of_value(value!) == nil)
        expectEqual(kvo_value_element(value!, 0, &element), .KVO_TYPE_MISMATCH)
      }
    }
  }

  @Test("B7: a binding's collection is read by its operations, and equals one of the runtime's")
  func bindingCollections() {
    var value = kvo_value()
    var element = kvo_value()
    var kind = kvo_collection_kind.KVO_SET
    withNumbers([4, 84, 2]) { expectEqual(kvo_value_for_key($0, "numbers", &value, nil), .KVO_OK) }
    defer { kvo_value_destroy(&value) }
    expect(kvo_value_is_collection(&value, &kind) && kind == .KVO_ARRAY)
    expect(text(&value) == "[4, 84, 2]" && kvo_value_count(&value) == 3)
    expectEqual(kvo_value_element(&value, 3, &element), .KVO_INDEX_OUT_OF_BOUNDS)
    expect(kvo_value_is_nil(&element))
    let many = Many(ints: [4, 84, 2])
    var same = many.lend { kvo_value_object(CObject($0)) }
    defer { kvo_value_destroy(&same) }
    expect(kvo_value_equal(&value, &same) && kvo_value_equal(&same, &value))
  }

  @Test("B7: a binding's values are found by hash, by number, or by comparing all")
  func bindingElements() {
    for sort in [token_sort.TOKEN_BARE, .TOKEN_HASHED, .TOKEN_NUMBER] {
      let set = Many(.KVO_SET, elements: (0..<100).map { token(sort, $0 % 50) })
      expectEqual(set.count, 50)
      for other in [token_sort.TOKEN_BARE, .TOKEN_HASHED, .TOKEN_NUMBER] {
        for (number, expected) in [(Int64(49), sort == other), (50, false)] {
          var value = token(other, number)
          expectEqual(set.lend { kvo_collection_contains($0, &value) }, expected)
        }
      }
      expectEqual(set.contains(.double(7)), (sort == .TOKEN_NUMBER))
    }
    let mixed = Many(.KVO_SET, elements: (0..<20).map(kvo_value_int) + [token(.TOKEN_BARE, 3)])
    expect(mixed.count == 21 && mixed.contains(.int(19)) && !mixed.contains(.int(20)))
  }

  private func token(_ sort: token_sort, _ number: Int64) -> kvo_value {
    var number = number
    var value = kvo_value()
    kvo_value_init(&value, token_type(sort), &number)
    return value
  }

  @Test(
    "B7: collections nested without end are compared, hashed, described, read and set on a small stack",
    arguments: [10, 100_000])
  func nested(_ depth: Int) {
    let isDeep = depth > 100
    var found: [Bool] = []
    var count = 0
    var outcomes: [Outcome] = []
    onSmallStack {
      let all = (0..<10).map { _ in nestedArray(depth) }
      found = [equal(all[0], all[0]), equal(all[0], all[1]), described(all[0]).contains("…")]
      count = Many(.KVO_SET, elements: all.map { borrowed($0) }).count
      var value = kvo_value()
      outcomes = [
        attempt { kvo_value_for_key(all[0].object, "mark", &value, $0) },
        attempt { kvo_set_value_for_key(all[0].object, "mark", &value, $0) },
      ]
      kvo_value_destroy(&value)
    }
    expectEqual(found, [true, !isDeep, isDeep])
    expectEqual(count, isDeep ? 10 : 1)
    for outcome in outcomes {
      expectEqual(outcome.status, isDeep ? .KVO_INVALID_KEY_PATH : .KVO_OK)
      expectEqual(outcome.message.contains("nested more than 100 deep"), isDeep)
    }
  }

  @Test(
    "C9: a collection can't be observed, stored or proxy; the error says what to observe instead")
  func notObservable() {
    let object = makeShelf(.mutableArray, [1])
    defer { object.release() }
    let proxies = [Many(object.object, "items")!, Many(mutable: object.object)]
    for many in [Many(ints: 0..<3)] + proxies {
      let outcome = observeCount(of: many)
      expectEqual(outcome.status, .KVO_NOT_OBSERVABLE)
      many.lend { expectEqual(kvo_isa(CObject($0)), kvo_class_of(CObject($0))) }
      expect(outcome.message.contains("observe"))
    }
    let outcome = observeCount(of: proxies[0])
    expect(outcome.message.contains("items") && outcome.message.contains("CShelf"))
  }

  private func observeCount(of many: Many) -> Outcome {
    many.lend { many in
      attempt {
        kvo_add_callback(CObject(many), "count", [], { _, _, _, _ in }, nil, nil, nil, $0)
      }
    }
  }

  @Test("C9: the classes of collections share one superclass")
  func classes() {
    for many in [Many(ints: 0..<1), Many(.KVO_SET, ints: 0..<1)] {
      many.lend {
        expect(kvo_class_is_subclass_of(kvo_class_of(CObject($0)), kvo_collection_class()))
      }
    }
    expect(!kvo_class_is_subclass_of(tracked_class(), kvo_collection_class()))
  }
}

private func equal(_ a: Many, _ b: Many) -> Bool {
  var left = kvo_value_object(a.object)
  var right = kvo_value_object(b.object)
  defer {
    kvo_value_destroy(&left)
    kvo_value_destroy(&right)
  }
  return kvo_value_equal(&left, &right)
}

private func nestedArray(_ depth: Int) -> Many {
  var inner = Many([])
  for _ in 0..<depth {
    inner = inner.lend { collection in
      var value = kvo_value_object(CObject(collection))
      defer { kvo_value_destroy(&value) }
      return Many(taking: kvo_collection_create(.KVO_ARRAY, &value, 1, nil)!)
    }
  }
  return inner
}

/// A value that needs no destruction and is valid while the array exists.
private func borrowed(_ array: Many) -> kvo_value {
  var value = kvo_value_object(array.object)
  let copy = value
  kvo_value_destroy(&value)
  return copy
}

private func described(_ many: Many) -> String {
  var text = [CChar](repeating: 0, count: 1024)
  _ = many.lend { kvo_object_describe(CObject($0), &text, text.count) }
  return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Runs `body` on a thread with a stack of 512 KB, the smallest default of any system.
private func onSmallStack(_ body: () -> Void) {
  withoutActuallyEscaping(body) { body in
    var attributes = pthread_attr_t()
    var thread = pthread_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, 512 << 10)
    let context = Unmanaged.passRetained(Body(body))
    let status = pthread_create(
      &thread, &attributes,
      { context in
        Unmanaged<Body>.fromOpaque(context!).takeUnretainedValue().run()
        return nil
      }, context.toOpaque())
    precondition(status == 0)
    pthread_join(thread, nil)
    pthread_attr_destroy(&attributes)
    context.release()
  }
}

private final class Body {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}
