import Expectations
import KVOChangeLogs
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// N1, N2: the records of a change log, and their groups.
@Suite(.leakFree) struct ChangeLogTests {
  private let firm = Firm()

  private func texts(_ log: ChangeLog) throws -> [String] { try log.records().map(\.description) }

  // MARK: Recorded changes

  @Test("N1: each change of a recorded key has kind, indexes, old and new")
  func records() throws {
    let log = try Firm.recorded(firm)
    firm.name = "A"
    firm.note = "n"
    firm.note = nil
    firm.mutableArray(\.figures).append(contentsOf: [5, 6, 7])
    firm.mutableArray(\.figures).remove(at: 1)
    firm.mutableArray(\.figures)[0] = 9
    firm.figures = []
    firm.mutableSet(\.tags).formUnion(["x"])
    expectEqual(
      try texts(log),
      [
        #"Firm#1.name: setting "" -> "A""#,
        #"Firm#1.note: setting nil -> "n""#,
        #"Firm#1.note: setting "n" -> nil"#,
        "Firm#1.figures: insertion at 0..<3 nil -> [5, 6, 7]",
        "Firm#1.figures: removal at 1..<2 [6] -> nil",
        "Firm#1.figures: replacement at 0..<1 [5] -> [9]",
        "Firm#1.figures: setting [9, 7] -> []",
        #"Firm#1.tags: insertion nil -> Set(["x"])"#,
      ])
    expect(log.count == 8 && log.firstPosition == 0)
    let record = log[3]
    expect(record.object === firm && record.key == "figures" && record.kind == .insertion)
    expect(record.indexes == RangeSet(0..<3) && record.oldValue == nil)
    expect(record.newValue as? [Int] == [5, 6, 7] && record.cause == .change)
    expectEqual(try log.records(from: 6).map(\.key), ["figures", "tags"])
    expect(try log.records(from: 8).isEmpty)
    #expect(throws: ChangeLogError.noRecord(position: 9, first: 0, count: 8)) {
      try log.records(from: 9)
    }
  }

  @Test(
    "N1: root objects and those that join by any relation are recorded, also after they leave"
  )
  func graph() throws {
    let (ada, bob, cleo, dan, eve) = (Clerk("a"), Clerk("b"), Clerk("c"), Clerk("d"), Clerk("e"))
    firm.staff = [ada]
    ada.reports = [bob]
    let log = try Firm.recorded(firm)
    bob.salary = 1
    firm.boss = cleo
    cleo.reports = [dan]
    dan.salary = 2
    firm.mutableSet(\.team).formUnion([eve])
    eve.salary = 3
    firm.boss = nil
    dan.salary = 4
    let stranger = Clerk("s")
    bob.follow(stranger)  // weakly
    stranger.salary = 5
    let notified = try log.records().map { "\(($0.object as? Clerk)?.id ?? "-").\($0.key)" }
    expectEqual(
      notified,
      [
        "b.salary", "-.boss", "c.reports", "d.salary", "-.team", "e.salary", "-.boss", "d.salary",
        "b.boss",
      ])
  }

  @Test("N1: a record's text names its object by class and, if it has one, number")
  func names() throws {
    firm.staff = [Clerk("a"), Clerk("b")]
    firm.team = [Clerk("c")]
    let log = try Firm.recorded(firm)
    for clerk in firm.staff + firm.team { clerk.salary = 1 }
    firm.boss = Clerk("d")
    firm.boss?.salary = 2
    let names = try log.records().map { $0.description.prefix { $0 != ":" } }
    expectEqual(
      names,
      [
        "Clerk#2.salary", "Clerk#3.salary", "Clerk.salary", "Firm#1.boss", "Clerk#4.salary",
      ])
  }

  @Test("N1: key paths by strings are keys of each class on them")
  func paths() throws {
    let ada = Clerk("a")
    firm.staff = [ada]
    let log = try ChangeLog(of: firm, recording: .keys(of: Firm.self, "staff.salary", "boss.id"))
    ada.salary = 1
    // A clerk is reached by staff.salary and boss.id, so both keys are recorded.
    ada.id = "b"
    firm.name = "x"
    firm.boss = Clerk("c")
    expectEqual(try log.records().map(\.key), ["salary", "id", "boss"])
  }

  private class Manager: Clerk {
    @Observed var level = 1
  }

  @Test("N1: a subclass's objects are recorded by the superclass's keys as well")
  func subclasses() throws {
    let manager = Manager("m")
    firm.staff = [manager]
    let log = try ChangeLog(
      of: firm, recording: .keys(of: Firm.self, \.staff), .keys(of: Manager.self, \.level),
      .keys(of: Clerk.self, \.salary))
    manager.level = 2
    manager.salary = 3
    manager.id = "n"
    expectEqual(try log.records().map(\.key), ["level", "salary"])
    try log.undo()
    try log.undo()
    expect(manager.level == 1 && manager.salary == 0)
  }

  private final class Odd: Tracked {
    let constant = 1
    @Observed var value = 0
    @Observed var nested: Int?? = nil
    @Observed var nestedElements: [Odd??] = []
    var plainlyComputed: Int { 3 }
  }

  @Test("N1: a key that the class does not have, or that can't be set, is an error that names both")
  func refused() {
    let odd = Odd()
    func error(_ keys: RecordedKeys) -> String {
      do {
        _ = try ChangeLog(of: odd, recording: keys)
        return ""
      } catch { return "\(error)" }
    }
    expect(error(.keys(of: Odd.self, "missing")).contains("Odd has no key \"missing\""))
    expectEqual(
      error(.keys(of: Odd.self, "constant")), "\"constant\" of Odd can be read but not set.")
    expect(
      error(.keys(of: Odd.self, "value.x")).contains("\"value.x\" of Odd leads nowhere at \"x\""))
    expect(error(.keys(of: Odd.self, \.plainlyComputed)).contains("of Odd can't be observed"))
  }

  @Test(
    "N1: a key whose nil and .some(nil) differ is an error, for key-value coding can't restore them"
  )
  func nestedOptionals() {
    for (keys, found) in [
      (.keys(of: Odd.self, "nested"), "Int??"), (.keys(of: Odd.self, \.nested), "Int??"),
      (.keys(of: Odd.self, "nestedElements"), "[Odd??]"),
    ] as [(RecordedKeys, String)] {
      let error = #expect(throws: KeyValueError.self) { try ChangeLog(of: Odd(), recording: keys) }
      expect("\(error!)".contains("can't restore values of type \(found), because"))
    }
  }

  @Test("N1: only values of records are retained, and the log ends with its last reference")
  func lives() throws {
    var log: ChangeLog? = try Firm.recorded(firm)
    weak var gone: Clerk?
    do {
      let worker = Clerk("w")
      gone = worker
      firm.staff = [worker]
      firm.staff = []
    }
    expect(gone != nil)
    log?.removeAll()
    expect(gone == nil)
    expect(firm.isObserved(forKey: "name"))
    log = nil
    expect(!firm.isObserved(forKey: "name"))
  }

  @Test("N1: a log that its own root retains ends with it")
  func ownLog() throws {
    final class Document: Tracked {
      @Observed var title = ""
      var log: ChangeLog?
    }
    var document: Document? = Document()
    document!.log = try ChangeLog(of: document!, recording: .keys(of: Document.self, \.title))
    document!.title = "x"
    weak let gone = document
    document = nil
    expect(gone == nil)
  }

  // MARK: Order

  @Test(
    "N1: a set by an earlier observer is recorded after the change that it was notified of")
  func reactions() throws {
    let token = firm.observe(\.figures) { firm, change in
      if firm.figures.count == 1 { firm.mutableArray(\.figures).append(2) }
    }
    let clamp = firm.observe(\.name) { firm, _ in
      if firm.name.count > 1 { firm.name = String(firm.name.prefix(1)) }
    }
    let log = try Firm.recorded(firm)
    firm.mutableArray(\.figures).append(1)
    firm.name = "xyz"
    log.withGroup {
      firm.note = "first"
      firm.name = "uvw"
    }
    expectEqual(
      try texts(log),
      [
        "Firm#1.figures: insertion at 0..<1 nil -> [1]",
        "Firm#1.figures: insertion at 1..<2 nil -> [2]",
        #"Firm#1.name: setting "" -> "x""#, #"Firm#1.note: setting nil -> "first""#,
        #"Firm#1.name: setting "x" -> "u""#,
      ])
    let groups = Set(try log.records().map(\.group))
    expectEqual(groups.count, 3)
    try withExtendedLifetime((token, clamp)) {
      while try log.undo() {}
      expect(firm.figures == [] && firm.name == "" && firm.note == nil)
      while try log.redo() {}
      expect(firm.figures == [1, 2] && firm.name == "u" && firm.note == "first")
    }
  }

  @Test("N2: changes by observers, a bracket or a batch are in one group with their cause")
  func actions() throws {
    let log = try Firm.recorded(firm)
    let late = firm.observe(\.name) { firm, _ in firm.note = firm.name }
    let stranger = Clerk("s")
    let unrecorded = stranger.observe(\.salary) { [firm] _, _ in
      firm.figures = []
      firm.tags = []
    }
    firm.name = "a"
    stranger.salary = 1
    stranger.salary = 2
    firm.withChange(forKey: "figures") {
      firm.mutableSet(\.tags).formUnion(["b"])
      firm.figures = [1]
    }
    firm.coalescingNotifications {
      firm.name = "c"
      firm.tags = ["d"]
    }
    withExtendedLifetime((late, unrecorded)) {}
    let groups = try log.records().map(\.group)
    expectEqual(zip(groups, groups.dropFirst()).count { $0 != $1 }, 4)
    for tags in [["b"], [], [], []] as [Set<String>] {
      try log.undo()
      expectEqual(firm.tags, tags)
    }
    expect(firm.name == "a" && firm.note == "a")
    try log.undo()
    expect(firm.name == "" && firm.note == nil && !log.canUndo)
  }

  @Test("N2: a change followed by others inside it, deeper than a block of frames, is one group")
  func deep() throws {
    let log = try Firm.recorded(firm)
    let token = firm.observe(\.figures) { firm, _ in
      if firm.figures.count < 40 { firm.mutableArray(\.figures).append(firm.figures.count) }
    }
    firm.figures = []
    let groups = Set(try log.records().map(\.group))
    expect(log.count == 41 && groups.count == 1)
    firm.name = "x"
    try log.undo()
    expect(firm.figures.count == 40 && firm.name == "")
    withExtendedLifetime(token) {}
  }

  // MARK: Groups

  @Test("N2: outside groups each change is one; inside, all changes until the outermost ends")
  func groups() throws {
    let log = try Firm.recorded(firm)
    firm.name = "a"
    firm.name = "b"
    log.withGroup("outer") {
      firm.name = "c"
      log.withGroup("inner") { firm.note = "d" }
      firm.name = "e"
    }
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try log.withGroup {
        firm.note = "f"
        throw Stop()
      }
    }
    log.withGroup("empty") {}
    let groups = try log.records().map(\.group)
    expectEqual(groups.count, 6)
    expect(groups[0] != groups[1] && groups[1] != groups[2] && groups[4] != groups[5])
    expectEqual(Set(groups[2...4]).count, 1)
    expect(log.undoName == nil)
    try log.undo()
    expect(firm.note == "d" && log.undoName == "outer" && log.redoName == nil)
    try log.undo()
    expect(firm.name == "b" && firm.note == nil && log.redoName == "outer")
  }

  @Test(
    "N2: consecutive sets of one key in a group are one record, unless it has been read")
  func mergesInGroups() throws {
    let log = try Firm.recorded(firm)
    log.withGroup {
      for text in ["a", "ab", "abc"] { firm.name = text }
      expectEqual((try? texts(log)), [#"Firm#1.name: setting "" -> "abc""#])
      firm.name = "abcd"
      firm.note = "n"
      firm.name = "e"
    }
    expectEqual(
      try texts(log),
      [
        #"Firm#1.name: setting "" -> "abc""#, #"Firm#1.name: setting "abc" -> "abcd""#,
        #"Firm#1.note: setting nil -> "n""#, #"Firm#1.name: setting "abcd" -> "e""#,
      ])
    try log.undo()
    expect(firm.name == "" && firm.note == nil)
  }

  @Test("N2: the effects of a repeated set are in the group of the set that it repeats")
  func mergedReactions() throws {
    let firm = Firm()
    let log = try Firm.recorded(firm)
    log.mergesRepeatedSets = true
    let token = firm.observe(\.name) { firm, _ in
      if firm.name.count > 2 { firm.note = firm.name }
    }
    firm.name = "a"
    firm.name = "abc"
    firm.name = "d"
    expect(log.count == 3 && firm.note == "abc")
    try log.undo()
    expect(firm.name == "abc" && firm.note == "abc")
    try log.undo()
    expect(firm.name == "" && firm.note == nil && !log.canUndo)
    withExtendedLifetime(token) {}
  }

  @Test("N2: outside groups they are merged where the log is set to, and undone at once")
  func mergesSingles() throws {
    let log = try Firm.recorded(firm)
    firm.name = "0"
    expect(!log.mergesRepeatedSets)
    log.mergesRepeatedSets = true
    for text in ["a", "ab", "abc"] { firm.name = text }
    firm.note = "n"
    firm.note = "m"
    log.withGroup { firm.note = "grouped" }
    firm.note = "single"
    expectEqual(log.count, 4)
    for expected in ["grouped", "m", nil] {
      try log.undo()
      expectEqual(firm.note, expected)
    }
    try log.undo()
    expect(firm.name == "" && !log.canUndo)
    try log.redo()
    firm.name = "after"  // redone groups do not change
    try log.undo()
    expectEqual(firm.name, "abc")
  }

  @Test("N2: beyond the limit the oldest groups are dropped, with their records")
  func limit() throws {
    let log = try Firm.recorded(firm)
    log.undoLimit = 3
    weak var first: Clerk?
    do {
      let worker = Clerk("w")
      first = worker
      firm.boss = worker
    }
    for number in 1...5 { firm.name = "\(number)" }
    firm.boss = nil
    expect(log.count == 7 && log.firstPosition == 4 && first != nil)
    #expect(throws: ChangeLogError.noRecord(position: 0, first: 4, count: 7)) {
      try log.records(from: 0)
    }
    expect(try log.records(from: 5).count == 2 && log.records().count == 3)
    while try log.undo() {}
    expect(firm.name == "3" && firm.boss === first)
    while try log.redo() {}
    log.undoLimit = 0
    expect(first == nil && !log.canUndo && log.firstPosition == log.count)
    firm.name = "x"
    expect(!log.canUndo && log.firstPosition == log.count)
    log.undoLimit = nil
    firm.name = "y"
    expect(log.canUndo)
  }

  @Test("N2: count, canUndo, canRedo and the names notify their observers")
  func observable() throws {
    let log = try Firm.recorded(firm)
    let notified = Locked<[String]>([])
    let tokens = [
      log.observe(\.canUndo, options: [.old, .new, .distinct]) { _, change in
        notified.withLock { $0.append("undo \(change.oldValue!) \(change.newValue!)") }
      },
      log.observe(\.canRedo, options: [.new, .distinct]) { _, change in
        notified.withLock { $0.append("redo \(change.newValue!)") }
      },
      log.observe(\.undoName, options: [.new, .distinct]) { _, change in
        notified.withLock { $0.append("name \((change.newValue ?? nil) ?? "-")") }
      },
      log.observe(\.count, options: [.new]) { _, change in
        notified.withLock { $0.append("\(change.newValue!)") }
      },
    ]
    firm.name = "a"
    firm.name = "b"
    log.withGroup("named") { firm.name = "c" }
    try log.undo()
    firm.name = "d"
    log.removeAll()
    withExtendedLifetime(tokens) {}
    let changes = notified.withLock { $0 }.filter { Int($0) == nil }
    expectEqual(
      changes,
      [
        "undo false true", "name named", "name -", "redo true", "redo false", "undo true false",
      ])
    expectEqual(notified.withLock { $0 }.compactMap { Int($0) }.max(), 5)
  }

  // MARK: Values of other types

  @Test(
    "N1: objects inside AnyHashable join the graph", arguments: ["list", "one", "any", "members"])
  func insideAnyHashable(_ key: String) throws {
    class Group: Tracked {
      @Observed var list: [AnyHashable] = []
      @Observed var one: AnyHashable = 0
      @Observed var any: Any = 0
      @Observed var members: Set<AnyHashable> = []
    }
    let group = Group()
    let worker = Clerk("old")
    let log = try ChangeLog(
      of: group, recording: .keys(of: Group.self, \.list, \.one, \.any, \.members), Clerk.recorded)
    switch key {
    case "list": group.list = [worker]
    case "one": group.one = AnyHashable(worker)
    case "any": group.any = AnyHashable(worker)
    default: group.members = [worker]
    }
    worker.id = "new"
    expectEqual(log.count, 2)
    try log.undo()
    expectEqual(worker.id, "old")
  }

  @Test("N3: redoing a member of a set that contains NaN adds no other one")
  func nanMembers() throws {
    struct Mark: Hashable { var x: Double }
    class Marks: Tracked {
      @Observed var marks: Set<Mark> = [Mark(x: .nan), Mark(x: 1)]
    }
    let marks = Marks()
    let log = try ChangeLog(of: marks, recording: .keys(of: Marks.self, \.marks))
    marks.mutableSet(\.marks).insert(Mark(x: 7))
    try log.undo()
    expectEqual(marks.marks.count, 2)
    try log.redo()
    expectEqual(marks.marks.count, 3)
  }

  // MARK: Threads

  @Test("N1: changes by several threads at once are all recorded, each key's in order")
  func threads() throws {
    let workers = (0..<4).map { Clerk("\($0)") }
    firm.staff = workers
    let log = try Firm.recorded(firm)
    nonisolated(unsafe) let each = workers
    onThreads(4) { index in
      for salary in 1...500 { each[index].salary = salary }
    }
    let records = try log.records()
    expectEqual(records.count, 2_000)
    for worker in workers {
      let salaries = records.filter { $0.object === worker }.map { $0.newValue as? Int }
      expectEqual(salaries, Array(1...500))
    }
    while try log.undo() {}
    expect(workers.allSatisfy { $0.salary == 0 })
  }
}
