import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// H4, E4: a set property changed member by member.
@Suite(.leakFree) struct ObservedSetTests {
  /// A mutation of the set `a b c`, its notifications, and the result.
  struct Mutation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let mutate: @Sendable (ObservedSet<String>) -> Void
    let lines: [String]
    let left: Set<String>

    init(
      _ statement: String, _ lines: [String], left: Set<String>,
      mutate: @escaping @Sendable (ObservedSet<String>) -> Void
    ) {
      testDescription = statement
      self.mutate = mutate
      self.lines = lines
      self.left = left
    }
  }

  static let cases: [Mutation] = [
    Mutation("insert", ["prior insertion", "insertion new {x}"], left: ["a", "b", "c", "x"]) {
      expect($0.insert("x"))
    },
    Mutation("insert what is there", [], left: ["a", "b", "c"]) { expect(!$0.insert("a")) },
    Mutation("remove", ["prior removal old {a}", "removal old {a}"], left: ["b", "c"]) {
      expectEqual($0.remove("a"), "a")
    },
    Mutation("remove what is not there", [], left: ["a", "b", "c"]) {
      expect($0.remove("x") == nil)
    },
    Mutation(
      "formUnion", ["prior insertion", "insertion new {x, y}"],
      left: ["a", "b", "c", "x", "y"]
    ) { $0.formUnion(["a", "x", "y"]) },
    Mutation(
      "formUnion with nothing new", ["prior insertion", "insertion new {}"],
      left: ["a", "b", "c"]
    ) { $0.formUnion(["a"]) },
    Mutation("subtract", ["prior removal old {a, b}", "removal old {a, b}"], left: ["c"]) {
      $0.subtract(["a", "b", "x"])
    },
    Mutation(
      "subtract nothing", ["prior removal old {}", "removal old {}"],
      left: ["a", "b", "c"]
    ) { $0.subtract(["x"]) },
    Mutation("formIntersection", ["prior removal old {b, c}", "removal old {b, c}"], left: ["a"]) {
      $0.formIntersection(["a", "x"])
    },
    Mutation(
      "set", ["prior replacement old {a, b}", "replacement old {a, b} new {x}"],
      left: ["c", "x"]
    ) { $0.set(["c", "x"]) },
    Mutation("removeAll", ["prior removal old {a, b, c}", "removal old {a, b, c}"], left: []) {
      $0.removeAll()
    },
    Mutation("reading", [], left: ["a", "b", "c"]) {
      expectEqual($0.count, 3)
      expect(!$0.isEmpty)
      expect($0.contains("a"))
      expect(!$0.contains("x"))
      expectEqual(Set($0), ["a", "b", "c"])
      expectEqual($0.sorted(), ["a", "b", "c"])
    },
  ]

  @Test(
    "H4: each mutation is one change with the elements really added and removed", arguments: cases)
  func mutations(_ mutation: Mutation) throws {
    let shelf = Shelf()
    shelf.tags = ["a", "b", "c"]
    let log = Recorder()
    log.observe(shelf, \.tags, [.prior, .old, .new])
    let watcher = log.watcher()
    try shelf.addObserver(watcher, forKeyPath: "tags", options: [.prior, .old, .new])
    mutation.mutate(shelf.mutableSet(\.tags))
    expectEqual(log.take(), mutation.lines.flatMap { ["a \($0)", "w: tags \($0)"] })
    expectEqual(shelf.tags, mutation.left)
  }

  @Test("H4: also of an optional set, and of an unobserved one", arguments: cases)
  func optionalMutations(_ mutation: Mutation) {
    let shelf = Shelf()
    shelf.labels = ["a", "b", "c"]
    mutation.mutate(shelf.mutableSet(\.labels))
    expectEqual(shelf.labels, mutation.left)
    shelf.labels = ["a", "b", "c"]
    let log = Recorder()
    log.observe(shelf, \.labels, [.prior, .old, .new])
    mutation.mutate(shelf.mutableSet(\.labels))
    expectEqual(log.take(), mutation.lines.map { "a \($0)" })
    expectEqual(shelf.labels, mutation.left)
  }

  @Test("B9: a set that is nil becomes one at the first insertion")
  func springsIntoBeing() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.labels, [.old, .new])
    let labels = shelf.mutableSet(\.labels)
    labels.subtract(["a"])
    labels.remove("a")
    expect(shelf.labels == nil)
    labels.insert("a")
    expectEqual(shelf.labels, ["a"])
    expectEqual(log.take(), ["a removal old {}", "a insertion new {a}"])
  }

  @Test("H4: a declared plain stored key")
  func declaredStored() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.marks, [.old, .new])
    shelf.mutableSet(\.marks).formUnion([1, 2])
    shelf.mutableSet(\.marks).remove(1)
    expectEqual(shelf.marks, [2])
    expectEqual(log.take(), ["a insertion new {1, 2}", "a removal old {1}"])
  }

  @Test("E4: an observed set is not copied to deliver the added elements")
  func inPlace() {
    let shelf = Shelf()
    shelf.marks = Set(0..<1000)
    shelf.marks.reserveCapacity(4000)
    let capacity = shelf.marks.capacity
    var notified = 0
    let token = shelf.observe(\.marks, options: [.prior, .old, .new]) { _, change in
      notified += change.newValue?.count ?? 0
    }
    for number in 1000..<2000 { shelf.mutableSet(\.marks).insert(number) }
    // A copy would have no spare capacity.
    expectEqual(shelf.marks.capacity, capacity)
    expectEqual(notified, 1000)
    token.invalidate()
  }

  @Test("H4: members live no longer than they are in the set")
  func lifetimes() {
    let library = Library()
    let log = Recorder()
    log.observe(library, \.books, [.prior, .old, .new])
    let books = library.mutableSet(\.books)
    books.insert(Book("a"))
    books.formUnion([Book("b"), Book("c")])
    weak let one = library.books.first
    books.formIntersection([Book("c")])
    books.set([Book("d")])
    expect(one == nil)
    expectEqual(log.take().last, "a replacement old {c} new {d}")
  }
}

private class Library: Tracked {
  @Observed var books: Set<Book> = []
}
