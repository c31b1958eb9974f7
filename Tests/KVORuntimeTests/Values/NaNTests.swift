import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// D3, H4, B7: NaN equals NaN, and nils of different optional levels differ.
@Suite(.leakFree) struct NaNTests {
  private struct Point: Equatable {
    var x: Double
    var y: Double
  }

  private class Dial: Tracked {
    @Observed var value = 0.0
    @Observed var optional: Double?
    @Observed var values: [Double] = []
    @Observed var named: [String: Float] = [:]
    @Observed var counted: [Int: Double] = [1: 1]
    @Observed var nested = [[Int: Float]]()
    @Observed var point = Point(x: 0, y: 0)
    @Observed var levels: Int?? = .some(nil)
    @Observed var members: Set<Double> = []
  }

  private let dial = Dial()
  private let log = Recorder()

  @Test("D3: NaN over NaN is not a distinct change, also inside optionals, collections and structs")
  func distinct() {
    let all: KeyValueObservingOptions = [.distinct]
    log.observe(dial, \.value, all, as: "value")
    log.observe(dial, \.optional, all, as: "optional")
    log.observe(dial, \.values, all, as: "values")
    log.observe(dial, \.named, all, as: "named")
    log.observe(dial, \.point, all, as: "point")
    let sets = {
      dial.value = .nan
      dial.optional = .nan
      dial.values = [1, .nan]
      dial.named = ["a": .nan]
      dial.point = Point(x: .nan, y: 1)
    }
    sets()
    expectEqual(log.take(), ["value", "optional", "values", "named", "point"])
    sets()
    expectEqual(log.take(), [])
    dial.point.y = 2
    dial.values = [2, .nan]
    dial.optional = nil
    expectEqual(log.take(), ["point", "values", "optional"])
  }

  @Test("D3: a dictionary with the key NaN equals another one")
  func nanKey() {
    class Keyed: Tracked {
      @Observed var numbers: [Double: Int] = [:]
      @Observed var any: [AnyHashable: AnyHashable] = [:]
    }
    let keyed = Keyed()
    log.observe(keyed, \.numbers, [.distinct], as: "numbers")
    log.observe(keyed, \.any, [.distinct], as: "any")
    for number in [1, 1, 2] {
      keyed.numbers = [.nan: number]
      keyed.any = [[Double.nan]: AnyHashable(number)]
    }
    expectEqual(log.take(), ["numbers", "any", "numbers", "any"])
  }

  // Each value is made anew: Swift takes two arrays with the same storage for equal.
  @Test("H4: a set contains a value that contains NaN once")
  func odd() throws {
    struct Mark: Hashable { var x: Double }
    class Marks: Tracked {
      @Observed var marks: Set<Mark> = []
      @Observed var lists: Set<[Double]> = []
      @Observed var any: Set<AnyHashable> = []
      @Observed var array: [AnyHashable] = []
    }
    func nan() -> [Double] { [1].map { $0 * .nan } }
    let marks = Marks()
    log.observe(marks, \.marks, [.old, .new, .distinct], as: "marks")
    for _ in 0..<2 { marks.marks = [Mark(x: .nan)] }
    expectEqual(log.take().count, 1)
    try marks.setValue([nan(), nan()], forKey: "lists")
    expectEqual(marks.lists.count, 1)
    marks.lists = [nan()]
    marks.any = [nan(), 1]
    marks.array = [0, nan()]
    expectEqual(marks.mutableSet(\.marks).insert(Mark(x: .nan)), false)
    expectEqual(marks.mutableSet(\.lists).insert(nan()), false)
    try marks.mutableSetValue(forKey: "any").add(nan())
    expectEqual([marks.marks.count, marks.lists.count, marks.any.count], [1, 1, 2])
    expect(try marks.mutableSetValue(forKey: "any").contains(nan()))
    expect(try marks.mutableArrayValue(forKey: "array").contains(nan()))
    expect(Set<Double>([0, .nan]).own(.nan)?.isNaN == true)
    marks.mutableSet(\.marks).insert(Mark(x: 7))
    marks.mutableSet(\.marks).remove(Mark(x: .nan))
    expectEqual(marks.marks, [Mark(x: 7)])
  }

  @Test("D3: dictionaries are compared by keys of any type")
  func keys() {
    log.observe(dial, \.counted, [.distinct], as: "counted")
    log.observe(dial, \.nested, [.distinct], as: "nested")
    dial.counted = [1: 2]
    dial.counted = [2: 2]
    dial.nested = [[1: 1]]
    dial.nested = [[2: 1]]
    expectEqual(log.take(), ["counted", "counted", "nested", "nested"])
    dial.counted = [2: .nan]
    dial.counted = [2: .nan]
    dial.nested = [[2: .nan]]
    dial.nested = [[2: .nan]]
    expectEqual(log.take(), ["counted", "nested"])
  }

  @Test("D3: NaN equals NaN inside AnyHashable, and in sets of collections")
  func hashable() {
    class Hashes: Tracked {
      @Observed var one: AnyHashable = 0
      @Observed var list: [AnyHashable] = []
      @Observed var members: Set<AnyHashable>? = []
      @Observed var named: [String: AnyHashable] = [:]
      @Observed var sets: Set<Set<Double>> = []
      @Observed var any: Any = 0
    }
    let hashes = Hashes()
    // Made anew each time: two collections that share their storage are equal whatever they contain.
    func expectOne<Value>(
      _ keyPath: ReferenceWritableKeyPath<Hashes, Value>, _ value: @autoclosure () -> Value,
      _ other: Value
    ) {
      var calls = 0
      let token = hashes.observe(keyPath, options: .distinct) { _, _ in calls += 1 }
      for expected in [1, 1, 2, 3, 3] {
        hashes[keyPath: keyPath] = expected == 2 ? other : value()
        expectEqual(calls, expected, "\(value())")
      }
      token.invalidate()
    }
    expectOne(\.one, Double.nan, 1.0)
    expectOne(\.one, [Double.nan], [1, Double.nan])
    expectOne(\.list, [Double.nan, 1], [Double.nan, 2])
    expectOne(\.members, [Double.nan, 1], [Double.nan, 2])
    expectOne(\.named, ["a": Double.nan], ["a": 1])
    expectOne(\.sets, [[.nan], [1]], [[.nan], [2]])
    expectOne(\.any, Set<AnyHashable>([Double.nan, "a"]), Set<AnyHashable>([Double.nan, "b"]))
    expectOne(\.any, [Double.nan] as [AnyHashable], [0] as [AnyHashable])
  }

  @Test("B6: the greatest and the least Int128 are found exactly")
  func wide() throws {
    class Wide: Tracked { @Observed var sizes: [Int128] = [] }
    let wide = Wide()
    wide.sizes = [1 << 64, (1 << 64) + 1, .max, .max - 1, .min, .min + 1]
    expect(try wide.value(forKeyPath: "sizes.@max.self") as? Int128 == .max)
    expect(try wide.value(forKeyPath: "sizes.@min.self") as? Int128 == .min)
  }

  @Test("D3: of an Int?? nil differs from .some(nil)")
  func levels() {
    log.observe(dial, \.levels, [.distinct], as: "levels")
    dial.levels = .some(nil)
    expectEqual(log.take(), [])
    dial.levels = nil
    expectEqual(log.take(), ["levels"])
    dial.levels = nil
    expectEqual(log.take(), [])
    dial.levels = .some(nil)
    dial.levels = 1
    dial.levels = 1
    expectEqual(log.take(), ["levels", "levels"])
  }

  @Test("H4: a set gains and loses NaN once")
  func members() throws {
    let members = dial.mutableSet(\.members)
    log.observe(dial, \.members, [.old, .new], as: "members")
    members.formUnion([.nan, 1])
    expectEqual(dial.members.count, 2)
    members.formUnion([.nan])
    expectEqual(dial.members.count, 2)
    members.subtract([.nan])
    expectEqual(dial.members, [1])
    expectEqual(log.take().count, 3)
  }

  final class Untyped: Tracked {
    @Observed var any: Any = 0
    @Observed var maybe: Any?
    @Observed var list: [Any] = []
    @Observed var table: [String: Any] = [:]
    @Observed var described: any CustomStringConvertible = 0
    @Observed var object: AnyObject?
    @Observed var function: () -> Void = {}
  }

  @Test("D3: distinct compares what values of type Any contain")
  func untyped() throws {
    let untyped = Untyped()
    var calls = 0
    func expectCalls<Value>(
      _ keyPath: ReferenceWritableKeyPath<Untyped, Value>, _ values: [Value], _ expected: [Int],
      _ comment: String
    ) {
      let token = untyped.observe(keyPath, options: .distinct) { _, _ in calls += 1 }
      calls = 0
      let counts = values.map { value in
        untyped[keyPath: keyPath] = value
        return calls
      }
      token.invalidate()
      expectEqual(counts, expected, comment)
    }
    let (one, other) = (Plain(), Plain())
    expectCalls(
      \.any, [5, 5, "5", "5", 5.5, Double.nan, Double.nan], [1, 1, 2, 2, 3, 4, 4], "any")
    expectCalls(
      \.any, [[5, "a"] as [Any], [5, "a"] as [Any], [5, "b"] as [Any]], [1, 1, 2], "in")
    expectCalls(
      \.any,
      [[1, 2] as [Any], [1, 2] as [Int], [1, 2] as [Any], ["a": 1] as [String: Any], ["a": 1]],
      [1, 1, 1, 2, 2], "collections of other element types")
    func nested(_ depth: Int) -> Any {
      (0..<depth).reduce(1 as Any) { inner, _ in [inner] as [Any] }
    }
    expectCalls(\.any, [nested(90), nested(90)], [1, 1], "nested")
    expectCalls(\.any, [nested(3000), nested(3000)], [1, 2], "nested beyond the limit")
    expectCalls(\.any, [one, one, other], [1, 1, 2], "objects without ==")
    expectCalls(\.maybe, [nil, 5, 5, nil, nil], [0, 1, 1, 2, 2], "maybe")
    expectCalls(
      \.list, [[5], [5], [5, [1, one]], [5, [1, one]], [5, [1, other]]], [1, 1, 2, 2, 3], "list")
    expectCalls(
      \.table, [["a": 1], ["a": 1], ["a": [2]], ["a": [2]], ["b": [2]], [:]], [1, 1, 2, 2, 3, 4],
      "table")
    expectCalls(\.described, [5, 5, "5"], [1, 1, 2], "described")
    expectCalls(\.object, [one, one, other, nil, nil], [1, 1, 2, 3, 3], "object")
    expectCalls(\.function, [{}, {}], [1, 2], "functions can't be compared")
    (untyped.any, untyped.list, untyped.object) = (0, [], nil)
  }

  private final class Node: KVOObject {
    @Observed var any: Any?
    @Observed var next: Node?
    @Observed var settings: [String: Any] = [:]
  }

  @Test(
    "D3: values of type Any are compared alike, whether observed themselves or at the end of a key path",
    arguments: [
      ([1, true, 1.0, 1, Int8(1)] as [any Sendable], 3),
      ([[1], [true], [1]] as [any Sendable], 3),
      ([["a": 1] as [String: Int], ["a": 1] as [String: any Sendable], ["a": 2]], 2),
      ([[1], [1] as [any Sendable], ContiguousArray([1])] as [any Sendable], 2),
      (["a", "a"[...], Character("a")] as [any Sendable], 3),
      ([Double.nan, Float.nan, 2] as [any Sendable], 2),
    ] as [([any Sendable], Int)])
  func untypedAtTheEnd(_ values: [any Sendable], _ expected: Int) throws {
    let (first, second) = (Node(), Node())
    first.next = second
    second.settings["any"] = 0
    var calls = [0, 0, 0, 0]
    let tokens = try [
      second.observe(\.any, options: .distinct) { _, _ in calls[0] += 1 },
      second.observe(keyPath: "any", options: .distinct) { _, _ in calls[1] += 1 },
      first.observe(keyPath: "next.any", options: .distinct) { _, _ in calls[2] += 1 },
      second.observe(keyPath: "settings.any", options: .distinct) { _, _ in calls[3] += 1 },
    ]
    for value in values {
      second.any = value
      second.settings["any"] = value
    }
    expectEqual(calls, [expected, expected, expected, expected])
    withExtendedLifetime(tokens) {}
  }
}

/// Has no `==`.
private final class Plain {}
