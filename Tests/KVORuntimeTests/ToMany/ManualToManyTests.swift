import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// H1, H4, D6: manual changes of elements.
@Suite(.leakFree) struct ManualToManyTests {
  /// A change of a shelf inside a pair, and its notifications.
  struct Step: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (Shelf) -> Void
    let lines: [String]

    init(_ name: String, _ lines: String..., run: @escaping @Sendable (Shelf) -> Void) {
      testDescription = name
      self.run = run
      self.lines = lines
    }
  }

  static let all: KeyValueObservingOptions = [.prior, .old, .new]

  /// On a shelf with the notes `a b c d`.
  static let ordered = [
    Step("insertion", "a prior insertion at 1...2", "a insertion at 1...2 new [\"x\", \"y\"]") {
      shelf in
      shelf.withChange(.insertion, at: RangeSet(1..<3), forKey: "notes") {
        shelf.notes.insert(contentsOf: ["x", "y"], at: 1)
      }
    },
    Step(
      "removal", "a prior removal at 0 2...3 old [\"a\", \"c\", \"d\"]",
      "a removal at 0 2...3 old [\"a\", \"c\", \"d\"]"
    ) { shelf in
      let indexes = RangeSet([0..<1, 2..<4])
      shelf.willChange(.removal, valuesAt: indexes, for: \.notes)
      shelf.notes.removeSubranges(indexes)
      shelf.didChange(.removal, valuesAt: indexes, for: \.notes)
    },
    Step(
      "replacement", "a prior replacement at 3 old [\"d\"]",
      "a replacement at 3 old [\"d\"] new [\"D\"]"
    ) { shelf in
      shelf.willChange(.replacement, valuesAt: RangeSet(3..<4), forKey: "notes")
      shelf.notes[3] = "D"
      shelf.didChange(.replacement, valuesAt: RangeSet(3..<4), forKey: "notes")
    },
    Step(
      "a setting", "a prior old [\"a\", \"b\", \"c\", \"d\"]",
      "a old [\"a\", \"b\", \"c\", \"d\"] new [\"z\"]"
    ) { shelf in
      shelf.withChange(.setting, at: RangeSet(0..<4), forKey: "notes") { shelf.notes = ["z"] }
    },
    Step(
      "indexes that nothing has", "a prior removal at 9 old []", "a removal at 9 old []"
    ) { shelf in
      shelf.withChange(.removal, at: RangeSet(9..<10), forKey: "notes") {}
    },
    Step(
      "no indexes", "a prior insertion at ", "a insertion at  new []"
    ) { shelf in
      shelf.withChange(.insertion, at: RangeSet(), forKey: "notes") {}
    },
  ]

  @Test("H1: the elements inserted and removed at the indexes, and the indexes", arguments: ordered)
  func orderedByHand(_ step: Step) {
    let shelf = Shelf()
    shelf.notes = ["a", "b", "c", "d"]
    let log = Recorder()
    log.observe(shelf, \.notes, Self.all)
    step.run(shelf)
    expectEqual(log.take(), step.lines)
  }

  @Test("H1: also by string and in change dictionaries", arguments: ordered)
  func orderedByString(_ step: Step) throws {
    let shelf = Shelf()
    shelf.notes = ["a", "b", "c", "d"]
    let log = Recorder()
    try log.observe(shelf, "notes", Self.all)
    let watcher = log.watcher()
    try shelf.addObserver(watcher, forKeyPath: "notes", options: Self.all)
    step.run(shelf)
    let expected = step.lines.flatMap { [$0, "w: notes" + $0.dropFirst()] }
    expectEqual(log.take(), expected)
  }

  @Test(
    "H1, D4: an observer gets the parts that it asked for",
    arguments: [
      ([], "a replacement at 0"), (.old, "a replacement at 0 old [1]"),
      (.new, "a replacement at 0 new [9]"),
    ] as [(KeyValueObservingOptions, String)])
  func asked(_ options: KeyValueObservingOptions, _ line: String) {
    let shelf = Shelf()
    shelf.numbers = [1, 2]
    let log = Recorder()
    log.observe(shelf, \.numbers, options)
    shelf.withChange(.replacement, at: RangeSet(0..<1), forKey: "numbers") {
      shelf.numbers[0] = 9
    }
    // An in-place mutation of the property is a change of its own within the pair.
    expectEqual(log.take().last, line)
  }

  @Test("H1: change dictionaries carry Swift's own types")
  func dictionaryTypes() throws {
    let shelf = Shelf()
    let log = Recorder()
    var seen: [KeyValueChangeKey: Any] = [:]
    let watcher = log.watcher { seen = $0.change ?? [:] }
    try shelf.addObserver(watcher, forKeyPath: "books", options: [.new, .old])
    shelf.withChange(.insertion, at: RangeSet(0..<1), forKey: "books") {}
    expect(seen[.kindKey] as? KeyValueChange == .insertion)
    expect(seen[.indexesKey] as? RangeSet<Int> == RangeSet(0..<1))
    expect(seen[.newKey] is [Book])
    expect(seen[.oldKey] == nil)
    try shelf.addObserver(watcher, forKeyPath: "tags", options: [.new, .old])
    shelf.withChange(.union, using: ["x"], forKey: "tags") {}
    expect(seen[.kindKey] as? KeyValueChange == .insertion)
    expect(seen[.indexesKey] == nil)
    expect(seen[.newKey] as? Set<String> == [])
  }

  /// On a shelf with the marks `1 2 3`.
  static let unordered = [
    Step("union", "a prior insertion", "a insertion new {4}") { shelf in
      shelf.willChangeValue(for: \.marks, withSetMutation: .union, using: [3, 4])
      shelf.marks.formUnion([3, 4])
      shelf.didChangeValue(for: \.marks, withSetMutation: .union, using: [3, 4])
    },
    Step("minus", "a prior removal old {2}", "a removal old {2}") { shelf in
      shelf.withChange(.minus, using: [2, 9], forKey: "marks") { shelf.marks.subtract([2, 9]) }
    },
    Step("intersect", "a prior removal old {1, 3}", "a removal old {1, 3}") { shelf in
      shelf.withChange(.intersect, using: [2, 9], forKey: "marks") {
        shelf.marks.formIntersection([2, 9])
      }
    },
    Step("set", "a prior replacement old {1, 2}", "a replacement old {1, 2} new {5}") { shelf in
      shelf.willChangeValue(forKey: "marks", withSetMutation: .set, using: [3, 5])
      shelf.marks = [3, 5]
      shelf.didChangeValue(forKey: "marks", withSetMutation: .set, using: [3, 5])
    },
    Step("nothing new", "a prior insertion", "a insertion new {}") { shelf in
      shelf.withChange(.union, using: [1], forKey: "marks") {}
    },
    Step("other than announced", "a prior removal old {1}", "a removal old {2}") { shelf in
      shelf.withChange(.minus, using: [1], forKey: "marks") { _ = shelf.marks.remove(2) }
    },
    Step("objects of other types", "a prior removal old {}", "a removal old {}") { shelf in
      shelf.withChange(.minus, using: ["1", 1.5], forKey: "marks") {}
    },
  ]

  @Test("H4: only elements really added or removed", arguments: unordered)
  func unorderedByHand(_ step: Step) throws {
    let shelf = Shelf()
    shelf.marks = [1, 2, 3]
    let log = Recorder()
    log.observe(shelf, \.marks, Self.all)
    let watcher = log.watcher()
    try shelf.addObserver(watcher, forKeyPath: "marks", options: Self.all)
    step.run(shelf)
    expectEqual(log.take(), step.lines.flatMap { [$0, "w: marks" + $0.dropFirst()] })
  }

  @Test("H1: an optional collection, nil before, delivers its new elements as an insertion")
  func optionalCollections() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.wishes, [.old, .new])
    log.observe(shelf, \.labels, [.old, .new])
    shelf.willChange(.insertion, valuesAt: RangeSet(0..<1), for: \.wishes)
    shelf.didChange(.insertion, valuesAt: RangeSet(0..<1), for: \.wishes)
    shelf.withChange(.union, using: ["x"], forKey: "labels") {}
    expectEqual(log.take(), ["a insertion at 0 new []", "a insertion new {}"])
  }

  @Test("H1: a key that holds no collection delivers no elements, and nothing is misread")
  func noCollection() throws {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.count, [.old, .new])
    shelf.withChange(.replacement, at: RangeSet(0..<1), forKey: "count") {}
    shelf.withChange(.set, using: [1], forKey: "count") {}
    expectEqual(log.take(), ["a replacement at 0", "a replacement"])
  }

  @Test("E3, D6: the pair closes and delivers when its body throws")
  func throwing() {
    struct Stop: Error {}
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.notes, .new)
    log.observe(shelf, \.marks, .new)
    #expect(throws: Stop.self) {
      try shelf.withChange(.insertion, at: RangeSet(0..<1), forKey: "notes") {
        shelf.notes.append("x")
        throw Stop()
      }
    }
    #expect(throws: Stop.self) {
      try shelf.withChange(.union, using: [1], forKey: "marks") {
        shelf.marks.insert(1)
        throw Stop()
      }
    }
    expectEqual(log.take(), ["a insertion at 0 new [\"x\"]", "a insertion new {1}"])
  }

  @Test("D8: a did without a will is reported and ignored")
  func unmatched() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let shelf = Shelf()
      shelf.didChange(.removal, valuesAt: RangeSet(0..<1), forKey: "notes")
      shelf.didChangeValue(forKey: "marks", withSetMutation: .set, using: [])
    }
    let text = try require(result).errors
    expect(text.contains("didChangeValue for \"notes\" of Shelf without a willChangeValue"))
    expect(text.contains("didChangeValue for \"marks\" of Shelf without a willChangeValue"))
  }

  @Test("H6: a negative index stops, naming class, key and index")
  func negativeIndex() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Shelf().willChange(.removal, valuesAt: RangeSet(-2..<1), forKey: "notes")
    }
    let text = try require(result).errors
    expect(text.contains("\"notes\" of Shelf was announced at the index -2"))
  }

  @Test("H1: elements are retained by the change and by nothing afterwards")
  func lifetimes() {
    let shelf = Shelf()
    shelf.books = [Book("a"), Book("b")]
    let log = Recorder()
    log.observe(shelf, \.books, Self.all)
    shelf.withChange(.replacement, at: RangeSet(0..<2), forKey: "books") {
      shelf.books = [Book("c"), Book("d")]
    }
    expectEqual(log.take().last, "a replacement at 0...1 old [a, b] new [c, d]")
  }

  @Test("H1: many indexes are passed on as ranges")
  func manyIndexes() {
    let shelf = Shelf()
    shelf.notes = (0..<1000).map { "\($0)" }
    var notified: RangeSet<Int>?
    let token = shelf.observe(\.notes, options: .old) { _, change in notified = change.indexes }
    let odd = RangeSet((0..<500).map { (2 * $0)..<(2 * $0 + 1) })
    shelf.withChange(.removal, at: odd, forKey: "notes") { shelf.notes.removeSubranges(odd) }
    expectEqual(notified, odd)
    token.invalidate()
  }
}
