import Expectations
import Foundation
import KVOChangeLogs
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import Testing

/// R3: values from Foundation's serialisations, set by key.
@Suite(.leakFree) struct FoundationValueTests {
  enum Rank: Int { case low, high }

  final class Entry: Tracked {
    @Observed var name: String? = "old" { didSet { sets += 1 } }
    @Observed var count = 0
    @Observed var ratio = 0.0
    @Observed var isOpen = false
    @Observed var small: UInt8 = 0
    @Observed var large: UInt64 = 0
    @Observed var rank = Rank.low
    @Observed var marks: [Int?] = []
    @Observed var words: [String] = []
    @Observed var limits: [String: Double] = [:]
    @Observed var anything: Any? = "old"
    @Observed var several: [Any] = []
    @Observed var number: NSNumber?
    @Observed var boss: Entry?
    var sets = 0
    var nilKeys: [String] = []

    override func setNilValueForKey(_ key: String) throws {
      nilKeys.append(key)
      if key != "count" { try super.setNilValueForKey(key) }
    }

    override class func registerKeys() { declareKeys { $0.stored("name", \.name) } }
  }

  private func json(_ text: String) throws -> [String: Any] {
    try require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("R3: a JSON value becomes a property's value through its setter, nil and numbers too")
  func fromJSON() throws {
    let entry = Entry()
    try entry.setValuesForKeys(
      json(
        #"""
        {"name": null, "count": 2.9, "ratio": 3, "isOpen": true, "small": 300, "rank": 1,
         "large": 18446744073709551615, "marks": [1, null, 2.5], "words": ["a"], "limits": {"a": 1}}
        """#))
    expect(entry.name == nil && entry.sets == 1)
    expect(entry.count == 2 && entry.ratio == 3 && entry.isOpen && entry.small == 44)
    expect(entry.large == .max && entry.rank == .high)
    expect(entry.marks == [1, nil, 2] && entry.words == ["a"] && entry.limits == ["a": 1])
  }

  @Test(
    "R3: NSNull is nil for any type at the top level only; nested values stay unchanged"
  )
  func untyped() throws {
    let entry = Entry()
    try entry.setValuesForKeys(json(#"{"anything": null, "several": [1, null], "number": 2.5}"#))
    expect(entry.anything == nil)
    expect(entry.several.count == 2 && entry.several[1] is NSNull)
    expectEqual(entry.number, 2.5)
    try entry.setFoundationValue(NSNumber(value: 5), forKey: "anything")
    expect(entry.anything is NSNumber)
  }

  @Test("R3: NSNull for a non-optional goes to setNilValueForKey")
  func nilForScalar() throws {
    let entry = Entry()
    try entry.setFoundationValue(NSNull(), forKey: "count")
    expectEqual(entry.nilKeys, ["count"])
    #expect(throws: KeyValueError.nilValue(key: "ratio", className: "Entry")) {
      try entry.setFoundationValue(NSNull(), forKey: "ratio")
    }
  }

  @Test("R3: nothing is set if one value can't be")
  func allOrNothing() throws {
    let entry = Entry()
    #expect(throws: KeyValueError.self) {
      try entry.setValuesForKeys(
        ["count": NSNumber(value: 1.5), "words": NSNull()] as [String: Any])
    }
    expectEqual(entry.count, 0)
    #expect(throws: KeyValueError.undefinedKey(key: "nme", className: "Entry")) {
      try entry.setValuesForKeys(["nme": NSNull()] as [String: Any])
    }
  }

  @Test("B12: setValue itself takes NSNull for nil, unless the property holds it")
  func nullByKey() throws {
    let entry = Entry()
    try entry.setValue(NSNull(), forKey: "name")
    expect(entry.name == nil)
    try entry.setValuesForKeys(["name": "new", "boss": NSNull()] as [String: Any?])
    expect(entry.name == "new" && entry.boss == nil)
    try entry.setValue(NSNull(), forKey: "anything")
    expect(entry.anything is NSNull)
    #expect(throws: KeyValueError.nilValue(key: "words", className: "Entry")) {
      try entry.setValue(NSNull(), forKey: "words")
    }
  }

  @Test("B12: NSNull inside an AnyHashable is nil, in every place")
  func nullInHashable() throws {
    final class Box: Tracked {
      @Observed var set: Set<Int?> = [1, nil]
      @Observed var list: [Int?] = []
      @Observed var limits: [String: Int?] = [:]
      @Observed var maybe: [Int]? = [1]
      @Observed var fixed: NSArray? = []
    }
    let (box, entry, null) = (Box(), Entry(), AnyHashable(NSNull()))
    try box.setValuesForKeys(box.dictionaryWithFoundationValues(forKeys: ["set"]))
    expectEqual(box.set, [1, nil])
    try box.setValue([1, NSNull()] as Set<AnyHashable>, forKey: "set")
    try box.setValue([1, NSNull()] as [AnyHashable], forKey: "list")
    try box.setValue(["a": NSNull(), "b": 2] as [String: AnyHashable], forKey: "limits")
    expect(box.set == [1, nil] && box.list == [1, nil] && box.limits == ["a": Int?.none, "b": 2])
    try box.setValuesForKeys(["maybe": null, "fixed": null] as [String: Any?])
    expect(box.maybe == nil && box.fixed == nil)
    try entry.setValue(null, forKey: "count")
    try entry.setValue(null, forKey: "name")
    expect(entry.nilKeys == ["count"] && entry.name == nil)
    try box.setValue(AnyHashable(NSArray(array: [3, NSNull()])), forKey: "list")
    try box.setValue(AnyHashable(NSDictionary(dictionary: ["c": NSNull()])), forKey: "limits")
    expectEqual(box.limits, ["c": Int?.none])
    try box.mutableArrayValue(forKey: "list").add(null)
    expectEqual(box.list, [3, nil, nil])
    #expect(throws: KeyValueError.nilValue(key: "words", className: "Entry")) {
      try entry.setValue(null, forKey: "words")
    }
  }

  @Test("R3: Foundation objects convert to the values in them, along a key path too")
  func objects() throws {
    let entry = Entry()
    try entry.setFoundationValue(1, forKeyPath: "boss.count")
    entry.boss = Entry()
    try entry.setFoundationValue(NSNumber(value: 2.5), forKeyPath: "boss.count")
    try entry.setFoundationValue(NSNull(), forKeyPath: "boss.name")
    try entry.setFoundationValue(NSString("text"), forKeyPath: "name")
    try entry.setFoundationValue(NSArray(array: [1, NSNull()]), forKey: "marks")
    try entry.setFoundationValue(NSDictionary(dictionary: ["b": 2.5]), forKey: "limits")
    expect(entry.boss?.count == 2 && entry.boss?.name == nil && entry.name == "text")
    expect(entry.marks == [1, nil] && entry.limits == ["b": 2.5])
  }

  @Test("R3: values are returned with NSNull for nil, as in JSON")
  func toJSON() throws {
    let entry = Entry()
    entry.name = nil
    entry.marks = [1, nil]
    let object = try entry.dictionaryWithFoundationValues(forKeys: ["name", "marks", "count"])
    expect(object["name"] is NSNull && (object["marks"] as? [Any])?[1] is NSNull)
    let data = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
    expectEqual(String(decoding: data, as: UTF8.self), #"{"count":0,"marks":[1,null],"name":null}"#)
    let copy = Entry()
    try copy.setValuesForKeys(json(String(decoding: data, as: UTF8.self)))
    expect(copy.name == nil && copy.marks == [1, nil])
  }

  /// Numbers that Foundation does not make objects of.
  final class Sizes: Tracked {
    @Observed var width: CGFloat = 1.5
    @Observed var half: Float16 = 0.1
    @Observed var wide = Int128.max
    @Observed var widest: [UInt128?] = [.max, 3, nil]
    @Observed var point: [String: CGFloat] = ["x": -0.5]
    @Observed var any: [Any] = [CGFloat(0.1), ["k": Int128(-7)], Set([CGFloat(2)])]
    @Observed var plain: [Any] = [Float(0.5), UInt8(3), Decimal(1.5), true]
  }

  @Test("R3: numbers of all types are returned as JSON can have them, also inside collections")
  func numbersToJSON() throws {
    let sizes = Sizes()
    let keys = ["width", "half", "wide", "widest", "point", "plain"]
    let object = try sizes.dictionaryWithFoundationValues(forKeys: keys)
    expect(JSONSerialization.isValidJSONObject(object))
    let data = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
    expectEqual(
      String(decoding: data, as: UTF8.self),
      #"{"half":0.0999755859375,"plain":[0.5,3,1.5,true],"point":{"x":-0.5},"#
        + #""wide":\#(Int128.max),"widest":[\#(UInt128.max),3,null],"width":1.5}"#)
    let copy = Sizes()
    (copy.width, copy.half, copy.wide, copy.widest, copy.point) = (0, 0, 0, [], [:])
    try copy.setValuesForKeys(object)
    expect(copy.width == 1.5 && copy.half == 0.1 && copy.wide == .max)
    expect(copy.widest == [.max, 3, nil] && copy.point == ["x": -0.5])
    let any = try require(
      try sizes.dictionaryWithFoundationValues(forKeys: ["any"])["any"] as? [Any])
    expect(JSONSerialization.isValidJSONObject(Array(any.prefix(2))))
    expectEqual(any.last as? Set<Double>, [2])
  }

  /// Collections of Foundation's, none of which exists at first.
  final class Cabinet: Tracked {
    @Observed var array: NSMutableArray?
    @Observed var set: NSMutableSet?
    @Observed var orderedSet: NSMutableOrderedSet?
    @Observed var constant: NSArray?
  }

  @Test("N3: a collection of Foundation's is nil again when its first elements are undone")
  func undoneToNil() throws {
    for (key, add) in [
      ("array", { try $0.mutableArrayValue(forKey: "array").append($1) }),
      ("set", { try $0.mutableSetValue(forKey: "set").add($1) }),
      ("orderedSet", { try $0.mutableOrderedSetValue(forKey: "orderedSet").add($1) }),
      ("constant", { try $0.mutableArrayValue(forKey: "constant").append($1) }),
    ] as [(String, (Cabinet, Int) throws -> Void)] {
      let cabinet = Cabinet()
      let log = try ChangeLog(of: cabinet, recording: .keys(of: Cabinet.self, key))
      for number in 1...2 { try add(cabinet, number) }
      for _ in 0..<2 {
        while try log.undo() {}
        expect(try cabinet.value(forKey: key) == nil)
        while try log.redo() {}
        expectEqual(try cabinet.value(forKeyPath: key + ".@count") as? Int, 2)
      }
    }
  }

  // `Set<Decimal>` as an object of Foundation's never returns from computing a hash value.
  @Test("B12: a set of decimal numbers is never made an object of Foundation's")
  func setOfDecimals() async {
    await #expect(processExitsWith: .success) {
      final class Prices: KVOObject {
        @Observed var decimals: Set<Decimal> = []
        @Observed var doubles: Set<Double> = []
        @Observed var list: [Double] = []
        @Observed var any: Any = 0
      }
      let prices = Prices()
      let decimals: Set<Decimal> = [1, 2.5]
      let log = try ChangeLog(of: prices, recording: .keys(of: Prices.self, \.any, \.decimals))
      try prices.setValue(decimals, forKey: "doubles")
      expectEqual(prices.doubles, [1, 2.5])
      try prices.setValuesForKeys(["any": decimals, "decimals": decimals] as [String: Any])
      try prices.setFoundationValue(decimals, forKey: "any")
      expect(prices.decimals == decimals && prices.any as? Set<Decimal> == decimals)
      expectEqual(log.count, 3)
      #expect(throws: KeyValueError.self) { try prices.setValue(decimals, forKey: "list") }
      #expect(throws: KeyValueError.self) { try prices.setValue(1, forKeyPath: "any.x") }
      let sets: [Any] = [decimals, decimals]
      #expect(throws: KeyValueError.self) { try sets.setValue(1, forKey: "x") }
      #expect(throws: KeyValueError.self) { try sets.sorted(using: KeyValueSort("self")) }
      expectEqual(try prices.value(forKeyPath: "decimals.@sum.self") as? Decimal, 3.5)
    }
  }

  @Test(
    "B12: sets of decimal numbers, and keys, are rejected where an object of Foundation's is needed"
  )
  func unbridged() async {
    await #expect(processExitsWith: .success) {
      final class Box: KVOObject {
        @Observed var box: Box?
        @Observed var object: AnyObject?
        @Observed var number: NSNumber?
        @Observed var set = NSSet()
        @Observed var ordered = NSOrderedSet()
        @Observed var dictionary = NSDictionary()
        @Observed var array = NSArray()
        var decimals: Set<Decimal> = [1]
      }
      let box = Box()
      let values: [Any] = [
        Set<Decimal>([1]), Set<Decimal?>([1]), Set<AnyHashable>([Decimal(1)]), [Set<Decimal>([1])],
        Set<Set<Decimal>>([[1]]), [Decimal(1): 2], ["k": Set<Decimal>([1])],
      ]
      for key in ["box", "object", "number", "set", "ordered", "dictionary", "array"] {
        for value in values {
          #expect(throws: KeyValueError.self, "\(key) \(value)") {
            try box.setValue(value, forKey: key)
          }
        }
      }
      #expect(throws: KeyValueError.self) { try box.setValue([Decimal(1)], forKey: "set") }
      expect(!box.isEqual(Set<Decimal>([1])))
      try box.setValue([Decimal(1)], forKey: "array")
      try box.setValue([1: Decimal(1)], forKey: "dictionary")
      try box.setValue(Set<Int>([1]), forKey: "set")
      expectEqual([box.array.count, box.dictionary.count, box.set.count], [1, 1, 1])
    }
  }

  @Test("B1: an error's localised description is its sentence")
  func localizedDescription() throws {
    let crate = Person()
    let error = try #require(throws: KeyValueError.self) { try crate.value(forKey: "nmae") }
    expectEqual(error.localizedDescription, error.description)
    expectEqual((error as any Error).localizedDescription, error.description)
    expect(error.description.contains("nmae"))
  }

  @Test("B7 B12: an object inside an AnyHashable is sorted by its keys, and a null there is nil")
  func insideAnyHashable() throws {
    final class Crate: Tracked {
      @Observed var name = ""
      @Observed var inner: Set<Crate> = []
      @Observed var any: Any? = 1
    }
    let (crate, first, second) = (Crate(), Crate(), Crate())
    first.name = "1"
    second.name = "2"
    crate.inner = [second, first]
    let sorted = try crate.mutableSetValue(forKey: "inner").sorted(using: KeyValueSort("name"))
    expect(sorted.map { $0.base as? Crate } == [first, second])
    try crate.setValuesForKeys(["any": AnyHashable(NSNull())] as [String: Any])
    expect(crate.any == nil)
  }
}
