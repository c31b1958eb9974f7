import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B1, B4, B8: reading keys for which a class has collection accessors.
@Suite(.recording) struct ProxyTests {
  @Test("B1: collection accessors make an ordered set, else an array, else a set")
  func kinds() {
    let cases: [(shelf_methods, String)] = [
      (.array, "[7, 8]"), ([.SHELF_COUNT, .SHELF_OBJECTS], "[7, 8]"),
      (.orderedSet, "<7, 8>"), ([.SHELF_COUNT, .SHELF_OBJECTS, .SHELF_INDEX], "<7, 8>"),
      (.set, "{7, 8}"), ([.set, .array], "[7, 8]"), ([.set, .orderedSet], "<7, 8>"),
      ([.set, .SHELF_INDEX], "{7, 8}"),
      (.SHELF_COUNT, "undefined"), ([.SHELF_OBJECT, .SHELF_INDEX], "undefined"),
      ([.SHELF_COUNT, .SHELF_INDEX], "undefined"), ([.SHELF_COUNT, .SHELF_MEMBER], "undefined"),
      ([.SHELF_COUNT, .SHELF_ENUMERATOR], "undefined"),
      ([.SHELF_COUNT, .SHELF_RANGE], "undefined"),
      ([.SHELF_ENUMERATOR, .SHELF_MEMBER], "undefined"),
    ]
    for (methods, expected) in cases {
      let object = makeShelf(methods, [7, 8])
      expect(Many(object.object, "items")?.text ?? "undefined" == expected, "\(methods)")
      object.release()
    }
  }

  @Test("B1: a getter comes before collection accessors, and these before an ivar")
  func precedence() {
    for (methods, expected) in [
      (shelf_methods.SHELF_GETTER, "[1]"), (.SHELF_IVAR, "[7, 8]"), ([], "[7, 8]"),
    ] {
      let object = makeShelf([.array, methods], [7, 8])
      object.store(Many(ints: [1]))
      expectEqual(Many(object.object, "items")?.text, expected)
      object.release()
    }
  }

  @Test("B8: the last element counts once and reads one element")
  func last() {
    let object = makeShelf([.array, .SHELF_OBJECTS, .SHELF_RANGE], [7, 8, 9])
    defer { object.release() }
    let proxy = Many(object.object, "items")!
    expectEqual(object.takeCalls(), "")
    expectEqual(proxy.last, "9")
    expectEqual(object.takeCalls(), "count object(2)")
    expect(proxy.count == 3 && object.takeCalls() == "count")
    object.fill([])
    expect(proxy.last.hasPrefix("KVO_INDEX_OUT_OF_BOUNDS CShelf"))
    expectEqual(object.takeCalls(), "count")
  }

  @Test("B8: elements are read in bulk where the class can, one by one where it can't")
  func bulk() {
    let cases: [(shelf_methods, String)] = [
      (.array, "count object(0) object(1) object(2)"),
      ([.array, .SHELF_RANGE], "count range(0,3)"),
      ([.array, .SHELF_OBJECTS], "count objects(3)"),
      ([.array, .SHELF_OBJECTS, .SHELF_RANGE], "count range(0,3)"),
      ([.SHELF_COUNT, .SHELF_OBJECTS], "count objects(3)"),
      ([.SHELF_COUNT, .SHELF_OBJECTS, .SHELF_RANGE], "count objects(3)"),
      (.set, "enumerator"),
    ]
    for (methods, calls) in cases {
      let object = makeShelf(methods, [7, 8, 9])
      let snapshot = Many(object.object, "items")?.snapshot
      expectEqual(object.takeCalls(), calls)
      object.fill([])
      expectEqual(snapshot?.text.dropFirst().dropLast(), "7, 8, 9")
      object.release()
    }
  }

  @Test("B8: a single element is read alone, also where the class only has the bulk accessor")
  func single() {
    for (methods, calls) in [
      (shelf_methods([.array, .SHELF_OBJECTS, .SHELF_RANGE]), "count object(1)"),
      ([.SHELF_COUNT, .SHELF_OBJECTS], "count objects(1)"), (.set, "enumerator"),
    ] {
      let object = makeShelf(methods, [7, 8, 9])
      expectEqual(Many(object.object, "items")?[1], "8")
      expectEqual(object.takeCalls(), calls)
      object.release()
    }
  }

  @Test("B8: the class's own member and index accessors are used, else elements are searched")
  func finding() {
    let cases: [(shelf_methods, String, String)] = [
      (.orderedSet, "index(8)", "index(8)"),
      (.set, "enumerator", "member(8)"),
      ([.orderedSet, .set], "index(8)", "member(8)"),
      ([.array, .SHELF_RANGE], "count range(0,3)", "count range(0,3)"),
    ]
    for (methods, index, member) in cases {
      let object = makeShelf(methods, [7, 8, 9])
      let proxy = Many(object.object, "items")!
      expect(proxy.index(of: .int(8)) == 1 && object.takeCalls() == index)
      expect(proxy.contains(.double(8)) && object.takeCalls() == member)
      expect(proxy.index(of: .int(6)) == nil && !proxy.contains(.int(6)))
      object.release()
    }
  }

  @Test("B8: a value that the accessor's type can't express is not found, without calling it")
  func inexpressible() {
    for methods in [shelf_methods.orderedSet, .set] {
      let object = makeShelf(methods, [1, 0])
      let proxy = Many(object.object, "items")!
      for value in [Value.double(1.5), .string("1"), .nil] { expect(!proxy.contains(value)) }
      expectEqual(object.takeCalls(), "")
      object.release()
    }
  }

  @Test("H6: an index out of range is an error that names class and key; no accessor is called")
  func bounds() {
    for methods in [shelf_methods.array, [.SHELF_COUNT, .SHELF_OBJECTS], .orderedSet, .set] {
      let object = makeShelf(methods, [7])
      let proxy = Many(object.object, "items")!
      for index in [1, 64, notFound] {
        expectEqual(
          proxy[index], "KVO_INDEX_OUT_OF_BOUNDS \(name(of: kvo_class_of(object.object))).items")
      }
      let calls = object.takeCalls()
      expect(!calls.contains("object"))
      object.release()
    }
  }

  @Test("H6: an accessor that returns fewer elements than asked for has no such element")
  func missingAnswers() {
    let object = makeShelf([.SHELF_COUNT, .SHELF_OBJECTS], [7, 8])
    defer { object.release() }
    object.pointee.stubborn = true
    let proxy = Many(object.object, "items")!
    expect(proxy[0].hasPrefix("KVO_INDEX_OUT_OF_BOUNDS CShelf"))
    expect(proxy.snapshot == nil)
    let other = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { other.release() }
    let mutable = Many(mutable: other.object)
    let outcome = proxy.lend { all in attempt { kvo_collection_union(mutable.collection, all, $0) }
    }
    expect(outcome.status == .KVO_INDEX_OUT_OF_BOUNDS && other.value == "nil")
    other.store(proxy)
    expect(brief(mutable.append(.int(1))).hasPrefix("KVO_INDEX_OUT_OF_BOUNDS CShelf"))
    expect(mutable[0].hasPrefix("KVO_INDEX_OUT_OF_BOUNDS CShelf"))
  }

  @Test("B8: a proxy is live, and retains its object")
  func live() {
    let deaths = Deaths()
    let friend = deaths.make(mark: 1)
    let object = make(to_many_object.self)
    var friends = Many(object.object, "friends")
    expectEqual(friends?.text, "{}")
    kvo_object_retain(friend.object)
    object.pointee.friends.0 = friend
    object.pointee.friend_count = 1
    friend.release()
    object.release()
    expect(friends?.text == "{#1}" && deaths.count == 0)
    friends = nil
    expectEqual(deaths.count, 1)
  }

  @Test("B4: accessors added to the class later serve existing proxies")
  func addedLater() {
    let object = makeShelf([.SHELF_COUNT, .SHELF_OBJECT, .SHELF_REPLACE_MANY], [7, 8])
    defer { object.release() }
    let proxy = Many(object.object, "items")!
    expectEqual(proxy.text, "[7, 8]")
    _ = object.takeCalls()
    shelf_class_add(kvo_class_of(object.object), [.SHELF_RANGE])
    expect(proxy.snapshot?.text == "[7, 8]" && object.takeCalls() == "count range(0,2)")
  }

  @Test("B8: elements and indexes may be of any type")
  func types() {
    let object = make(to_many_object.self)
    defer { object.release() }
    let names = Many(mutable: object.object, "names", as: .KVO_ORDERED_SET)
    for name in ["ada", "bob", "cyd"] { names.append(.string(name)) }
    let lazy = Many(object.object, "names")!
    expect(lazy.text == "<ada, bob, cyd>" && lazy.last == "cyd")
    expect(lazy.index(of: .string("bob")) == 1 && lazy.index(of: .string("eve")) == nil)
    expect(!lazy.contains(.string("eve")) && !lazy.contains(.nil))
    let blobs = Many(object.object, "blobs")!
    expect(blobs.count == 3 && blobs.last.hasPrefix("[3, 0, 0, 0"))
    expect(blobs[0].hasPrefix("[1, 0, 0, 0"))
    expectEqual(Many(object.object, "colours")?.text, "[]")
  }

  @Test("H1: indexes of a manual set change pick members in their order, and none beyond")
  func membersByIndex() {
    let object = makeShelf(.set, [7, 8, 9])
    defer { object.release() }
    let log = Mutations(of: object.object)
    withIndexes([1..<9]) { indexes in
      kvo_will_change_indexes(object.object, .KVO_REMOVAL, indexes, "items")
      object.fill([7])
      kvo_did_change_indexes(object.object, .KVO_REMOVAL, indexes, "items")
    }
    expectEqual(log.take(), ["removal 1..<9 old [8, 9]"])
    log.end()
  }

  @Test("B8: structs are read in bulk")
  func structs() {
    let object = make(to_many_object.self)
    defer { object.release() }
    object.pointee.colours.0 = rgb(red: 1, green: 2, blue: 3)
    object.pointee.colours.1 = rgb(red: 4, green: 5, blue: 6)
    object.pointee.colour_count = 2
    let colours = Many(object.object, "colours")!
    expect(colours.snapshot?.text == "[[1, 2, 3], [4, 5, 6]]" && colours[1] == "[4, 5, 6]")
  }

  @Test("B8: members that are objects are looked up by identity")
  func objects() {
    let deaths = Deaths()
    let object = make(to_many_object.self)
    let friend = deaths.make(mark: 1)
    let other = deaths.make(mark: 2)
    let friends = Many(mutable: object.object, "friends", as: .KVO_SET)
    var boxed = kvo_value_object(friend.object)
    expectEqual(friends.lend { kvo_collection_add($0, &boxed, nil) }, .KVO_OK)
    let lazy = Many(object.object, "friends")!
    expect(lazy.lend { kvo_collection_contains($0, &boxed) })
    kvo_value_destroy(&boxed)
    boxed = kvo_value_object(other.object)
    expect(!lazy.lend { kvo_collection_contains($0, &boxed) })
    kvo_value_destroy(&boxed)
    for dead in [object.object, friend.object, other.object] { kvo_object_release(dead) }
    expect(deaths.count == 1 && friends.text == "{#1}")
  }
}
