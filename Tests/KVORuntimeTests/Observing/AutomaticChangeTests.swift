import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// Setters that are one automatic change, `withAutomaticChange` (D6, E1, E3, E5, F2).
@Suite(.leakFree) struct AutomaticChangeTests {
  /// Each sets `title` to a value.
  fileprivate static let ways: [(name: String, set: @Sendable (Page, String) throws -> Void)] = [
    ("by assignment", { $0.title = $1 }),
    ("in place", { page, title in modify(&page.title) { $0 = title } }),
    ("by key path", { $0[keyPath: \.title] = $1 }),
    ("by key", { try $0.setValue($1, forKey: "title") }),
    ("by name", { page, title in page.withAutomaticChange(forKey: "title") { page.write(title) } }),
    (
      "by a key that was looked up",
      { page, title in
        let key = try KeyValueKey<Page, String>("title")
        page.withAutomaticChange(forKey: key) { page.write(title) }
      }
    ),
  ]

  @Test(
    "E3 D5: a setter is one change from the value before it to the value after it, and sets other keys as well",
    arguments: 0..<ways.count)
  func once(_ index: Int) throws {
    let (page, log) = (Page(), Recorder())
    log.observe(page, \.title, [.old, .new, .prior], as: "title")
    try log.observe(page, "isDirty", .new, as: "dirty")
    let (name, set) = Self.ways[index]
    try set(page, "a")
    try set(page, "a")
    expectEqual(
      log.take(),
      [
        "title prior old ", "dirty new true", "title old  new a!",
        "title prior old a!", "dirty new true", "title old a! new a!",
      ], name)
  }

  @Test("E3 D3: the observer is called in each case, also if the setter sets nothing")
  func nothing() throws {
    let (page, log) = (Page(), Recorder())
    log.observe(page, \.fixed, [.old, .new])
    page.fixed = 2
    page.fixed = 2
    expectEqual(log.take(), ["a old 1 new 1", "a old 1 new 1"])
  }

  @Test("F2 E3: what the setter does to the properties that its getter reads is part of its change")
  func tracked() throws {
    let (range, log) = (Bounds(), Recorder())
    log.observe(range, \.span, [.old, .new], as: "span")
    log.observe(range, \.low, .new, as: "low")
    try log.observe(range, "span", .new, as: "string")
    range.span = 5
    expectEqual(log.take(), ["low new 100", "span old 0 new 5", "string new 5"])
    range.span += 1
    expectEqual(log.take(), ["low new 100", "span old 5 new 6", "string new 6"])
    range.low = 101
    expectEqual(log.take(), ["low new 101", "span old 6 new 5", "string new 5"])
  }

  @Test("F2 E3: a key path that no declaration names is one change, too")
  func undeclared() {
    let (range, log) = (Bounds(), Recorder())
    log.observe(range, \.middle, [.old, .new])
    range.middle = 4
    expectEqual(log.take(), ["a old 0 new 4"])
  }

  @Test("F2 E3: so is what it does to keys that are declared to affect the property")
  func declared() throws {
    let (range, log) = (Bounds(), Recorder())
    try log.observe(range, "label", [.old, .new], as: "label")
    try log.observe(range, "caption", [.new], as: "caption")
    range.label = "3"
    expectEqual(log.take(), ["label old 0 new 3", "caption new <3>"])
    range.edits = 4
    expectEqual(log.take(), ["label old 3 new 4", "caption new <4>"])
  }

  @Test(
    "D6 E3: an overriding setter is one change around its superclass's, also for a base's observer")
  func overriding() throws {
    let (text, log) = (Text(), Recorder())
    log.observe(text, \.name, [.old, .new, .prior], as: "name")
    log.observe(text as Layer, \.name, .new, as: "base")
    text.name = "a"
    expectEqual(log.take(), ["name prior old ", "name old  new a*", "base new a*"])
    (text as Layer).name = "b"
    expectEqual(log.take(), ["name prior old a*", "name old a* new b*", "base new b*"])
    try text.setValue("c", forKey: "name")
    expectEqual(log.take(), ["name prior old b*", "name old b* new c*", "base new c*"])
  }

  @Test(
    "D6 E3: an override with its own storage notifies, before or after super's setter, and in a final class"
  )
  func stored() throws {
    let (text, log) = (Text(), Recorder())
    log.observe(text, \.level, [.old, .new], as: "level")
    log.observe(text, \.size, [.old, .new], as: "size")
    text.level = 2
    text.size = 3
    (text as Layer).size = 4
    expectEqual(log.take(), ["level old 0 new 2", "size old 0 new 3", "size old 3 new 4"])
    let last = Last()
    log.observe(last, \.size, [.old, .new], as: "last")
    last.size = 5
    (last as Layer).size = 6
    expectEqual(log.take(), ["last old 0 new 5", "last old 5 new 6"])
  }

  @Test("E1: no observer is notified if automatic notification is off, also by the superclass")
  func off() throws {
    for page in [Draft(), Copy()] {
      let log = Recorder()
      log.observe(page, \.title, [.old, .new, .prior], as: "title")
      try log.observe(page, "isDirty", .new, as: "dirty")
      for (name, set) in Self.ways {
        try set(page, "a")
        expectEqual(log.take(), ["dirty new true"], name)
      }
      page.withChange(of: \.title) { page.title = "b" }
      expectEqual(log.take(), ["title prior old a!", "dirty new true", "title old a! new b!"])
    }
  }

  @Test("E1 E3: a subclass that declares the key decides for observers by the base's key path, too")
  func declaredBelow() throws {
    for (gauge, isNotified) in [(Declared() as Gauge, true), (Silent(), false)] {
      let log = Recorder()
      try log.observe(gauge, "reading", [.old, .new], as: "key")
      log.observe(gauge, \.reading, [.old, .new], as: "base")
      gauge.reading = 7
      expectEqual(log.take(), isNotified ? ["key old 0 new 7", "base old 0 new 7"] : [])
      gauge.withChange(of: \.reading) {}
      expectEqual(log.take(), ["key old 7 new 7", "base old 7 new 7"])
    }
  }

  @Test(
    "F4: with it off, the keys that affect the property notify its observers, as they do without a setter"
  )
  func offDerived() {
    let (range, log) = (Manual(), Recorder())
    log.observe(range, \.span, .new)
    range.span = 5
    expectEqual(log.take(), ["a new -100", "a new 5"])
  }

  @Test("E5: overridden methods are called around it, if the key is observed")
  func announced() throws {
    let (page, log) = (Announcing(), Recorder())
    page.note = { log.note($0) }
    page.title = "a"
    log.observe(page, \.title, [.old, .new])
    expectEqual(log.take(), [])
    for (name, set) in Self.ways {
      try set(page, "a")
      expectEqual(log.take(), ["will title", "a old a! new a!", "did title"], name)
    }
  }

  @Test(
    "D6: a nested one of its key joins it, and a manual change, and the change by key around it")
  func nested() throws {
    let (page, log) = (Page(), Recorder())
    log.observe(page, \.title, [.old, .new], as: "title")
    page.withAutomaticChange(of: \.title) {
      page.title = "a"
      page.withAutomaticChange(forKey: "title") { page.write("b") }
      page.withChange(of: \.title) { page.write("c") }
      page.willChangeValue(forKey: "title")
      page.didChangeValue(forKey: "title")
      expectEqual(log.take(), [])
    }
    expectEqual(log.take(), ["title old  new c!"])
    let other = Page()
    log.observe(other, \.title, .new, as: "other")
    page.withAutomaticChange(of: \.title) { other.title = "d" }
    expectEqual(log.take(), ["other new d!", "title old c! new c!"])
  }

  @Test("E3: a body that throws ends the change, and passes its error on; the result is returned")
  func throwing() throws {
    struct Failure: Error {}
    let (page, log) = (Page(), Recorder())
    let key = try KeyValueKey<Page, String>("title")
    for isObserved in [false, true] {
      if isObserved { log.observe(page, \.title, .new) }
      #expect(throws: Failure.self) {
        try page.withAutomaticChange(of: \.title) {
          page.write("a")
          throw Failure()
        }
      }
      #expect(throws: Failure.self) {
        try page.withAutomaticChange(forKey: "title") { throw Failure() }
      }
      expectEqual(page.withAutomaticChange(of: \.title) { 7 }, 7)
      expectEqual(page.withAutomaticChange(forKey: key) { 8 }, 8)
    }
    expectEqual(log.take(), Array(repeating: "a new a!", count: 4))
  }

  @Test("M1: in a batch it is part of the batch's change")
  func batch() {
    let (page, log) = (Page(), Recorder())
    log.observe(page, \.title, [.old, .new])
    page.coalescingNotifications {
      page.title = "a"
      page.title = "b"
      expectEqual(log.take(), [])
    }
    expectEqual(log.take(), ["a old  new b!"])
  }

  @Test(
    "I3: an observer that another thread adds in the body is notified, one of this thread is not")
  func late() throws {
    for byName in [false, true] {
      let log = Recorder()
      for isAnother in [false, true] {
        let page = Page()
        let register = {
          let shared = Shared((page, log))
          if isAnother {
            onThreads(1) { _ in shared.value.1.observe(shared.value.0, \.title, .new) }
          } else {
            log.observe(page, \.title, .new)
          }
        }
        if byName {
          page.withAutomaticChange(forKey: "title") {
            page.write("a")
            register()
          }
        } else {
          page.withAutomaticChange(of: \.title) {
            page.write("a")
            register()
          }
        }
        expectEqual(log.take(), isAnother ? ["a new a!"] : [])
      }
    }
  }

  @Test("I3 G1: a path that the setter leads to its object is notified of the value that it sets")
  func leading() throws {
    for isObserved in [false, true] {
      let (root, chief, log) = (Member(), Member(), Recorder())
      try log.observe(root, "chief.rank", [.old, .new])
      if isObserved { log.observe(chief, \.rank, as: "rank") }
      chief.joined = root
      chief.rank = 5
      let own = isObserved ? ["rank"] : []
      expectEqual(log.take(), ["a old nil new 0", "a old 5 new 5"] + own)
      root.chief = nil
    }
  }

  @Test("I3 E1: one that is off notifies no late observer either")
  func lateOff() throws {
    let (page, log) = (Draft(), Recorder())
    let shared = Shared((page, log))
    page.withAutomaticChange(of: \.title) {
      page.write("a")
      onThreads(1) { _ in shared.value.1.observe(shared.value.0, \.title, .new) }
    }
    expectEqual(log.take(), [])
  }

  @Test("C8: what is no key notifies no observer; a key that only the object answers does")
  func unknown() throws {
    let (page, log) = (Page(), Recorder())
    log.observe(page, \.title, .new, as: "title")
    for key in ["nonsense", "", "a\0b", "a.b"] { page.withAutomaticChange(forKey: key) {} }
    page.withAutomaticChange(of: \.self) {}
    expectEqual(log.take(), [])
    try log.observe(page, "answered", [.old, .new], as: "answered")
    page.withAutomaticChange(forKey: "answered") { page.answer = 2 }
    expectEqual(log.take(), ["answered old 1 new 2"])
  }

  @Test("E3: a getter that sets its own property ends")
  func getter() {
    let (page, log) = (Page(), Recorder())
    let token = log.observe(page, \.lazily, .new)
    expectEqual(page.lazily, 1)
    token.invalidate()
  }

  @Test(
    "E4: around a property that is being mutated in place it stops the program, as setting it does")
  func exclusive() async {
    await #expect(processExitsWith: .failure) {
      let layer = Layer()
      modify(&layer.level) { _ in
        let token = layer.observe(\.name) { _, _ in }
        let late = try? layer.observe(keyPath: "level") { _, _ in }
        layer.withAutomaticChange(of: \.level) {}
        withExtendedLifetime((token, late)) {}
      }
    }
  }
}

private func modify<Value>(_ value: inout Value, _ body: (inout Value) -> Void) { body(&value) }

private class Page: Tracked {
  private var store = ""
  fileprivate var answer = 1
  private var made: Int?
  @Observed var isDirty = false

  var title: String {
    get { store.isEmpty ? "" : store + "!" }
    set { withAutomaticChange(of: \.title) { write(newValue) } }
  }

  var fixed: Int {
    get { 1 }
    set { withAutomaticChange(of: \.fixed) {} }
  }

  var lazily: Int {
    if made == nil { withAutomaticChange(of: \.lazily) { made = 1 } }
    return made! + (isDirty ? 1 : 0)
  }

  func write(_ title: String) {
    store = title
    isDirty = true
  }

  override func value(forUndefinedKey key: String) throws -> Any? {
    key == "answered" ? answer : try super.value(forUndefinedKey: key)
  }

  override class func registerKeys() {
    declareKeys { keys in
      keys.computed("title", \.title)
      keys.computed("fixed", \.fixed)
    }
  }
}

private class Draft: Page {
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    key != "title" && super.automaticallyNotifiesObservers(forKey: key)
  }
}

private final class Copy: Draft {}

private final class Announcing: Page {
  var note: (String) -> Void = { _ in }

  override func willChangeValue(forKey key: String) {
    if key == "title" { note("will title") }
    super.willChangeValue(forKey: key)
  }

  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    if key == "title" { note("did title") }
  }
}

private class Bounds: Tracked {
  @Observed var low = 0
  @Observed var high = 0
  @Observed var edits = 0

  var span: Int {
    get { high - low }
    set {
      withAutomaticChange(of: \.span) {
        low = 100
        high = 100 + newValue
      }
    }
  }

  /// Not declared.
  var middle: Int {
    get { (low + high) / 2 }
    set {
      withAutomaticChange(of: \.middle) {
        low = newValue
        high = newValue
      }
    }
  }

  var label: String {
    get { "\(edits)" }
    set {
      withAutomaticChange(of: \.label) {
        edits = 7
        edits = Int(newValue) ?? 0
      }
    }
  }

  var caption: String { "<\(label)>" }

  override class func registerKeys() {
    declareKeys { keys in
      keys.computed("span", \.span)
      keys.computed("label", \.label, affectedBy: ["edits"])
      keys.computed("caption", \.caption, affectedBy: ["label"])
    }
  }
}

private final class Manual: Bounds {
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "span" }
}

private final class Member: Tracked {
  @Observed var chief: Member?
  weak var joined: Member?
  private var store = 0

  var rank: Int {
    get { store }
    set {
      withAutomaticChange(of: \.rank) {
        joined?.chief = self
        store = newValue
      }
    }
  }

  override class func registerKeys() { declareKeys { $0.computed("rank", \.rank) } }
}

private class Gauge: Tracked {
  private var store = 0

  var reading: Int {
    get { store }
    set { withAutomaticChange(of: \.reading) { store = newValue } }
  }
}

private class Declared: Gauge {
  override class func registerKeys() { declareKeys { $0.computed("reading", \.reading) } }
}

private final class Silent: Gauge {
  override class func registerKeys() {
    declareKeys { keys in
      keys.computed("reading", \.reading)
      keys.automaticallyNotifies("reading", false)
    }
  }
}

private class Layer: Tracked {
  @Observed var name = ""
  @Observed var level = 0
  @Observed var size = 0

  override class func registerKeys() {
    declareKeys { keys in
      keys.stored("level", \.level)
      keys.stored("size", \.size)
    }
  }
}

private class Text: Layer {
  private var isDirty = false
  private var own = 0
  private var room = 0

  override var name: String {
    get { super.name + (isDirty ? "*" : "") }
    set {
      withAutomaticChange(of: \.name) {
        super.name = newValue
        isDirty = true
      }
    }
  }

  override var level: Int {
    get { own }
    set {
      withAutomaticChange(of: \.level) {
        own = newValue
        super.level = newValue
      }
    }
  }

  override var size: Int {
    get { room }
    set { withAutomaticChange(of: \.size) { room = newValue } }
  }
}

private final class Last: Layer {
  private var room = 0

  override var size: Int {
    get { room }
    set { withAutomaticChange(of: \.size) { room = newValue } }
  }
}
