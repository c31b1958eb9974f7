import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import Testing

private enum Rank: Int { case low, high }

private final class Store: Tracked {
  @Observed var ranks: [Rank] = [.low, .high]
  @Observed var floats: [Float] = [0, 2.5]
  @Observed var prices: [Decimal]? = [0, Decimal(string: "0.1")!]
  @Observed var reals: [Double] = [0, .nan]
  @Observed var numbers: [Any] = [0, NSNumber(value: 2.5)]
  @Observed var rankSet: Set<Rank> = [.low, .high]
  @Observed var floatSet: Set<Float> = [0, 2.5]
  @Observed var priceSet: Set<Decimal>? = [0, Decimal(string: "0.1")!]
  @Observed var realSet: Set<Double> = [0, .nan]
  private var declaredRanks: [Rank] = [.low, .high]
  private var declaredPrices: Set<Decimal> = [0, Decimal(string: "0.1")!]

  override class func registerKeys() {
    declareKeys {
      $0.orderedToMany(
        "declaredRanks", count: { $0.declaredRanks.count }, element: { $0.declaredRanks[$1] },
        insert: { store, ranks, indexes in
          for (rank, index) in zip(ranks, indexes.ranges.joined()) {
            store.declaredRanks.insert(rank, at: index)
          }
        }, remove: { $0.declaredRanks.removeSubranges($1) })
      $0.unorderedToMany(
        "declaredPrices", count: { $0.declaredPrices.count },
        contains: { $0.declaredPrices.contains($1) }, elements: { AnySequence($0.declaredPrices) },
        add: { $0.declaredPrices.formUnion($1) }, remove: { $0.declaredPrices.subtract($1) })
    }
  }
}

/// A key with two elements, the values that stand for its second, and some that stand for none.
private struct Sought: CustomTestStringConvertible, @unchecked Sendable {
  let key: String
  let equal: [AnyHashable]
  let others: [AnyHashable]
  var testDescription: String { key }

  init(_ key: String, _ equal: [AnyHashable], not others: [AnyHashable]) {
    (self.key, self.equal, self.others) = (key, equal, others)
  }
}

private let lists: [Sought] = [
  Sought("ranks", [Rank.high, 1, UInt8(1), NSNumber(value: 1)], not: [2, 1.5, "1", "x"]),
  Sought("declaredRanks", [Rank.high, 1, NSNumber(value: 1)], not: [2, 1.5, "1", "x"]),
  Sought("floats", [Float(2.5), 2.5, NSNumber(value: 2.5), Decimal(2.5)], not: [2, "2.5"]),
  Sought(
    "prices", [Decimal(string: "0.1")!, 0.1, NSDecimalNumber(string: "0.1")],
    not: [1, 0.2, "0.1"]),
  Sought("reals", [Double.nan, Float.nan], not: [1, "nan"]),
  Sought("numbers", [2.5, Float(2.5), NSNumber(value: 2.5)], not: [2, "2.5"]),
]

// Without NSDecimalNumber, whose hash value can't be computed on Linux.
private let unordered: [Sought] = [
  Sought("rankSet", [Rank.high, 1, NSNumber(value: 1)], not: [2, 1.5, "1", "x"]),
  Sought("floatSet", [Float(2.5), 2.5, NSNumber(value: 2.5), Decimal(2.5)], not: [2, "2.5"]),
  Sought(
    "priceSet", [Decimal(string: "0.1")!, 0.1],
    not: [1, 0.2, "0.1"]),
  Sought(
    "declaredPrices", [Decimal(string: "0.1")!, 0.1],
    not: [1, 0.2, "0.1"]),
  Sought("realSet", [Double.nan, Float.nan], not: [1, "nan"]),
]

/// B9, B12: proxies search for a value as the element that it becomes when it is added, if both are equal.
@Suite(.leakFree) struct SoughtElementTests {
  @Test("B9 B12: in an array", arguments: lists)
  fileprivate func arrays(_ sought: Sought) throws {
    for value in sought.equal.map(\.base) {
      let list = try Store().mutableArrayValue(forKey: sought.key)
      expect(list.contains(value) && list.index(of: value) == 1, "\(value)")
      expect(list.index(of: value, in: 1..<2) == 1 && list.index(of: value, in: 0..<1) == .max)
      expect(list.firstObjectCommon(with: ["none", value]) != nil)
      expect(list.isEqual(to: [list[0], value]) && !list.isEqual(to: [value, value]))
      try list.append(list[1])
      try list.remove(value, in: 2..<3)
      expectEqual(list.count, 2)
      try list.remove(value)
      expectEqual(list.count, 1, "\(value)")
      let other = try Store().mutableArrayValue(forKey: sought.key)
      try other.removeObjects(in: ["none", value])
      expectEqual(other.count, 1, "\(value)")
    }
    let list = try Store().mutableArrayValue(forKey: sought.key)
    for value in sought.others.map(\.base) {
      expect(!list.contains(value) && list.index(of: value) == .max, "\(value)")
      try list.remove(value)
      try list.removeObjects(in: [value])
    }
    expectEqual(list.count, 2)
  }

  @Test("B9 B12: in an ordered set", arguments: lists)
  fileprivate func orderedSets(_ sought: Sought) throws {
    for value in sought.equal {
      let list = try Store().mutableOrderedSetValue(forKey: sought.key)
      expect(list.contains(value) && list.firstIndex(of: value) == 1, "\(value)")
      expect(list.intersects([value]) && list.isSubset(of: [list[0], value, "none"]))
      expect(!list.isSubset(of: [value]) && list.isEqual(to: [list[0], value]))
      try list.intersect([value])
      expectEqual(list.count, 1, "\(value)")
      try list.minus(["none", value])
      expectEqual(list.count, 0, "\(value)")
    }
    let list = try Store().mutableOrderedSetValue(forKey: sought.key)
    for value in sought.others {
      expect(!list.contains(value) && !list.intersects([value]), "\(value)")
      try list.minus([value])
    }
    expectEqual(list.count, 2)
  }

  @Test("B9 B12: in a set", arguments: unordered)
  fileprivate func sets(_ sought: Sought) throws {
    for value in sought.equal {
      let set = try Store().mutableSetValue(forKey: sought.key)
      expect(set.contains(value) && set.member(value) != nil, "\(value)")
      expect(set.intersects([value]) && !set.isSubset(of: [value]), "\(value)")
      try set.intersect([value, "none"])
      expectEqual(set.count, 1, "\(value)")
      expect(set.isSubset(of: [value, "none"]) && set.isEqual(to: [value]))
      try set.minus([value])
      expectEqual(set.count, 0, "\(value)")
    }
    let set = try Store().mutableSetValue(forKey: sought.key)
    for value in sought.others {
      expect(!set.contains(value) && set.member(value) == nil && !set.intersects([value]))
      try set.remove(value)
      try set.minus([value])
    }
    expectEqual(set.count, 2)
  }

  @Test("B9: a handle finds NaN as a proxy does")
  func handles() {
    let store = Store()
    let reals = store.mutableArray(\.reals)
    expect(reals.index(of: .nan) == 1 && reals.index(of: .nan, in: 0..<1) == .max)
    expect(reals.firstObjectCommon(with: [.nan])?.isNaN == true && reals.isEqual(to: [0, .nan]))
    reals.remove(.nan)
    expectEqual(store.reals, [0])
    store.reals = [.nan, 1, .nan]
    reals.removeObjects(in: [.nan])
    expectEqual(store.reals, [1])
  }
}
