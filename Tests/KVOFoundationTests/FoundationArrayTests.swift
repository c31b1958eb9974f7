import Expectations
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// B9, H1, H2, H5: `NSMutableArray`'s method names on proxies and typed handles.
@Suite(.leakFree) struct FoundationArrayTests {
  /// A mutation of `0 1 2 1`, its notifications, and the result.
  struct Step: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let lines: [String]
    let left: [Int]
    let run: @Sendable (MutableArrayProxy) throws -> Void
    let handle: @Sendable (ObservedArray<Int>) -> Void

    init(
      _ name: String, _ lines: [String], left: [Int],
      run: @escaping @Sendable (MutableArrayProxy) throws -> Void,
      handle: @escaping @Sendable (ObservedArray<Int>) -> Void
    ) {
      testDescription = name
      self.lines = lines
      self.left = left
      self.run = run
      self.handle = handle
    }
  }

  static let steps: [Step] = [
    Step("add", ["insertion at 4 new [9]"], left: [0, 1, 2, 1, 9]) {
      try $0.add(9)
    } handle: {
      $0.add(9)
    },
    Step("addObjects", ["insertion at 4...5 new [8, 9]"], left: [0, 1, 2, 1, 8, 9]) {
      try $0.addObjects(from: [8, 9])
    } handle: {
      $0.addObjects(from: [8, 9])
    },
    Step("insert at indexes", ["insertion at 0 2 new [8, 9]"], left: [8, 0, 9, 1, 2, 1]) {
      try $0.insert([8, 9], at: RangeSet([0, 2]))
    } handle: {
      $0.insert([8, 9], at: RangeSet([0, 2]))
    },
    Step("remove wherever it is", ["removal at 1 3 old [1, 1]"], left: [0, 2]) {
      try $0.remove(1)
    } handle: {
      $0.remove(1)
    },
    Step("remove what is not there", [], left: [0, 1, 2, 1]) {
      try $0.remove(7)
    } handle: {
      $0.remove(7)
    },
    Step("removeObjects in others", ["removal at 0...1 3 old [0, 1, 1]"], left: [2]) {
      try $0.removeObjects(in: [1, 7, 0])
    } handle: {
      $0.removeObjects(in: [1, 7, 0])
    },
    Step("removeObjects in none", [], left: [0, 1, 2, 1]) {
      try $0.removeObjects(in: [])
    } handle: {
      $0.removeObjects(in: [])
    },
    Step("removeObjects in a range", ["removal at 1...2 old [1, 2]"], left: [0, 1]) {
      try $0.removeObjects(in: 1..<3)
    } handle: {
      $0.removeObjects(in: 1..<3)
    },
    Step("removeObjects at", ["removal at 0 2 old [0, 2]"], left: [1, 1]) {
      try $0.removeObjects(at: RangeSet([0, 2]))
    } handle: {
      $0.removeObjects(at: RangeSet([0, 2]))
    },
    Step("removeObject", ["removal at 0 old [0]"], left: [1, 2, 1]) {
      try $0.removeObject(at: 0)
    } handle: {
      $0.removeObject(at: 0)
    },
    Step("removeLastObject", ["removal at 3 old [1]"], left: [0, 1, 2]) {
      try $0.removeLastObject()
    } handle: {
      $0.removeLastObject()
    },
    Step("removeAllObjects", ["removal at 0...3 old [0, 1, 2, 1]"], left: []) {
      try $0.removeAllObjects()
    } handle: {
      $0.removeAllObjects()
    },
    Step("replaceObject", ["replacement at 2 old [2] new [9]"], left: [0, 1, 9, 1]) {
      try $0.replaceObject(at: 2, with: 9)
    } handle: {
      $0.replaceObject(at: 2, with: 9)
    },
    Step("replaceObjects", ["replacement at 0 3 old [0, 1] new [8, 9]"], left: [8, 1, 2, 9]) {
      try $0.replaceObjects(at: RangeSet([0, 3]), with: [8, 9])
    } handle: {
      $0.replaceObjects(at: RangeSet([0, 3]), with: [8, 9])
    },
    Step("setArray", ["old [0, 1, 2, 1] new [5, 6]"], left: [5, 6]) {
      try $0.setArray([5, 6])
    } handle: {
      $0.setArray([5, 6])
    },
    Step("setArray of nothing", ["old [0, 1, 2, 1] new []"], left: []) {
      try $0.setArray([])
    } handle: {
      $0.setArray([])
    },
    Step("exchangeObject", ["replacement at 0 2 old [0, 2] new [2, 0]"], left: [2, 1, 0, 1]) {
      try $0.exchangeObject(at: 2, withObjectAt: 0)
    } handle: {
      $0.exchangeObject(at: 2, withObjectAt: 0)
    },
    Step("exchange one with itself", [], left: [0, 1, 2, 1]) {
      try $0.exchangeObject(at: 2, withObjectAt: 2)
    } handle: {
      $0.exchangeObject(at: 2, withObjectAt: 2)
    },
    Step(
      "sort", ["replacement at 0...3 old [0, 1, 2, 1] new [2, 1, 1, 0]"], left: [2, 1, 1, 0]
    ) {
      try $0.sort { ($0 as! Int) > ($1 as! Int) }
    } handle: {
      $0.sort { $0 > $1 }
    },
    Step("remove in a range", ["removal at 3 old [1]"], left: [0, 1, 2]) {
      try $0.remove(1, in: 2..<4)
    } handle: {
      $0.remove(1, in: 2..<4)
    },
    Step("remove in a range without it", [], left: [0, 1, 2, 1]) {
      try $0.remove(1, in: 2..<3)
    } handle: {
      $0.remove(1, in: 2..<3)
    },
    Step(
      "replaceObjects in a range by as many", ["replacement at 1...2 old [1, 2] new [8, 9]"],
      left: [0, 8, 9, 1]
    ) {
      try $0.replaceObjects(in: 1..<3, withObjectsFrom: [8, 9])
    } handle: {
      $0.replaceObjects(in: 1..<3, withObjectsFrom: [8, 9])
    },
    Step(
      "replaceObjects in a range by more",
      ["removal at 1 old [1]", "insertion at 1...2 new [8, 9]"], left: [0, 8, 9, 2, 1]
    ) {
      try $0.replaceObjects(in: 1..<2, withObjectsFrom: [8, 9])
    } handle: {
      $0.replaceObjects(in: 1..<2, withObjectsFrom: [8, 9])
    },
    Step("replaceObjects in a range by none", ["removal at 0...1 old [0, 1]"], left: [2, 1]) {
      try $0.replaceObjects(in: 0..<2, withObjectsFrom: [])
    } handle: {
      $0.replaceObjects(in: 0..<2, withObjectsFrom: [])
    },
    Step(
      "replaceObjects in no range", ["insertion at 4...5 new [8, 9]"], left: [0, 1, 2, 1, 8, 9]
    ) {
      try $0.replaceObjects(in: 4..<4, withObjectsFrom: [8, 9])
    } handle: {
      $0.replaceObjects(in: 4..<4, withObjectsFrom: [8, 9])
    },
    Step("replaceObjects in no range by none", [], left: [0, 1, 2, 1]) {
      try $0.replaceObjects(in: 2..<2, withObjectsFrom: [])
    } handle: {
      $0.replaceObjects(in: 2..<2, withObjectsFrom: [])
    },
    Step(
      "replaceObjects by those of a range", ["replacement at 3 old [1] new [8]"],
      left: [0, 1, 2, 8]
    ) {
      try $0.replaceObjects(in: 3..<4, withObjectsFrom: [7, 8, 9], range: 1..<2)
    } handle: {
      $0.replaceObjects(in: 3..<4, withObjectsFrom: [7, 8, 9], range: 1..<2)
    },
    Step("subscript", ["replacement at 1 old [1] new [9]"], left: [0, 9, 2, 1]) {
      $0[1] = 9
    } handle: {
      $0[1] = 9
    },
  ]

  private func lines(_ step: Step) -> [String] { step.lines.map { "a \($0)" } }

  @Test(
    "B9, H2, H5: each operation of a proxy is one change, whatever stores the key",
    arguments: Secret.keys, steps)
  func proxies(_ key: String, _ step: Step) throws {
    let orchard = try Secret.filled(key)
    orchard.stock = [0, 1, 2, 1]
    if !["grown", "tended", "accessed"].contains(key) {
      try orchard.setValue([0, 1, 2, 1], forKey: key)
    }
    let log = Recorder()
    try log.observe(orchard, key, [.old, .new])
    let proxy = try orchard.mutableArrayValue(forKey: key)
    try step.run(proxy)
    expectEqual(log.take(), lines(step))
    expectEqual(proxy.map { $0 as? Int }, step.left)
  }

  @Test("H2, H5: each operation of a handle is one change", arguments: steps)
  func handles(_ step: Step) {
    let shelf = Shelf()
    shelf.numbers = [0, 1, 2, 1]
    shelf.wishes = [0, 1, 2, 1]
    let log = Recorder()
    log.observe(shelf, \.numbers, [.old, .new])
    step.handle(shelf.mutableArray(\.numbers))
    expectEqual(log.take(), lines(step))
    expectEqual(shelf.numbers, step.left)
    log.observe(shelf, \.wishes, [.old, .new])
    step.handle(shelf.mutableArray(\.wishes))
    expectEqual(log.take(), lines(step))
    expectEqual(shelf.wishes, step.left)
    let free = ObservedArray([0, 1, 2, 1])
    step.handle(free)
    expectEqual(Array(free), step.left)
  }

  @Test("H2: a handle of a declared key that is not @Observed notifies of settings")
  func declared() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.notes, [.old, .new])
    shelf.mutableArray(\.notes).setArray(["a"])
    shelf.mutableArray(\.notes).add("b")
    expectEqual(log.take(), ["a old [] new [\"a\"]", "a insertion at 1 new [\"b\"]"])
  }

  @Test("B9: the accessors for several elements are called once")
  func calls() throws {
    let orchard = Orchard()
    orchard.stock = [3, 1, 2]
    let proxy = try orchard.mutableArrayValue(forKey: "tended")
    let attempts: [(String, () throws -> Void)] = [
      ("remove", { try proxy.removeObjects(in: [1, 2]) }),
      ("remove insert(3)", { try proxy.setArray([7, 8, 9]) }),
      ("replace(2)", { try proxy.exchangeObject(at: 0, withObjectAt: 2) }),
      ("replace(3)", { try proxy.sort { ($0 as! Int) < ($1 as! Int) } }),
      ("remove", { try proxy.setArray([]) }), ("insert(1)", { try proxy.setArray([1]) }),
    ]
    for (calls, attempt) in attempts {
      _ = orchard.takeCalls()
      try attempt()
      let changing = orchard.takeCalls().filter { $0 != "count" && !$0.hasPrefix("element") }
      expectEqual(changing.joined(separator: " "), calls)
    }
  }

  @Test("B9: an accessor that refuses the new elements keeps the old ones")
  func refused() throws {
    let picky = PickyOrchard()
    picky.stock = [1, 2]
    let log = Recorder()
    try log.observe(picky, "picked", [.old, .new])
    let proxy = try picky.mutableArrayValue(forKey: "picked")
    #expect(throws: Orchard.Refusal.self) { try proxy.setArray([12, 13]) }
    expect(picky.stock == [1, 2] && log.take() == [])
  }

  @Test(
    "B9: an absent element is not found; unhashable ones are found by == or identity")
  func searching() throws {
    let shelf = Shelf()
    shelf.numbers = [4, 5, 4]
    let numbers = try shelf.mutableArrayValue(forKey: "numbers")
    expect(numbers.contains(5) && numbers.contains(5.0) && !numbers.contains("5"))
    expect(numbers.index(of: 4) == 0 && numbers.index(of: 9) == Int.max)
    expectEqual(numbers.objects(at: RangeSet([0, 2])).map { $0 as? Int }, [4, 4])
    expectEqual(shelf.mutableArray(\.numbers).index(of: 4), 0)
    expectEqual(shelf.mutableArray(\.numbers).index(of: 9), Int.max)
    let handle = shelf.mutableArray(\.numbers)
    for (value, range, index) in [(4, 1..<3, 2), (4, 0..<3, 0), (5, 0..<1, .max), (4, 1..<1, .max)]
    {
      expectEqual(numbers.index(of: value, in: range), index)
      expectEqual(handle.index(of: value, in: range), index)
    }
    expectEqual(numbers.subarray(with: 1..<3).map { $0 as? Int }, [5, 4])
    expect(handle.subarray(with: 1..<3) == [5, 4] && handle.subarray(with: 3..<3) == [])
    expect(numbers.firstObjectCommon(with: [9, 4, 5]) as? Int == 4)
    expect(
      handle.firstObjectCommon(with: [9, 5]) == 5 && handle.firstObjectCommon(with: []) == nil)
    expect(numbers.firstObjectCommon(with: [9]) == nil)
    for (other, isEqual) in [([4, 5, 4], true), ([4, 5], false), ([4, 4, 5], false)] {
      expect(numbers.isEqual(to: other) == isEqual && handle.isEqual(to: other) == isEqual)
    }
    let things = Things()
    let (pair, thing) = (Things.Pair(a: 1), Things.Thing())
    things.list = [pair, thing, Things.Thing(), 1]
    let list = try things.mutableArrayValue(forKey: "list")
    expect(list.contains(Things.Pair(a: 1)) && !list.contains(Things.Pair(a: 2)))
    expect(list.index(of: thing) == 1 && !list.contains(Things.Thing()))
    expectEqual(list.indexOfObjectIdentical(to: thing), 1)
    expectEqual(list.indexOfObjectIdentical(to: 1), Int.max)
    expectEqual(list.indexOfObjectIdentical(to: thing, in: 1..<2), 1)
    expectEqual(list.indexOfObjectIdentical(to: thing, in: 2..<4), Int.max)
    try list.remove(thing)
    try list.removeObjects(in: [Things.Pair(a: 1), 1])
    expectEqual(list.count, 1)
    let books = [Book("a"), Book("a"), Book("b")]
    shelf.books = books
    try shelf.mutableArrayValue(forKey: "books").removeObject(identicalTo: books[1])
    expectEqual(
      shelf.books.map(ObjectIdentifier.init), [books[0], books[2]].map(ObjectIdentifier.init))
  }

  @Test(
    "B9 H1: adding to or joining the elements returns a new value, and notifies no observer")
  func others() throws {
    let shelf = Shelf()
    shelf.numbers = [4, 5]
    let log = Recorder()
    log.observe(shelf, \.numbers)
    let (handle, proxy) = (
      shelf.mutableArray(\.numbers), try shelf.mutableArrayValue(forKey: "numbers")
    )
    expect(handle.adding(6) == [4, 5, 6] && handle.addingObjects(from: [6, 7]) == [4, 5, 6, 7])
    expect(proxy.adding(6) as? [Int] == [4, 5, 6])
    expect(proxy.addingObjects(from: [6, 7]) as? [Int] == [4, 5, 6, 7])
    expectEqual(handle.componentsJoined(by: ", "), "4, 5")
    expectEqual(proxy.componentsJoined(by: "-"), "4-5")
    expect(shelf.numbers == [4, 5] && log.take() == [])
    let things = Things()
    things.list = [1, Optional<Int>.none as Any, Optional(2) as Any]
    expectEqual(try things.mutableArrayValue(forKey: "list").componentsJoined(by: " "), "1 nil 2")
    expectEqual(ObservedArray<Int?>([1, nil]).componentsJoined(by: " "), "1 nil")
    expectEqual(ObservedArray<Int>().componentsJoined(by: " "), "")
  }

  @Test("H2: an object is found and removed by identity, also in a range, by one removal")
  func identity() throws {
    let (one, other) = (Person(), Person())
    for isHandle in [false, true] {
      let crowd = Crowd()
      crowd.people = [one, other, one, other]
      let log = Recorder()
      log.observe(crowd, \.people)
      let (handle, proxy) = (
        crowd.mutableArray(\.people), try crowd.mutableArrayValue(forKey: "people")
      )
      expectEqual(handle.indexOfObjectIdentical(to: other), 1)
      expectEqual(handle.indexOfObjectIdentical(to: other, in: 2..<4), 3)
      expectEqual(handle.indexOfObjectIdentical(to: Person()), Int.max)
      if isHandle {
        handle.removeObject(identicalTo: other, in: 2..<4)
        handle.removeObject(identicalTo: one)
        handle.removeObject(identicalTo: one)
      } else {
        try proxy.removeObject(identicalTo: other, in: 2..<4)
        try proxy.removeObject(identicalTo: one)
        try proxy.removeObject(identicalTo: one)
      }
      expect(crowd.people.count == 1 && crowd.people[0] === other)
      expectEqual(log.take(), ["a removal at 3", "a removal at 0 2"])
    }
  }

  private final class Person {}
  private final class Crowd: KVOObject {
    @Observed var people: [Person] = []
  }

  @Test("H6: an invalid range, or an element of another type, changes nothing")
  func rangeErrors() throws {
    let shelf = Shelf()
    shelf.numbers = [1, 2]
    let log = Recorder()
    log.observe(shelf, \.numbers)
    let numbers = try shelf.mutableArrayValue(forKey: "numbers")
    func beyond(_ index: Int) -> KeyValueError {
      .indexOutOfBounds(key: "numbers", className: "Shelf", index: index, count: 2)
    }
    expectEqual(
      keyValueError { try numbers.replaceObjects(in: 1..<3, withObjectsFrom: []) }, beyond(2))
    expectEqual(
      keyValueError { try numbers.replaceObjects(in: 3..<3, withObjectsFrom: [1]) }, beyond(3))
    expectEqual(keyValueError { try numbers.remove(1, in: 5..<5) }, beyond(5))
    expectEqual(keyValueError { try numbers.remove(1, in: 0..<3) }, beyond(2))
    expectEqual(
      keyValueError { try numbers.replaceObjects(in: 0..<1, withObjectsFrom: [3, [1]]) },
      .typeMismatch(key: "numbers", className: "Shelf", expected: "Int", found: "[Int]"))
    expect(shelf.numbers == [1, 2] && log.take() == [])
    let orchard = Orchard()
    orchard.stock = [1, 2, 3]
    orchard.refusal = nil
    let grown = try orchard.mutableArrayValue(forKey: "grown")
    try grown.replaceObjects(in: 0..<2, withObjectsFrom: [7, 8, 9])
    expectEqual(orchard.stock, [7, 8, 9, 3])
  }

  private final class Things: KVOObject {
    struct Pair: Equatable { var a: Int }
    final class Thing {}
    @Observed var list: [Any] = []
  }

  @Test("B8: a lazy proxy can be searched, too")
  func lazy() throws {
    let orchard = Orchard()
    orchard.stock = [3, 4]
    let proxy = try require(try orchard.value(forKey: "trees") as? ArrayProxy)
    expect(proxy.contains(4) && proxy.index(of: 4) == 1 && proxy.index(of: 5) == .max)
    expectEqual(proxy.objects(at: RangeSet(0..<2)).map { $0 as? Int }, [3, 4])
    orchard.garden = [1, 2]
    let herbs = try require(try orchard.value(forKey: "herbs") as? SetProxy)
    expectEqual(Set(herbs.allObjects.map { $0 as? Int }), [1, 2])
    expect(herbs.member(2) as? Int == 2 && herbs.member(3) == nil && herbs.anyObject() != nil)
  }

  @Test("H6: an invalid index of a proxy is an error, and changes nothing")
  func errors() throws {
    let shelf = Shelf()
    shelf.numbers = [1, 2]
    let log = Recorder()
    log.observe(shelf, \.numbers)
    let numbers = try shelf.mutableArrayValue(forKey: "numbers")
    let beyond = KeyValueError.indexOutOfBounds(
      key: "numbers", className: "Shelf", index: 2, count: 2)
    expectEqual(keyValueError { try numbers.exchangeObject(at: 0, withObjectAt: 2) }, beyond)
    expectEqual(keyValueError { try numbers.exchangeObject(at: 2, withObjectAt: 2) }, beyond)
    expect(keyValueError { try numbers.exchangeObject(at: -1, withObjectAt: 0) } != nil)
    expectEqual(
      keyValueError { try numbers.setArray([1, [1]]) },
      .typeMismatch(key: "numbers", className: "Shelf", expected: "Int", found: "[Int]"))
    let readOnly = try Orchard().mutableArrayValue(forKey: "fixed")
    let refusal = KeyValueError.readOnly(key: "fixed", className: "Orchard")
    expectEqual(keyValueError { try readOnly.remove(9) }, refusal)
    expectEqual(keyValueError { try readOnly.setArray([]) }, refusal)
    expectEqual(keyValueError { try readOnly.sort { _, _ in false } }, refusal)
    expectEqual(log.take(), [])
    numbers[2] = 3
    expect(shelf.numbers == [1, 2, 3] && log.take() == ["a insertion at 2"])
  }

  @Test("H6: an invalid subscript set stops the program, naming key, class and index")
  func subscripts() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let shelf = Shelf()
      let numbers = try shelf.mutableArrayValue(forKey: "numbers")
      numbers[1] = 5
    }
    let text = try require(result).errors
    expect(text.contains("\"numbers\" of Shelf has no elements, and none at index 1."))
    let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Shelf().mutableArray(\.numbers).replaceObjects(at: RangeSet(0..<2), with: [1])
    }
    let handle = try require(other).errors
    expect(handle.contains("1 elements were given for 2 indexes of \"numbers\" of Shelf."))
  }
}
