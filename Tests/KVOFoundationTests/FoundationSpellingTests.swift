import Expectations
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// The method names of Foundation's collections, which code from Apple's platforms calls.
@Suite(.leakFree) struct FoundationSpellingTests {
  @Test("B9: a mutable array proxy has NSMutableArray's names, each call one change")
  func array() throws {
    let shelf = Shelf()
    let log = Recorder()
    let books = try shelf.mutableArrayValue(forKey: "books")
    log.observe(shelf, \.books, [.old, .new])
    try books.add("a")
    try books.addObjects(from: ["b", "c", "d"])
    expect(books.object(at: 1) as? String == "b")
    expect(books.firstObject as? String == "a" && books.lastObject as? String == "d")
    try books.replaceObject(at: 0, with: "A")
    try books.replaceObjects(at: RangeSet([1, 3]), with: ["B", "D"])
    try books.removeObject(at: 0)
    try books.removeLastObject()
    try books.removeObjects(at: RangeSet(integer: 0))
    expectEqual(shelf.books, ["c"])
    try books.removeAllObjects()
    expect(books.firstObject == nil && books.lastObject == nil)
    expectEqual(
      log.take(),
      [
        "a insertion at 0 new [\"a\"]", "a insertion at 1...3 new [\"b\", \"c\", \"d\"]",
        "a replacement at 0 old [\"a\"] new [\"A\"]",
        "a replacement at 1 3 old [\"b\", \"d\"] new [\"B\", \"D\"]",
        "a removal at 0 old [\"A\"]", "a removal at 2 old [\"D\"]", "a removal at 0 old [\"B\"]",
        "a removal at 0 old [\"c\"]",
      ])
  }

  @Test("B9: a mutable set proxy has NSMutableSet's names, each call one change")
  func set() throws {
    let shelf = Shelf()
    let log = Recorder()
    let tags = try shelf.mutableSetValue(forKey: "tags")
    log.observe(shelf, \.tags, [.old, .new])
    try tags.addObjects(from: ["a"])
    try tags.union(["b"])
    try tags.minus(["a"])
    try tags.setSet(["c"])
    try tags.intersect(["d"])
    try tags.setSet(["e"])
    try tags.removeAllObjects()
    expect(shelf.tags.isEmpty)
    expectEqual(
      log.take(),
      [
        "a insertion new {a}", "a insertion new {b}", "a removal old {a}",
        "a replacement old {b} new {c}", "a removal old {c}", "a replacement old {} new {e}",
        "a removal old {e}",
      ])
  }

  @Test("B9: a mutable ordered set proxy has NSMutableOrderedSet's names")
  func orderedSet() throws {
    let shelf = Shelf()
    let books = try shelf.mutableOrderedSetValue(forKey: "books")
    for book in ["a", "b", "c", "d"] { try books.add(book) }
    expectEqual(books.object(at: 2), AnyHashable("c"))
    try books.replaceObject(at: 0, with: "A")
    try books.removeObject(at: 1)
    expectEqual(shelf.books, ["A", "c", "d"])
    try books.removeObjects(at: RangeSet(integersIn: 0...1))
    expectEqual(shelf.books, ["d"])
    try books.removeAllObjects()
    expect(shelf.books.isEmpty)
  }

  @Test("B8: a lazy array proxy has NSArray's names")
  func lazyArray() throws {
    let proxy = try require(try Shelf().value(forKey: "numbers") as? ArrayProxy)
    expect(proxy.object(at: 1) as? Int == 10)
    expect(proxy.firstObject as? Int == 0 && proxy.lastObject as? Int == 20)
    expectEqual(proxy.componentsJoined(by: ", "), "0, 10, 20")
    expect(proxy.adding(1) as? [Int] == [0, 10, 20, 1])
    expect(proxy.addingObjects(from: [1, 2]) as? [Int] == [0, 10, 20, 1, 2])
  }

  @Test("B10: a value held as an object is validated, replaced or refused")
  func validation() throws {
    let shelf = Shelf()
    var label: AnyObject? = " a " as AnyObject
    try shelf.validateValue(&label, forKey: "label")
    expect(label as? String == "a")
    try shelf.setValue(label, forKey: "label")
    expectEqual(shelf.label, "a")
    var none: AnyObject?
    #expect(throws: Shelf.Unlabelled.self) { try shelf.validateValue(&none, forKey: "label") }
    expect(none == nil)
  }

  @Test("H1: indexes are made and read like those of an IndexSet")
  func indexes() {
    let indexes = RangeSet([7, 2, 3])
    expectEqual(indexes, RangeSet([2..<4, 7..<8]))
    expectEqual(RangeSet(integer: 5), RangeSet(5..<6))
    expectEqual(RangeSet(integersIn: 1..<3), RangeSet(integersIn: 1...2))
    expect(indexes.count == 3 && indexes.first == 2 && indexes.last == 7)
    expect(indexes.map { $0 * 2 } == [4, 6, 14] && indexes.reversed() == [7, 3, 2])
    var seen: [Int] = []
    func note(_ index: Int) { seen.append(index) }
    indexes.forEach(note)
    expectEqual(seen, [2, 3, 7])
    let none = RangeSet<Int>([])
    expect(none.isEmpty && none.first == nil && none.last == nil && none.count == 0)
  }
}

private final class Shelf: Tracked {
  @Observed var books: [String] = []
  @Observed var tags: Set<String> = []
  @Observed var label = ""

  struct Unlabelled: Error {}

  override class func registerKeys() {
    declareKeys { keys in
      keys.orderedToMany("numbers", count: { _ in 3 }, element: { $1 * 10 })
      keys.validator("label") { (_, label: inout String?) in
        guard let given = label else { throw Unlabelled() }
        label = given.filter { $0 != " " }
      }
    }
  }
}
