import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// M: a body's changes of one object are delivered when it ends, once for each key.
@Suite(.leakFree) struct CoalescingTests {
  private class Frame: Tracked {
    @Observed var x = 0
    @Observed var y = 0
    @Observed var width = 10
    @Observed var rows = [1, 2, 3]
    @Observed var tags: Set<String> = ["a"]
    @Observed var next: Frame?
    var right: Int { x + width }
    var sum: Int { right + y }
    private var declaredStorage = 0
    var declared: Int {
      get { declaredStorage }
      set { withChange(of: \.declared) { declaredStorage = newValue } }
    }
    var clamped: Int {
      get { x }
      set { (x, y) = (min(newValue, 5), newValue) }
    }

    override class func registerKeys() {
      declareKeys {
        $0.computed("declared", \.declared)
        $0.computed("area", \Frame.area, affectedBy: ["x", "y", "width"])
      }
    }
    var area: Int { x * 100 + y * 10 + width }
  }

  private let frame = Frame()
  private let log = Recorder()

  @Test(
    "M1: each key notifies once, from first old to last new value, in order of first changes"
  )
  func once() {
    log.observe(frame, \.x, [.old, .new], as: "x")
    log.observe(frame, \.y, [.old, .new], as: "y")
    log.observe(frame, \.width, [.old, .new], as: "width")
    let result = frame.coalescingNotifications {
      frame.y = 1
      frame.x = 2
      frame.y += 5
      frame.x = 3
      expectEqual(log.take(), [])
      return "done"
    }
    expectEqual(result, "done")
    expectEqual(log.take(), ["y old 0 new 6", "x old 0 new 3"])
    frame.x = 4
    expectEqual(log.take(), ["x old 3 new 4"])
  }

  @Test("M1: prior calls are made at the first change of a key")
  func priors() {
    log.observe(frame, \.x, [.prior, .old, .new], as: "x")
    log.observe(frame, \.right, [.prior, .old], as: "right")
    frame.coalescingNotifications {
      frame.x = 1
      expectEqual(log.take(), ["x prior old 0", "right prior old 10"])
      frame.width = 20
      frame.x = 2
      expectEqual(log.take(), [])
    }
    expectEqual(log.take(), ["x old 0 new 2", "right old 10"])
  }

  @Test(
    "M4: bodies for one object are part of the outermost one, others end by themselves"
  )
  func nested() {
    let other = Frame()
    log.observe(frame, \.x, [.old, .new], as: "x")
    log.observe(other, \.x, [.old, .new], as: "other")
    frame.coalescingNotifications {
      frame.coalescingNotifications { frame.x = 1 }
      other.coalescingNotifications {
        frame.coalescingNotifications { frame.x = 2 }
        other.x = 1
        other.x = 2
        expectEqual(log.take(), [])
      }
      expectEqual(log.take(), ["other old 0 new 2"])
      other.x = 3
      expectEqual(log.take(), ["other old 2 new 3"])
    }
    expectEqual(log.take(), ["x old 0 new 2"])
  }

  private struct Failure: Error {}

  @Test("M4: changes are delivered when the body throws")
  func throwing() {
    log.observe(frame, \.x, [.old, .new], as: "x")
    #expect(throws: Failure.self) {
      try frame.coalescingNotifications {
        frame.x = 1
        try frame.coalescingNotifications {
          frame.x = 2
          throw Failure()
        }
      }
    }
    expectEqual(log.take(), ["x old 0 new 2"])
  }

  @Test(
    "M2: computed and dependent keys that several keys affect notify once")
  func derived() throws {
    log.observe(frame, \.right, [.old, .new], as: "right")
    log.observe(frame, \.sum, [.old, .new], as: "sum")
    try log.observe(frame, "area", [.old, .new], as: "area")
    log.observe(frame, \.width, [.new], as: "width")
    frame.coalescingNotifications {
      frame.x = 1
      frame.width = 20
      frame.y = 3
      frame.x = 2
    }
    expectEqual(
      log.take().sorted(),
      [
        "area old 10 new 250", "right old 10 new 22", "sum old 10 new 25", "width new 20",
      ])
  }

  @Test("M2: key paths over the object notify once, with what they lead to at the end")
  func paths() throws {
    let (first, second) = (Frame(), Frame())
    second.x = 7
    frame.next = first
    log.observe(frame, \.next?.x, [.old, .new], as: "typed")
    try log.observe(frame, "next.x", [.old, .new], as: "string")
    frame.coalescingNotifications {
      frame.next = nil
      frame.next = second
    }
    expectEqual(log.take().sorted(), ["string old 0 new 7", "typed old 0 new 7"])
    second.x = 8
    first.x = 9
    expectEqual(log.take().sorted(), ["string old 7 new 8", "typed old 7 new 8"])
  }

  @Test("M2: a key path that moves to the object from another one notifies once")
  func pathsFromElsewhere() throws {
    let owner = Frame()
    owner.next = frame
    log.observe(owner, \.next?.right, [.old, .new], as: "typed")
    try log.observe(owner, "next.x", [.old, .new], as: "string")
    frame.coalescingNotifications {
      frame.x = 1
      frame.width = 2
      frame.x = 3
    }
    expectEqual(log.take().sorted(), ["string old 0 new 3", "typed old 10 new 5"])
  }

  @Test("M3: one change of elements stays one, several become a setting")
  func elements() {
    log.observe(frame, \.rows, [.old, .new], as: "rows")
    log.observe(frame, \.tags, [.old, .new], as: "tags")
    log.observe(frame, \.rows.count, [.old, .new], as: "count")
    let rows = frame.mutableArray(\.rows)
    frame.coalescingNotifications {
      rows.insert(9, at: 1)
      frame.mutableSet(\.tags).insert("b")
    }
    expectEqual(
      log.take(), ["rows insertion at 1 new [9]", "count old 3 new 4", "tags insertion new {b}"])
    frame.coalescingNotifications {
      rows.remove(at: 0)
      rows.append(5)
      frame.mutableSet(\.tags).remove("a")
      frame.mutableSet(\.tags).insert("c")
    }
    expectEqual(
      log.take(),
      [
        "rows old [1, 9, 2, 3] new [9, 2, 3, 5]", "count old 4 new 4",
        "tags old {a, b} new {b, c}",
      ])
    frame.coalescingNotifications {
      rows.append(6)
      frame.rows = []
    }
    expectEqual(log.take(), ["rows old [9, 2, 3, 5] new []", "count old 4 new 0"])
  }

  @Test("M1: every way to change a key is delivered so")
  func ways() throws {
    log.observe(frame, \.x, [.old, .new], as: "x")
    log.observe(frame, \.y, [.old, .new], as: "y")
    log.observe(frame, \.declared, [.old, .new], as: "declared")
    log.observe(frame, \.rows, [.old, .new], as: "rows")
    try frame.coalescingNotifications {
      try frame.setValue(1, forKey: "x")
      frame.declared = 1
      frame.withChange(forKey: "declared") { frame.declared = 2 }
      frame.willChangeValue(forKey: "y")
      frame.y = 3
      frame.didChangeValue(forKey: "y")
      frame[keyPath: \Frame.x] += 1
      frame.clamped = 8
      frame.declared += 1
      try frame.mutableArrayValue(forKey: "rows").remove(at: 2)
      frame.rows[0] = 0
    }
    expectEqual(
      log.take(),
      [
        "x old 0 new 5", "declared old 0 new 3", "y old 0 new 8", "rows old [1, 2, 3] new [0, 2]",
      ])
  }

  @Test("M4: a manual pair that is open when the body begins or ends notifies once")
  func openPairs() {
    log.observe(frame, \.x, [.old, .new], as: "x")
    frame.willChangeValue(forKey: "x")
    frame.coalescingNotifications {
      frame.x = 1
      frame.didChangeValue(forKey: "x")
      expectEqual(log.take(), ["x old 0 new 1"])
    }
    expectEqual(log.take(), ["x old 0 new 1"])
    frame.coalescingNotifications {
      frame.willChangeValue(forKey: "x")
      frame.x = 2
    }
    expectEqual(log.take(), ["x old 1 new 2"])
    frame.x = 3
    frame.didChangeValue(forKey: "x")
    expectEqual(log.take(), ["x old 2 new 3"])
  }

  @Test("M4: in a setter of the key itself the body is part of that change")
  func inSetter() {
    final class Own: Frame {
      override var x: Int {
        get { super.x }
        set { coalescingNotifications { (super.x, y) = (newValue, newValue) } }
      }
    }
    let own = Own()
    log.observe(own, \.x, [.old, .new], as: "x")
    log.observe(own, \.y, [.old, .new], as: "y")
    own.x = 4
    expectEqual(log.take(), ["x old 0 new 4", "y old 0 new 4"])
  }

  @Test(
    "M1: a removed observer is not notified, one added before the key's last change is"
  )
  func observersInBody() {
    let gone = log.observe(frame, \.x, as: "gone")
    log.observe(frame, \.x, [.old, .new], as: "x")
    frame.coalescingNotifications {
      frame.x = 1
      gone.invalidate()
      log.observe(frame, \.x, [.old, .new], as: "in time")
      frame.x = 2
      log.observe(frame, \.x, [.old, .new], as: "late")
    }
    expectEqual(log.take(), ["x old 0 new 2", "in time old 2 new 2"])
    frame.x = 3
    expectEqual(log.take(), ["x old 2 new 3", "in time old 2 new 3", "late old 2 new 3"])
  }

  @Test("M1: an object unobserved when the body began notifies of later changes in it")
  func observedInBody() {
    frame.coalescingNotifications {
      frame.x = 1
      log.observe(frame, \.x, [.old, .new], as: "x")
      frame.x = 2
      frame.x = 3
      expectEqual(log.take(), [])
    }
    expectEqual(log.take(), ["x old 1 new 3"])
  }

  @Test("M1: observers that change the object run outside the body")
  func inFinals() {
    log.observe(frame, \.x, [.old, .new], as: "x") { frame, _ in
      if frame.y < 3 { frame.y += 1 }
      if frame.x < 3 { frame.x += 1 }
    }
    log.observe(frame, \.y, [.old, .new], as: "y")
    frame.coalescingNotifications {
      frame.x = 1
      frame.y = 1
    }
    expectEqual(
      log.take(),
      [
        "x old 0 new 1", "y old 1 new 2", "x old 1 new 2", "y old 2 new 3", "x old 2 new 3",
        "y old 0 new 1",
      ])
  }

  @Test("M1: a prior call's changes in the body are delivered")
  func inPriors() {
    log.observe(frame, \.x, [.prior, .new], as: "x") { frame, change in
      if change.isPrior { frame.y += 1 }
    }
    log.observe(frame, \.y, [.old, .new], as: "y")
    frame.coalescingNotifications { (frame.x, frame.y, frame.x) = (1, 5, 2) }
    let lines = log.take()
    expectEqual(lines.filter { $0.hasPrefix("x") }, ["x prior", "x new 2"])
    expectEqual(lines.filter { $0.hasPrefix("y") }.last?.hasSuffix("new 5"), true)
  }

  @Test("M1 D3: an observer of distinct changes is not notified of a key that ends as it was")
  func distinct() {
    log.observe(frame, \.x, [.old, .new, .distinct], as: "x")
    log.observe(frame, \.right, [.old, .new, .distinct], as: "right")
    frame.coalescingNotifications {
      frame.x = 1
      frame.width -= 1
    }
    expectEqual(log.take(), ["x old 0 new 1"])
    frame.coalescingNotifications {
      frame.x = 5
      frame.x = 1
    }
    expectEqual(log.take(), [])
  }

  @Test("M1 C12: a token of several keys is called once for each")
  func severalKeys() {
    let log = log
    let token = frame.observe([\.x, \.y, \.right], options: .new) { _, keyPath in
      log.note(keyPath == \Frame.x ? "x" : keyPath == \Frame.y ? "y" : "right")
    }
    frame.coalescingNotifications {
      (frame.y, frame.x, frame.y, frame.width) = (1, 2, 3, 4)
    }
    expectEqual(log.take(), ["y", "x", "right"])
    token.invalidate()
  }

  @Test("M1 C11: observers by context and by string are notified so")
  func watchers() throws {
    let watcher = log.watcher()
    for key in ["x", "area"] {
      try frame.addObserver(watcher, forKeyPath: key, options: [.old, .new])
    }
    frame.coalescingNotifications {
      (frame.x, frame.y, frame.x) = (1, 2, 3)
    }
    expectEqual(log.take(), ["w: x old 0 new 3", "w: area old 10 new 330"])
    try frame.removeObserver(watcher, forKeyPath: "x")
    try frame.removeObserver(watcher, forKeyPath: "area")
  }

  @Test("M4: the object lives until the end")
  func lifetime() {
    var notified: [Int] = []
    weak var gone: Frame?
    do {
      var object: Frame? = Frame()
      gone = object
      let token = object!.observe(\.x, options: .new) { _, change in
        notified.append(change.newValue!)
      }
      object!.coalescingNotifications {
        object!.x = 1
        object = nil
        expect(gone != nil)
        expectEqual(notified, [])
      }
      expectEqual(notified, [1])
      withExtendedLifetime(token) {}
    }
    expect(gone == nil)
  }

  private final class Leaving: Frame {
    deinit { coalescingNotifications { (x, y) = (1, 2) } }
  }

  @Test("M4: a dying object runs the body, and has no observers to notify")
  func dying() {
    var notified = 0
    var token: KeyValueObservation?
    do {
      let leaving = Leaving()
      token = leaving.observe(\.x) { _, _ in notified += 1 }
    }
    expect(token?.isValid == false && notified <= 1)
  }

  @Test("M1 M4: a C object's keys notify once per body, which may throw")
  func foreign() throws {
    struct Stop: Error {}
    let account = CAccount()
    let notified = Locked<[String]>([])
    let token = try account.wrapped.observe("balance", as: Double.self, options: [.old, .new]) {
      _, change in
      notified.withLock { $0.append("\(change.oldValue!) \(change.newValue!)") }
    }
    let sum = account.wrapped.coalescingNotifications { () -> Int in
      for value in 1..<4 { account_setBalance(account.pointer, Double(value)) }
      expectEqual(notified.withLock { $0 }, [])
      return 3
    }
    expect(sum == 3 && notified.withLock { $0 } == ["0.0 3.0"])
    #expect(throws: Stop.self) {
      try account.wrapped.coalescingNotifications {
        try account.wrapped.setValue(5, forKey: "balance")
        throw Stop()
      }
    }
    expectEqual(notified.withLock { $0 }, ["0.0 3.0", "3.0 5.0"])
    withExtendedLifetime(token) {}
  }

  @Test("J1 M4: a batch shows in the dump while its body runs")
  func dumped() {
    log.observe(frame, \.x)
    frame.coalescingNotifications {
      expect(frame.observationInfo.debugDescription.contains("a batch of changes"))
    }
    expect(!frame.observationInfo.debugDescription.contains("a batch of changes"))
  }

  @Test(
    "I1 M4: threads have their own bodies for one object, and each delivers its own changes")
  func threads() {
    let shared = Shared(frame)
    let counts = Locked([0, 0, 0, 0])
    let tokens = (0..<4).map { index in
      frame.observe(index % 2 == 0 ? \.x : \.y, options: [.old, .new]) { _, _ in
        counts.withLock { $0[index] += 1 }
      }
    }
    onThreads(2) { thread in
      for round in 0..<1000 {
        shared.value.coalescingNotifications {
          for value in 0..<3 {
            if thread == 0 {
              shared.value.x = round + value
            } else {
              shared.value.y = round - value
            }
          }
        }
      }
    }
    expectEqual(counts.withLock { $0 }, [1000, 1000, 1000, 1000])
    for token in tokens { token.invalidate() }
  }

  private final class Cells: Tracked {
    @Observed var a = 0
    @Observed var b = 0
    @Observed var c = 0
    @Observed var list: [Int] = []
    var ab: Int { a + b }
    var abc: Int { ab * 10 + c }
    var count: Int { list.count + c }

    static var plain: [(name: String, keyPath: ReferenceWritableKeyPath<Cells, Int>)] {
      [("a", \.a), ("b", \.b), ("c", \.c)]
    }
    static let sources = [
      "a": ["a"], "b": ["b"], "c": ["c"], "list": ["list"], "ab": ["a", "b"],
      "abc": ["a", "b", "c"],
      "count": ["list", "c"],
    ]
    var values: [String: String] {
      [
        "a": "\(a)", "b": "\(b)", "c": "\(c)", "list": "\(list)", "ab": "\(ab)", "abc": "\(abc)",
        "count": "\(count)",
      ]
    }
  }

  /// Changes a random property, and returns its key.
  private func changeAtRandom(_ cells: Cells, _ random: inout Random) throws -> String {
    let (name, keyPath) = Cells.plain[random.next(3)]
    let value = random.next(5)
    switch random.next(6) {
    case 0: try cells.setValue(value, forKey: name)
    case 1: cells.withChange(forKey: name) { cells[keyPath: keyPath] = value }
    case 2:
      cells.mutableArray(\.list).insert(value, at: cells.list.count / 2)
      return "list"
    case 3 where !cells.list.isEmpty:
      cells.list.removeFirst()
      return "list"
    default: cells[keyPath: keyPath] = value
    }
    return name
  }

  private func changeAtRandom(_ cells: Cells, _ random: inout Random, depth: Int) throws -> [String]
  {
    var changed: [String] = []
    for _ in 0..<random.next(5) {
      if depth < 3, random.next(4) == 0 {
        changed += try cells.coalescingNotifications {
          try changeAtRandom(cells, &random, depth: depth + 1)
        }
      } else {
        changed.append(try changeAtRandom(cells, &random))
      }
    }
    return changed
  }

  @Test("M1 M2 M3 M4: random bodies deliver what a model predicts", arguments: 0..<20)
  func random(_ seed: Int) throws {
    var random = Random(seed: UInt64(seed))
    let cells = Cells()
    var last = cells.values
    var notified: [(key: String, old: String, new: String?)] = []
    func observe<Value>(_ key: String, _ keyPath: KeyPath<Cells, Value>) -> KeyValueObservation {
      cells.observe(keyPath, options: [.old, .new]) { _, change in
        let isWhole = change.kind == .setting
        notified.append(
          (key, isWhole ? "\(change.oldValue!)" : "", isWhole ? "\(change.newValue!)" : nil))
      }
    }
    let tokens = [
      observe("abc", \.abc), observe("a", \.a), observe("b", \.b), observe("c", \.c),
      observe("ab", \.ab), observe("list", \.list), observe("count", \.count),
    ]
    for _ in 0..<200 {
      let changed = try cells.coalescingNotifications {
        try changeAtRandom(cells, &random, depth: 0)
      }
      let now = cells.values
      let expected = Cells.sources.filter { $0.value.contains(where: changed.contains) }.keys
      expectEqual(notified.map(\.key).sorted(), expected.sorted())
      for line in notified {
        guard let new = line.new else {
          expect(line.key == "list" && changed.count { $0 == "list" } == 1)
          continue
        }
        expect(line.old == last[line.key] && new == now[line.key], "\(line)")
      }
      var order: [String] = []
      for key in changed where !order.contains(key) { order.append(key) }
      expectEqual(notified.map(\.key).filter(order.contains), order)
      (last, notified) = (now, [])
    }
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "M3: one change of elements stays one, however the key is declared", arguments: Inventory.arrays
  )
  func declaredElements(_ key: String) throws {
    for inventory in [Inventory(), SubInventory()] {
      try log.observe(inventory, key, [.old, .new], as: "")
      let array = try inventory.mutableArrayValue(forKey: key)
      try inventory.coalescingNotifications { try array.insert(9, at: 1) }
      try inventory.coalescingNotifications { try array.replace(at: 0, with: 4) }
      try inventory.coalescingNotifications { try array.remove(at: RangeSet([0..<1, 2..<3])) }
      let ordered = try inventory.mutableOrderedSetValue(forKey: key)
      try inventory.coalescingNotifications { try ordered.add(7) }
      expectEqual(
        log.take(),
        [
          " insertion at 1 new [9]", " replacement at 0 old [1] new [4]",
          " removal at 0 2 old [4, 2]", " insertion at 2 new [7]",
        ])
      try inventory.coalescingNotifications {
        try array.insert(5, at: 0)
        try array.remove(at: 0)
      }
      expectEqual(log.take(), [" old [9, 3, 7] new [9, 3, 7]"])
    }
  }

  @Test("M3: one change by a handle of a declared property stays one")
  func declaredHandles() {
    for inventory in [Inventory(), SubInventory()] {
      log.observe(inventory, \.list, [.old, .new], as: "list")
      log.observe(inventory, \.watched, [.old, .new], as: "watched")
      log.observe(inventory, \.stored, [.old, .new], as: "stored")
      log.observe(inventory, \.tags, [.old, .new], as: "tags")
      log.observe(inventory, \.perhaps, [.new], as: "perhaps")
      inventory.coalescingNotifications {
        inventory.mutableArray(\.list).remove(at: 0)
        inventory.mutableArray(\.watched).append(4)
        inventory.mutableArray(\.stored).swapAt(0, 2)
        inventory.mutableSet(\.tags).formUnion([1, 2])
        inventory.mutableArray(\.perhaps).removeLast()
      }
      expectEqual(
        log.take(),
        [
          "list removal at 0 old [1]", "watched insertion at 3 new [4]",
          "stored replacement at 0 2 old [1, 3] new [3, 1]", "tags insertion new {2}",
          "perhaps removal at 2",
        ])
      inventory.coalescingNotifications {
        inventory.mutableSet(\.tags).remove(1)
        inventory.mutableSet(\.tags).insert(1)
        inventory.mutableArray(\.list).removeAll()
        inventory.list = []
      }
      expectEqual(
        log.take(), ["tags old {1, 2} new {1, 2}", "list old [2, 3] new []"])
    }
  }

  @Test("M3: one change of a set's members stays one, however the key is declared")
  func declaredMembers() throws {
    for key in ["tags", "storedTags", "accessedTags"] {
      let inventory = Inventory()
      try log.observe(inventory, key, [.old, .new], as: "")
      let members = try inventory.mutableSetValue(forKey: key)
      try inventory.coalescingNotifications { try members.add(5) }
      try inventory.coalescingNotifications { try members.remove(1) }
      expectEqual(log.take(), [" insertion new {5}", " removal old {1}"])
    }
  }

  @Test("M3: a mutation that a proxy makes by the key's own accessor stays one")
  func ownAccessors() throws {
    let inventory = Inventory()
    try log.observe(inventory, "songs", [.old, .new], as: "")
    let songs = try inventory.mutableArrayValue(forKey: "songs")
    try inventory.coalescingNotifications { try songs.insert("b", at: 0) }
    try inventory.coalescingNotifications { try songs.replace(at: 0, with: "c") }
    try inventory.coalescingNotifications { try songs.removeAll() }
    expectEqual(
      log.take(),
      [
        #" insertion at 0 new ["b"]"#, #" replacement at 0 old ["b"] new ["c"]"#,
        #" removal at 0 old ["c"]"#,
      ])
  }

  @Test("M3 M4: another thread's change of elements during a batch is a change of its own")
  func twoThreads() {
    let inventory = Inventory()
    let notified = Locked<[String]>([])
    let token = inventory.observe(\.list, options: [.old, .new]) { _, change in
      notified.withLock { $0.append("\(change.kind) \(change.newValue ?? [])") }
    }
    inventory.coalescingNotifications {
      inventory.mutableArray(\.list).insert(0, at: 0)
      let shared = Shared(inventory)
      onThreads(1) { _ in shared.value.mutableArray(\.list).append(4) }
    }
    expectEqual(notified.withLock { $0 }, ["insertion [4]", "insertion [0]"])
    withExtendedLifetime(token) {}
  }

  @Test("M1: many keys, each once, in order")
  func manyKeys() throws {
    final class Wide: KeyValueRecord {
      override class func registerKeys() {
        declareKeys { for index in 0..<300 { $0.value("key\(index)", 0) } }
      }
    }
    let keys = (0..<300).map { "key\($0)" }
    let record = Wide()
    var notified: [String] = []
    let tokens = try keys.map { key in
      try record.observe(keyPath: key, options: [.old, .new]) { _, change in
        notified.append("\(key) \(change.oldValue as! Int) \(change.newValue as! Int)")
      }
    }
    try record.coalescingNotifications {
      for key in keys.reversed() { try record.setValue(1, forKey: key) }
      for key in keys { try record.setValue(2, forKey: key) }
    }
    expectEqual(notified, keys.reversed().map { "\($0) 0 2" })
    withExtendedLifetime(tokens) {}
  }
}

@KVO class Inventory: KVOObject {
  static let arrays = ["list", "watched", "stored", "accessed", "perhaps"]

  var list = [1, 2, 3]
  var watched = [1, 2, 3] { didSet { changes += 1 } }
  var perhaps: [Int]? = [1, 2, 3]
  var tags: Set<Int> = [1]
  var songs: [String] = []
  @KVOIgnored var changes = 0
  @KVOIgnored var stored = [1, 2, 3] { didSet { changes += 1 } }
  @KVOIgnored var storedTags: Set<Int> = [1]

  func insertObject(_ song: String, inSongsAt index: Int) { songs.insert(song, at: index) }
  func removeObject(fromSongsAt index: Int) { songs.remove(at: index) }

  override class func registerKeys() {
    declareKeys {
      $0.stored("stored", \.stored)
      $0.stored("storedTags", \.storedTags)
      $0.accessors("accessed", get: { $0.list }, set: { $0.list = $1 })
      $0.accessors("accessedTags", get: { $0.tags }, set: { $0.tags = $1 })
    }
  }
}

class SubInventory: Inventory {
  override var list: [Int] { didSet { changes += 1 } }
}
