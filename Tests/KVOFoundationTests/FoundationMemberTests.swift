import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// B13, H4: Foundation's sets through proxies, with the members that Foundation takes for the same.
@Suite(.leakFree) struct FoundationMemberTests {
  private let log = Recorder()
  private let drawer = Drawer()

  @Test(
    "B13 H4: a counted set is a set, in which members that stay keep their counts",
    arguments: ["counted", "perhaps"])
  func counted(_ key: String) throws {
    let counted = try drawer.mutableSetValue(forKey: key)
    var changes: [[Set<AnyHashable>]] = []
    let token = try drawer.observe(keyPath: key, options: [.old, .new]) { _, change in
      changes.append([change.oldValue, change.newValue].map { members($0) })
    }
    expect(counted.count == 2 && counted.contains(1) && Set(counted) == [1, 2])
    try counted.add(5)
    try counted.add(1)
    expectEqual(try counts(of: key), [1: 2, 2: 1, 5: 1])
    try counted.remove(2)
    try counted.set([1, 7])
    expectEqual(try counts(of: key), [1: 2, 7: 1])
    try counted.formUnion([NSNumber(value: 7), 8])
    try counted.formIntersection([1])
    expectEqual(try counts(of: key), [1: 2])
    expectEqual(
      changes, [[[], [5]], [[], []], [[2], []], [[5], [7]], [[], [8]], [[7, 8], []]])
    token.invalidate()
  }

  private func counts(of key: String) throws -> [Int: Int] {
    let set = try require(try drawer.value(forKey: key) as? NSCountedSet)
    return Dictionary(uniqueKeysWithValues: set.allObjects.map { ($0 as! Int, set.count(for: $0)) })
  }

  @Test(
    "B13 D3: counted sets whose counts differ are different values",
    arguments: ["counted", "perhaps"])
  func differingCounts(_ key: String) throws {
    var seen = 0
    let token = try drawer.observe(keyPath: key, options: .distinct) { _, _ in seen += 1 }
    try drawer.setValue(NSCountedSet(array: [2, 1, 1]), forKey: key)
    expectEqual(seen, 0)
    try drawer.setValue(NSCountedSet(array: [1, 2, 2]), forKey: key)
    expectEqual(seen, 1)
    try drawer.setValue(NSCountedSet(array: [1, 2]), forKey: key)
    expectEqual(seen, 2)
    token.invalidate()
  }

  @Test("R3: the members of a counted set are among the values for Foundation")
  func countedForFoundation() throws {
    let values = try drawer.dictionaryWithFoundationValues(forKeys: ["counted"])
    expectEqual(values["counted"] as? Set<AnyHashable>, [1, 2])
  }

  @Test(
    "B13 H4: a member that Foundation takes for another one is that member of a set",
    arguments: ["set", "mutableSet"])
  func equalInSets(_ key: String) throws {
    let set = try drawer.mutableSetValue(forKey: key)
    var changes: [[Set<AnyHashable>]] = []
    let token = try drawer.observe(keyPath: key, options: [.old, .new]) { _, change in
      changes.append([change.oldValue, change.newValue].map { members($0) })
    }
    expect(set.contains(true) && set.member(true) as? Int == 1 && !set.contains(false))
    try set.add(true)
    expectEqual(changes, [[[], []]])
    changes = []
    try set.formUnion([9, NSNumber(value: 9), true])
    try set.subtract([true])
    try set.formIntersection([2.0])
    try set.formUnion([0, false])
    expectEqual(set.count, 2)
    try set.set([2, false])
    expectEqual(changes.prefix(3), [[[], [9]], [[1], []], [[9], []]])
    expectEqual(changes.count, 5)
    expectEqual(changes.last, [[], []])
    token.invalidate()
  }

  @Test(
    "B13 B9: a member that Foundation takes for another one is not inserted again",
    arguments: ["ordered", "mutableOrdered"])
  func equalInOrderedSets(_ key: String) throws {
    let set = try drawer.mutableOrderedSetValue(forKey: key)
    try log.observe(drawer, key, .new, as: key)
    try set.insert(true, at: 0)
    try set.insert([1.0, true], at: RangeSet(0..<2))
    expect(set.contains(true) && set.index(of: true) == 0 && !set.contains(false))
    try set.insert([9, NSNumber(value: 9), NSNumber(value: 1)], at: RangeSet(2..<5))
    try set.replace(at: 0, with: true)
    expectEqual(set.map { $0 as? Int ?? -1 }.dropFirst(), [2, 9])
    expectEqual(
      log.take().map { $0.prefix { $0 != "[" && $0 != "(" } },
      [
        "\(key) insertion at 2 new ", "\(key) replacement at 0 new ",
      ])
    let twice = KeyValueError.validationFailed(
      key: key, className: "Drawer", reason: "it is an ordered set and would have 2.0 twice.")
    expectEqual(keyValueError { try set.replace(at: RangeSet(0..<2), with: [7, 9]) } != nil, true)
    expectEqual(keyValueError { try set.replace(at: 0, with: 2.0) }, twice)
    expectEqual(log.take(), [])
  }

  @Test(
    "B13 B9: an array's proxy of an ordered set refuses a member that it has",
    arguments: ["ordered", "mutableOrdered"])
  func arrayProxy(_ key: String) throws {
    let list = try drawer.mutableArrayValue(forKey: key)
    try log.observe(drawer, key)
    for member in [2, true] as [Any] {
      expectEqual(
        keyValueError { try list.insert(member, at: 0) },
        .validationFailed(
          key: key, className: "Drawer",
          reason: "it is an ordered set and would have \(member is Bool ? 1 : 2) twice."))
    }
    expectEqual(list.map { $0 as? Int }, [1, 2])
    expectEqual(log.take(), [])
  }
}

private func members(_ value: Any?) -> Set<AnyHashable> {
  Set((value as? NSSet)?.allObjects.map { AnyHashable($0 as? Int ?? ($0 as! Bool ? 1 : 0)) } ?? [])
}

@KVO private final class Drawer: KVOObject {
  var counted = NSCountedSet(array: [1, 1, 2])
  var perhaps: NSSet? = NSCountedSet(array: [1, 1, 2])
  var set = NSSet(array: [1, 2])
  var mutableSet = NSMutableSet(array: [1, 2])
  var ordered = NSOrderedSet(array: [1, 2])
  var mutableOrdered = NSMutableOrderedSet(array: [1, 2])
}
