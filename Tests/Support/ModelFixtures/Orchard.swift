import KVORuntime

/// To-many keys of every kind, with equal contents. It records the calls of its accessors.
open class Orchard: Tracked {
  @Observed open var observed: [Int] = []
  @Observed open var perhaps: [Int]?
  var plain: [Int] = []
  var anything: Any = [Any]()
  @Observed open var loose: Any = [Any]()
  var mixed: Set<Int> = []
  let fixed = [1, 2, 3]
  @Observed open var name = "orchard"
  /// The object at the other end of key paths.
  @Observed open var next: Orchard?

  @Observed open var pickedSet: Set<Int> = []
  @Observed open var perhapsSet: Set<Int>?
  var plainSet: Set<Int> = []

  /// The elements of the keys declared by accessors alone.
  public final var stock: [Int] = []
  public final var garden: Set<Int> = []
  public final var calls: [String] = []
  /// If set, mutating accessors do nothing.
  public final var isStubborn = false
  /// If set, mutating accessors throw.
  public final var refusal: Refusal?

  public struct Refusal: Error, Equatable {
    public init() {}
  }

  public final var stored: Set<Int> { mixed }

  public final func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }

  open override class func registerKeys() {
    declareKeys {
      $0.accessors("accessed", get: { $0.stock }, set: { $0.stock = $1 })
      $0.accessors("readable", get: { $0.stock })
      $0.accessors("accessedSet", get: { $0.garden }, set: { $0.garden = $1 })
      declareOrdered(&$0)
      declareUnordered(&$0)
    }
  }

  private class func declareOrdered(_ keys: inout KeyDeclarations<Orchard>) {
    let count = { (orchard: Orchard) in orchard.noted("count", orchard.stock.count) }
    let element = { (orchard: Orchard, index: Int) in
      orchard.noted("element(\(index))", orchard.stock[index])
    }
    let elements = { (orchard: Orchard, range: Range<Int>) in
      orchard.noted(
        "elements(\(range.lowerBound)..<\(range.upperBound))", Array(orchard.stock[range]))
    }
    let insert = { (orchard: Orchard, elements: [Int], indexes: RangeSet<Int>) in
      try orchard.change("insert(\(elements.count))") {
        for (element, index) in zip(elements, indexes.ranges.flatMap { Array($0) }) {
          orchard.stock.insert(element, at: index)
        }
      }
    }
    let remove = { (orchard: Orchard, indexes: RangeSet<Int>) in
      try orchard.change("remove") { orchard.stock.removeSubranges(indexes) }
    }
    let replace = { (orchard: Orchard, indexes: RangeSet<Int>, elements: [Int]) in
      try orchard.change("replace(\(elements.count))") {
        for (element, index) in zip(elements, indexes.ranges.flatMap { Array($0) }) {
          orchard.stock[index] = element
        }
      }
    }
    keys.orderedToMany("trees", count: count, element: element)
    keys.orderedToMany("bulk", count: count, element: element, elements: elements)
    keys.orderedToMany("grown", count: count, element: element, insert: insert, remove: remove)
    keys.orderedToMany(
      "tended", count: count, element: element, elements: elements, insert: insert,
      remove: remove, replace: replace)
    // An incomplete pair, which is ignored.
    keys.orderedToMany("half", count: count, element: element, insert: insert)
    keys.orderedToMany("mixed", count: count, element: element)
    keys.orderedToMany("plain", count: count, element: element, remove: remove)
    keys.orderedSet(
      "row", count: count, element: element,
      index: { orchard, tree in
        orchard.noted("index(\(tree))", orchard.stock.firstIndex(of: tree))
      },
      insert: insert, remove: remove, replace: replace)
  }

  private class func declareUnordered(_ keys: inout KeyDeclarations<Orchard>) {
    let count = { (orchard: Orchard) in orchard.noted("count", orchard.garden.count) }
    let contains = { (orchard: Orchard, herb: Int) in
      orchard.noted("contains(\(herb))", orchard.garden.contains(herb))
    }
    let elements = { (orchard: Orchard) in orchard.noted("elements", AnySequence(orchard.garden)) }
    let add = { (orchard: Orchard, herbs: Set<Int>) in
      try orchard.change("add(\(herbs.count))") { orchard.garden.formUnion(herbs) }
    }
    let remove = { (orchard: Orchard, herbs: Set<Int>) in
      try orchard.change("remove(\(herbs.count))") { orchard.garden.subtract(herbs) }
    }
    keys.unorderedToMany("herbs", count: count, contains: contains, elements: elements)
    keys.unorderedToMany(
      "sown", count: count, contains: contains, elements: elements, add: add, remove: remove)
    keys.unorderedToMany(
      "kept", count: count, contains: contains, elements: elements, add: add, remove: remove,
      intersect: { orchard, herbs in
        try orchard.change("intersect") { orchard.garden.formIntersection(herbs) }
      },
      set: { orchard, herbs in try orchard.change("set") { orchard.garden = herbs } })
  }

  private func noted<R>(_ call: String, _ result: R) -> R {
    calls.append(call)
    return result
  }

  private func change(_ call: String, _ body: () -> Void) throws {
    calls.append(call)
    if let refusal { throw refusal }
    if !isStubborn { body() }
  }
}

/// An orchard whose key `picked` has accessors for `stock` that refuse the element 13.
public final class PickyOrchard: Orchard {
  public override class func registerKeys() {
    super.registerKeys()
    declareKeys { (keys: inout KeyDeclarations<PickyOrchard>) in
      keys.orderedToMany(
        "picked", count: { $0.stock.count }, element: { $0.stock[$1] },
        insert: { picky, elements, indexes in
          if elements.contains(13) { throw Refusal() }
          picky.stock.insert(contentsOf: elements, at: indexes.first ?? 0)
        }, remove: { $0.stock.removeSubranges($1) })
    }
  }
}

/// The article's primes: a to-many key without storage.
public final class Primes: Tracked {
  public var calls: [String] = []

  public override class func registerKeys() {
    declareKeys {
      $0.orderedToMany(
        "primes",
        count: { primes in
          primes.calls.append("count")
          return 200
        },
        element: { primes, index in
          primes.calls.append("prime \(index)")
          return primes.prime(at: index)
        })
    }
  }

  private func prime(at index: Int) -> Int {
    var found = -1
    for candidate in 2... where !(2..<candidate).contains(where: { candidate.isMultiple(of: $0) }) {
      found += 1
      if found == index { return candidate }
    }
    return 0
  }
}
