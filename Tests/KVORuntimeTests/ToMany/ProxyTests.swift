import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// B8: keys declared by accessors alone read as proxies.
@Suite(.leakFree) struct ProxyTests {
  @Test("B8: the first and the last prime count once and compute one")
  func primes() throws {
    let object = Primes()
    let primes = try require(try object.value(forKey: "primes") as? ArrayProxy)
    expectEqual(object.calls, [])
    expect(primes.last as? Int == 1223)
    expectEqual(object.calls, ["count", "prime 199"])
    object.calls = []
    expect(primes.first as? Int == 2)
    expectEqual(object.calls, ["count", "prime 0"])
    object.calls = []
    expect(primes.contains { $0 as? Int == 5 })
    expectEqual(object.calls, ["count", "prime 0", "prime 1", "prime 2"])
    expect(primes[10] as? Int == 31)
  }

  @Test("B8: a proxy is live and reads only what is asked for, in bulk where that is offered")
  func reading() throws {
    let orchard = Orchard()
    let trees = try require(try orchard.value(forKey: "trees") as? ArrayProxy)
    let bulk = try require(try orchard.value(forKey: "bulk") as? ArrayProxy)
    expect(trees.isEmpty)
    expect(trees.first == nil)
    expect(trees.last == nil)
    orchard.stock = [1, 2, 3]
    _ = orchard.takeCalls()
    var seen: [Int?] = []
    for tree in trees { seen.append(tree as? Int) }
    expectEqual(seen, [1, 2, 3])
    expectEqual(orchard.takeCalls(), ["count", "element(0)", "element(1)", "element(2)"])
    seen = []
    for tree in bulk { seen.append(tree as? Int) }
    expectEqual(seen, [1, 2, 3])
    expectEqual(orchard.takeCalls(), ["count", "elements(0..<3)"])
    expect(bulk.last as? Int == 3)
    expectEqual(orchard.takeCalls(), ["count", "element(2)"])
    expectEqual(trees.map { $0 as? Int }, [1, 2, 3])
    expectEqual(Array(bulk[1...]).map { $0 as? Int }, [2, 3])
  }

  @Test("B8: iterating over many elements reads blocks of them")
  func blocks() throws {
    let orchard = Orchard()
    orchard.stock = Array(0..<150)
    let bulk = try require(try orchard.value(forKey: "bulk") as? ArrayProxy)
    var sum = 0
    for tree in bulk { sum += tree as? Int ?? 0 }
    expectEqual(sum, 150 * 149 / 2)
    expectEqual(
      orchard.takeCalls(),
      ["count", "elements(0..<64)", "elements(64..<128)", "elements(128..<150)"])
  }

  @Test("B8: a key declared as unordered reads as a set")
  func sets() throws {
    let orchard = Orchard()
    orchard.garden = [1, 2]
    let herbs = try require(try orchard.value(forKey: "herbs") as? SetProxy)
    expectEqual(herbs.count, 2)
    expect(herbs.contains(1))
    expect(!herbs.contains(7))
    expect(!herbs.contains("1"))
    expectEqual(orchard.takeCalls(), ["count", "contains(1)", "contains(7)"])
    expectEqual(Set(herbs), [1, 2])
    orchard.garden = [3]
    expect(herbs.contains(3))
  }

  @Test(
    "B1: accessors and @Observed properties precede a to-many key's, plain storage follows"
  )
  func order() throws {
    class Both: Tracked {
      @Observed var watched = [1]
      var stored = [2]
      override class func registerKeys() {
        declareKeys {
          for key in ["watched", "stored", "answered"] {
            $0.orderedToMany(key, count: { _ in 1 }, element: { _, _ in 9 })
          }
          $0.accessors("answered", get: { _ in [3] })
        }
      }
    }
    let both = Both()
    expect(try both.value(forKey: "watched") as? [Int] == [1])
    expect(try both.value(forKey: "answered") as? [Int] == [3])
    expect(try both.value(forKey: "stored") is ArrayProxy)
  }

  @Test("B2: a key with only accessors can't be set")
  func setting() {
    let orchard = Orchard()
    for key in ["trees", "herbs", "tended"] {
      expectEqual(
        keyValueError { try orchard.setValue([1], forKey: key) },
        .readOnly(key: key, className: "Orchard"))
    }
  }

  @Test("B8: a nil element is an empty optional, and an element of a class is the object")
  func elements() throws {
    final class Parts: Tracked {
      let book = Book("a")
      override class func registerKeys() {
        declareKeys {
          $0.orderedToMany("holes", count: { _ in 2 }, element: { $1 == 0 ? nil : 5 as Int? })
          $0.orderedToMany("books", count: { _ in 1 }, element: { parts, _ in parts.book })
        }
      }
    }
    let parts = Parts()
    let holes = try require(try parts.value(forKey: "holes") as? ArrayProxy)
    expectEqual(holes.map { shown($0) }, ["nil", "5"])
    let books = try require(try parts.value(forKey: "books") as? ArrayProxy)
    expect(books.first as? Book === parts.book)
  }

  @Test("B8: a subclass inherits the declaration, and may replace it")
  func inheritance() throws {
    class Small: Orchard {}
    final class Fixed: Orchard {
      override class func registerKeys() {
        declareKeys { $0.orderedToMany("trees", count: { _ in 1 }, element: { _, _ in 42 }) }
      }
    }
    let small = Small()
    small.stock = [7]
    expect(try (small.value(forKey: "trees") as? ArrayProxy)?.last as? Int == 7)
    expect(try (Fixed().value(forKey: "trees") as? ArrayProxy)?.last as? Int == 42)
    expect(try (Orchard().value(forKey: "trees") as? ArrayProxy)?.last == nil)
  }

  @Test("C3, H1: observers of such a key get arrays and sets of the declared element type")
  func initial() throws {
    let orchard = Orchard()
    orchard.stock = [1, 2]
    orchard.garden = [5]
    var notified: [Any?] = []
    let tokens = try ["bulk", "row", "herbs"].map { key in
      try orchard.observe(keyPath: key, options: [.initial, .new]) { _, change in
        notified.append(change.newValue)
      }
    }
    expect(notified[0] as? [Int] == [1, 2])
    expect(notified[1] as? [Int] == [1, 2])
    expect(notified[2] as? Set<Int> == [5])
    for token in tokens { token.invalidate() }
  }

  @Test("B8: an index beyond the count stops with a message")
  func badIndex() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let orchard = Orchard()
      orchard.stock = [1]
      _ = (try orchard.value(forKey: "trees") as? ArrayProxy)?[1]
    }
    let text = try require(result).errors
    expect(text.contains("Index 1 is out of bounds: the proxy has 1 elements."))
  }
}

/// B7: proxies answer key-value coding like collections, and read no more than needed.
@Suite(.leakFree) struct ProxyCodingTests {
  @Test("B7, B8: operators over a key by accessors read no more than they need")
  func operators() throws {
    let orchard = Orchard()
    orchard.stock = [4, 84, 2]
    orchard.garden = [7, 9]
    orchard.next = Orchard()
    orchard.next?.stock = [1]
    let count = try orchard.value(forKeyPath: "trees.@count") as? Int
    expectEqual(count, 3)
    expectEqual(orchard.takeCalls(), ["count"])
    expect(try orchard.value(forKeyPath: "bulk.@max.self") as? Int == 84)
    expectEqual(orchard.takeCalls(), ["count", "elements(0..<3)"])
    expect(try orchard.value(forKeyPath: "trees.@sum.self") as? Int == 90)
    expect(try orchard.value(forKeyPath: "herbs.@max.self") as? Int == 9)
    expect(try orchard.value(forKeyPath: "herbs.@count") as? Int == 2)
    expect(try orchard.value(forKeyPath: "next.trees.@count") as? Int == 1)
    expect(try orchard.value(forKeyPath: "next.trees") is ArrayProxy)
  }

  @Test("B9 B12: a proxy searches for a raw value as its element, and for an equal number")
  func sought() throws {
    enum Rank: Int { case low, high }
    struct Mark: Equatable { var place: Int }
    final class Ranks: Tracked {
      @Observed var marks = [Mark(place: 1)]
      @Observed var list: [Rank] = [.low, .high]
      @Observed var set: Set<Rank> = [.low, .high]
      @Observed var floats: [Float] = [0, .nan]
      @Observed var wide: [Int] = [.max, 5]
      @Observed var reals: [Double] = [9_007_199_254_740_992]
    }
    let ranks = Ranks()
    let list = try ranks.mutableArrayValue(forKey: "list")
    expect(list.contains(1) && !list.contains(2) && !list.contains("1"))
    let set = try ranks.mutableSetValue(forKey: "set")
    expect(set.contains(1) && !set.contains(2) && !set.contains("x"))
    try set.subtract([1, 2])
    expectEqual(ranks.set, [.low])
    expect(try ranks.mutableArrayValue(forKey: "floats").contains(Double.nan))
    let wide = try ranks.mutableArrayValue(forKey: "wide")
    expect(wide.contains(5.0) && !wide.contains(5.5) && wide.contains(Float(5)))
    expect(!wide.contains(9_223_372_036_854_775_808.0))
    let marks = try ranks.mutableArrayValue(forKey: "marks")
    expect(marks.contains(Mark(place: 1)) && !marks.contains(Mark(place: 2)))
    let reals = try ranks.mutableArrayValue(forKey: "reals")
    expect(reals.contains(9_007_199_254_740_992) && !reals.contains(9_007_199_254_740_993))
  }

  @Test("B7: every proxy answers keys, key paths and operators")
  func proxies() throws {
    let orchard = Orchard()
    orchard.stock = [4, 84, 2]
    orchard.garden = [4, 84, 2]
    orchard.observed = [4, 84, 2]
    orchard.pickedSet = [4, 84, 2]
    let array = try require(try orchard.value(forKey: "trees") as? ArrayProxy)
    let set = try require(try orchard.value(forKey: "herbs") as? SetProxy)
    let mutable = try orchard.mutableArrayValue(forKey: "observed")
    let mutableSet = try orchard.mutableSetValue(forKey: "pickedSet")
    let ordered = try orchard.mutableOrderedSetValue(forKey: "row")
    expect(try array.value(forKey: "@count") as? Int == 3)
    expect(try array.value(forKeyPath: "@max.self") as? Int == 84)
    expect(try set.value(forKey: "@count") as? Int == 3)
    expect(try set.value(forKeyPath: "@min.self") as? Int == 2)
    expect(try mutable.value(forKey: "@count") as? Int == 3)
    expect(try mutable.value(forKeyPath: "@sum.self") as? Int == 90)
    expect(try mutableSet.value(forKey: "@count") as? Int == 3)
    expect(try mutableSet.value(forKeyPath: "@avg.self") as? Double == 30)
    expect(try ordered.value(forKey: "@count") as? Int == 3)
    expect(try ordered.value(forKeyPath: "@max.self") as? Int == 84)
    expectEqual(
      "\(array) \(mutable) \(ordered)",
      "[4, 84, 2] [4, 84, 2] [AnyHashable(4), AnyHashable(84), AnyHashable(2)]")
  }

  @Test("B7: a key of a proxy maps over its elements")
  func keys() throws {
    final class Grove: Tracked {
      let orchards = [Orchard(), Orchard()]
      override class func registerKeys() {
        declareKeys {
          $0.orderedToMany(
            "orchards", count: { $0.orchards.count }, element: { $0.orchards[$1] })
        }
      }
    }
    let grove = Grove()
    grove.orchards[0].name = "a"
    grove.orchards[1].name = "b"
    let orchards = try require(try grove.value(forKey: "orchards") as? ArrayProxy)
    expect(try orchards.value(forKey: "name") as? [String] == ["a", "b"])
    expect(try grove.value(forKeyPath: "orchards.name") as? [String] == ["a", "b"])
    #expect(throws: KeyValueError.self) { try orchards.value(forKey: "nothing") }
  }

  @Test("B2: a proxy can be set where a collection can")
  func setting() throws {
    let orchard = Orchard()
    orchard.stock = [1, 2]
    orchard.garden = [3]
    try orchard.setValue(orchard.value(forKey: "trees"), forKey: "observed")
    try orchard.setValue(orchard.value(forKey: "herbs"), forKey: "pickedSet")
    expectEqual(orchard.observed, [1, 2])
    expectEqual(orchard.pickedSet, [3])
  }
}
