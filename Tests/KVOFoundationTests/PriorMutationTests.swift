import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import TestSupport
import Testing

/// D7: prior observers that mutate the key which is about to be mutated by Foundation's names.
@Suite(.leakFree) struct PriorMutationTests {
  /// Changes that a prior observer makes to [7, 8, 9], each with the elements that it leaves.
  static let priors: [([Int], @Sendable (MutableArrayProxy) throws -> Void)] = [
    ([8, 9], { try $0.remove(at: 0) }),
    ([7, 8, 9, 1], { try $0.append(1) }),
    ([3, 8, 1], { try $0.setArray([3, 8, 1]) }),
  ]

  static let mutations:
    [(by: @Sendable (MutableArrayProxy) throws -> Void, @Sendable ([Int]) -> [Int])] = [
      ({ try $0.exchangeObject(at: 0, withObjectAt: 1) }, { [$0[1], $0[0]] + $0[2...] }),
      ({ try $0.sort { ($0 as! Int) < ($1 as! Int) } }, { $0.sorted() }),
      ({ try $0.addObjects(from: [4, 5]) }, { $0 + [4, 5] }),
      ({ try $0.removeLastObject() }, { $0.dropLast() }),
      ({ try $0.remove(8) }, { $0.filter { $0 != 8 } }),
      ({ try $0.remove(8, in: 0..<2) }, { $0.filter { $0 != 8 } }),
      ({ try $0.removeObjects(in: [8, 1]) }, { $0.filter { $0 != 8 && $0 != 1 } }),
    ]

  @Test(
    "D7: a mutation is worked out from the elements that a prior call has left",
    arguments: ["stored", "computed", "declared", "anything"], 0..<3)
  func workedOut(_ key: String, _ prior: Int) throws {
    let (left, change) = Self.priors[prior]
    for (mutate, expected) in Self.mutations {
      let rack = PriorFoundationRack()
      let proxy = try rack.mutableArrayValue(forKey: key)
      let log = try observe(rack, key) { try change(proxy) }
      try mutate(proxy)
      expectEqual(log.lines, ["setting [7, 8, 9] > \(expected(left))"])
      expectEqual(proxy.map { "\($0)" }, expected(left).map { "\($0)" })
    }
  }

  @Test("D7: so is one of a handle, within a range")
  func handle() throws {
    let rack = PriorFoundationRack()
    let handle = rack.mutableArray(\.stored)
    let log = try observe(rack, "stored") { rack.stored = [8, 3, 8] }
    handle.remove(8, in: 0..<3)
    expectEqual(log.lines, ["setting [7, 8, 9] > [3]"])
  }

  @Test("D7: members are moved from the places that a prior call has left")
  func moving() throws {
    let rack = PriorFoundationRack()
    let proxy = try rack.mutableOrderedSetValue(forKey: "declared")
    let log = try observe(rack, "declared") { try proxy.remove(7) }
    try proxy.moveObjects(at: RangeSet(0..<1), to: 1)
    expectEqual(log.lines, ["setting [7, 8, 9] > [9]", "insertion - > [8]"])
    expectEqual(proxy.array as? [Int], [9, 8])
  }

  @Test("D7 B9: an NSOrderedSet does not get a member that a prior call has inserted")
  func orderedSet() throws {
    let rack = PriorFoundationRack()
    let proxy = try rack.mutableOrderedSetValue(forKey: "unique")
    let log = try observe(rack, "unique") { try proxy.insert(6, at: 0) }
    try proxy.insert(6, at: 1)
    try proxy.addObjects(from: [6, 7])
    expectEqual(rack.unique.array as? [Int], [6, 7])
    expectEqual(log.lines.count, 1)
  }

  private final class Log: @unchecked Sendable {
    var lines: [String] = []
    var tokens: [KeyValueObservation] = []
    private var body: (() throws -> Void)?

    init(_ body: @escaping () throws -> Void) { self.body = body }

    func runOnce() {
      do { try body.take()?() } catch { Issue.record("\(error)") }
    }
  }

  /// Runs a body in the first prior call for the key. Logs the changes.
  private func observe(
    _ rack: PriorFoundationRack, _ key: String, _ body: @escaping () throws -> Void
  ) throws -> Log {
    let log = Log(body)
    log.tokens.append(
      try rack.observe(keyPath: key, options: .prior) { [unowned log] _, change in
        if change.isPrior { log.runOnce() }
      })
    log.tokens.append(
      try rack.observe(keyPath: key, options: [.old, .new]) { [unowned log] _, change in
        let values = [change.oldValue, change.newValue].map { $0.map { "\($0)" } ?? "-" }
        log.lines.append("\(change.kind) \(values.joined(separator: " > "))")
      })
    return log
  }
}

private final class PriorFoundationRack: KVOObject, @unchecked Sendable {
  @Observed var stored = [7, 8, 9]
  @Observed var anything: Any = [7, 8, 9]
  @Observed var unique = NSOrderedSet(array: [7])
  private var items = [7, 8, 9]
  private var others = [7, 8, 9]

  var computed: [Int] {
    get { items }
    set { withAutomaticChange(of: \.computed) { items = newValue } }
  }

  override class func registerKeys() {
    declareKeys {
      $0.computed("computed", \.computed)
      $0.orderedToMany(
        "declared", count: { $0.others.count }, element: { $0.others[$1] },
        insert: { rack, elements, indexes in
          for (element, index) in zip(elements, indexes.ranges.joined()) {
            rack.others.insert(element, at: index)
          }
        },
        remove: { rack, indexes in rack.others.removeSubranges(indexes) })
    }
  }
}
