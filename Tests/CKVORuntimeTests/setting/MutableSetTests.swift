import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B9, H2, H4: mutable proxies of sets, and of ordered sets where they differ from arrays.
@Suite(.recording) struct MutableSetTests {
  static let everyWay: [shelf_methods] = [
    [.set, .SHELF_ADD, .SHELF_DROP], [.set, .SHELF_ADD_MANY, .SHELF_DROP_MANY],
    [.set, .SHELF_ADD, .SHELF_ADD_MANY, .SHELF_DROP, .SHELF_DROP_MANY, .SHELF_INTERSECT],
    [.array, .SHELF_ADD, .SHELF_DROP_MANY], [.SHELF_GETTER, .SHELF_SETTER], .SHELF_IVAR,
    [.SHELF_GETTER, .SHELF_SETTER, .SHELF_ADD], [.SHELF_GETTER, .SHELF_IVAR, .SHELF_DROP_MANY],
  ]

  @Test("B9: one element goes through the method for one, several through the method for several")
  func choiceOfMethods() {
    let cases: [(shelf_methods, [String])] = [
      (
        [.SHELF_ADD, .SHELF_ADD_MANY, .SHELF_DROP, .SHELF_DROP_MANY, .SHELF_INTERSECT],
        [
          "add(9)", "addMany(2)", "drop(9)", "dropMany(2)", "intersect(2)",
          "dropMany(2) addMany(2)",
        ]
      ),
      (
        [.SHELF_ADD, .SHELF_DROP],
        [
          "add(9)", "add(1) add(2)", "drop(9)", "drop(1) drop(2)", "drop(8)",
          "drop(7) add(5) add(6)",
        ]
      ),
      (
        [.SHELF_ADD_MANY, .SHELF_DROP_MANY],
        [
          "addMany(1)", "addMany(2)", "dropMany(1)", "dropMany(2)", "dropMany(1)",
          "dropMany(1) addMany(2)",
        ]
      ),
    ]
    for (methods, calls) in cases {
      let object = makeShelf([.set, methods], [7, 8])
      var expected = calls
      if methods.contains(.SHELF_INTERSECT) { expected[5] = "drop(7) addMany(2)" }
      expectEqual(steps(Many(mutable: object.object, as: .KVO_SET), object), expected, "\(methods)")
      expectEqual(Set(object.items), [5, 6])
      object.release()
    }
  }

  /// The mutating calls of each step, from {7, 8} to {5, 6}.
  private func steps(_ proxy: Many, _ object: Shelf) -> [String] {
    let steps: [() -> Outcome] = [
      { proxy.add(.int(9)) }, { proxy.union(ints(1, 2)) }, { proxy.remove(.int(9)) },
      { proxy.minus(ints(1, 2)) }, { proxy.intersect(ints(7, 4)) }, { proxy.set(ints(5, 6)) },
    ]
    return steps.map { step in
      _ = object.takeCalls()
      expectEqual(step().status, .KVO_OK)
      let calls = object.takeCalls().split(separator: " ")
      return calls.filter { $0 != "count" && $0 != "enumerator" && !$0.hasPrefix("member") }
        .joined(separator: " ")
    }
  }

  @Test(
    "B9 H4: set accessors that return a value are called by proxies",
    arguments: [[.SHELF_ADD, .SHELF_DROP], [.SHELF_ADD_MANY, .SHELF_DROP_MANY, .SHELF_INTERSECT]]
      as [shelf_methods])
  func accessorsWithResults(_ methods: shelf_methods) {
    let all: shelf_methods = [.SHELF_COUNT, .SHELF_ENUMERATOR, .SHELF_MEMBER, .SHELF_RESULTS]
    let object = makeShelf([all, methods], [7, 8])
    defer { object.release() }
    let proxy = Many(mutable: object.object, as: .KVO_SET)
    let log = Mutations(of: object.object)
    proxy.union(ints(9, 1))
    proxy.remove(.int(7))
    proxy.intersect(ints(8, 9))
    expectEqual(object.items.sorted(), [8, 9])
    expectEqual(
      log.take(), ["insertion new {1, 9}", "removal old {7}", "removal old {1}"])
  }

  @Test(
    "H4: each mutation by a proxy notifies once, with only the elements added or removed",
    arguments: everyWay)
  func toldOnce(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7, 8])
    defer { object.release() }
    object.store(Many(.KVO_SET, ints: [7, 8]))
    let proxy = Many(mutable: object.object, as: .KVO_SET)
    let log = Mutations(of: object.object)
    proxy.add(.int(9))
    proxy.add(.double(9))
    proxy.union(ints(9, 1, 2))
    proxy.union([])
    expectEqual(
      log.take(),
      [
        "insertion new {9}", "insertion new {}", "insertion new {1, 2}", "insertion new {}",
      ])
    proxy.remove(.int(9))
    proxy.remove(.int(9))
    proxy.minus(ints(9, 1, 3))
    proxy.intersect(ints(7, 2, 5))
    proxy.intersect(ints(7, 2, 5))
    expectEqual(
      log.take(),
      [
        "removal old {9}", "removal old {}", "removal old {1}", "removal old {8}", "removal old {}",
      ])
    proxy.set(ints(7, 6))
    proxy.set(ints(6, 7, 7))
    proxy.set([])
    expectEqual(
      log.take(),
      [
        "replacement old {2} new {6}", "replacement old {} new {}", "replacement old {6, 7} new {}",
      ])
    expectEqual(proxy.count, 0)
    log.end()
  }

  @Test("H4: a prior of a removal or replacement has what will be removed", arguments: everyWay)
  func priors(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7, 8])
    defer { object.release() }
    object.store(Many(.KVO_SET, ints: [7, 8]))
    let proxy = Many(mutable: object.object, as: .KVO_SET)
    let log = Mutations(of: object.object, "items", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
    proxy.add(.int(9))
    proxy.minus(ints(9, 1))
    proxy.intersect(ints(7))
    proxy.set(ints(6))
    expectEqual(
      log.take(),
      [
        "prior insertion", "insertion new {9}", "prior removal old {9}", "removal old {9}",
        "prior removal old {8}", "removal old {8}", "prior replacement old {7}",
        "replacement old {7} new {6}",
      ])
    log.end()
  }

  @Test("H4: a set with methods and a setter is replaced by the setter, as a replacement")
  func setterReplaces() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER, .SHELF_ADD, .SHELF_DROP])
    defer { object.release() }
    object.store(Many(.KVO_SET, ints: [7]))
    let log = Mutations(of: object.object)
    let proxy = Many(mutable: object.object, as: .KVO_SET)
    _ = object.takeCalls()
    proxy.set(ints(8))
    expect(log.take() == ["replacement old {7} new {8}"] && object.value == "{8}")
    expect(object.takeCalls().contains("set") && object.items == [])
    log.end()
  }

  @Test("H2: a method called directly notifies once, as by a proxy")
  func calledDirectly() {
    let object = makeShelf([.set, .SHELF_ADD_MANY, .SHELF_DROP], [7])
    defer { object.release() }
    let log = Mutations(of: object.object)
    Many(.KVO_SET, ints: [7, 8]).lend { shelf_add_many(object, $0) }
    expectEqual(log.take(), ["insertion new {8}"])
    log.end()
  }

  @Test("B9: elements are converted; an almost equal value is no member; others are errors")
  func conversion() {
    for methods in [
      shelf_methods([.SHELF_ADD, .SHELF_DROP]), [.SHELF_ADD_MANY, .SHELF_DROP_MANY],
    ] {
      let object = makeShelf([.set, methods], [1, 2])
      let proxy = Many(mutable: object.object, as: .KVO_SET)
      expect(proxy.minus([.double(1.5), .double(2)]).status == .KVO_OK && object.items == [1])
      expect(proxy.add(.double(3)).status == .KVO_OK && object.items == [1, 3])
      for value in [Value.string("x"), .nil] {
        let outcomes = [
          proxy.add(value), proxy.union([.int(5), value]), proxy.remove(value),
          proxy.minus([.int(1), value]), proxy.intersect([value]), proxy.set([.int(5), value]),
        ]
        for outcome in outcomes {
          expectEqual(brief(outcome), "KVO_TYPE_MISMATCH \(className(object)).items")
        }
      }
      expectEqual(object.items, [1, 3])
      object.release()
    }
  }

  @Test("B9: a set has no indexes")
  func noIndexes() {
    let object = makeShelf([.set, .SHELF_ADD, .SHELF_DROP], [7])
    defer { object.release() }
    let proxy = Many(mutable: object.object, as: .KVO_SET)
    let log = Mutations(of: object.object, "items", .KVO_PRIOR)
    let outcomes = [
      proxy.append(.int(1)), proxy.insert(.int(1), at: 0), proxy.remove(at: 0),
      proxy.replace(at: 0, with: .int(1)), proxy.insert(ints(1), at: 0..<1),
    ]
    for outcome in outcomes {
      expectEqual(brief(outcome), "KVO_INVALID_ARGUMENT \(className(object)).items")
    }
    expect(log.take() == [] && object.items == [7])
    log.end()
  }

  static let orderedWays: [shelf_methods] = [
    [.orderedSet, .singles], [.orderedSet, .batches], [.array, .singles, .SHELF_REPLACE],
    [.SHELF_GETTER, .SHELF_SETTER], .SHELF_IVAR,
  ]

  @Test(
    "B9: an ordered set takes an element once; adding one again is no change",
    arguments: orderedWays)
  func orderedSets(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7, 8])
    defer { object.release() }
    object.store(Many(.KVO_ORDERED_SET, ints: [7, 8]))
    let proxy = Many(mutable: object.object, as: .KVO_ORDERED_SET)
    let log = Mutations(of: object.object)
    for outcome in [
      proxy.append(.int(7)), proxy.insert(.double(8), at: 0), proxy.union(ints(8, 7)),
    ] {
      expectEqual(outcome.status, .KVO_OK)
    }
    expectEqual(log.take(), [])
    proxy.insert(ints(7, 1, 1, 2), at: 0..<4)
    proxy.union(ints(1, 9, 9))
    expectEqual(log.take(), ["insertion 0..<2 new [1, 2]", "insertion 4..<5 new [9]"])
    expectEqual(proxy.text, "<1, 2, 7, 8, 9>")
    proxy.remove(.int(7))
    proxy.replace(at: 0..<2, with: ints(2, 1))
    expectEqual(log.take(), ["removal 2..<3 old [7]", "replacement 0..<2 old [1, 2] new [2, 1]"])
    let refused = [proxy.replace(at: 0, with: .int(9)), proxy.replace(at: 0..<2, with: ints(5, 5))]
    for outcome in refused {
      expectEqual(brief(outcome), "KVO_INVALID_ARGUMENT \(className(object)).items")
    }
    proxy.set(ints(3, 3, 4))
    expectEqual(proxy.text, "<3, 4>")
    expectEqual(log.take(), [setting(methods, "2, 1, 8, 9", "3, 4")])
    log.end()
  }

  /// The key reads as what its accessors give.
  private func setting(_ methods: shelf_methods, _ old: String, _ new: String) -> String {
    let isArray = methods.contains(.array) && !methods.contains(.SHELF_INDEX)
    return isArray ? "setting old [\(old)] new [\(new)]" : "setting old <\(old)> new <\(new)>"
  }

  @Test("B9: objects that a set holds live as long as it does")
  func lifetimes() {
    let deaths = Deaths()
    let object = make(to_many_object.self)
    let friends = (0..<3).map { deaths.make(mark: $0) }
    for key in ["friends", "crowd"] {
      withCollection(.KVO_ARRAY, of: friends.map(\.object)) { all in
        let proxy = Many(mutable: object.object, key, as: .KVO_SET)
        expectEqual(proxy.lend { kvo_collection_union($0, all, nil) }, .KVO_OK)
        expectEqual(proxy.text, "{#0, #1, #2}")
      }
    }
    releaseAll(friends)
    expectEqual(deaths.count, 0)
    object.release()
    expectEqual(deaths.count, 3)
  }
}
