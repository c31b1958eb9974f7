import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import Testing

/// B13: Foundation's collections as properties, and dictionaries with keys.
@Suite(.leakFree) struct FoundationCollectionTests {
  final class Old: Tracked {
    @Observed var list: NSArray = [1, 2]
    @Observed var maybe: NSArray?
    @Observed var info: NSDictionary = ["name": "n", "inner": ["deep": 3]]
    @Observed var order = NSOrderedSet(array: [3, 1])
    @Observed var names = NSMutableArray()
    @Observed var tags = NSSet(object: "a")
    @Observed var people: NSArray = []
    @Observed var price: Decimal = 0
    @Observed var count: NSNumber = 0
    @Observed var rank = Rank.low
    @Observed var word: Word?
    @Observed var marks: [AnyHashable: Any] = [:]
    init(_ price: Decimal = 0, _ rank: Rank = .low, _ word: Word? = nil) {
      super.init()
      self.price = price
      self.rank = rank
      self.word = word
      count = NSNumber(value: rank.rawValue)
    }
  }
  enum Rank: Int { case low, high }
  enum Word: String { case a, b }

  @Test("B13: Foundation collections answer keys, key paths and operators")
  func reading() throws {
    let old = Old()
    expect(try old.value(forKeyPath: "list.@count") as? Int == 2)
    expect(try old.value(forKeyPath: "list.@sum.self") as? Int == 3)
    expect(try old.value(forKeyPath: "maybe.@count") == nil)
    expect(try old.value(forKeyPath: "order.@max.self") as? Int == 3)
    expect(try old.value(forKeyPath: "info.name") as? String == "n")
    expect(try old.value(forKeyPath: "info.inner.deep") as? Int == 3)
    expect(try old.value(forKeyPath: "info.@count") as? Int == 2)
    expect(try old.value(forKeyPath: "tags.@count") as? Int == 1)
    old.people = [Old(1), Old(2)]
    expect(try old.value(forKeyPath: "people.price") as? [Decimal] == [1, 2])
    old.order = NSOrderedSet(array: [Old(2), Old(1), Old(2)])
    expect(try old.value(forKeyPath: "order.price") as? [Decimal] == [2, 1])
  }

  @Test("B13 H2: proxies change them, and each mutation notifies once with its elements")
  func proxies() throws {
    let old = Old()
    let log = Notes()
    for key in ["list", "names", "tags", "maybe"] {
      try log.observe(old, key, [.old, .new], as: key)
    }
    try old.mutableArrayValue(forKey: "names").append("x")
    expectEqual(old.names.map { "\($0)" }, ["x"])
    try old.mutableArrayValue(forKey: "list").remove(at: 0)
    expectEqual(old.list.map { "\($0)" }, ["2"])
    try old.mutableSetValue(forKey: "tags").add("b")
    expectEqual(old.tags.count, 2)
    try old.mutableArrayValue(forKey: "maybe").append(5)
    expectEqual(old.maybe?.count, 1)
    try old.mutableOrderedSetValue(forKey: "order").add(7)
    expectEqual(old.order.map { "\($0)" }, ["3", "1", "7"])
    let kinds = log.take()
    expectEqual(kinds.count, 4)
    expect(kinds[0].hasPrefix("names insertion at 0") && kinds[1].hasPrefix("list removal at 0"))
    expect(kinds[2].hasPrefix("tags insertion"))
  }

  /// Observes all keys of a cellar, and notes kinds, indexes and elements.
  private func watch(_ cellar: Cellar, _ note: @escaping (String) -> Void) throws
    -> [KeyValueObservation]
  {
    try ["list", "order", "tags", "names"].map { key in
      try cellar.observe(keyPath: key, options: [.old, .new]) { _, change in
        let places = change.indexes.map { " at \($0.ranges.map(\.lowerBound))" } ?? ""
        let (old, new) = (elements(change.oldValue), elements(change.newValue))
        note("\(key) \(change.kind)\(places) \(old)>\(new)")
      }
    }
  }

  private func elements(_ value: Any?) -> [Int] {
    let all =
      (value as? NSArray).map { $0.map { $0 } } ?? (value as? NSOrderedSet)?.array
      ?? (value as? NSSet)?.allObjects ?? (value as? [Any])
      ?? (value as? Set<AnyHashable>).map { $0.map { $0 as Any } } ?? []
    let numbers = all.map { $0 as! Int }
    return value is NSSet || value is Set<AnyHashable> ? numbers.sorted() : numbers
  }

  @Test("B13 D5 H4: a setter that stores other elements notifies of those")
  func adjusted() throws {
    let cellar = Cellar()
    var notes: [String] = []
    let tokens = try watch(cellar) { notes.append($0) }
    let list = try cellar.mutableArrayValue(forKey: "list")
    try list.insert(9, at: 0)
    try list.append(10)
    let order = try cellar.mutableOrderedSetValue(forKey: "order")
    try order.insert(9, at: 0)
    try order.add(10)
    try cellar.mutableArrayValue(forKey: "names").insert(9, at: 0)
    try cellar.mutableSetValue(forKey: "tags").formUnion([3, 4])
    expectEqual(
      notes,
      [
        "list setting [1, 5]>[1, 5, 9]", "list insertion at [3] []>[10]",
        "order setting [1, 5]>[1, 5, 9]", "order insertion at [3] []>[10]",
        "names setting [1, 5]>[1, 5, 9]", "tags setting [2]>[2, 4]",
      ])
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "B13 D5: a setter that stores what it is passed, null for nil, changes elements; an old value of nil is nil"
  )
  func nils() throws {
    let attic = Attic()
    var notes: [String] = []
    let tokens = try ["boxes", "marks"].map { key in
      try attic.observe(keyPath: key, options: [.old, .new]) { _, change in
        notes.append(
          "\(key) \(change.kind) \((change.oldValue as? NSSet).map { "\($0.count)" } ?? "nil")")
      }
    }
    try attic.mutableArrayValue(forKey: "boxes").append(Int?.none as Any)
    try attic.mutableArrayValue(forKey: "boxes").append(NSNull())
    expectEqual(attic.boxes.map { $0 is NSNull }, [true, true])
    try attic.mutableSetValue(forKey: "marks").formUnion([3, 4])
    expectEqual(attic.marks?.allObjects as? [Int], [4])
    try attic.mutableSetValue(forKey: "marks").formUnion([5])
    expectEqual(
      notes,
      [
        "boxes insertion nil", "boxes insertion nil", "marks setting nil", "marks setting 1",
      ])
    withExtendedLifetime(tokens) {}
  }

  @Test("B13 M3: one change of elements in a batch stays one")
  func batches() throws {
    let cellar = Cellar()
    var notes: [String] = []
    let tokens = try watch(cellar) { notes.append($0) }
    try cellar.coalescingNotifications {
      try cellar.mutableArrayValue(forKey: "list").append(9)
      try cellar.mutableOrderedSetValue(forKey: "order").remove(at: 0)
      try cellar.mutableSetValue(forKey: "tags").add(4)
      try cellar.mutableArrayValue(forKey: "names").replace(at: 1, with: 6)
    }
    expectEqual(
      notes,
      [
        "list insertion at [2] []>[9]", "order removal at [0] [1]>[]", "tags insertion []>[4]",
        "names replacement at [1] [5]>[6]",
      ])
    withExtendedLifetime(tokens) {}
  }

  @Test("B13 H4: a set has a number once, whether Swift's or Foundation's")
  func numbers() throws {
    let old = Old()
    old.tags = NSSet()
    let log = Notes()
    let tags = try old.mutableSetValue(forKey: "tags")
    try log.observe(old, "tags", [.old, .new])
    try tags.add(2.5)
    try tags.add(2.5)
    try tags.add(NSNumber(value: 2.5))
    expect(old.tags.count == 1 && tags.contains(2.5) && tags.contains(NSNumber(value: 2.5)))
    try tags.formUnion([1, 2.5, NSNumber(value: 1)])
    expectEqual(old.tags.count, 2)
    try tags.formIntersection([NSNumber(value: 1), 7])
    expectEqual(old.tags.map { "\($0)" }, ["1"])
    try tags.remove(NSNumber(value: 1))
    expectEqual(old.tags.count, 0)
    let notes = log.take()
    expectEqual(notes.first { $0.contains("insertion") }, notes.first)
    expect(notes.last?.contains("removal") == true)
  }

  @Test("D3: distinct compares sets of decimal numbers in an Any")
  func distinctDecimals() throws {
    let log = Notes()
    let holder = Holder()
    try log.observe(holder, "any", [.distinct])
    for _ in 0..<2 { holder.any = Set<Decimal>([1]) }
    for _ in 0..<2 { holder.any = [Decimal(1): 1] }
    expectEqual(log.take().count, 2)
  }

  final class Holder: Tracked {
    @Observed var any: Any = 0
  }

  @Test("B14: an NSString in a dictionary is the key that its text names")
  func foundationKeys() throws {
    let old = Old()
    old.marks = [NSString("red"): 1, "blue": 2, 3: 3]
    expect(try old.value(forKeyPath: "marks.red") as? Int == 1)
    try old.setValue(5, forKeyPath: "marks.red")
    try old.setValue(6, forKeyPath: "marks.blue")
    try old.setValue(7, forKeyPath: "marks.green")
    expectEqual(old.marks.count, 4)
    expect(try old.value(forKeyPath: "marks.red") as? Int == 5)
    try old.setValue(nil, forKeyPath: "marks.red")
    expectEqual(old.marks.values.compactMap { $0 as? Int }.sorted(), [3, 6, 7])
  }

  @Test("B13 D3: Foundation collections are compared by elements, also unhashable ones")
  func distinct() throws {
    let old = Old()
    let log = Notes()
    for key in ["list", "tags", "order", "info"] {
      try log.observe(old, key, [.distinct], as: key)
    }
    for element in [[1], [2]] as [[Any]] {
      try old.setValue([element], forKey: "list")
      try old.setValue([element], forKey: "tags")
      try old.setValue([element], forKey: "order")
      try old.setValue(["k": element], forKey: "info")
    }
    expectEqual(log.take().count, 8)
    for _ in 0..<2 {
      old.list = [1, "a"]
      old.tags = NSSet(array: [1, "a"])
      old.order = NSOrderedSet(array: [1, "a"])
      old.info = ["k": 1]
    }
    expectEqual(log.take().count, 4)
    old.tags = NSSet(array: ["a", 1])
    old.info = ["k": 1]
    expectEqual(log.take(), [])
    old.order = NSOrderedSet(array: ["a", 1])
    old.info = ["j": 1]
    expectEqual(log.take().count, 2)
  }

  @Test("B13: they accept Swift's collections and each other")
  func setting() throws {
    let old = Old()
    try old.setValue([4, 5], forKey: "list")
    try old.setValue(NSArray(array: [1, 1]), forKey: "order")
    try old.setValue(["k": 1], forKey: "info")
    try old.setValue([1, nil], forKey: "names")
    try old.setValue(9, forKeyPath: "info.other")
    expect(old.list == [4, 5] && old.order.count == 1 && old.names[1] is NSNull)
    expect(old.info["k"] as? Int == 1 && old.info["other"] as? Int == 9)
    #expect(throws: KeyValueError.self) { try old.setValue(Set([1]), forKey: "list") }
    #expect(throws: KeyValueError.self) { try old.setValue(1, forKey: "info") }
  }

  @Test("B13: an ordered set has an element once that is given twice")
  func duplicates() throws {
    let old = Old()
    try old.setValue([3, 1, 3], forKey: "order")
    expectEqual(old.order.array as? [Int], [3, 1])
    expectEqual(old.order.map { $0 as? Int }, [3, 1])
    try old.mutableOrderedSetValue(forKey: "order").add(1)
    expectEqual(old.order.count, 2)
  }

  @Test("B6: Decimal stays Decimal; NSNumbers and raw values are numbers")
  func operators() throws {
    let old = Old()
    old.people = [Old(0.1, .high, .b), Old(0.2, .low, .a)]
    expectEqual(try old.value(forKeyPath: "people.@sum.price") as? Decimal, Decimal(string: "0.3"))
    expectEqual(try old.value(forKeyPath: "people.@avg.price") as? Decimal, Decimal(string: "0.15"))
    expectEqual(try old.value(forKeyPath: "people.@max.price") as? Decimal, Decimal(string: "0.2"))
    expectEqual(try old.value(forKeyPath: "people.@sum.count") as? Int, 1)
    expectEqual(try old.value(forKeyPath: "people.@sum.rank") as? Int, 1)
    expectEqual(try old.value(forKeyPath: "people.@max.rank") as? Int, 1)
    expectEqual(try old.value(forKeyPath: "people.@min.word") as? String, "a")
    expectEqual(try old.value(forKeyPath: "people.@avg.rank") as? Double, 0.5)
    let mixed: [Any?] = [Decimal(1), 2, NSNumber(value: 0.5), nil]
    expectEqual(try mixed.value(forKeyPath: "@sum.self") as? Decimal, Decimal(string: "3.5"))
    expectEqual(try mixed.value(forKeyPath: "@max.self") as? Int, 2)
    expect(try mixed.value(forKeyPath: "@min.self") as? NSNumber == 0.5)
    let tied: [Any] = [NSNumber(value: 0.1), Decimal(string: "0.1")!, Decimal(string: "0.2")!, 0.1]
    for tied in [tied, tied.reversed()] {
      expectEqual(
        try tied.value(forKeyPath: "@max.self") as? Decimal, Decimal(string: "0.2"))
      expect(try "\(tied.value(forKeyPath: "@min.self")!)" == "0.1")
    }
    let numbers: [Any] = [NSDecimalNumber(string: "0.5"), NSNumber(value: 2), Decimal(1.5), true]
    for numbers in [numbers, numbers.reversed()] {
      expectEqual(try numbers.value(forKeyPath: "@max.self") as? Int, 2)
      expectEqual(try "\(numbers.value(forKeyPath: "@min.self")!)", "0.5")
    }
    for (large, least) in [
      (Double.infinity, Decimal(1)), (1e200, -1), (1e-200, 0), (5, -.greatestFiniteMagnitude),
    ] as [(Double, Decimal)] {
      for pair in [[large, least], [least, large]] as [[Any]] {
        expectEqual(try pair.value(forKeyPath: "@min.self") as? Decimal, least, "\(pair)")
      }
    }
    for small in [-Double.infinity, -1e200] {
      for pair in [[small, Decimal(-5)], [Decimal(-5), small]] as [[Any]] {
        expectEqual(try pair.value(forKeyPath: "@min.self") as? Double, small)
      }
    }
    for wrong in [[Decimal(1), "2"], ["2", Decimal(1)], [Decimal(1), Date.distantPast]] as [[Any]] {
      #expect(throws: KeyValueError.self) { try wrong.value(forKeyPath: "@max.self") }
    }
    expectEqual(try [Rank?.some(.high), nil].value(forKeyPath: "@max.self") as? Int, 1)
    expectEqual(
      try [NSNumber(value: 1), NSNumber(value: 2.5)].value(forKeyPath: "@sum.self") as? Double, 3.5)
    let people = try require(old.people as? [Old])
    expectEqual(try people.sorted(using: [KeyValueSort("rank")]).map(\.rank), [.low, .high])
    expectEqual(
      try people.sorted(using: [KeyValueSort("price", ascending: false)]).map(\.word), [.a, .b])
  }

  @Test("B6: a sum that includes a Decimal adds all numbers as decimal ones, in any order")
  func decimalSums() throws {
    let sums: [(numbers: [Any], sum: String)] = [
      ([0.1, 0.2], "0.3"), ([Int.max, Int.max], "18446744073709551614"),
      ([9_007_199_254_740_993, 0.5], "9007199254740993.5"), ([Float(0.1)], "0.1"),
      ([NSNumber(value: 0.1), NSNumber(value: Float(0.2)), UInt64.max], "18446744073709551615.3"),
      ([CGFloat(0.1), Float16(0.5), true, Rank.high, NSDecimalNumber(string: "0.25")], "2.85"),
    ]
    for (numbers, sum) in sums {
      let expected = try require(Decimal(string: sum))
      for place in 0...numbers.count {
        var all = numbers
        all.insert(Decimal(0), at: place)
        expectEqual(try all.value(forKeyPath: "@sum.self") as? Decimal, expected, "\(all)")
        expectEqual(
          try all.value(forKeyPath: "@avg.self") as? Decimal, expected / Decimal(all.count))
        expectEqual(try Array(all.reversed()).value(forKeyPath: "@sum.self") as? Decimal, expected)
      }
    }
    let goods: [Any] = [Good(0.1), Good(0.2), Old(0.5), Good(0.7)]
    expectEqual(try goods.value(forKeyPath: "@sum.price") as? Decimal, Decimal(string: "1.5"))
    expectEqual(try [0.1, 0.2].value(forKeyPath: "@sum.self") as? Double, 0.1 + 0.2)
  }

  /// Its price is no decimal number.
  final class Good: Tracked {
    @Observed var price = 0.0
    init(_ price: Double) {
      self.price = price
      super.init()
    }
  }

  @Test("B14 R8: a default that is a dictionary has keys, read and observed")
  func defaults() throws {
    let defaults = try require(KVOUserDefaults(suiteName: "kvo-dictionary-keys"))
    defer { defaults.removePersistentDomain(forName: "kvo-dictionary-keys") }
    defaults.set(["red": true], forKey: "colours")
    expect(try defaults.value(forKeyPath: "colours.red") as? Bool == true)
    expect(try defaults.value(forKeyPath: "colours.@count") as? Int == 1)
    let log = Notes()
    try log.observe(defaults, "colours.red", [.new])
    defaults.set(["red": false], forKey: "colours")
    defaults.removeObject(forKey: "colours")
    defaults.set(["red": 5], forKey: "colours")
    expectEqual(log.take().count, 3)
  }

  @Test("B14: an NSDictionary is followed as any dictionary, also to objects")
  func followed() throws {
    let old = Old()
    let inner = Old(1)
    let log = Notes()
    try log.observe(old, "info.who.price", [.old, .new])
    old.info = ["who": inner]
    inner.price = 2
    old.info = [:]
    inner.price = 3
    expectEqual(log.take(), ["a old nil new 1", "a old 1 new 2", "a old 2 new nil"])
  }
}

/// Notifications as text.
private final class Notes {
  private var texts: [String] = []
  private var tokens: [NSKeyValueObservation] = []

  func observe(
    _ object: KVOObject, _ path: String, _ options: KeyValueObservingOptions, as name: String = "a"
  ) throws {
    tokens.append(
      try object.observe(keyPath: path, options: options) { [unowned self] _, change in
        var text = "\(name)"
        if change.kind != .setting { text += " \(change.kind)" }
        if let first = change.indexes?.first { text += " at \(first)" }
        if options.contains(.old) { text += " old \(shown(change.oldValue))" }
        if options.contains(.new) { text += " new \(shown(change.newValue))" }
        texts.append(text)
      })
  }

  func take() -> [String] {
    defer { texts = [] }
    return texts
  }

  private func shown(_ value: Any?) -> String {
    guard let value, case let text = "\(value)", text != "nil" else { return "nil" }
    return text.hasPrefix("Optional(") ? String(text.dropFirst(9).dropLast()) : text
  }
}

/// Its setters sort the elements, and keep the even members.
@KVO class Cellar: KVOObject {
  var list: NSArray = [1, 5] { didSet { list = sorted(list) } }
  var order = NSOrderedSet(array: [1, 5]) {
    didSet { order = NSOrderedSet(array: sorted(order.array as NSArray) as! [Any]) }
  }
  var names: NSMutableArray = [1, 5] {
    didSet { names = NSMutableArray(array: sorted(names) as! [Any]) }
  }
  var tags = NSSet(object: 2) {
    didSet { tags = NSSet(array: tags.allObjects.filter { ($0 as! Int) % 2 == 0 }) }
  }

  private func sorted(_ list: NSArray) -> NSArray {
    NSArray(array: list.map { $0 as! Int }.sorted())
  }
}

@KVO private final class Attic: KVOObject {
  var boxes: NSMutableArray = [] { didSet {} }
  var marks: NSSet? {
    didSet { marks = marks.map { NSSet(array: $0.allObjects.filter { ($0 as! Int) % 2 == 0 }) } }
  }
}
