import Expectations
import KVORuntime
import TestSupport
import Testing

/// D7: prior observers that mutate the key which is about to be mutated.
@Suite(.leakFree) struct PriorMutationTests {
  @Test(
    "D7 H5 M1: a mutation is made to what a prior call has left, and is a setting from the first value",
    arguments: ["stored", "perhaps", "computed", "declared", "anything"], [false, true])
  func ordered(_ key: String, _ isBatch: Bool) throws {
    let mutations: [(MutableArrayProxy) throws -> Void] = [
      { try $0.remove(at: 1) }, { try $0.replace(at: 0, with: 5) }, { try $0.insert(6, at: 2) },
    ]
    for (mutate, expected) in zip(mutations, [[8], [5, 9], [8, 9, 6]]) {
      for rack in [PriorRack(), AnnouncingPriorRack()] {
        let proxy = try rack.mutableArrayValue(forKey: key)
        let log = try observe(rack, key) { try proxy.remove(at: 0) }
        try run(inBatch: isBatch, of: rack) { try mutate(proxy) }
        expectEqual(log.take(), ["setting [7, 8, 9] > \(expected)"])
        expectEqual(proxy.map { "\($0)" }, expected.map { "\($0)" })
      }
    }
  }

  /// Runs a body in a batch of the object, or without one.
  private func run(inBatch isBatch: Bool, of rack: PriorRack, _ body: () throws -> Void) rethrows {
    if isBatch { try rack.coalescingNotifications(body) } else { try body() }
  }

  @Test("D7 H5: so is a mutation by a handle", arguments: [\PriorRack.stored, \PriorRack.computed])
  func handles(_ keyPath: ReferenceWritableKeyPath<PriorRack, [Int]> & Sendable) throws {
    let rack = PriorRack()
    let handle = rack.mutableArray(keyPath)
    let key = keyPath == \.stored ? "stored" : "computed"
    let log = try observe(rack, key) { handle.remove(at: 0) }
    handle.append(4)
    expectEqual(log.take(), ["setting [7, 8, 9] > [8, 9, 4]"])
    expectEqual(rack[keyPath: keyPath], [8, 9, 4])
  }

  /// Changes that a prior observer makes to [7, 8, 9], each with the elements that it leaves.
  static let priors: [([Int], @Sendable (PriorRack, String) throws -> Void)] = [
    ([8, 9], { try $0.mutableArrayValue(forKey: $1).remove(at: 0) }),
    ([7, 8, 9, 1], { try $0.mutableArrayValue(forKey: $1).append(1) }),
    (
      [3, 8, 1, 2, 8],
      { try $0.mutableArrayValue(forKey: $1).contents.mutable().set([3, 8, 1, 2, 8]) }
    ),
  ]

  /// Mutations that depend on the present elements.
  static let mutations:
    [(by: @Sendable (MutableArrayProxy) throws -> Void, @Sendable ([Int]) -> [Int])] = [
      ({ try $0.append(4) }, { $0 + [4] }),
      ({ try $0.removeAll() }, { _ in [] }),
    ]

  @Test(
    "D7: a mutation of a proxy is worked out from the elements that a prior call has left",
    arguments: ["stored", "perhaps", "computed", "declared", "anything"], 0..<3)
  func workedOut(_ key: String, _ prior: Int) throws {
    let (left, change) = Self.priors[prior]
    for (mutate, expected) in Self.mutations {
      let rack = PriorRack()
      let proxy = try rack.mutableArrayValue(forKey: key)
      let log = try observe(rack, key) { try change(rack, key) }
      try mutate(proxy)
      expectEqual(log.take(), ["setting [7, 8, 9] > \(expected(left))"])
      expectEqual(proxy.map { "\($0)" }, expected(left).map { "\($0)" })
    }
  }

  @Test("D7: a proxy returns the element that it has removed")
  func removed() throws {
    let rack = PriorRack()
    let proxy = try rack.mutableArrayValue(forKey: "stored")
    let log = try observe(rack, "stored") { try proxy.remove(at: 0) }
    expectEqual(try proxy.remove(at: 1) as? Int, 9)
    expectEqual(log.take(), ["setting [7, 8, 9] > [8]"])
  }

  static let handleMutations:
    [(by: @Sendable (ObservedArray<Int>) -> Void, @Sendable ([Int]) -> [Int])] = [
      ({ $0.append(contentsOf: [4, 5]) }, { $0 + [4, 5] }),
      ({ $0.sort() }, { $0.sorted() }),
      ({ $0.reverse() }, { $0.reversed() }),
      (
        { $0.partition { $0 == 8 } },
        {
          var elements = $0
          _ = elements.partition { $0 == 8 }
          return elements
        }
      ),
      ({ $0.removeAll { $0 == 8 } }, { $0.filter { $0 != 8 } }),
      ({ $0.removeAll() }, { _ in [] }),
      ({ $0.removeLast() }, { $0.dropLast() }),
      ({ $0.removeLast(2) }, { $0.dropLast(2) }),
      ({ $0.swapAt(0, 1) }, { [$0[1], $0[0]] + $0[2...] }),
    ]

  @Test(
    "D7: so is a mutation of a handle",
    arguments: [\PriorRack.stored, \PriorRack.computed], 0..<3)
  func handleWorkedOut(
    _ keyPath: ReferenceWritableKeyPath<PriorRack, [Int]> & Sendable, _ prior: Int
  ) throws {
    let (left, change) = Self.priors[prior]
    let key = keyPath == \.stored ? "stored" : "computed"
    for (mutate, expected) in Self.handleMutations {
      let rack = PriorRack()
      let log = try observe(rack, key) { try change(rack, key) }
      mutate(rack.mutableArray(keyPath))
      expectEqual(log.take(), ["setting [7, 8, 9] > \(expected(left))"])
      expectEqual(rack[keyPath: keyPath], expected(left))
    }
  }

  @Test(
    "D7 M1: in a batch, a mutation is worked out again only if a prior call has changed its own key"
  )
  func otherKeysInBatch() throws {
    let rack = PriorRack()
    var (runs, runsInPrior) = (0, 0)
    let log = try observe(rack, "stored") {
      rack.mutableArray(\.stored).withContiguousMutableStorageIfAvailable {
        runsInPrior += 1
        $0[0] = 5
      }
    }
    let others = try observe(rack, "computed")
    rack.coalescingNotifications {
      rack.mutableArray(\.stored).append(4)
      for _ in 0..<2 {
        rack.mutableArray(\.computed).withContiguousMutableStorageIfAvailable {
          runs += 1
          $0[0] += 1
        }
      }
    }
    expectEqual(runsInPrior, 1)
    expectEqual(runs, 2)
    expectEqual(log.take(), ["setting [7, 8, 9] > [5, 8, 9, 4]"])
    expectEqual(others.take(), ["setting [7, 8, 9] > [9, 8, 9]"])
  }

  @Test("D7: a condition that throws when it is asked again leaves what the prior call has left")
  func throwing() throws {
    struct Refusal: Error {}
    let rack = PriorRack()
    let log = try observe(rack, "stored") { rack.stored = [1] }
    #expect(throws: Refusal.self) {
      try rack.mutableArray(\.stored).removeAll {
        if $0 == 1 { throw Refusal() }
        return true
      }
    }
    expectEqual(log.take(), ["setting [7, 8, 9] > [1]"])
  }

  @Test("D7: popping the last element of an array that a prior call has emptied gives nil")
  func popping() throws {
    let rack = PriorRack()
    let log = try observe(rack, "stored") { rack.stored = [] }
    expectEqual(rack.mutableArray(\.stored).popLast(), nil)
    expectEqual(log.take(), ["setting [7, 8, 9] > []"])
  }

  @Test(
    "D7 B9: an ordered set does not get a member that a prior call has inserted",
    arguments: ["stored", "perhaps", "computed", "declared", "anything"])
  func orderedSet(_ key: String) throws {
    for insert in [
      { try $0.insert(6, at: 1) }, { try $0.add(6) },
      { try $0.insert([6, 5], at: RangeSet(0..<2)) },
    ] as [(MutableOrderedSetProxy) throws -> Void] {
      let rack = PriorRack()
      let proxy = try rack.mutableOrderedSetValue(forKey: key)
      let log = try observe(rack, key) { try proxy.insert([5, 6], at: RangeSet(0..<2)) }
      try insert(proxy)
      expectEqual(log.take(), ["setting [7, 8, 9] > [5, 6, 7, 8, 9]"])
    }
    let rack = PriorRack()
    let proxy = try rack.mutableOrderedSetValue(forKey: key)
    let log = try observe(rack, key) { try proxy.add(6) }
    #expect(throws: KeyValueError.self) { try proxy.replace(at: 0, with: 6) }
    expectEqual(log.take(), ["setting [7, 8, 9] > [7, 8, 9, 6]"])
  }

  @Test("D7 H4: so is a mutation of a set, by a handle or a proxy", arguments: [true, false])
  func sets(_ isHandle: Bool) throws {
    let rack = PriorRack()
    let handle = rack.mutableSet(\.members)
    let log = try observe(rack, "members") { handle.remove(1) }
    if isHandle {
      handle.insert(3)
    } else {
      try rack.mutableSetValue(forKey: "members").formUnion([3])
    }
    expectEqual(log.take(), ["setting [1, 2] > [2, 3]"])
  }

  @Test(
    "D7: a mutation that fails after a prior call delivers what the prior call has changed",
    arguments: ["stored", "perhaps", "computed", "declared", "anything"], [false, true])
  func failing(_ key: String, _ isBatch: Bool) throws {
    let rack = PriorRack()
    let proxy = try rack.mutableArrayValue(forKey: key)
    let log = try observe(rack, key) { try proxy.remove(at: RangeSet(0..<2)) }
    for change in [{ try proxy.remove(at: 2) }, { try proxy.replace(at: 2, with: 0) }] {
      #expect(
        throws: KeyValueError.indexOutOfBounds(key: key, className: "PriorRack", index: 2, count: 1)
      ) { try run(inBatch: isBatch, of: rack) { _ = try change() } }
      expectEqual(log.take(), ["setting [7, 8, 9] > [9]"])
      try proxy.insert([7, 8], at: RangeSet(0..<2))
      _ = log.take()
      log.rearm()
    }
  }

  // MARK: Observing

  /// The lines of an observer, registered after a prior observer that runs a body in its first prior call.
  private final class Log: @unchecked Sendable {
    var lines: [String] = []
    var tokens: [KeyValueObservation] = []
    private let body: (() throws -> Void)?
    private var isDone = false

    init(_ body: (() throws -> Void)?) { self.body = body }

    func take() -> [String] {
      defer { lines = [] }
      return lines
    }

    func rearm() { isDone = false }

    func runOnce() {
      if isDone { return }
      isDone = true
      do { try body?() } catch { Issue.record("\(error)") }
    }
  }

  private func observe(
    _ rack: PriorRack, _ key: String, _ body: (() throws -> Void)? = nil
  ) throws -> Log {
    let log = Log(body)
    log.tokens.append(
      try rack.observe(keyPath: key, options: .prior) { [unowned log] _, change in
        if change.isPrior { log.runOnce() }
      })
    log.tokens.append(
      try rack.observe(keyPath: key, options: [.old, .new]) { [unowned log] _, change in
        let values = [change.oldValue, change.newValue].map { value -> String in
          if let members = value as? Set<Int> { return "\(members.sorted())" }
          return value.map { "\($0)" } ?? "-"
        }
        log.lines.append("\(change.kind) \(values.joined(separator: " > "))")
      })
    return log
  }
}

/// Arrays and a set that are stored, computed, or reached by accessors.
class PriorRack: KVOObject, @unchecked Sendable {
  @Observed var stored = [7, 8, 9]
  @Observed var perhaps: [Int]? = [7, 8, 9]
  @Observed var members: Set = [1, 2]
  @Observed var anything: Any = [7, 8, 9]
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

/// Announces its changes itself.
final class AnnouncingPriorRack: PriorRack, @unchecked Sendable {
  override func willChangeValue(forKey key: String) { super.willChangeValue(forKey: key) }
  override func didChangeValue(forKey key: String) { super.didChangeValue(forKey: key) }
  override func willChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) { super.willChange(kind, valuesAt: indexes, forKey: key) }
  override func didChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) { super.didChange(kind, valuesAt: indexes, forKey: key) }
}
