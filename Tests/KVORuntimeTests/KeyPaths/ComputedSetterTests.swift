import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// E2, E3: settable computed properties whose getters read nothing observable.
@Suite(.leakFree) struct ComputedSetterTests {
  @Test("E2 F2: setting a declared computed key by key is one change, whatever its getter reads")
  func byKey() throws {
    for key in ["index", "named", "shown", "both", "whole", "said"] {
      let player = Player()
      let log = Recorder()
      try log.observe(player, key, [.old, .new, .prior])
      let old = shown(try player.value(forKey: key))
      try player.setValue(3, forKey: key)
      try player.setValue(4, forKeyPath: "self." + key)
      try player.setValuesForKeys([key: 5])
      let values = try [player.value(forKey: key)].map { shown($0) }
      expectEqual(values, ["5"])
      expectEqual(
        log.take(),
        [
          "a prior old \(old)", "a old \(old) new 3", "a prior old 3", "a old 3 new 4",
          "a prior old 4", "a old 4 new 5",
        ])
    }
  }

  @Test("E2 F2: so is setting one observed by key path, and what is derived from it")
  func derived() throws {
    let (player, other) = (Player(), Player())
    other.me = player
    let log = Recorder()
    log.observe(player, \.both, .new, as: "typed")
    try log.observe(player, "both", .new, as: "string")
    try log.observe(player, "label", .new, as: "label")
    try log.observe(other, "me.both", .new, as: "path")
    try player.setValue(7, forKey: "both")
    expectEqual(log.take(), ["typed new 7", "string new 7", "path new 7", "label new at 7"])
    player.observed = 8
    expectEqual(log.take(), ["typed new 8", "string new 8", "path new 8", "label new at 8"])
  }

  @Test("E2 F2: a setter that throws, or sets other keys too, leaves nothing open")
  func throwing() throws {
    let player = Player()
    let log = Recorder()
    try log.observe(player, "fussy", .new, as: "fussy")
    try log.observe(player, "both", .new, as: "both")
    #expect(throws: Refused.self) { try player.setValue(-1, forKey: "fussy") }
    _ = log.take()
    try player.setValue(1, forKey: "fussy")
    expectEqual(log.take(), ["both new 0", "both new 1", "fussy new 1"])
    player.observed = 2
    expectEqual(log.take(), ["both new 2", "fussy new 2"])
  }

  @Test(
    "E1 E2: with automatic notification off, a computed key notifies only through its setter's sets"
  )
  func manual() throws {
    let player = Player()
    let log = Recorder()
    try log.observe(player, "quiet", .new)
    try player.setValue(3, forKey: "quiet")
    expectEqual(log.take(), [])
  }

  @Test("E3: an assignment with a bracket in its setter notifies once, also by key")
  func bracketed() throws {
    let player = Player()
    let log = Recorder()
    log.observe(player, \.said, [.old, .new])
    player.said = 1
    player.said += 1
    try player.setValue(3, forKey: "said")
    expectEqual(log.take(), ["a old 0 new 1", "a old 1 new 2", "a old 2 new 3"])
    log.observe(player, \.index, .new, as: "index")
    player.index = 9
    expectEqual(log.take(), [])
  }

  @Test("F2 E3: a setter's bracket around what its getter reads notifies as a change of its own")
  func bracketedTwice() throws {
    let player = Player()
    let log = Recorder()
    log.observe(player, \.bracketed, .new)
    player.bracketed = 1
    expectEqual(log.take(), ["a new 1", "a new 1"])
  }

  @Test("H2: a bracket around a set of an @Observed property notifies in addition to the set")
  func bracketedInsertion() throws {
    let player = Player()
    let log = Recorder()
    log.observe(player, \.songs, .new)
    player.withChange(.insertion, at: RangeSet(0..<1), forKey: "songs") {
      player.songs.insert(1, at: 0)
    }
    let count = log.take().count
    player.mutableArray(\.songs).insert(2, at: 0)
    expect((count, log.take().count) == (2, 1))
  }

  @Test("E3: a manual pair, and withChange, on a key path that reads nothing observable are silent")
  func silent() throws {
    let player = Player()
    let log = Recorder()
    log.observe(player, \.both)
    player.willChangeValue(for: \.width)
    player.didChangeValue(for: \.width)
    expectEqual(player.withChange(of: \.width) { 3 }, 3)
    #expect(throws: Refused.self) { try player.withChange(of: \.width) { throw Refused() } }
    player.willChange(.insertion, valuesAt: RangeSet(0..<1), for: \.widths)
    player.didChange(.insertion, valuesAt: RangeSet(0..<1), for: \.widths)
    player.willChangeValue(for: \.marks, withSetMutation: .union, using: [1])
    player.didChangeValue(for: \.marks, withSetMutation: .union, using: [1])
    player.willChangeValue(for: \.limit)
    player.didChangeValue(for: \.limit)
    player.willChangeValue(for: \.self)
    player.didChangeValue(for: \.self)
    expectEqual(log.take(), [])
  }

  @Test("E3: a change by the key path of a plain, non-overridable property is its key's change")
  func plain() throws {
    let player = Player()
    let log = Recorder()
    try log.observe(player, "volume", [.old, .new])
    player.withChange(of: \.volume) { player.volume = 0.5 }
    player.willChangeValue(for: \.volume)
    player.volume = 1
    player.didChangeValue(for: \.volume)
    expectEqual(log.take(), ["a old 0.0 new 0.5", "a old 0.5 new 1.0"])
  }

  @Test("E3: a manual change that may be of an observed plain property is reported")
  func reported() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.misuse = { say($0 + "\n") }
      let player = Player()
      player.withChange(of: \.count) {}
      say("unobserved\n")
      let token = try player.observe(keyPath: "count") { _, _ in say("notified\n") }
      player.withChange(forKey: "count") {}
      player.willChangeValue(for: \.count)
      token.invalidate()
    }
    let lines = try require(result).errors.split(separator: "\n")
    expect(
      lines.count == 3 && lines.first == "unobserved" && lines.dropFirst().first == "notified",
      "\(lines)")
    for word in ["Player", "\"count\"", "withChange(forKey"] {
      expectEqual(lines.last?.contains(word), true)
    }
  }

  private class Counters: KVOObject {
    var first = 0
    var second = 0
  }

  @Test("E3: if there are several plain properties of its type, the report names them all")
  func reportedOfSeveral() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.misuse = { say($0 + "\n") }
      let counters = Counters()
      let token = try counters.observe(keyPath: "first") { _, _ in }
      counters.withChange(of: \.second) {}
      token.invalidate()
    }
    let report = try require(result).errors
    expect(
      report.hasSuffix(
        "If it names one of the plain properties \"first\", \"second\", say withChange(forKey:) with the property's "
          + "key.\n"),
      report)
  }

  /// Its getters bracket.
  private class Bracketed: KVOObject {
    @Observed var count = 1
    private var made: Double?
    private var madeOfNamed: Double?
    var total: Int {
      willChangeValue(forKey: "total")
      defer { didChangeValue(forKey: "total") }
      return count
    }
    var sum: Int { withChange(of: \.sum) { count } }
    var list: [Int] {
      withChange(.insertion, at: RangeSet(0..<1), forKey: "list") { [count] }
    }
    var marks: Set<Int> { withChange(.union, using: [1], forKey: "marks") { [count] } }
    /// Announced when the value is made.
    var lazily: Double {
      if made == nil { withChange(of: \.lazily) { made = 1 } }
      return made! + Double(count)
    }
    /// Announced when the value is made, and kept as the class says, so no other hint calls the getter before.
    var named: Double {
      if madeOfNamed == nil { withChange(of: \.named) { madeOfNamed = 1 } }
      return madeOfNamed! + Double(count)
    }
    /// Brackets another key.
    var other: Int { withChange(forKey: "count") { count } }

    override class func registerKeys() {
      declareKeys { keys in
        keys.computed("total", \.total)
        keys.computed("list", \.list)
        keys.computed("marks", \.marks)
        keys.computed("named", \.named)
        keys._keeping("named", reads: ["count"])
      }
    }
  }

  @Test("E3: a getter that brackets its own key is a hint, once, when the key is observed")
  func bracketHint() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.hint = { say($0 + "\n") }
      for _ in 0..<2 {
        let object = Bracketed()
        object.observe(\.lazily) { _, _ in }.invalidate()
        object.observe(\.named) { _, _ in }.invalidate()
        object.observe(\.other) { _, _ in }.invalidate()
        object.observe(\.count) { _, _ in }.invalidate()
        object.observe(\.total) { _, _ in }.invalidate()
        object.observe(\.sum) { _, _ in }.invalidate()
        try object.observe(keyPath: "list") { _, _ in }.invalidate()
        object.observe(\.marks) { _, _ in }.invalidate()
      }
      KVODiagnostics.hint = nil
    }
    let hints = try require(result).errors.split(separator: "\n")
    let names = [
      "\"total\"", "\\Bracketed.<a property of type Int> (count)", "\"list\"", "\"marks\"",
    ]
    expectEqual(hints.count, names.count, "\(hints)")
    for (hint, name) in zip(hints, names) {
      expect(hint.hasPrefix("The getter of \(name) of Bracketed announces a change of that very"))
    }
  }

  @Test("E3: a getter that brackets its own key path is read, observed or not, and ends")
  func bracketEnds() {
    let object = Bracketed()
    expect(object.sum == 1 && object.lazily == 2)
    let log = Recorder()
    let token = object.observe(\.sum) { _, _ in log.note("notified") }
    _ = log.take()
    expect(object.sum == 1 && !log.take().isEmpty)
    token.invalidate()
  }

  @Test("E3: an assignment to an observed key that notifies no observer is a hint, once")
  func hint() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.hint = { say($0 + "\n") }
      let player = Player()
      let tokens = [
        player.observe(\.index) { _, _ in }, player.observe(\.index) { _, _ in },
        try player.observe(keyPath: "index") { _, _ in }, player.observe(\.both) { _, _ in },
        try player.observe(keyPath: "named") { _, _ in }, player.observe(\.twice) { _, _ in },
      ]
      for token in tokens { token.invalidate() }
      KVODiagnostics.hint = nil
      player.observe(\.shown) { _, _ in }.invalidate()
    }
    let hints = try require(result).errors.split(separator: "\n")
    expectEqual(hints.count, 1, "\(hints)")
    for word in [
      "Player", "\"index\"",
      "unless its setter announces the change, set { withAutomaticChange(of: \\.index)",
    ] {
      expectEqual(hints.first?.contains(word), true)
    }
    expectEqual(hints.first?.contains("@Observed."), false)
  }

  @Test("E3: that hint says which stored property to mark, unless it takes no wrapper")
  func storedHint() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      KVODiagnostics.hint = { say($0 + "\n") }
      let player = Player()
      let tokens = [
        player.observe(\.owner) { _, _ in }, player.observe(\.late) { _, _ in },
        player.observe(\.level) { _, _ in },
      ]
      for token in tokens { token.invalidate() }
      KVODiagnostics.hint = nil
    }
    let hints = try require(result).errors.split(separator: "\n")
    expectEqual(hints.count, 3, "\(hints)")
    for (hint, key) in zip(hints, ["owner", "late", "level"]) {
      expect(
        hint.contains(
          "unless it is assigned to in withChange(of: \\.\(key)) { … }, no observer is notified."))
      expectEqual(hint.contains("mark it @Observed."), (key == "level"))
    }
  }
}

private struct Refused: Error {}

private final class Model {
  var index = 0
}

private class Player: Tracked {
  private let model = Model()
  @Observed var observed = 0
  @Observed var title = ""
  @Observed var songs: [Int] = []
  final var volume = 0.0
  var count = UInt8(0)
  @Observed var me: Player?

  /// Its getter reads nothing observable.
  var index: Int {
    get { model.index }
    set { model.index = newValue }
  }
  /// Declared as affected by another key, which its setter does not set.
  var named: Int {
    get { model.index }
    set { model.index = newValue }
  }
  /// Its getter reads one property, and its setter sets another.
  var shown: Int {
    get { title.isEmpty ? model.index : -1 }
    set { model.index = newValue }
  }
  /// Sets what it reads, twice, and another property.
  var both: Int {
    get { observed }
    set {
      title = "old"
      observed = newValue - 1
      observed = newValue
      title = "new"
    }
  }
  /// Also with declared keys.
  var whole: Int {
    get { observed }
    set { both = newValue }
  }
  var fussy: Int { observed }
  var label: String { "at \(both)" }
  var said: Int {
    get { model.index }
    set { withChange(of: \.said) { model.index = newValue } }
  }
  var quiet: Int {
    get { model.index }
    set { model.index = newValue }
  }
  var bracketed: Int {
    get { observed }
    set { withChange(of: \.bracketed) { observed = newValue } }
  }
  var twice: Int { observed * 2 }
  var width: Float { 1 }
  var widths: [Float] { [1] }
  var marks: Set<Int> { [] }
  let limit = Float(1)
  weak var owner: Model?
  lazy var late = Int32(1)
  var level = Int16(1)

  override class func registerKeys() {
    declareKeys { keys in
      keys.computed("index", \.index)
      keys.computed("named", \.named, affectedBy: ["title"])
      keys.computed("shown", \.shown)
      keys.computed("both", \.both)
      keys.computed("whole", \.whole, affectedBy: ["observed", "title"])
      keys.computed("said", \.said)
      keys.computed("quiet", \.quiet)
      keys.automaticallyNotifies("quiet", false)
      keys.stored("owner", \.owner)
      keys.stored("late", \.late)
      keys.stored("level", \.level)
      keys.computed("label", \.label, affectedBy: ["both"])
      keys.accessors(
        "fussy", \.fussy, get: { $0.fussy },
        set: { player, value in
          guard value >= 0 else { throw Refused() }
          player.both = value
        })
      keys.dependency("fussy", on: ["both"])
    }
  }

  override init() {
    super.init()
  }
}
