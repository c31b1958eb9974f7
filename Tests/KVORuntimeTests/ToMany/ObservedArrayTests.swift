import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// H1, H2, H5, H6, E4: an array property changed element by element.
@Suite(.leakFree) struct ObservedArrayTests {
  /// A mutation of the array `0 1 2 3`, its notifications, and the result.
  struct Mutation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let mutate: @Sendable (ObservedArray<Int>) -> Void
    let lines: [String]
    let left: [Int]

    init(
      _ statement: String, _ lines: [String], left: [Int],
      mutate: @escaping @Sendable (ObservedArray<Int>) -> Void
    ) {
      testDescription = statement
      self.mutate = mutate
      self.lines = lines
      self.left = left
    }
  }

  static let cases: [Mutation] = [
    Mutation("append", ["insertion at 4 new [9]"], left: [0, 1, 2, 3, 9]) { $0.append(9) },
    Mutation("append(contentsOf:)", ["insertion at 4...5 new [8, 9]"], left: [0, 1, 2, 3, 8, 9]) {
      $0.append(contentsOf: [8, 9])
    },
    Mutation("append nothing", [], left: [0, 1, 2, 3]) { $0.append(contentsOf: []) },
    Mutation(
      "append itself", ["insertion at 4...7 new [0, 1, 2, 3]"],
      left: [0, 1, 2, 3, 0, 1, 2, 3]
    ) { $0.append(contentsOf: $0) },
    Mutation("insert first", ["insertion at 0 new [9]"], left: [9, 0, 1, 2, 3]) {
      $0.insert(9, at: 0)
    },
    Mutation("insert at the end", ["insertion at 4 new [9]"], left: [0, 1, 2, 3, 9]) {
      $0.insert(9, at: 4)
    },
    Mutation(
      "insert(contentsOf:)", ["insertion at 1...2 new [8, 9]"],
      left: [0, 8, 9, 1, 2, 3]
    ) { $0.insert(contentsOf: [8, 9], at: 1) },
    Mutation("remove(at:)", ["removal at 1 old [1]"], left: [0, 2, 3]) {
      expectEqual($0.remove(at: 1), 1)
    },
    Mutation("removeFirst", ["removal at 0 old [0]"], left: [1, 2, 3]) {
      expectEqual($0.removeFirst(), 0)
    },
    Mutation("removeFirst(2)", ["removal at 0...1 old [0, 1]"], left: [2, 3]) {
      $0.removeFirst(2)
    },
    Mutation("removeLast", ["removal at 3 old [3]"], left: [0, 1, 2]) {
      expectEqual($0.removeLast(), 3)
    },
    Mutation("removeLast(2)", ["removal at 2...3 old [2, 3]"], left: [0, 1]) { $0.removeLast(2) },
    Mutation("popLast", ["removal at 3 old [3]"], left: [0, 1, 2]) { expectEqual($0.popLast(), 3) },
    Mutation("removeSubrange", ["removal at 1...2 old [1, 2]"], left: [0, 3]) {
      $0.removeSubrange(1..<3)
    },
    Mutation("removeSubrange(1...)", ["removal at 1...3 old [1, 2, 3]"], left: [0]) {
      $0.removeSubrange(1...)
    },
    Mutation("remove an empty range", [], left: [0, 1, 2, 3]) { $0.removeSubrange(2..<2) },
    Mutation("removeSubranges", ["removal at 0 2...3 old [0, 2, 3]"], left: [1]) {
      $0.removeSubranges(RangeSet([0..<1, 2..<4]))
    },
    Mutation("removeAll", ["removal at 0...3 old [0, 1, 2, 3]"], left: []) { $0.removeAll() },
    Mutation("removeAll(where:)", ["removal at 0 2 old [0, 2]"], left: [1, 3]) {
      $0.removeAll { $0.isMultiple(of: 2) }
    },
    Mutation("removeAll(where:) of none", [], left: [0, 1, 2, 3]) { $0.removeAll { $0 > 5 } },
    Mutation("subscript", ["replacement at 2 old [2] new [9]"], left: [0, 1, 9, 3]) { $0[2] = 9 },
    Mutation("subscript +=", ["replacement at 2 old [2] new [7]"], left: [0, 1, 7, 3]) {
      $0[2] += 5
    },
    Mutation("the same again", ["replacement at 0 old [0] new [0]"], left: [0, 1, 2, 3]) {
      $0[0] = 0
    },
    Mutation("slice", ["replacement at 1...3 old [1, 2, 3] new [0, 1, 2]"], left: [0, 0, 1, 2]) {
      $0[1..<4] = $0[0..<3]
    },
    Mutation(
      "replaceSubrange by as many", ["replacement at 0...1 old [0, 1] new [8, 9]"],
      left: [8, 9, 2, 3]
    ) { $0.replaceSubrange(0..<2, with: [8, 9]) },
    Mutation("replaceSubrange by none", ["removal at 0...1 old [0, 1]"], left: [2, 3]) {
      $0.replaceSubrange(..<2, with: [])
    },
    Mutation("replaceSubrange of none", ["insertion at 2 new [9]"], left: [0, 1, 9, 2, 3]) {
      $0.replaceSubrange(2..<2, with: [9])
    },
    Mutation(
      "replaceSubrange by more",
      ["removal at 1...2 old [1, 2]", "insertion at 1...3 new [7, 8, 9]"],
      left: [0, 7, 8, 9, 3]
    ) { $0.replaceSubrange(1..<3, with: [7, 8, 9]) },
    Mutation(
      "replaceSubrange by fewer",
      ["removal at 1...3 old [1, 2, 3]", "insertion at 1 new [9]"], left: [0, 9]
    ) {
      $0.replaceSubrange(1..<4, with: [9])
    },
    Mutation("replace nothing by nothing", [], left: [0, 1, 2, 3]) {
      $0.replaceSubrange(4..<4, with: [])
    },
    Mutation("swapAt", ["replacement at 0 3 old [0, 3] new [3, 0]"], left: [3, 1, 2, 0]) {
      $0.swapAt(3, 0)
    },
    Mutation("swapAt itself", [], left: [0, 1, 2, 3]) { $0.swapAt(1, 1) },
    Mutation(
      "reverse", ["replacement at 0...3 old [0, 1, 2, 3] new [3, 2, 1, 0]"],
      left: [3, 2, 1, 0]
    ) { $0.reverse() },
    Mutation(
      "sort(by:)", ["replacement at 0...3 old [0, 1, 2, 3] new [3, 2, 1, 0]"],
      left: [3, 2, 1, 0]
    ) { $0.sort(by: >) },
    Mutation(
      "sort", ["replacement at 0...3 old [0, 1, 2, 3] new [0, 1, 2, 3]"],
      left: [0, 1, 2, 3]
    ) { $0.sort() },
    Mutation(
      "partition", ["replacement at 0...3 old [0, 1, 2, 3] new [3, 2, 1, 0]"],
      left: [3, 2, 1, 0]
    ) { expectEqual($0.partition { $0 < 2 }, 2) },
    Mutation(
      "a generic sort", ["replacement at 0...3 old [0, 1, 2, 3] new [3, 2, 1, 0]"],
      left: [3, 2, 1, 0]
    ) {
      func sortDown<C: MutableCollection & RandomAccessCollection<Int>>(_ c: inout C) {
        c.sort(by: >)
      }
      var handle = $0
      sortDown(&handle)
    },
    Mutation("a generic removal", ["removal at 1 3 old [1, 3]"], left: [0, 2]) {
      func removeOdd<C: RangeReplaceableCollection<Int>>(_ c: inout C) {
        c.removeAll { !$0.isMultiple(of: 2) }
      }
      var handle = $0
      removeOdd(&handle)
    },
    Mutation("reserveCapacity", [], left: [0, 1, 2, 3]) { $0.reserveCapacity(100) },
    Mutation("what makes others", [], left: [0, 1, 2, 3]) {
      expectEqual(Array($0 + [4]), [0, 1, 2, 3, 4])
      expectEqual(Array([4] + $0), [4, 0, 1, 2, 3])
      expectEqual(Array($0 + $0).count, 8)
      expectEqual(Array($0.filter { $0 > 1 }), [2, 3])
      expectEqual($0.map { $0 * 2 }, [0, 2, 4, 6])
      expectEqual($0.sorted(by: >), [3, 2, 1, 0])
      expectEqual(Array($0.reversed()), [3, 2, 1, 0])
      expectEqual($0.dropFirst().first, 1)
      expectEqual("\($0)", "[0, 1, 2, 3]")
      let copy = ObservedArray($0)
      copy.append(9)
      expectEqual(copy.last, 9)
    },
  ]

  @Test(
    "H2, H5: each mutation is one change, with indexes and the elements added and removed",
    arguments: cases)
  func mutations(_ mutation: Mutation) {
    let shelf = Shelf()
    shelf.numbers = [0, 1, 2, 3]
    let log = Recorder()
    log.observe(shelf, \.numbers, [.old, .new])
    mutation.mutate(shelf.mutableArray(\.numbers))
    expectEqual(log.take(), mutation.lines.map { "a " + $0 })
    expectEqual(shelf.numbers, mutation.left)
  }

  @Test("H2: also of an optional array", arguments: cases)
  func optionalMutations(_ mutation: Mutation) {
    let shelf = Shelf()
    shelf.wishes = [0, 1, 2, 3]
    let log = Recorder()
    log.observe(shelf, \.wishes, [.old, .new])
    mutation.mutate(shelf.mutableArray(\.wishes))
    expectEqual(log.take(), mutation.lines.map { "a " + $0 })
    expectEqual(shelf.wishes, mutation.left)
  }

  @Test(
    "H2: also by string, of an unobserved property, and of no property",
    arguments: cases)
  func otherMutations(_ mutation: Mutation) throws {
    let shelf = Shelf()
    shelf.numbers = [0, 1, 2, 3]
    mutation.mutate(shelf.mutableArray(\.numbers))
    expectEqual(shelf.numbers, mutation.left)
    expect(!isSwapped(shelf))

    let free = ObservedArray([0, 1, 2, 3])
    mutation.mutate(free)
    expectEqual(Array(free), mutation.left)

    shelf.numbers = [0, 1, 2, 3]
    let log = Recorder()
    let watcher = log.watcher()
    try shelf.addObserver(watcher, forKeyPath: "numbers", options: [.old, .new])
    mutation.mutate(shelf.mutableArray(\.numbers))
    expectEqual(log.take(), mutation.lines.map { "w: numbers " + $0 })
  }

  @Test("B9, H1: an array that is nil becomes one at the first insertion")
  func springsIntoBeing() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.wishes, [.old, .new])
    let wishes = shelf.mutableArray(\.wishes)
    wishes.removeAll()
    wishes.append(contentsOf: [])
    wishes.reserveCapacity(10)
    expect(wishes.isEmpty)
    expect(shelf.wishes == nil)
    wishes.append(1)
    expectEqual(shelf.wishes, [1])
    wishes.removeAll()
    expectEqual(shelf.wishes, [])
    expectEqual(log.take(), ["a insertion at 0 new [1]", "a removal at 0 old [1]"])
  }

  @Test("D5, H1: in a prior call every read gives the old elements, and is allowed")
  func priors() {
    let shelf = Shelf()
    shelf.numbers = [1, 2]
    let numbers = shelf.mutableArray(\.numbers)
    let log = Recorder()
    log.observe(shelf, \.numbers, [.prior, .old, .new]) { shelf, _ in
      log.note("\(shelf.numbers) \(Array(numbers))")
    }
    numbers.append(3)
    numbers[0] = 9
    numbers.remove(at: 1)
    expectEqual(
      log.take(),
      [
        "a prior insertion at 2", "[1, 2] [1, 2]",
        "a insertion at 2 new [3]", "[1, 2, 3] [1, 2, 3]",
        "a prior replacement at 0 old [1]", "[1, 2, 3] [1, 2, 3]",
        "a replacement at 0 old [1] new [9]", "[9, 2, 3] [9, 2, 3]",
        "a prior removal at 1 old [2]", "[9, 2, 3] [9, 2, 3]",
        "a removal at 1 old [2]", "[9, 3] [9, 3]",
      ])
  }

  @Test(
    "E4: appending to an observed array copies nothing",
    arguments: [
      .new, [.new, .prior], [.old, .new, .prior],
    ] as [KeyValueObservingOptions])
  func inPlace(_ options: KeyValueObservingOptions) {
    let shelf = Shelf()
    shelf.numbers = Array(0..<20_000)
    shelf.numbers.reserveCapacity(30_000)
    var notified = 0
    let token = shelf.observe(\.numbers, options: options) { _, change in
      notified += change.newValue?.count ?? 0
    }
    let numbers = shelf.mutableArray(\.numbers)
    let address = shelf.numbers.withUnsafeBufferPointer { $0.baseAddress }
    for number in 0..<5_000 { numbers.append(number) }
    numbers[7] = 70
    numbers.remove(at: 24_999)
    expectEqual(shelf.numbers.withUnsafeBufferPointer { $0.baseAddress }, address)
    expectEqual(notified, 5_001)
    token.invalidate()
  }

  @Test("E4: nor does it with an optional array")
  func inPlaceOptional() {
    let shelf = Shelf()
    shelf.wishes = [1]
    shelf.wishes?.reserveCapacity(1000)
    let token = shelf.observe(\.wishes, options: [.old, .new]) { _, _ in }
    let address = shelf.wishes?.withUnsafeBufferPointer { $0.baseAddress }
    for number in 0..<500 { shelf.mutableArray(\.wishes).append(number) }
    expectEqual(shelf.wishes?.withUnsafeBufferPointer { $0.baseAddress }, address)
    token.invalidate()
  }

  @Test("H1: elements live no longer than they are in the array")
  func lifetimes() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.books, [.prior, .old, .new])
    let books = shelf.mutableArray(\.books)
    books.append(Book("a"))
    books.insert(contentsOf: [Book("b"), Book("c")], at: 0)
    weak let first = books[0]
    books[0] = Book("d")
    expect(first == nil)
    weak let last = books.last
    books.removeLast()
    expect(last == nil)
    books.replaceSubrange(0..<1, with: [Book("e"), Book("f")])
    expectEqual(shelf.books.map(\.title), ["e", "f", "c"])
    books.removeAll()
  }

  /// A statement that stops the program, and the message.
  enum Misuse: String, CaseIterable {
    case read, write, insert, remove, range, swap, noFirst
  }

  @Test(
    "H6: a bad index stops before any notification, naming index, key and class",
    arguments: Misuse.allCases)
  func badIndex(_ misuse: Misuse) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [rawValue = misuse.rawValue as String] in
      let shelf = Shelf()
      shelf.numbers = [1, 2]
      let token = shelf.observe(\.numbers, options: [.prior, .new]) { _, _ in say("notified") }
      let numbers = shelf.mutableArray(\.numbers)
      switch Misuse(rawValue: rawValue)! {
      case .read: _ = numbers[2]
      case .write: numbers[-1] = 0
      case .insert: numbers.insert(0, at: 3)
      case .remove: numbers.remove(at: 2)
      case .range: numbers.removeSubrange(1..<4)
      case .swap: numbers.swapAt(0, 2)
      case .noFirst:
        shelf.mutableArray(\.wishes).removeFirst()
      }
      token.invalidate()
    }
    let text = try require(result).errors
    let index = [
      Misuse.read: "Index 2", .write: "Index -1", .insert: "The range 3..<3", .remove: "Index 2",
      .range: "The range 1..<4", .swap: "Index 2", .noFirst: "Index 0",
    ][misuse]!
    let owner =
      misuse == .noFirst
      ? "\"wishes\" of Shelf has 0" : "\"numbers\" of Shelf has 2"
    expect(text.contains("KVORuntime: \(index) is out of bounds: \(owner) elements."))
    expect(!text.contains("notified"))
  }
}
