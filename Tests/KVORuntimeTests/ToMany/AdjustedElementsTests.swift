import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// D5, H4, H5: mutations of to-many keys whose setters store other elements than they are passed.
@Suite(.leakFree) struct AdjustedElementsTests {
  private let desk = Desk()
  private let log = Recorder()

  @Test("D5 H5: a handle's mutation that a didSet adjusts is a setting, from old to new elements")
  func handles() {
    log.observe(desk, \.sorted, [.old, .new], as: "sorted")
    log.observe(desk, \.last, [.old, .new], as: "last")
    let sorted = desk.mutableArray(\.sorted)
    sorted.insert(9, at: 0)
    sorted.append(10)
    sorted.insert(contentsOf: [0, 7], at: 3)
    sorted.remove(at: 1)
    sorted[0] = 11
    sorted.swapAt(0, 1)
    sorted.replaceObjects(at: RangeSet([0..<1, 2..<3]), with: [5, 10])
    expectEqual(
      log.take(),
      [
        "sorted old [1, 5] new [1, 5, 9]", "sorted insertion at 3 new [10]",
        "sorted old [1, 5, 9, 10] new [0, 1, 5, 7, 9, 10]",
        "sorted removal at 1 old [1]",
        "sorted old [0, 5, 7, 9, 10] new [5, 7, 9, 10, 11]",
        "sorted old [5, 7, 9, 10, 11] new [5, 7, 9, 10, 11]",
        "sorted replacement at 0 2 old [5, 9] new [5, 10]",
      ])
    let last = desk.mutableArray(\.last)
    last.append(4)
    last.removeLast()
    last.append(contentsOf: [5, 6])
    expectEqual(
      log.take(),
      [
        "last old [1, 2, 3] new [2, 3, 4]", "last removal at 2 old [4]",
        "last old [2, 3] new [3, 5, 6]",
      ])
  }

  @Test("D5 H5: a proxy's mutation that a setter adjusts is a setting", arguments: Desk.adjusting)
  func proxies(_ key: String) throws {
    try log.observe(desk, key, [.old, .new], as: "")
    let proxies: [any Adjusting] = [
      try desk.mutableArrayValue(forKey: key), try desk.mutableOrderedSetValue(forKey: key),
    ]
    for proxy in proxies {
      try desk.setValue([1, 5], forKey: key)
      _ = log.take()
      try proxy.put(9, at: 0)
      try proxy.put(12, at: 3)
      try proxy.exchange(at: 0, for: 10)
      try proxy.drop(at: 0)
      expectEqual(
        log.take(),
        [
          " old [1, 5] new [1, 5, 9]", " insertion at 3 new [12]",
          " old [1, 5, 9, 12] new [5, 9, 10, 12]", " removal at 0 old [5]",
        ])
    }
  }

  @Test("D5: an optional array is nil before a mutation that a setter adjusts")
  func optionals() throws {
    log.observe(desk, \.perhaps, [.old, .new], as: "a")
    desk.mutableArray(\.perhaps).append(contentsOf: [3, 2])
    desk.mutableArray(\.perhaps).insert(1, at: 0)
    desk.perhaps = nil
    _ = try desk.mutableArrayValue(forKey: "perhaps").insert([3, 2], at: RangeSet(0..<2))
    expectEqual(
      log.take(),
      [
        "a old nil new [2, 3]", "a insertion at 0 new [1]",
        "a old [1, 2, 3] new nil", "a old nil new [2, 3]",
      ])
  }

  @Test("D5 M3: in a batch as well, and elements that stay as passed are delivered as such")
  func batches() throws {
    log.observe(desk, \.sorted, [.old, .new], as: "a")
    let proxy = try desk.mutableArrayValue(forKey: "sorted")
    desk.coalescingNotifications { desk.mutableArray(\.sorted).insert(9, at: 0) }
    desk.coalescingNotifications { desk.mutableArray(\.sorted).append(10) }
    try desk.coalescingNotifications { try proxy.insert(3, at: 0) }
    try desk.coalescingNotifications { try proxy.insert(2, at: 1) }
    expectEqual(
      log.take(),
      [
        "a old [1, 5] new [1, 5, 9]", "a insertion at 3 new [10]",
        "a old [1, 5, 9, 10] new [1, 3, 5, 9, 10]", "a insertion at 1 new [2]",
      ])
  }

  @Test("D5: each observer gets what it asks for, and paths and derived keys are right")
  func options() throws {
    let all: [(String, KeyValueObservingOptions)] = [
      ("none", []), ("old", .old), ("new", .new), ("prior", [.prior, .old, .new]),
    ]
    for (name, options) in all { log.observe(desk, \.last, options, as: name) }
    log.observe(desk, \.last.count, [.old, .new], as: "count")
    try log.observe(desk, "last.@sum.self", [.old, .new], as: "sum")
    log.observe(desk, \.total, [.old, .new], as: "total")
    desk.mutableArray(\.last).append(4)
    expectEqual(
      log.take(),
      [
        "prior prior insertion at 3", "none", "old old [1, 2, 3]",
        "new new [2, 3, 4]", "prior old [1, 2, 3] new [2, 3, 4]",
        "sum old 6 new 9", "count old 3 new 3", "total old 6 new 9",
      ])
  }

  @Test("D5: elements that can't be compared are trusted if there are as many")
  func incomparable() {
    log.observe(desk, \.pins, [.new], as: "a")
    desk.mutableArray(\.pins).append(Desk.Pin(x: 1))
    desk.mutableArray(\.pins).append(Desk.Pin(x: 2))
    desk.mutableArray(\.pins).append(Desk.Pin(x: 3))
    expectEqual(
      log.take().map { $0.split(separator: " ")[1] }, ["insertion", "insertion", "new"])
  }

  @Test("D5: a setter that mutates the key again is a setting from the value before both")
  func nestedMutation() throws {
    log.observe(desk, \.filled, [.old, .new], as: "a")
    desk.mutableArray(\.filled).append(2)
    try desk.mutableArrayValue(forKey: "filled").append(3)
    expectEqual(
      log.take(), ["a old [5, 7] new [-1, 2, 5, 7]", "a old [-1, 2, 5, 7] new [-1, 2, 3, 5, 7]"])
  }

  @Test("D5 D7: the old value is from before what prior calls have changed", arguments: [1, 2])
  func mutationsInPriorCalls(_ count: Int) throws {
    for isProxy in [false, true] {
      let desk = Desk()
      var more = (0..<count).map { 9 - $0 }
      let token = desk.observe(\.sorted, options: .prior) { desk, _ in
        while let value = more.popLast() { desk.mutableArray(\.sorted).insert(value, at: 0) }
      }
      log.observe(desk, \.sorted, [.old, .new], as: "a")
      if isProxy {
        try desk.mutableArrayValue(forKey: "sorted").append(0)
      } else {
        desk.mutableArray(\.sorted).append(0)
      }
      let added = count == 1 ? [9] : [8, 9]
      expectEqual(log.take(), ["a old [1, 5] new \([0, 1, 5] + added)"])
      token.invalidate()
    }
  }

  @Test("D5: a setter that stores what it is passed, in its own type, changes elements")
  func converted() throws {
    try log.observe(desk, "hues", .new, as: "a")
    let hues = try desk.mutableArrayValue(forKey: "hues")
    try hues.append(1)
    try hues.replace(at: 0, with: 2)
    expectEqual(desk.hues, [.blue])
    expectEqual(log.take().map { $0.split(separator: " ")[1] }, ["insertion", "replacement"])
  }

  @Test("H4 D5: a set's handle notifies of the members that the setter has added and removed")
  func sets() throws {
    let handles: [(ObservedSet<Int>, Recorder)] = [
      (desk.mutableSet(\.even), Recorder()), (desk.mutableSet(\.perhapsEven), Recorder()),
    ]
    handles[0].1.observe(desk, \.even, [.prior, .old, .new], as: "a")
    handles[1].1.observe(desk, \.perhapsEven, [.prior, .old, .new], as: "a")
    for (even, log) in handles {
      even.insert(3)
      even.formUnion([3, 4])
      even.set([8, 9])
      even.subtract([8])
      even.formUnion([2, 4, 5])
      even.formIntersection([4, 7])
      even.removeAll()
      expectEqual(
        log.take(),
        [
          "a prior insertion", "a insertion new {}", "a prior insertion", "a insertion new {4}",
          "a prior replacement old {2, 4}", "a replacement old {2, 4} new {8}",
          "a prior removal old {8}", "a removal old {8}", "a prior insertion",
          "a insertion new {2, 4}", "a prior removal old {2}", "a removal old {2}",
          "a prior removal old {4}", "a removal old {4}",
        ])
    }
  }

  @Test("D5: random mutations, replayed by an observer, give the stored elements", arguments: 0..<8)
  func replay(_ seed: Int) throws {
    var random = Random(seed: UInt64(seed))
    var mirrors = [desk.sorted, desk.last]
    func follow(_ index: Int, _ change: KeyValueObservedChange<[Int]>) {
      switch change.kind {
      case .insertion:
        for (i, element) in zip(change.indexes!.ranges.joined(), change.newValue!) {
          mirrors[index].insert(element, at: i)
        }
      case .removal: mirrors[index].removeSubranges(change.indexes!)
      case .replacement:
        for (i, element) in zip(change.indexes!.ranges.joined(), change.newValue!) {
          mirrors[index][i] = element
        }
      case .setting: mirrors[index] = change.newValue!
      }
    }
    let tokens = [
      desk.observe(\.sorted, options: [.old, .new]) { follow(0, $1) },
      desk.observe(\.last, options: [.old, .new]) { follow(1, $1) },
    ]
    for _ in 0..<200 {
      let isFirst = random.next(2) == 0
      let handle = isFirst ? desk.mutableArray(\.sorted) : desk.mutableArray(\.last)
      let proxy = try desk.mutableArrayValue(forKey: isFirst ? "sorted" : "last")
      let (count, element) = (handle.count, random.next(20))
      let mutate: () throws -> Void =
        switch random.next(count > 0 ? 6 : 2) {
        case 0: { handle.insert(element, at: count / 2) }
        case 1: { try proxy.insert(element, at: count) }
        case 2: { handle.remove(at: element % count) }
        case 3: { try proxy.remove(at: element % count) }
        case 4: { handle[element % count] = element }
        default: { try proxy.replace(at: element % count, with: element) }
        }
      if random.next(3) == 0 { try desk.coalescingNotifications(mutate) } else { try mutate() }
      expectEqual(mirrors, [desk.sorted, desk.last])
    }
    withExtendedLifetime(tokens) {}
  }
}

private protocol Adjusting {
  func put(_ element: Int, at index: Int) throws
  func exchange(at index: Int, for element: Int) throws
  func drop(at index: Int) throws
}

extension MutableArrayProxy: Adjusting {
  fileprivate func put(_ element: Int, at index: Int) throws { try insert(element, at: index) }
  fileprivate func exchange(at index: Int, for element: Int) throws {
    try replace(at: index, with: element)
  }
  fileprivate func drop(at index: Int) throws { try remove(at: index) }
}

extension MutableOrderedSetProxy: Adjusting {
  fileprivate func put(_ element: Int, at index: Int) throws { try insert(element, at: index) }
  fileprivate func exchange(at index: Int, for element: Int) throws {
    try replace(at: index, with: element)
  }
  fileprivate func drop(at index: Int) throws { try remove(at: index) }
}

@KVO class Desk: KVOObject {
  struct Pin { var x: Int }
  enum Hue: Int {
    case red = 1
    case blue
  }

  static let adjusting = ["sorted", "inSetter", "accessed", "declared", "typed"]

  var sorted = [1, 5] { didSet { sorted.sort() } }
  var last = [1, 2, 3] { didSet { if last.count > 3 { last.removeFirst(last.count - 3) } } }
  var perhaps: [Int]? { didSet { perhaps?.sort() } }
  var pins: [Pin] = [] { didSet { pins = pins.suffix(2).map { $0 } } }
  var even: Set<Int> = [2] { didSet { even = even.filter { $0 % 2 == 0 } } }
  var perhapsEven: Set<Int>? = [2] { didSet { perhapsEven = perhapsEven?.filter { $0 % 2 == 0 } } }
  var total: Int { last.reduce(0, +) }
  var inSetter: [Int] {
    get { store }
    set { store = newValue.sorted() }
  }
  var filled: [Int] {
    get { filling }
    set {
      filling = newValue.sorted()
      if filling.count < 4 { mutableArray(\.filled).append(-1) }
    }
  }
  var filling = [5, 7]
  var hues: [Hue] {
    get { painted }
    set { painted = newValue }
  }
  var painted: [Hue] = []
  var store = [1, 5]
  @KVOIgnored var stock = [1, 5]
  @KVOIgnored var plain = [1, 5] { didSet { plain.sort() } }
  @KVOIgnored var anything: Any = [1, 5] {
    didSet { anything = (anything as! [Any]).map { $0 as! Int }.sorted() }
  }

  override class func registerKeys() {
    declareKeys {
      $0.accessors("accessed", get: { $0.stock }, set: { $0.stock = $1.sorted() })
      $0.stored("declared", \.plain)
      $0.accessors("typed", get: { $0.anything }, set: { $0.anything = $1 })
    }
  }
}
