import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B9, H6, D9: changes by a mutable proxy that are impossible, or are interrupted.
@Suite(.recording) struct MutableErrorTests {
  @Test(
    "H6: an index out of range is an error; nothing is changed, called or delivered",
    arguments: MutableTests.everyWay
  )
  func bounds(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7, 8])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    let proxy = Many(mutable: object.object)
    let log = Mutations(of: object.object, "items", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
    let failures = [
      proxy.insert(.int(1), at: 3), proxy.insert(ints(1, 2), at: 2..<3, 4..<5),
      proxy.insert(ints(1, 2), at: 0..<1, 4..<5), proxy.remove(at: 2), proxy.remove(at: 0..<3),
      proxy.replace(at: 2, with: .int(1)), proxy.replace(at: 1..<3, with: ints(1, 2)),
    ]
    for outcome in failures {
      expectEqual(brief(outcome), "KVO_INDEX_OUT_OF_BOUNDS \(className(object)).items")
    }
    for outcome in [proxy.insert(.int(1), at: notFound), proxy.remove(at: notFound)] {
      expectEqual(brief(outcome), "KVO_INDEX_OUT_OF_BOUNDS \(className(object)).items")
    }
    let mismatched = [proxy.insert(ints(1), at: 0..<2), proxy.replace(at: 0..<1, with: ints(1, 2))]
    for outcome in mismatched {
      expectEqual(brief(outcome), "KVO_INVALID_ARGUMENT \(className(object)).items")
    }
    for outcome in [proxy.insert([], at: 0..<0), proxy.remove(at: 9..<9)] {
      expectEqual(outcome.status, .KVO_OK)
    }
    expect(log.take() == [] && proxy.text == "[7, 8]")
    log.end()
  }

  @Test("B9: elements are converted to the accessor's type; what can't be converted is an error")
  func conversion() {
    for methods in [shelf_methods.singles, .batches, [.singles, .SHELF_REPLACE]] {
      let object = makeShelf([.array, methods], [7])
      let proxy = Many(mutable: object.object)
      let log = Mutations(of: object.object, "items", [.KVO_NEW, .KVO_PRIOR])
      expectEqual(proxy.append(.double(2)).status, .KVO_OK)
      expectEqual(log.take(), ["prior insertion 1..<2", "insertion 1..<2 new [2]"])
      for value in [Value.string("x"), .nil, .point(1, 2)] {
        for outcome in [
          proxy.append(value), proxy.insert([.int(1), value], at: 0..<2),
          proxy.replace(at: 0, with: value), proxy.set([.int(1), value]),
        ] {
          expectEqual(brief(outcome), "KVO_TYPE_MISMATCH \(className(object)).items")
        }
      }
      expect(object.items == [7, 2] && log.take() == [])
      log.end()
      object.release()
    }
  }

  @Test("B9: a key that can't be mutated is an error at the first mutation, and unchanged")
  func immutable() {
    let readOnly = makeShelf(.array, [7])
    let getter = makeShelf(.SHELF_GETTER)
    let wrong = makeShelf(.SHELF_IVAR)
    getter.store(Many(ints: [7]))
    wrong.store(Many(.KVO_SET, ints: [7]))
    for (object, status) in [
      (readOnly, "KVO_READ_ONLY"), (getter, "KVO_READ_ONLY"), (wrong, "KVO_TYPE_MISMATCH"),
    ] {
      let proxy = Many(mutable: object.object)
      let log = Mutations(of: object.object, "items", .KVO_PRIOR)
      for outcome in [proxy.append(.int(1)), proxy.remove(at: 0), proxy.set(ints(1))] {
        expectEqual(brief(outcome), "\(status) \(className(object)).items")
      }
      expect(proxy.text == "[7]" && log.take() == [])
      log.end()
      object.release()
    }
    let stored = Many(ints: [7])
    expect(stored.append(.int(8)).status == .KVO_READ_ONLY && stored.text == "[7]")
  }

  @Test("B9: a key that holds no collection can't be changed as one")
  func noCollection() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    let other = make(tracked.self)
    tracked_setMark(other, 3)
    kvo_store_retained_object(&object.pointee.value, other)
    let proxy = Many(mutable: object.object)
    expectEqual(brief(proxy.append(.int(1))), "KVO_TYPE_MISMATCH \(className(object)).items")
    expect(object.value == "#3" && proxy.count == 0)
    other.release()
    let number = make(plain.self)
    defer { number.release() }
    let secret = Many(mutable: number.object, "secret")
    expectEqual(brief(secret.append(.int(1))), "KVO_TYPE_MISMATCH CPlain.secret")
    expectEqual(number.pointee.secret, 0)
  }

  @Test(
    "B9: a collection of another kind can be read, but no operation changes it")
  func otherKind() {
    let kinds: [kvo_collection_kind] = [.KVO_ARRAY, .KVO_SET, .KVO_ORDERED_SET]
    let ways: [shelf_methods] = [.SHELF_IVAR, [.SHELF_GETTER, .SHELF_SETTER], .array]
    for (held, asked) in kinds.flatMap({ held in kinds.map { (held, $0) } }) where held != asked {
      for methods in ways where methods != .array || held == .KVO_ARRAY {
        let object = makeShelf(methods, [7])
        defer { object.release() }
        object.store(Many(held, ints: [7]))
        let proxy = Many(mutable: object.object, as: asked)
        let log = Mutations(of: object.object, "items", .KVO_PRIOR)
        for outcome in [
          proxy.add(.int(1)), proxy.union(ints(1, 7)), proxy.remove(.int(7)), proxy.minus(ints(7)),
          proxy.intersect(ints(1)), proxy.set(ints(1)),
        ] {
          expectEqual(
            brief(outcome), "KVO_TYPE_MISMATCH \(className(object)).items",
            "\(held) as \(asked)")
        }
        expect(proxy.count == 1 && proxy.contains(.int(7)) && log.take() == [])
        log.end()
      }
    }
  }

  @Test(
    "H6: where accessors and setter disagree, the bounds are those of the collection that is set")
  func disagreement() {
    let object = makeShelf([.array, .SHELF_GETTER, .SHELF_SETTER], [7, 8, 9])
    defer { object.release() }
    object.store(Many(ints: [7]))
    let proxy = Many(mutable: object.object)
    let log = Mutations(of: object.object, "items", .KVO_PRIOR)
    expectEqual(brief(proxy.remove(at: 2)), "KVO_INDEX_OUT_OF_BOUNDS \(className(object)).items")
    expect(object.value == "[7]" && log.take() == [])
    log.end()
  }

  @Test(
    "D9: an exception passes through a proxy; its change is closed",
    arguments: MutableTests.everyWay)
  func exceptions(_ methods: shelf_methods) {
    let object = makeShelf(methods)
    defer { object.release() }
    object.store(Many(ints: []))
    let proxy = Many(mutable: object.object)
    for (prior, final) in [(Int32(4), Int32(0)), (0, 5)] {
      var trap = trap(prior: prior, final: final, calls: 0, ends: 0, first: nil, first_context: nil)
      var value = kvo_value_int(1)
      var handle: OpaquePointer?
      kvo_add_callback(object.object, "items", .KVO_PRIOR, trap_callback, &trap, nil, &handle, nil)
      expectEqual(proxy.lend { thrown_by_append($0, &value) }, max(prior, final))
      kvo_handle_release(handle)
      let log = Mutations(of: object.object)
      proxy.append(.int(2))
      expectEqual(log.take().map { $0.hasPrefix("insertion") }, [true])
      log.end()
    }
    expectEqual(proxy.text, "[2, 1, 2]")
  }

  @Test("B9: a proxy of an unknown key is refused")
  func unknownKey() {
    let object = makeShelf(.mutableArray)
    defer { object.release() }
    var proxy: OpaquePointer?
    for kind in [kvo_collection_kind.KVO_ARRAY, .KVO_SET, .KVO_ORDERED_SET] {
      let outcome = Many.makeProxy(object.object, "nothing", kind, &proxy)
      expectEqual(brief(outcome), "KVO_UNDEFINED_KEY \(className(object)).nothing")
      expect(proxy == nil)
    }
    let outcome = Many(ints: [1]).lend { Many.makeProxy(CObject($0), "count", .KVO_ARRAY, &proxy) }
    expectEqual(outcome.status, .KVO_UNDEFINED_KEY)
  }

}
