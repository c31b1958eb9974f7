import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// Manual changes around a body: by a key found once, by its string, and as a pair, on the fast path and the slow
/// path. Observers get the same, whatever happens in the body.
@Suite(.leakFree) struct ScopedChangeTests {
  @Test("D6 E3 D5 D7 C12: brackets notify as a pair does, whatever happens in the body")
  func sameAsPair() async {
    await #expect(processExitsWith: .success) {
      for watching in watchings {
        for event in events {
          let pair = play(event, watching, .pair, long: true)
          for form in Form.allCases {
            for long in [false, true] {
              let notified = play(event, watching, form, long: long)
              expectEqual(
                notified, pair,
                "\(event.name), \(watching.name), by \(form), the \(long ? "long" : "short") way")
            }
          }
        }
      }
    }
  }

  @Test("D6 E3 D5 D7: a bracket's notifications, one example of each")
  func examples() async {
    await #expect(processExitsWith: .success) {
      for event in events {
        expectEqual(
          play(event, watchings[1], .handle, long: false), event.notified, "\(event.name)")
      }
    }
  }

  @Test(
    "J1: an open bracket shows in the dump, with its thread, until it is closed",
    arguments: [false, true])
  func dumped(_ isObserved: Bool) throws {
    let grid = Grid()
    let log = Recorder()
    if isObserved { try log.observe(grid, "a", .prior) } else { try log.observe(grid, "b") }
    let key = try KeyValueKey<Grid, Int>("a")
    _ = grid.observe(key: key) { _, _ in }
    func open() -> [Substring] {
      grid.observationInfo.debugDescription.split(separator: "\n").filter { $0.contains("open") }
    }
    grid.withChange(forKey: key) {
      expectEqual(open().count, 1)
      expect(open().first?.contains("\"a\"") == true && open().first?.contains("thread") == true)
      grid.withChange(forKey: "a") { expectEqual(open().count, 2) }
    }
    expectEqual(open(), [])
  }

  @Test("D6: a bracket in an automatic change of its key joins it")
  func joins() throws {
    let grid = Grid()
    let key = try KeyValueKey<Grid, Int>("joining")
    let log = Recorder()
    try log.observe(grid, "joining", [.old, .new])
    try grid.setValue(1, forKey: "joining")
    expectEqual(log.take(), ["a old 0 new 1"])
    try grid.setValue(2, for: key)
    expectEqual(log.take(), ["a old 1 new 2"])
  }

  @Test("E1: a bracket notifies under a key whose automatic notification is off")
  func manual() throws {
    let grid = Grid()
    let key = try KeyValueKey<Grid, Int>("manual")
    let log = Recorder()
    try log.observe(grid, "manual", [.old, .new])
    try grid.setValue(1, for: key)
    expectEqual(log.take(), [])
    grid.withChange(forKey: key) { grid.cells["manual"] = 2 }
    grid.withChange(forKey: "manual") { grid.cells["manual"] = 3 }
    expectEqual(log.take(), ["a old 1 new 2", "a old 2 new 3"])
  }

  @Test("E3: overridden functions of manual pairs are called by every bracket, also unobserved")
  func overridden() throws {
    let grid = Announcing()
    let key = try KeyValueKey<Announcing, Int>("a")
    let log = Recorder()
    for isObserved in [false, true] {
      if isObserved { try log.observe(grid, "a", [.old, .new]) }
      grid.withChange(forKey: key) { grid.set("a", 1) }
      grid.withChange(forKey: "a") { grid.set("a", 2) }
      grid.withChange(of: \.a) { grid.set("a", 3) }
      let pairs = Array(repeating: ["will a", "did a"], count: 3).flatMap { $0 }
      expectEqual(grid.notified, pairs, "observed: \(isObserved)")
      grid.notified = []
    }
    expectEqual(log.take(), ["a old 3 new 1", "a old 1 new 2", "a old 2 new 3"])
  }

  @Test("E3: a class that overrides only one of the two is called as well")
  func overriddenInPart() throws {
    let opening = Opening()
    let closing = Closing()
    opening.withChange(forKey: try KeyValueKey<Opening, Int>("a")) {}
    closing.withChange(forKey: try KeyValueKey<Closing, Int>("a")) {}
    expectEqual(opening.notified, ["will a"])
    expectEqual(closing.notified, ["did a"])
  }

  @Test("E3: a bracket returns its body's result, and passes its error on")
  func results() throws {
    struct Failure: Error {}
    let grid = Grid()
    let key = try KeyValueKey<Grid, Int>("a")
    let log = Recorder()
    for isObserved in [false, true] {
      if isObserved { try log.observe(grid, "a", [.old, .new]) }
      expectEqual(grid.withChange(forKey: key) { 7 }, 7)
      #expect(throws: Failure.self) { try grid.withChange(forKey: key) { throw Failure() } }
      #expect(throws: Failure.self) { try grid.withChange(forKey: "a") { throw Failure() } }
    }
    expectEqual(log.take(), ["a old 0 new 0", "a old 0 new 0", "a old 0 new 0"])
  }

  @Test("C8: a bracket of a non-key notifies no observer, and leaves nothing behind")
  func unknown() throws {
    let grid = Grid()
    let log = Recorder()
    try log.observe(grid, "a", [.old, .new])
    for key in ["nonsense", "", "a\0b", "a.b"] { grid.withChange(forKey: key) {} }
    expectEqual(log.take(), [])
  }

  @Test("C8: a key that only the object answers notifies under its string")
  func undefined() throws {
    let grid = Grid()
    let log = Recorder()
    try log.observe(grid, "undefined", [.old, .new])
    grid.withChange(forKey: "undefined") { grid.cells["undefined"] = 4 }
    expectEqual(log.take(), ["a old 0 new 4"])
    #expect(throws: KeyValueError.undefinedKey(key: "undefined", className: "Grid")) {
      _ = try KeyValueKey<Grid, Int>("undefined")
    }
  }

  @Test("E3: a change whose body throws is closed, and later changes are delivered")
  func nestedErrors() throws {
    struct Failure: Error {}
    let grid = Grid()
    let keys = try ["a", "b"].map { try KeyValueKey<Grid, Int>($0) }
    let log = Recorder()
    for key in keys { log.keep(grid.observe(key: key) { [log] _, _ in log.note(key.name) }) }
    #expect(throws: Failure.self) {
      try grid.withChange(forKey: keys[0]) {
        try grid.withChange(forKey: keys[1]) { throw Failure() }
      }
    }
    grid.withChange(forKey: keys[0]) {}
    expectEqual(log.take(), ["b", "a", "a"])
    expect(!grid.observationInfo.debugDescription.contains("open"))
  }

  @Test(
    "I3: an observer registered on another thread while a body runs is notified",
    arguments: [Form.handle, .string], ["a", "manual"])
  func latecomer(_ form: Form, _ key: String) throws {
    for isObserved in [false, true] {
      let grid = Grid()
      let log = Recorder()
      if isObserved { try log.observe(grid, "b") }
      let shared = Shared((grid, log))
      try grid.change(key, form) {
        onThreads(1) { _ in _ = try? shared.value.1.observe(shared.value.0, key, .new) }
        grid.cells[key] = 5
      }
      expectEqual(log.take(), ["a new 5"], "observed: \(isObserved)")
    }
  }
}

/// The form of a bracket.
enum Form: CaseIterable { case handle, string, keyPath, pair }

/// The observers of a change.
private struct Watching {
  let name: String
  let observers: [(key: String, options: KeyValueObservingOptions)]
}

private let watchings = [
  Watching(name: "bare", observers: [("a", [])]),
  Watching(name: "old and new", observers: [("a", [.old, .new])]),
  Watching(name: "new", observers: [("a", .new)]),
  Watching(name: "prior", observers: [("a", [.prior, .old, .new])]),
  Watching(name: "distinct", observers: [("a", [.distinct, .new])]),
  Watching(name: "two", observers: [("a", [.old, .new]), ("a", .new)]),
  Watching(name: "derived", observers: [("a", .new), ("double", [.prior, .old, .new])]),
  Watching(name: "derived alone", observers: [("double", [.old, .new])]),
  Watching(name: "path", observers: [("a", .new), ("next.a", [.old, .new])]),
  Watching(name: "another key", observers: [("b", [.old, .new])]),
]

/// An event in the body.
private struct Event {
  let name: String
  /// The lines for an observer that asks for old and new.
  let notified: [String]
  let body: (Scene) throws -> Void

  init(_ name: String, _ notified: [String], _ body: @escaping (Scene) throws -> Void) {
    self.name = name
    self.notified = notified
    self.body = body
  }
}

private final class Scene {
  let grid = Grid()
  let log = Recorder()
  let form: Form
  var tokens: [KeyValueObservation] = []

  init(_ form: Form) { self.form = form }

  func removeObservers() {
    for token in tokens { token.invalidate() }
  }
}

private let plain = "0 a old 0 new 1"

nonisolated(unsafe) private let events: [Event] = [
  Event("nothing", [plain]) { _ in },
  Event("the observers are removed", []) { $0.removeObservers() },
  Event("all observers are removed", []) { $0.grid.removeAllObservers() },
  Event("the observers are removed, and another comes", []) {
    $0.removeObservers()
    try $0.log.observe($0.grid, "a", [.old, .new], as: "late")
  },
  Event("another observer comes", [plain]) {
    try $0.log.observe($0.grid, "a", [.old, .new], as: "late")
  },
  Event("one comes that wants to be called before", [plain]) {
    try $0.log.observe($0.grid, "a", [.prior, .old, .new], as: "late")
  },
  Event("other keys are observed", [plain]) { scene in
    for key in ["b", "double", "manual", "joining"] {
      try scene.log.observe(scene.grid, key, [], as: "other")
    }
  },
  Event("the key is changed in a bracket", ["0 a old 0 new 7", "0 a old 0 new 1"]) { scene in
    try scene.grid.change("a", scene.form) { scene.grid.cells["a"] = 7 }
  },
  Event("the key is changed by a pair", ["0 a old 0 new 7", "0 a old 0 new 1"]) { scene in
    scene.grid.willChangeValue(forKey: "a")
    scene.grid.cells["a"] = 7
    scene.grid.didChangeValue(forKey: "a")
  },
  Event("the key is set by key", ["0 a old 0 new 7", "0 a old 0 new 1"]) {
    try $0.grid.setValue(7, forKey: "a")
  },
  Event("another observed key is changed", ["b old 0 new 3", plain]) { scene in
    try scene.log.observe(scene.grid, "b", [.old, .new], as: "b")
    try scene.grid.change("b", scene.form) { scene.grid.cells["b"] = 3 }
  },
  Event("another observed object is changed", ["x old 0 new 3", plain]) { scene in
    let other = Grid()
    try scene.log.observe(other, "a", [.old, .new], as: "x")
    try other.change("a", scene.form) { other.cells["a"] = 3 }
  },
  Event("an @Observed property is set", ["shown old 0 new 3", plain]) { scene in
    scene.log.observe(scene.grid, \.shown, [.old, .new], as: "shown")
    scene.grid.shown = 3
  },
  Event("the next one is replaced", [plain]) {
    $0.grid.next = Grid()
    $0.grid.next?.cells["a"] = 9
  },
  Event("it is read while reads are recorded", [plain]) { scene in
    scene.log.observe(scene.grid, \.bracketing, .new, as: "reader")
  },
  Event("an error is thrown", [plain]) { _ in throw Stop() },
]

private struct Stop: Error {}

/// Changes `a` from 0 to 1 with the event in the body, then once more, and returns all lines.
private func play(_ event: Event, _ watching: Watching, _ form: Form, long: Bool) -> [String] {
  kvo_set_fast_path_disabled(long)
  defer { kvo_set_fast_path_disabled(false) }
  let scene = Scene(form)
  scene.grid.next = Grid()
  for (index, observer) in watching.observers.enumerated() {
    let token = try? scene.log.observe(
      scene.grid, observer.key, observer.options, as: "\(index) \(observer.key)")
    scene.tokens += [token].compactMap { $0 }
  }
  try? scene.grid.change("a", form) {
    defer { scene.grid.cells["a"] = 1 }
    try event.body(scene)
  }
  let notified = scene.log.take()
  try? scene.grid.change("a", form) { scene.grid.cells["a"] = 1 }
  let later = scene.log.take()
  return notified + (watching.name == "old and new" ? [] : later)
}

/// Keys that are data.
private class Grid: Tracked {
  var cells: [String: Int] = [:]
  @Observed var shown = 0
  @Observed var next: Grid?

  var a: Int { cells["a"] ?? 0 }

  var joining: Int {
    get { cells["joining"] ?? 0 }
    set { withChange(forKey: "joining") { cells["joining"] = newValue } }
  }

  /// Its getter reads inside a bracket of the key.
  var bracketing: Int {
    withChange(forKey: "b") { shown }
  }

  override class func registerKeys() {
    Grid.declareKeys { keys in
      keys.accessors("a", \.a, get: { $0.a }, set: { $0.cells["a"] = $1 })
      for key in ["b", "manual"] {
        keys.accessors(key, get: { $0.cells[key] ?? 0 }, set: { $0.cells[key] = $1 })
      }
      keys.accessors("joining", get: { $0.joining }, set: { $0.joining = $1 })
      keys.accessors("double", get: { ($0.cells["a"] ?? 0) * 2 })
      keys.dependency("double", on: ["a"])
      keys.automaticallyNotifies("manual", false)
    }
  }

  override func value(forUndefinedKey key: String) throws -> Any? {
    guard key == "undefined" else { return try super.value(forUndefinedKey: key) }
    return cells[key] ?? 0
  }

  func change(_ key: String, _ form: Form, _ body: () throws -> Void) throws {
    switch form {
    case .handle: try withChange(forKey: try KeyValueKey<Grid, Int>(key), body)
    case .string: try withChange(forKey: key, body)
    case .keyPath:
      if key == "a" { try withChange(of: \.a, body) } else { try withChange(forKey: key, body) }
    case .pair:
      willChangeValue(forKey: key)
      defer { didChangeValue(forKey: key) }
      try body()
    }
  }
}

/// Records manual announcements.
private class Announcing: KVOObject {
  private var cells: [String: Int] = [:]
  var notified: [String] = []
  var a: Int { cells["a"] ?? 0 }

  override class func registerKeys() {
    Announcing.declareKeys { $0.accessors("a", \.a, get: { $0.a }) }
  }

  func set(_ key: String, _ value: Int) { cells[key] = value }

  override func willChangeValue(forKey key: String) {
    notified.append("will \(key)")
    super.willChangeValue(forKey: key)
  }

  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    notified.append("did \(key)")
  }
}

private final class Opening: KVOObject {
  @Observed var a = 0
  var notified: [String] = []

  override func willChangeValue(forKey key: String) {
    notified.append("will \(key)")
    super.willChangeValue(forKey: key)
  }
}

private final class Closing: KVOObject {
  @Observed var a = 0
  var notified: [String] = []

  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    notified.append("did \(key)")
  }
}
