import Expectations
import KVORuntime
import TestSupport
import Testing

/// D9: accessors that throw after they have changed something.
@Suite(.leakFree) struct HalfWayTests {
  typealias Mutation = @Sendable (MutableArrayProxy) throws -> Void
  typealias SetMutation = @Sendable (MutableSetProxy) throws -> Void

  /// The elements before, the mutation, the elements that are left, and those that observers get as the old ones; nil
  /// if observers are not notified.
  static let mutations: [([Int], Mutation, [Int], old: [Int]?)] = [
    ([7], { try $0.insert([4, -5], at: RangeSet(0..<2)) }, [4, 7], [4, 7]),
    ([7], { try $0.insert([-4, 5], at: RangeSet(0..<2)) }, [7], nil),
    ([7], { try $0.insert(-4, at: 0) }, [7], nil),
    ([-7, 8, 9], { try $0.remove(at: RangeSet(0..<2)) }, [-7, 9], [-7, 9]),
    ([7, -8, 9], { try $0.remove(at: RangeSet(0..<2)) }, [7, -8, 9], nil),
    ([-7, 8, 9], { try $0.remove(at: 0) }, [-7, 8, 9], nil),
    (
      [7, 8, 9], { try $0.replace(at: RangeSet(0..<2), with: [4, -5]) }, [7, 8, 4, 9], [7, 8, 4, 9]
    ),
    ([7, 8, 9], { try $0.replace(at: RangeSet(0..<2), with: [-4, 5]) }, [7, 8, 9], nil),
    ([7, 8, 9], { try $0.replace(at: 0, with: -4) }, [7, 8, 9], nil),
    ([-7, 8, 9], { try $0.replace(at: RangeSet(0..<2), with: [4, 5]) }, [-7, 9], [-7, 9]),
    ([-7, 8, 9], { try $0.replace(at: 0, with: 4) }, [-7, 8, 9], nil),
    ([-7, 8, 9], { try $0.contents.mutable().set([1, 2]) }, [-7], [-7, 8, 9]),
    ([7, 8, -9], { try $0.contents.mutable().set([1, 2]) }, [7, 8, -9], nil),
    ([], { try $0.contents.mutable().set([1, -2]) }, [1], []),
    ([7], { try $0.contents.mutable().set([-1]) }, [7], nil),
  ]

  @Test("D9: observers get a setting if the elements are others than before", arguments: 0..<15)
  func ordered(_ row: Int) throws {
    let (before, mutate, left, old) = Self.mutations[row]
    let shelf = HalfWayShelf(before)
    let log = try observe(shelf, "list")
    #expect(throws: HalfWayShelf.Refusal.self) {
      try mutate(try shelf.mutableArrayValue(forKey: "list"))
    }
    expectEqual(shelf.items, left)
    expectEqual(log.take(), old.map { ["setting \($0) > \(left)"] } ?? [])
    try shelf.mutableArrayValue(forKey: "list").insert(1, at: 0)
    expectEqual(log.take(), ["insertion - > [1]"])
  }

  @Test("D9: elements that were removed and are refused afterwards are missing in the setting")
  func notRestored() throws {
    let shelf = HalfWayShelf([7, 8])
    let log = try observe(shelf, "list")
    shelf.refused = [8, 5]
    #expect(throws: HalfWayShelf.Refusal.self) {
      try shelf.mutableArrayValue(forKey: "list").replace(at: RangeSet(0..<2), with: [4, 5])
    }
    expectEqual(shelf.items, [7, 4])
    expectEqual(log.take(), ["setting [7, 4] > [7, 4]"])
  }

  @Test("D9: an accessor that inserts or removes one element and throws notifies")
  func oneElement() throws {
    let mutations: [(Mutation, [Int])] = [
      ({ try $0.append(4) }, [7, 8, 4]), ({ try $0.remove(at: 0) }, [8]),
      ({ try $0.replace(at: 0, with: 4) }, [8]),
    ]
    for (mutate, left) in mutations {
      let shelf = HalfWayShelf([7, 8])
      let log = try observe(shelf, "list")
      shelf.throwsAfterwards = true
      #expect(throws: HalfWayShelf.Refusal.self) {
        try mutate(try shelf.mutableArrayValue(forKey: "list"))
      }
      expectEqual(shelf.items, left)
      expectEqual(log.take(), ["setting \(left) > \(left)"])
    }
  }

  @Test("D9: a replacement of several elements that throws is a setting in any case")
  func replacing() throws {
    let shelf = HalfWayShelf([7, 8, 9])
    let proxy = try shelf.mutableArrayValue(forKey: "replaced")
    let log = try observe(shelf, "replaced")
    for (elements, left) in [([4, -5], [4, 8, 9]), ([-4, 5], [4, 8, 9])] {
      #expect(throws: HalfWayShelf.Refusal.self) {
        try proxy.replace(at: RangeSet(0..<2), with: elements)
      }
      expectEqual(log.take(), ["setting \(left) > \(left)"])
    }
    #expect(throws: HalfWayShelf.Refusal.self) { try proxy.replace(at: 0, with: -4) }
    expectEqual(log.take(), [])
  }

  static let setMutations: [(Set<Int>, SetMutation, Set<Int>, String?)] = [
    ([1], { try $0.formUnion([-2, 3, 4]) }, [1, 4, 3], "insertion - > [3, 4]"),
    ([1], { try $0.formUnion([-2]) }, [1], nil),
    ([1, -2, 3], { try $0.subtract([-2, 3]) }, [1, -2], "removal [3] > -"),
    ([1, -2, 3], { try $0.subtract([-2]) }, [1, -2, 3], nil),
    ([1, -2, 3], { try $0.formIntersection([1]) }, [1, -2], "removal [3] > -"),
    ([-2], { try $0.formIntersection([1]) }, [-2], nil),
    ([1, -2, 3], { try $0.set([1]) }, [1, -2], "replacement [3] > []"),
    ([1], { try $0.set([5, -6]) }, [1, 5], "replacement [] > [5]"),
    ([1], { try $0.set([-6]) }, [1], nil),
  ]

  @Test(
    "D9: of a set they get the members that have been added or removed", arguments: 0..<9,
    ["few", "intersected"])
  func sets(_ row: Int, _ key: String) throws {
    let (before, mutate, left, line) = Self.setMutations[row]
    let shelf = HalfWayShelf(before)
    let log = try observe(shelf, key)
    #expect(throws: HalfWayShelf.Refusal.self) {
      try mutate(try shelf.mutableSetValue(forKey: key))
    }
    expectEqual(shelf.few, left)
    expectEqual(log.take(), line.map { [$0] } ?? [])
  }

  @Test("D9: an accessor that adds or removes one member and throws notifies")
  func oneMember() throws {
    let mutations: [(SetMutation, String?)] = [
      ({ try $0.add(2) }, "insertion - > [2]"), ({ try $0.remove(1) }, "removal [1] > -"),
      ({ try $0.add(1) }, nil), ({ try $0.remove(2) }, nil),
    ]
    for (mutate, line) in mutations {
      let shelf = HalfWayShelf(Set([1]))
      let log = try observe(shelf, "few")
      shelf.throwsAfterwards = true
      #expect(throws: HalfWayShelf.Refusal.self) {
        try mutate(try shelf.mutableSetValue(forKey: "few"))
      }
      expectEqual(log.take(), line.map { [$0] } ?? [])
    }
  }

  @Test("D9: a set accessor that throws notifies in any case")
  func setting() throws {
    let shelf = HalfWayShelf(Set([1]))
    let log = try observe(shelf, "set")
    let proxy = try shelf.mutableSetValue(forKey: "set")
    for line in ["replacement [1] > [5]", "replacement [] > []"] {
      #expect(throws: HalfWayShelf.Refusal.self) { try proxy.set([5, -6]) }
      expectEqual(log.take(), [line])
    }
  }

  private final class Log: @unchecked Sendable {
    var lines: [String] = []
    var token: KeyValueObservation?

    func take() -> [String] {
      defer { lines = [] }
      return lines
    }
  }

  private func observe(_ shelf: HalfWayShelf, _ key: String) throws -> Log {
    let log = Log()
    log.token = try shelf.observe(keyPath: key, options: [.old, .new]) { [unowned log] _, change in
      let values = [change.oldValue, change.newValue].map { value -> String in
        if let members = value as? Set<Int> { return "\(members.sorted())" }
        return value.map { "\($0)" } ?? "-"
      }
      log.lines.append("\(change.kind) \(values.joined(separator: " > "))")
    }
    return log
  }
}

/// Keys whose accessors insert and remove one element after the other, and refuse negative ones.
private final class HalfWayShelf: KVOObject, @unchecked Sendable {
  struct Refusal: Error {}

  private(set) var items: [Int] = []
  private(set) var few: Set<Int> = []
  /// Elements that can be removed, but not inserted.
  var refused: Set<Int> = []
  /// Whether the accessors throw as well when they have inserted or removed an element.
  var throwsAfterwards = false

  init(_ items: [Int]) {
    super.init()
    self.items = items
  }

  init(_ few: Set<Int>) {
    super.init()
    self.few = few
  }

  override class func registerKeys() {
    declareKeys { (keys: inout KeyDeclarations<HalfWayShelf>) in
      keys.orderedToMany(
        "list", count: { $0.items.count }, element: { $0.items[$1] },
        insert: { try $0.insert($1, at: $2) }, remove: { try $0.remove(at: $1) })
      keys.orderedToMany(
        "replaced", count: { $0.items.count }, element: { $0.items[$1] },
        insert: { try $0.insert($1, at: $2) }, remove: { try $0.remove(at: $1) },
        replace: { shelf, indexes, elements in
          for (element, index) in zip(elements, indexes.ranges.joined()) {
            try shelf.accept(element)
            shelf.items[index] = element
          }
        })
      keys.unorderedToMany(
        "few", count: { $0.few.count }, contains: { $0.few.contains($1) },
        elements: { AnySequence($0.few) }, add: { try $0.add($1) }, remove: { try $0.remove($1) })
      keys.unorderedToMany(
        "intersected", count: { $0.few.count }, contains: { $0.few.contains($1) },
        elements: { AnySequence($0.few) }, add: { try $0.add($1) }, remove: { try $0.remove($1) },
        intersect: { try $0.remove($0.few.subtracting($1)) })
      keys.unorderedToMany(
        "set", count: { $0.few.count }, contains: { $0.few.contains($1) },
        elements: { AnySequence($0.few) }, add: { try $0.add($1) }, remove: { try $0.remove($1) },
        set: { shelf, members in
          shelf.few = []
          try shelf.add(members)
        })
    }
  }

  private func insert(_ elements: [Int], at indexes: RangeSet<Int>) throws {
    for (element, index) in zip(elements, indexes.ranges.joined()) {
      try accept(element)
      if refused.contains(element) { throw Refusal() }
      items.insert(element, at: index)
      if throwsAfterwards { throw Refusal() }
    }
  }

  // From the end, so that the other indexes remain valid.
  private func remove(at indexes: RangeSet<Int>) throws {
    for index in indexes.ranges.joined().reversed() {
      try accept(items[index])
      items.remove(at: index)
      if throwsAfterwards { throw Refusal() }
    }
  }

  // From the greatest on, so that tests know the order.
  private func add(_ members: Set<Int>) throws {
    for member in members.sorted().reversed() {
      try accept(member)
      few.insert(member)
      if throwsAfterwards { throw Refusal() }
    }
  }

  private func remove(_ members: Set<Int>) throws {
    for member in members.sorted().reversed() {
      try accept(member)
      few.remove(member)
      if throwsAfterwards { throw Refusal() }
    }
  }

  private func accept(_ element: Int) throws {
    if element < 0 { throw Refusal() }
  }
}
