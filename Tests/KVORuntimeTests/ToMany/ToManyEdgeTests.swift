import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// Rare cases of mutable proxies: B8, B9, H1, H4, H6, D5.
@Suite(.leakFree) struct ToManyEdgeTests {
  // MARK: Bounds

  static let indexes: [(indexes: RangeSet<Int>, index: Int)] = [
    (RangeSet(Int.min..<0), .min), (RangeSet([Int.min..<0, 1..<Int.max]), .min),
    (RangeSet(-1..<1), -1), (RangeSet(Int.max - 1..<Int.max), .max - 1),
  ]

  @Test("H6: any invalid index set is refused", arguments: indexes)
  func oddIndexes(_ indexes: RangeSet<Int>, _ index: Int) throws {
    let orchard = Orchard()
    orchard.observed = [1, 2, 3]
    let log = Recorder()
    try log.observe(orchard, "observed", [.prior])
    let array = try orchard.mutableArrayValue(forKey: "observed")
    let ordered = try orchard.mutableOrderedSetValue(forKey: "observed")
    let error = KeyValueError.indexOutOfBounds(
      key: "observed", className: "Orchard", index: index, count: 3)
    let elements = Array(repeating: 7, count: index < -1 ? 1 : index < 0 ? 2 : 1)
    #expect(throws: error) { try array.insert(elements, at: indexes) }
    #expect(throws: error) { try array.replace(at: indexes, with: elements) }
    #expect(throws: error) { try ordered.insert(elements, at: indexes) }
    #expect(throws: error) { try array.remove(at: RangeSet(integer: index)) }
    expectEqual(orchard.observed, [1, 2, 3])
    expectEqual(log.take(), [])
  }

  @Test("H6: more indexes than memory could hold are counted, not iterated over")
  func manyIndexes() throws {
    let orchard = Orchard()
    let ordered = try orchard.mutableOrderedSetValue(forKey: "observed")
    #expect(
      throws: KeyValueError.validationFailed(
        key: "observed", className: "Orchard",
        reason: "1 elements were given for \(Int.max) indexes."
      )
    ) { try ordered.insert([1], at: RangeSet(0..<Int.max)) }
  }

  @Test("H6 D6: elements that a prior observer has removed can't be changed: an error, not a stop")
  func changedByPrior() throws {
    for key in ["observed", "perhaps"] {
      let orchard = Orchard()
      let change: [(MutableArrayProxy) throws -> Void] = [
        { try $0.remove(at: 2) }, { try $0.replace(at: 2, with: 9) }, { try $0.insert(9, at: 3) },
      ]
      for change in change {
        try orchard.setValue([1, 2, 3], forKey: key)
        let token = try orchard.observe(keyPath: key, options: .prior) { orchard, change in
          if change.isPrior { try? orchard.setValue([4], forKey: key) }
        }
        let proxy = try orchard.mutableArrayValue(forKey: key)
        #expect(throws: KeyValueError.self) { try change(proxy) }
        expectEqual(proxy.map { $0 as? Int }, [4])
        token.invalidate()
      }
    }
  }

  // MARK: Iteration

  @Test("B8: a loop over a proxy has the original elements, and may remove them")
  func loops() throws {
    for key in ["observed", "accessed", "anything", "perhaps"] {
      let orchard = Orchard()
      try orchard.setValue(Array(0..<200), forKey: key)
      let proxy = try orchard.mutableArrayValue(forKey: key)
      var seen: [Int] = []
      for element in proxy {
        seen.append(element as! Int)
        try proxy.remove(at: 0)
      }
      expectEqual(seen, Array(0..<200))
      expect(proxy.isEmpty)
    }
  }

  @Test("B8: an accessor with a negative count has no elements")
  func negativeCount() throws {
    let debtor = Debtor()
    let proxy = try require(try debtor.value(forKey: "debts") as? ArrayProxy)
    expect(proxy.isEmpty && proxy.first == nil && proxy.last == nil)
    expectEqual(proxy.description, "[]")
    expect(try debtor.value(forKeyPath: "debts.@count") as? Int == 0)
    expect(try debtor.mutableArrayValue(forKey: "debts").isEmpty)
    let set = try require(try debtor.value(forKey: "kinds") as? SetProxy)
    expectEqual(set.count, 0)
  }

  @Test("B9: whether an ordered set has a member is what its accessor says, for one or for several")
  func indexAccessor() throws {
    let words = Words()
    let log = Recorder()
    try log.observe(words, "unique", .new)
    let proxy = try words.mutableOrderedSetValue(forKey: "unique")
    try proxy.insert("A", at: 0)
    try proxy.insert(["A", "q", "C"], at: RangeSet(0..<3))
    expectEqual(words.store, ["q", "a", "b", "c"])
    expect(keyValueError { try proxy.replace(at: RangeSet(0..<2), with: ["z", "B"]) } != nil)
    try proxy.replace(at: RangeSet(0..<2), with: ["A", "Q"])
    expectEqual(words.store, ["A", "Q", "b", "c"])
    expectEqual(
      log.take(), ["a insertion at 0 new [\"q\"]", "a replacement at 0...1 new [\"A\", \"Q\"]"])
  }

  // MARK: Types

  @Test(
    "H1 B13: changes of a ContiguousArray or an ArraySlice have their elements",
    arguments: ["tight", "slice"])
  func otherArrays(_ key: String) throws {
    let strip = Strip()
    let log = Recorder()
    try log.observe(strip, key, [.old, .new])
    let proxy = try strip.mutableArrayValue(forKey: key)
    try proxy.append(3)
    try proxy.remove(at: 0)
    expectEqual(strip.store, [2, 3])
    expectEqual(log.take(), ["a insertion at 2 new [3]", "a removal at 0 old [1]"])
    expect(try strip.value(forKeyPath: "\(key).@sum.self") as? Int == 5)
  }

  @Test("H1: typed observers of a ContiguousArray get its elements in its type")
  func typedArray() throws {
    let strip = Strip()
    var seen: [ContiguousArray<Int>?] = []
    let token = strip.observe(\.tight, options: [.old, .new]) { _, change in
      seen += [change.oldValue, change.newValue]
    }
    let proxy = try strip.mutableArrayValue(forKey: "tight")
    try proxy.insert(7, at: 0)
    try proxy.remove(at: 1)
    expectEqual(seen, [nil, [7], [1], nil])
    token.invalidate()
  }

  @Test("B9 H2: a stored ContiguousArray is changed by its key, with its elements")
  func storedArrays() throws {
    let strip = Strip()
    let log = Recorder()
    for key in ["stored", "perhaps"] {
      try log.observe(strip, key, [.old, .new], as: key)
      let proxy = try strip.mutableArrayValue(forKey: key)
      try proxy.append(3)
      try proxy.replace(at: 0, with: "4")
    }
    expect(strip.stored == [4, 3] && strip.perhaps == [4])
    expectEqual(
      log.take(),
      [
        "stored insertion at 1 new [3]", "stored replacement at 0 old [1] new [4]",
        "perhaps insertion at 0 new [3]", "perhaps replacement at 0 old [3] new [4]",
      ])
  }

  @Test("B9 B2: a number is a set's member if it equals one, as when it is added")
  func numbersInSets() throws {
    let bag = Bag()
    let weights = try bag.mutableSetValue(forKey: "weights")
    expect(weights.contains(1) && !weights.contains(2))
    try weights.add(2)
    try weights.remove(1)
    expectEqual(bag.weights, [2])
    try weights.formIntersection([2, 3])
    expectEqual(bag.weights, [2])
    try weights.subtract([UInt8(2)])
    expectEqual(bag.weights, [])
    let sizes = try bag.mutableSetValue(forKey: "sizes")
    try sizes.remove(1.5)
    expect(bag.sizes == [1] && !sizes.contains(1.5) && sizes.contains(1.0))
    let colours = try bag.mutableSetValue(forKey: "colours")
    try colours.add("green")
    expect(colours.contains("green") && colours.contains(Bag.Colour.green))
    try colours.remove("green")
    expectEqual(bag.colours, [.red])
  }

  @Test("B9: an ordered set has each element once, also those equal after conversion")
  func convertedTwins() throws {
    for key in ["observed", "row"] {
      let orchard = Orchard()
      orchard.observed = [1, 2]
      orchard.stock = [1, 2]
      let proxy = try orchard.mutableOrderedSetValue(forKey: key)
      try proxy.add(2.7)
      try proxy.insert([3.1, 3.9, 1], at: RangeSet(0..<3))
      expect(proxy.map(\.base) as? [Int] == [3, 1, 2])
      #expect(throws: KeyValueError.self) { try proxy.replace(at: 0, with: 2.2) }
      expect(proxy.contains(3.0))
    }
  }

  @Test("H4 H1: elements and members inside an Any, optional or not, are delivered")
  func anything() throws {
    for key in ["some", "perhaps"] {
      let bag = Bag()
      let log = Recorder()
      try log.observe(bag, key, [.old, .new, .prior])
      let set = try bag.mutableSetValue(forKey: key)
      try set.add(1)
      try set.set([2])
      try set.subtract([2, 3])
      expectEqual(
        log.take(),
        [
          "a prior insertion", "a insertion new {1}", "a prior replacement old {1}",
          "a replacement old {1} new {2}", "a prior removal old {2}", "a removal old {2}",
        ])
      try bag.setValue([5], forKey: key)
      _ = log.take()
      try bag.mutableArrayValue(forKey: key).append(6)
      try bag.mutableArrayValue(forKey: key).remove(at: 0)
      expectEqual(
        log.take(),
        [
          "a prior insertion at 1", "a insertion at 1 new [6]",
          "a prior removal at 0 old [5]", "a removal at 0 old [5]",
        ])
    }
  }

  // MARK: Errors

  @Test(
    "B9: a key without a collection is an error at the first mutation, and notifies no observer")
  func notEvenPrior() throws {
    let bag = Bag()
    let log = Recorder()
    for key in ["name", "index", "lines"] { try log.observe(bag, key, [.prior, .old, .new]) }
    for key in ["name", "index"] {
      #expect(throws: KeyValueError.self) { try bag.mutableArrayValue(forKey: key).append("x") }
      #expect(throws: KeyValueError.self) { try bag.mutableSetValue(forKey: key).add("x") }
    }
    expect(bag.name == nil && bag.index == nil)
    expectEqual(log.take(), [])
  }

  @Test("B9: elements can't be added to a lazy property that has not been initialised")
  func lazily() throws {
    let bag = Bag()
    let log = Recorder()
    try log.observe(bag, "lines", [.prior, .old, .new])
    let proxy = try bag.mutableArrayValue(forKey: "lines")
    #expect(throws: KeyValueError.self) { try proxy.append(4) }
    expectEqual(log.take(), [])
    expectEqual(bag.lines, [1, 2, 3])
    try proxy.append(4)
    expectEqual(bag.lines, [1, 2, 3, 4])
    expectEqual(log.take().count, 2)
    #expect(throws: KeyValueError.self) { try bag.mutableSetValue(forKey: "marks").add(4) }
    expectEqual(bag.marks, [1])
    #expect(throws: KeyValueError.self) { try bag.mutableArrayValue(forKey: "notes").append(4) }
    expect(bag.notes == nil)
    try bag.mutableArrayValue(forKey: "notes").append(4)
    expectEqual(bag.notes, [4])
    try bag.mutableArrayValue(forKey: "declared").append(4)
    expectEqual(bag.declared, [1, 4])
  }

  @Test("B9: inserting nothing into a nil set leaves it nil")
  func nothingIntoNil() throws {
    let orchard = Orchard()
    let proxy = try orchard.mutableSetValue(forKey: "perhapsSet")
    try proxy.formUnion([])
    try proxy.set([])
    expect(orchard.perhapsSet == nil)
    try proxy.set([1])
    expectEqual(orchard.perhapsSet, [1])
  }

  @Test("H6: a mutation refused half way is rolled back, without notifying")
  func refusedHalfWay() throws {
    let picky = Picky()
    let log = Recorder()
    for key in ["items", "tags"] { try log.observe(picky, key, [.old, .new]) }
    #expect(throws: Picky.Refusal()) {
      try picky.mutableArrayValue(forKey: "items").replace(
        at: RangeSet([0..<1, 2..<3]), with: [7, 13])
    }
    expectEqual(picky.list, [1, 2, 3])
    #expect(throws: Picky.Refusal()) { try picky.mutableSetValue(forKey: "tags").set([2, 13]) }
    expectEqual(picky.set, [1, 2])
    expectEqual(log.take(), [])
    try picky.mutableArrayValue(forKey: "items").replace(at: 1, with: 9)
    try picky.mutableSetValue(forKey: "tags").set([2, 4])
    expectEqual(
      log.take(), ["a replacement at 1 old [2] new [9]", "a replacement old {1} new {4}"])
  }

  @Test("H6: a partial change that can't be rolled back is delivered")
  func lost() throws {
    let picky = Picky()
    picky.isFull = true
    let log = Recorder()
    for key in ["items", "tags"] { try log.observe(picky, key, [.old, .new]) }
    #expect(throws: Picky.Refusal()) {
      try picky.mutableArrayValue(forKey: "items").replace(at: 2, with: 7)
    }
    #expect(throws: Picky.Refusal()) { try picky.mutableSetValue(forKey: "tags").set([2, 4]) }
    expect(picky.list == [1, 2] && picky.set == [2])
    expectEqual(log.take(), ["a old [1, 2] new [1, 2]", "a replacement old {1} new {}"])
  }

  // MARK: Lifetimes

  private static let removals: [@Sendable (Owner) throws -> Void] = [
    { try $0.mutableArrayValue(forKey: "parts").remove(at: RangeSet(0..<1)) },
    { try $0.mutableArrayValue(forKey: "parts").replace(at: 0, with: $0.part()) },
    { try $0.mutableArrayValue(forKey: "parts").removeAll() },
    { $0.mutableArray(\.parts).removeSubrange(0..<1) },
    { $0.mutableArray(\.parts).removeAll() },
    { $0.mutableArray(\.parts)[0] = $0.part() },
    { $0.mutableArray(\.parts).replaceSubrange(0..<1, with: [$0.part()]) },
    { try $0.mutableSetValue(forKey: "members").set([]) },
    { try $0.mutableSetValue(forKey: "members").formIntersection([]) },
    { $0.mutableSet(\.members).removeAll() },
    { $0.mutableSet(\.members).set([]) },
    { $0.mutableSet(\.members).formIntersection([]) },
  ]

  @Test(
    "H2: removed elements die once their collection may be used again", arguments: removals.indices)
  func deinits(_ index: Int) throws {
    let owner = Owner()
    owner.fill()
    try Self.removals[index](owner)
    expect(owner.ended > 0)
    owner.empty()
  }
}

private final class Debtor: KVOObject {
  override class func registerKeys() {
    declareKeys { keys in
      keys.orderedToMany(
        "debts", count: { _ in -3 }, element: { _, index in index },
        insert: { _, _, _ in }, remove: { _, _ in })
      keys.unorderedToMany(
        "kinds", count: { _ in -1 }, contains: { _, _ in false },
        elements: { _ in AnySequence([Int]()) })
    }
  }
}

private final class Bag: KVOObject {
  enum Colour: String { case red, green }

  @Observed var weights: Set<Double> = [1]
  @Observed var sizes: Set<Int> = [1]
  @Observed var colours: Set<Colour> = [.red]
  @Observed var some: Any = Set<Int>()
  @Observed var perhaps: Any?
  @Observed var name: String?
  @Observed var index: [String: Int]?
  lazy var lines = [1, 2, 3]
  lazy var marks: Set = [1]
  lazy var notes: [Int]? = nil
  lazy var declared = [1]

  override class func registerKeys() {
    declareKeys { $0.stored("declared", \.declared) }
  }
}

/// Refuses 13.
private final class Picky: KVOObject {
  struct Refusal: Error, Equatable {}
  var list = [1, 2, 3]
  var set: Set = [1, 2]
  var isFull = false

  private func check(_ numbers: some Sequence<Int>) throws {
    if isFull || numbers.contains(13) { throw Refusal() }
  }

  override class func registerKeys() {
    declareKeys { (keys: inout KeyDeclarations<Picky>) in
      keys.orderedToMany(
        "items", count: { $0.list.count }, element: { $0.list[$1] },
        insert: { picky, numbers, indexes in
          try picky.check(numbers)
          for (number, index) in zip(numbers, indexes.ranges.joined()) {
            picky.list.insert(number, at: index)
          }
        },
        remove: { $0.list.removeSubranges($1) })
      keys.unorderedToMany(
        "tags", count: { $0.set.count }, contains: { $0.set.contains($1) },
        elements: { AnySequence($0.set) },
        add: { picky, numbers in
          try picky.check(numbers)
          picky.set.formUnion(numbers)
        },
        remove: { $0.set.subtract($1) })
    }
  }
}

/// Uses its owner's collections in its deinit.
private final class Part: KVOObject {
  unowned let owner: Owner
  init(_ owner: Owner) { self.owner = owner }
  deinit { owner.noteEnd() }
}

private final class Owner: KVOObject {
  @Observed var parts: [Part] = []
  @Observed var members: Set<Part> = []
  var ended = 0

  func part() -> Part { Part(self) }

  func noteEnd() {
    ended += 1
    expect(parts.count + members.count <= 4)
  }

  func fill() {
    parts = [part(), part()]
    members = [part(), part()]
  }

  func empty() {
    let (parts, members) = (parts, members)
    self.parts = []
    self.members = []
    withExtendedLifetime((parts, members)) {}
  }
}

/// Finds its words whatever their case.
private final class Words: KVOObject {
  var store = ["a", "b", "c"]

  override class func registerKeys() {
    declareKeys { (keys: inout KeyDeclarations<Words>) in
      keys.orderedSet(
        "unique", count: { $0.store.count }, element: { $0.store[$1] },
        index: { words, word in words.store.firstIndex { $0.lowercased() == word.lowercased() } },
        insert: { words, new, indexes in
          for (word, index) in zip(new, indexes.ranges.joined()) {
            words.store.insert(word, at: index)
          }
        },
        remove: { $0.store.removeSubranges($1) })
    }
  }
}

private final class Strip: KVOObject {
  var store = [1, 2]
  var tight: ContiguousArray<Int> { ContiguousArray(store) }
  var slice: ArraySlice<Int> { store[...] }
  @Observed var stored: ContiguousArray = [1]
  @Observed var perhaps: ContiguousArray<Int>?

  override class func registerKeys() {
    declareKeys { (keys: inout KeyDeclarations<Strip>) in
      keys.computed("tight", \.tight, affectedBy: [])
      keys.computed("slice", \.slice, affectedBy: [])
      for key in ["tight", "slice"] {
        keys.orderedToMany(
          key, count: { $0.store.count }, element: { $0.store[$1] },
          insert: { strip, new, indexes in
            for (number, index) in zip(new, indexes.ranges.joined()) {
              strip.store.insert(number, at: index)
            }
          },
          remove: { $0.store.removeSubranges($1) })
      }
    }
  }
}
