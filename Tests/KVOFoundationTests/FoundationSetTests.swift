import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// B9, H4: the method names of `NSMutableSet` and `NSMutableOrderedSet`.
@Suite(.leakFree) struct FoundationSetTests {
  @Test("B9: a set's proxy answers NSSet's names", arguments: ["pickedSet", "kept"])
  func reading(_ key: String) throws {
    let orchard = Orchard()
    orchard.pickedSet = [1, 2]
    orchard.garden = [1, 2]
    let set = try orchard.mutableSetValue(forKey: key)
    expectEqual(Set(set.allObjects.map { $0 as? Int }), [1, 2])
    expect(set.member(2) as? Int == 2 && set.member(2.0) as? Int == 2 && set.member(3) == nil)
    expect([1, 2].contains(set.anyObject() as? Int))
    expect(set.isSubset(of: [1, 2, 3]) && !set.isSubset(of: [1]))
    expect(set.intersects([2, 9]) && !set.intersects([9]))
    expect(set.isEqual(to: [2, 1]) && !set.isEqual(to: [1]) && !set.isEqual(to: [1, 2, 3]))
    try set.removeAllObjects()
    expect(set.anyObject() == nil && set.allObjects.isEmpty)
  }

  @Test("H4: a set's handle has NSMutableSet's names, each call one change")
  func handle() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.tags, [.old, .new])
    let tags = shelf.mutableSet(\.tags)
    tags.add("a")
    tags.add("a")
    tags.addObjects(from: ["b", "c"])
    expect(tags.member("b") == "b" && tags.member("x") == nil)
    expect(Set(tags.allObjects) == ["a", "b", "c"] && tags.anyObject() != nil)
    expect(tags.isSubset(of: ["a", "b", "c", "d"]) && !tags.isSubset(of: ["a"]))
    expect(tags.intersects(["c", "x"]) && !tags.intersects(["x"]))
    expect(tags.isEqual(to: ["c", "b", "a"]) && !tags.isEqual(to: ["a"]))
    tags.union(["d"])
    tags.minus(["a", "b"])
    tags.intersect(["d", "e"])
    tags.setSet(["f"])
    tags.removeAllObjects()
    tags.removeAllObjects()
    expect(tags.anyObject() == nil && shelf.tags.isEmpty)
    expectEqual(
      log.take(),
      [
        "a insertion new {a}", "a insertion new {b, c}", "a insertion new {d}",
        "a removal old {a, b}", "a removal old {c}", "a replacement old {d} new {f}",
        "a removal old {f}",
      ])
  }

  @Test("B7 H4: NaN equals NaN in a set's handle, too")
  func notANumber() {
    final class Scale: Tracked {
      @Observed var marks: Set<Double> = [.nan, 1]
    }
    let scale = Scale()
    let marks = scale.mutableSet(\.marks)
    expect(marks.member(.nan)?.isNaN == true && marks.member(1) == 1 && marks.member(2) == nil)
    expect(marks.isEqual(to: [1, .nan]) && !marks.isEqual(to: [1, 2]))
    expect(marks.isSubset(of: [.nan, 1, 2]) && !marks.isSubset(of: [1, 2]))
    expect(marks.intersects([.nan]) && !marks.intersects([3]))
  }

  /// A mutation of `1 2 3 4`, its notifications, and the result.
  typealias Step = ProxyStep<MutableOrderedSetProxy, [Int]>

  static let steps: [Step] = [
    Step("addObjects", ["insertion at 4...5 new [8, 9]"], left: [1, 2, 3, 4, 8, 9]) {
      try $0.addObjects(from: [8, 2, 9])
    },
    Step("addObjects that are there", [], left: [1, 2, 3, 4]) { try $0.addObjects(from: [1]) },
    Step("union", ["insertion at 4 new [9]"], left: [1, 2, 3, 4, 9]) { try $0.union([9, 1]) },
    Step("unionSet", ["insertion at 4 new [9]"], left: [1, 2, 3, 4, 9]) { try $0.unionSet([9]) },
    Step("minus", ["removal at 0 2 old [1, 3]"], left: [2, 4]) { try $0.minus([3, 9, 1]) },
    Step("minusSet", ["removal at 0 old [1]"], left: [2, 3, 4]) { try $0.minusSet([1]) },
    Step("minus of nothing", [], left: [1, 2, 3, 4]) { try $0.minus([9]) },
    Step("intersect", ["removal at 0 2 old [1, 3]"], left: [2, 4]) { try $0.intersect([4, 2, 9]) },
    Step("intersectSet", ["removal at 1...3 old [2, 3, 4]"], left: [1]) {
      try $0.intersectSet([1])
    },
    Step("intersect with all", [], left: [1, 2, 3, 4]) { try $0.intersect([1, 2, 3, 4]) },
    Step("removeObjects in others", ["removal at 1 3 old [2, 4]"], left: [1, 3]) {
      try $0.removeObjects(in: [4, 2, 7])
    },
    Step("removeObjects in a range", ["removal at 1...2 old [2, 3]"], left: [1, 4]) {
      try $0.removeObjects(in: 1..<3)
    },
    Step("replaceObjects", ["replacement at 0...1 old [1, 2] new [2, 9]"], left: [2, 9, 3, 4]) {
      try $0.replaceObjects(at: RangeSet(0..<2), with: [2, 9])
    },
    Step("setObject", ["replacement at 0 old [1] new [9]"], left: [9, 2, 3, 4]) {
      try $0.setObject(9, at: 0)
    },
    Step("setObject behind the last", ["insertion at 4 new [9]"], left: [1, 2, 3, 4, 9]) {
      try $0.setObject(9, at: 4)
    },
    Step("subscript", ["replacement at 3 old [4] new [9]"], left: [1, 2, 3, 9]) { $0[3] = 9 },
    Step("exchangeObject", ["replacement at 0 3 old [1, 4] new [4, 1]"], left: [4, 2, 3, 1]) {
      try $0.exchangeObject(at: 0, withObjectAt: 3)
    },
    Step(
      "moveObjects", ["removal at 0 2 old [1, 3]", "insertion at 1...2 new [1, 3]"],
      left: [2, 1, 3, 4]
    ) {
      try $0.moveObjects(at: RangeSet([0, 2]), to: 1)
    },
    Step(
      "moveObjects to the end", ["removal at 0 old [1]", "insertion at 3 new [1]"],
      left: [2, 3, 4, 1]
    ) { try $0.moveObjects(at: RangeSet(0..<1), to: 3) },
    Step("moveObjects of none", [], left: [1, 2, 3, 4]) {
      try $0.moveObjects(at: RangeSet(), to: 9)
    },
    Step(
      "sort", ["replacement at 0...3 old [1, 2, 3, 4] new [4, 3, 2, 1]"], left: [4, 3, 2, 1]
    ) {
      try $0.sort { ($0 as! Int) > ($1 as! Int) }
    },
  ]

  @Test(
    "B9, H2: an ordered set's proxy has NSMutableOrderedSet's names",
    arguments: ["row", "observed"], steps)
  func orderedSets(_ key: String, _ step: Step) throws {
    let orchard = Orchard()
    orchard.stock = [1, 2, 3, 4]
    orchard.observed = [1, 2, 3, 4]
    let log = Recorder()
    try log.observe(orchard, key, [.old, .new])
    let proxy = try orchard.mutableOrderedSetValue(forKey: key)
    try step.run(proxy)
    expectEqual(log.take(), step.lines.map { "a \($0)" })
    expectEqual(proxy.array.map { $0 as? Int }, step.left)
    expectEqual(proxy.set, Set<AnyHashable>(step.left))
    expect(proxy.firstObject as? Int == step.left.first)
    expect(proxy.lastObject as? Int == step.left.last)
    expect(proxy.index(of: step.left[0]) == 0 && proxy.index(of: 77) == Int.max)
    expectEqual(proxy.objects(at: RangeSet(0..<1)).map { $0 as? Int }, [step.left[0]])
    let left = step.left.map { AnyHashable($0) }
    expect(proxy.isEqual(to: left) && !proxy.isEqual(to: left.dropLast()))
    expect(proxy.isSubset(of: left + [77]) && !proxy.isSubset(of: Set(left.dropFirst())))
    expect(proxy.intersects([77, left[0]]) && !proxy.intersects([77]))
    expect(proxy.intersectsSet([left[0]]) && !proxy.intersectsSet([77]))
  }

  @Test("B9, H6: an invalid element or index of an ordered set changes nothing")
  func errors() throws {
    let orchard = Orchard()
    orchard.observed = [1, 2, 3]
    let log = Recorder()
    try log.observe(orchard, "observed")
    let proxy = try orchard.mutableOrderedSetValue(forKey: "observed")
    let twice = KeyValueError.validationFailed(
      key: "observed", className: "Orchard", reason: "it is an ordered set and would have 3 twice.")
    expectEqual(
      keyValueError { try proxy.replaceObjects(at: RangeSet(0..<2), with: [9, 3]) }, twice)
    expectEqual(
      keyValueError { try proxy.moveObjects(at: RangeSet([0, 3]), to: 0) },
      .indexOutOfBounds(key: "observed", className: "Orchard", index: 3, count: 3))
    expectEqual(
      keyValueError { try proxy.moveObjects(at: RangeSet([0]), to: 3) },
      .indexOutOfBounds(key: "observed", className: "Orchard", index: 3, count: 3))
    expect(orchard.observed == [1, 2, 3] && log.take() == [])
  }

  @Test("B9 H2: a move to where the members are changes nothing")
  func unmoved() throws {
    let orchard = Orchard()
    orchard.observed = [1, 2, 3]
    let log = Recorder()
    try log.observe(orchard, "observed")
    let proxy = try orchard.mutableOrderedSetValue(forKey: "observed")
    try proxy.moveObjects(at: RangeSet([1]), to: 1)
    try proxy.moveObjects(at: RangeSet(0..<2), to: 0)
    expectEqual(log.take(), [])
    try proxy.moveObjects(at: RangeSet([1, 2]), to: 0)
    expectEqual(orchard.observed, [2, 3, 1])
    expectEqual(log.take().count, 2)
  }

  @Test("B9: an accessor may answer NSNotFound for a member that is not there")
  func notFound() throws {
    final class Shelf: KVOObject {
      let store = NSMutableOrderedSet()
      override class func registerKeys() {
        declareKeys {
          $0.orderedSet(
            "subs", count: { $0.store.count }, element: { $0.store[$1] as! String },
            index: { $0.store.index(of: $1) },
            insert: { $0.store.insert($1, at: IndexSet($2)) },
            remove: { $0.store.removeObjects(at: IndexSet($1)) })
        }
      }
    }
    let shelf = Shelf()
    let subs = try shelf.mutableOrderedSetValue(forKey: "subs")
    expect(!subs.contains("a"))
    try subs.add("a")
    try subs.add("b")
    try subs.add("a")
    expectEqual(shelf.store.map { "\($0)" }, ["a", "b"])
    expect(subs.contains("b") && !subs.contains("c"))
  }

  @Test("B9: a move whose insertion is refused leaves the members in place")
  func refusedMove() throws {
    final class Row: KVOObject {
      var row = [1, 2, 3]
      var isClosed = false
      override class func registerKeys() {
        declareKeys {
          $0.orderedSet(
            "places", count: { $0.row.count }, element: { $0.row[$1] },
            index: { $0.row.firstIndex(of: $1) },
            insert: { row, members, indexes in
              if row.isClosed, indexes.first == 1 { throw Orchard.Refusal() }
              row.row.insert(contentsOf: members, at: indexes.first!)
            }, remove: { $0.row.removeSubranges($1) })
        }
      }
    }
    let row = Row()
    row.isClosed = true
    let places = try row.mutableOrderedSetValue(forKey: "places")
    #expect(throws: Orchard.Refusal.self) { try places.moveObjects(at: RangeSet([0]), to: 1) }
    expectEqual(row.row, [1, 2, 3])
  }
}
