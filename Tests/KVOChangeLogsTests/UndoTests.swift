import Expectations
import KVOChangeLogs
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// N3: undo and redo.
@Suite(.leakFree) struct UndoTests {
  private let firm = Firm()

  @Test("N3: a group's changes, of every kind, are undone backwards, and redone forwards")
  func kinds() throws {
    let workers = (0..<4).map { Clerk("\($0)", salary: $0) }
    firm.staff = [workers[0]]
    firm.figures = [1, 2, 3, 4]
    firm.tags = ["a", "b"]
    let log = try Firm.recorded(firm)
    var states = [firm.state]
    let changes: [() -> Void] = [
      { firm.name = "x" }, { firm.note = "y" }, { firm.note = nil }, { firm.boss = workers[1] },
      { workers[1].salary = 7 }, { firm.mutableArray(\.staff).append(workers[2]) },
      { workers[2].mutableArray(\.reports).append(workers[3]) }, { workers[3].follow(workers[2]) },
      { firm.mutableArray(\.figures).remove(at: 2) },
      { firm.mutableArray(\.figures).removeSubranges(RangeSet([0..<1, 2..<3])) },
      { firm.mutableArray(\.figures).replaceObjects(at: RangeSet(0..<1), with: [9]) },
      { firm.figures = [5] }, { firm.figures.append(6) },
      { firm.mutableArray(\.figures).sort(by: >) },
      { firm.mutableSet(\.tags).formUnion(["b", "c"]) },
      { firm.mutableSet(\.tags).subtract(["a"]) },
      { firm.mutableSet(\.tags).set(["c", "d"]) },
      { firm.mutableSet(\.tags).formIntersection(["d"]) },
      { firm.mutableSet(\.team).formUnion([workers[0], workers[3]]) },
      { firm.mutableSet(\.team).removeAll() }, { firm.mutableArray(\.staff).removeAll() },
      { workers[0].salary = 100 },
      {
        log.withGroup {
          firm.name = "z"
          firm.staff = workers
          workers[3].salary = 1
          firm.tags = []
        }
      },
    ]
    for change in changes {
      change()
      states.append(firm.state)
    }
    for state in states.dropLast().reversed() {
      expect(try log.undo())
      expectEqual(firm.state, state)
    }
    expect(try !log.undo())
    for state in states.dropFirst() {
      expect(try log.redo())
      expectEqual(firm.state, state)
    }
    expect(try !log.redo())
  }

  @Test("N3 D5: mutations whose setters store other elements are undone and redone")
  func adjusted() throws {
    let desk = Drawer()
    let log = try ChangeLog(
      of: desk, recording: .keys(of: Drawer.self, \.last, \.sorted, \.even))
    var states = [desk.state]
    let changes: [() throws -> Void] = [
      { desk.mutableArray(\.last).append(4) }, { desk.mutableArray(\.sorted).insert(9, at: 0) },
      { try desk.mutableArrayValue(forKey: "last").insert([7, 8], at: RangeSet(0..<2)) },
      { desk.mutableArray(\.sorted).append(10) }, { desk.mutableSet(\.even).formUnion([3, 4]) },
      { desk.mutableSet(\.even).set([8, 9]) },
      { desk.coalescingNotifications { desk.mutableArray(\.sorted)[0] = 12 } },
      { desk.coalescingNotifications { _ = desk.mutableArray(\.sorted).removeFirst() } },
    ]
    for change in changes {
      try change()
      states.append(desk.state)
    }
    for state in states.dropLast().reversed() {
      expect(try log.undo())
      expectEqual(desk.state, state)
    }
    for state in states.dropFirst() {
      expect(try log.redo())
      expectEqual(desk.state, state)
    }
  }

  @Test("N3: observers are notified of an undo as of any change, elements by their indexes")
  func isNotified() throws {
    firm.figures = [1, 2, 3]
    let log = try Firm.recorded(firm)
    firm.mutableArray(\.figures).remove(at: 1)
    firm.name = "x"
    let notified = Locked<[String]>([])
    let tokens = [
      firm.observe(\.figures, options: [.old, .new]) { _, change in
        notified.withLock {
          $0.append("\(change.kind) \(change.newValue ?? []) \(change.indexes!.ranges)")
        }
      },
      firm.observe(\.name, options: [.old, .new]) { _, change in
        notified.withLock { $0.append("\(change.oldValue!)>\(change.newValue!)") }
      },
    ]
    try log.undo()
    try log.undo()
    try log.redo()
    withExtendedLifetime(tokens) {}
    expectEqual(
      notified.withLock { $0 }, ["x>", "insertion [2] [Range(1..<2)]", "removal [] [Range(1..<2)]"])
  }

  @Test("N3: only the undo itself is recorded while it runs, marked as such")
  func causes() throws {
    let log = try Firm.recorded(firm)
    log.withGroup("g") {
      firm.name = "a"
      firm.note = "b"
    }
    try log.undo()
    try log.redo()
    let records = try log.records()
    expectEqual(
      records.map { "\($0.cause) \($0.key)" },
      [
        "change name", "change note", "undo note", "undo name", "redo name", "redo note",
      ])
    expectEqual(Set(records.map(\.group)).count, 3)
    expectEqual(log.undoName, "g")
  }

  @Test("N3: after another change nothing can be redone")
  func branch() throws {
    let log = try Firm.recorded(firm)
    firm.name = "a"
    firm.name = "b"
    try log.undo()
    expect(log.canRedo)
    firm.note = "n"
    expect(!log.canRedo)
    expect(try !log.redo())
    try log.undo()
    try log.undo()
    expect(firm.name == "" && firm.note == nil && !log.canUndo)
  }

  /// Keeps a running sum and the last value.
  private final class Sheet: Tracked {
    @Observed var a = 0 { didSet { sum = a + b } }
    @Observed var b = 0 { didSet { sum = a + b } }
    @Observed var sum = 0
    @Observed var changes = 0
    var runs = 0
    @Observed var watched = 0 { didSet { runs += 1 } }
  }

  @Test("N3: changes of recorded keys by setters and observers during an undo are rolled back")
  func reactions() throws {
    let sheet = Sheet()
    let log = try ChangeLog(of: sheet, recording: .keys(of: Sheet.self, \.a, \.b, \.sum, \.changes))
    let token = sheet.observe([\.a, \.b]) { sheet, _ in sheet.changes += 1 }
    var states = [[0, 0, 0, 0]]
    for step in 1...6 {
      log.withGroup { if step.isMultiple(of: 2) { sheet.a += step } else { sheet.b -= step } }
      states.append([sheet.a, sheet.b, sheet.sum, sheet.changes])
    }
    for state in states.dropLast().reversed() {
      try log.undo()
      expectEqual([sheet.a, sheet.b, sheet.sum, sheet.changes], state)
    }
    for state in states.dropFirst() {
      try log.redo()
      expectEqual([sheet.a, sheet.b, sheet.sum, sheet.changes], state)
    }
    withExtendedLifetime(token) {}
  }

  @Test("N3: recorded keys that set each other are undone and redone, and each is set once")
  func mutual() throws {
    let first = Mutual()
    let second = Mutual()
    let log = try ChangeLog(of: first, second, recording: .keys(of: Mutual.self, \.half, \.whole))
    let binding = first.bindTwoWay(\.half, to: second, \.half)
    log.removeAll()
    first.half = 2
    second.whole = 10
    let calls = Locked<[String]>([])
    let tokens = [("first", first), ("second", second)].map { name, object in
      object.observe(\.half) { object, _ in calls.withLock { $0.append("\(name) \(object.half)") } }
    }
    for (half, move) in [(2, log.undo), (0, log.undo), (2, log.redo), (5, log.redo)] {
      try expect(move())
      expectEqual(
        [first.half, second.half, first.whole, second.whole], [half, half, half * 2, half * 2])
      expectEqual(calls.withLock { $0.sorted() }, ["first \(half)", "second \(half)"])
      calls.withLock { $0 = [] }
    }
    withExtendedLifetime((binding, tokens)) {}
  }

  @Test(
    "N3: keys that set each other are undone, whatever the type of their values, and nothing is reported"
  )
  func twins() async {
    await #expect(processExitsWith: .success) {
      KVODiagnostics.misuse = { preconditionFailure($0) }
      try turnTwins([1, 2, 3])
      try turnTwins([["a": 1], ["b": 2], [:]])
      try turnTwins([["a": 1], nil, ["b": 2]])
      try turnTwins(["a", "b", "c"].map { Text(text: $0) })
      try turnTwins([[Text(text: "a")], [Text(text: "b")], []])
    }
  }

  private final class Leaf: KVOObject {
    let name: String
    init(_ name: String) { self.name = name }
    override func isEqual(_ other: KVOObject) -> Bool { (other as? Leaf)?.name == name }
    override func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }

  private final class Stem: KVOObject {
    @Observed var leaf = Leaf("a")
  }

  @Test(
    "N3 D3: an equal object is not the one that was there: an observer that insists on it is reported"
  )
  func equalObject() async {
    await #expect(processExitsWith: .success) {
      let heard = Locked<[String]>([])
      KVODiagnostics.misuse = { message in heard.withLock { $0.append(message) } }
      let stem = Stem()
      let first = stem.leaf
      let log = try ChangeLog(of: stem, recording: .keys(of: Stem.self, \.leaf))
      stem.leaf = Leaf("b")
      let token = stem.observe(\.leaf) { stem, _ in
        if stem.leaf === first { stem.leaf = Leaf("a") }
      }
      try log.undo()
      precondition(stem.leaf !== first && stem.leaf.name == "a")
      let said = heard.withLock { $0 }
      precondition(said.count == 1 && said[0].contains("can't undo what was done"), "\(said)")
      token.invalidate()
    }
  }

  @Test("N3: a collection is nil again when the change of its elements is undone that made one")
  func fromNil() throws {
    for change: (Rack) throws -> Void in [
      { $0.mutableArray(\.list).append(contentsOf: [1, 2]) },
      { try $0.mutableArrayValue(forKey: "list").append(1) },
      { rack in rack.coalescingNotifications { rack.mutableArray(\.list).append(1) } },
      { $0.mutableArray(\.forced).append(1) },
      { $0.mutableSet(\.tags).insert("a") }, { $0.mutableSet(\.tags).set(["a", "b"]) },
      { try $0.mutableSetValue(forKey: "tags").add("a") },
      { rack in
        rack.mutableArray(\.list).append(1)
        rack.mutableArray(\.list).append(2)
        rack.list = nil
        rack.mutableArray(\.list).append(3)
      },
    ] {
      let rack = Rack()
      let log = try ChangeLog(
        of: rack, recording: .keys(of: Rack.self, \.list, \.forced, \.tags))
      try change(rack)
      let changed = rack.state
      for _ in 0..<2 {
        while try log.undo() {}
        expectEqual(rack.state, "nil nil nil")
        while try log.redo() {}
        expectEqual(rack.state, changed)
      }
      let copy = Rack()
      let other = try ChangeLog(
        of: copy, recording: .keys(of: Rack.self, \.list, \.forced, \.tags))
      while try log.undo() {}
      try other.apply(log.transcript())
      expectEqual(copy.state, "nil nil nil")
    }
  }

  @Test("N3: an observer that always changes it again is reported, and stopped")
  func obstinate() async {
    await #expect(processExitsWith: .success) {
      let heard = Locked<[String]>([])
      KVODiagnostics.misuse = { message in heard.withLock { $0.append(message) } }
      let sheet = Sheet()
      let log = try ChangeLog(of: sheet, recording: .keys(of: Sheet.self, \.a, \.changes))
      sheet.a = 1
      let token = sheet.observe([\.a, \.changes]) { sheet, _ in
        if sheet.changes < 1_000 { sheet.changes += 1 }
      }
      try log.undo()
      let notified = heard.withLock { $0 }
      precondition(notified.count == 1 && notified[0].contains("\"changes\" of Sheet"))
      precondition(sheet.a == 0)
      withExtendedLifetime(token) {}
    }
  }

  @Test("N3: a key chosen by key path is set by its setter, one by string by key-value coding")
  func setters() throws {
    for (keys, runs) in [
      (RecordedKeys.keys(of: Sheet.self, \.watched), 2), (.keys(of: Sheet.self, "watched"), 1),
    ] {
      let sheet = Sheet()
      let log = try ChangeLog(of: sheet, recording: keys)
      sheet.watched = 3
      try log.undo()
      expect(sheet.watched == 0 && sheet.runs == runs)
    }
  }

  @Test("N3: inside a group, or within an undo, it is refused")
  func busy() throws {
    let log = try Firm.recorded(firm)
    firm.name = "a"
    log.withGroup {
      #expect(throws: ChangeLogError.isBusy) { try log.undo() }
      #expect(throws: ChangeLogError.isBusy) { try log.apply(log.transcript()) }
    }
    let errors = Locked<[ChangeLogError]>([])
    let token = firm.observe(\.name) { _, _ in
      do { try log.undo() } catch { errors.withLock { $0.append(error as! ChangeLogError) } }
    }
    try log.undo()
    expect(errors.withLock { $0 } == [.isBusy] && firm.name == "")
    withExtendedLifetime(token) {}
  }

  private final class Guarded: Tracked {
    var isLocked = false
    var held = 0
    @Observed var free = 0
    override class func registerKeys() {
      declareKeys { keys in
        keys.accessors(
          "value", get: { $0.held },
          set: { object, value in
            if object.isLocked { throw KeyValueError.readOnly(key: "value", className: "Guarded") }
            object.held = value
          })
      }
    }
  }

  @Test("N3: if a step throws, the undo is rolled back, and the group can still be undone")
  func failure() throws {
    let object = Guarded()
    let log = try ChangeLog(of: object, recording: .keys(of: Guarded.self, "value", "free"))
    try log.withGroup {
      try object.setValue(5, forKey: "value")
      object.free = 6
    }
    object.isLocked = true
    #expect(throws: KeyValueError.self) { try log.undo() }
    expect(object.held == 5 && object.free == 6 && log.canUndo && !log.canRedo)
    object.isLocked = false
    try log.undo()
    expect(object.held == 0 && object.free == 0 && !log.canUndo && log.canRedo)
  }

  @Test("N3: a batch is recorded as it is delivered, and undone so")
  func batches() throws {
    let log = try Firm.recorded(firm)
    firm.coalescingNotifications {
      firm.name = "a"
      firm.name = "b"
      firm.mutableArray(\.figures).append(1)
      firm.mutableArray(\.figures).append(2)
    }
    expectEqual(log.count, 2)
    try log.undo()
    try log.undo()
    expect(firm.name == "" && firm.figures == [])
  }

  @Test("N3: a dead object's changes are not undone, all others' are")
  func deaths() throws {
    var loose: Clerk? = Clerk("l")
    let kept = Clerk("k")
    let log = try ChangeLog(of: loose!, kept, recording: Clerk.recorded)
    log.withGroup {
      loose?.salary = 1
      kept.salary = 2
    }
    loose = nil
    expect(log[0].object == nil)
    try log.undo()
    expectEqual(kept.salary, 0)
  }
}

/// Its setters adjust what they are passed.
@KVO class Drawer: KVOObject {
  var last = [1, 2, 3] { didSet { if last.count > 3 { last.removeFirst(last.count - 3) } } }
  var sorted = [1, 5] { didSet { sorted.sort() } }
  var even: Set<Int> = [2] { didSet { even = even.filter { $0 % 2 == 0 } } }

  var state: String { "\(last) \(sorted) \(even.sorted())" }
}

@KVO final class Rack: KVOObject {
  var list: [Int]?
  var forced: [Int]!
  var tags: Set<String>?

  var state: String {
    let tags = tags.map { "\($0.sorted())" } ?? "nil"
    return [list, forced].map { $0.map { "\($0)" } ?? "nil" }.joined(separator: " ") + " " + tags
  }
}

/// Each of two stored properties sets the other.
@KVO final class Twins<Value: Equatable>: KVOObject {
  @KVOIgnored private var isPassingOn = false
  var one: Value { didSet { passOn { other = one } } }
  var other: Value { didSet { passOn { one = other } } }

  init(_ value: Value) {
    (one, other) = (value, value)
    super.init()
  }

  // Also of an equal value.
  private func passOn(_ set: () -> Void) {
    guard !isPassingOn else { return }
    isPassingOn = true
    set()
    isPassingOn = false
  }
}

private struct Text: Equatable {
  let text: String
}

/// Changes twins from the first value to the others, undoes that and redoes it.
private func turnTwins<Value: Equatable>(_ values: [Value]) throws {
  let twins = Twins(values[0])
  let log = try ChangeLog(of: twins, recording: .keys(of: Twins<Value>.self, \.one, \.other))
  twins.one = values[1]
  twins.other = values[2]
  for (move, value) in [(log.undo, 1), (log.undo, 0), (log.redo, 1), (log.redo, 2)] {
    let isMoved = try move()
    precondition(isMoved && twins.one == values[value] && twins.other == values[value])
  }
}

/// Each of two keys sets the other.
private final class Mutual: Tracked {
  @Observed var half = 0
  var whole: Int {
    get { half * 2 }
    set { half = newValue / 2 }
  }

  override class func registerKeys() { declareKeys { $0.computed("whole", \.whole) } }
}
