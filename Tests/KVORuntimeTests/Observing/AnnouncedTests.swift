import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// E5: automatic changes call the will and did methods that a class overrides.
@Suite(.leakFree) struct AnnouncedTests {
  /// A way to set a key to 1.
  static let ways: [(name: String, key: String, set: @Sendable (Manuscript) throws -> Void)] = [
    ("assignment", "title", { $0.title = 1 }),
    ("in place", "title", { $0.title += 1 }),
    ("key path", "title", { $0[keyPath: \.title] = 1 }),
    ("key", "title", { try $0.setValue(1, forKey: "title") }),
    ("plain, by key", "plain", { try $0.setValue(1, forKey: "plain") }),
    ("declared, by key", "declared", { try $0.setValue(1, forKey: "declared") }),
    (
      "bracket", "plain",
      { document in document.withChange(forKey: "plain") { document.plain = 1 } }
    ),
    ("macro", "written", { $0.written = 1 }),
    ("macro, with didSet", "checked", { $0.checked = 1 }),
  ]

  @Test(
    "E5: each automatic change of an observed key calls both methods, which see the old value and the new one",
    arguments: 0..<ways.count)
  func calls(_ index: Int) throws {
    let (name, key, set) = Self.ways[index]
    let (document, log) = (Manuscript(), Recorder())
    try log.observe(document, key, [.prior, .old, .new], as: key)
    document.note = { log.note($0) }
    try set(document)
    expectEqual(
      log.take(),
      ["will \(key) 0", "\(key) prior old 0", "\(key) old 0 new 1", "did \(key) 1"], name)
    expectEqual(document.edits, 1, name)
  }

  @Test("E5: an automatic change of an object, or a key, that no observer has calls neither")
  func unobserved() throws {
    let (document, log) = (Manuscript(), Recorder())
    document.note = { log.note($0) }
    document.title = 1
    try document.setValue(2, forKey: "plain")
    log.observe(document, \.title, .new)
    document.written = 3
    expectEqual(log.take(), [])
    expectEqual(document.edits, 0)
  }

  @Test("E5: a key that a derived key or a path depends on is announced; the derived key is not")
  func derived() throws {
    let (document, log) = (Document(), Recorder())
    try log.observe(document, "headline", [.old, .new], as: "headline")
    try log.observe(document, "next.title", [.old, .new], as: "path")
    document.note = { log.note($0) }
    document.title = 1
    document.next = Document()
    expectEqual(
      log.take(),
      [
        "will title 0", "headline old 0 new 10", "did title 1", "will next nil",
        "path old nil new 0", "did next Document",
      ])
  }

  @Test("E5: a method that does not call super leaves the change without a notification")
  func withoutSuper() async {
    await #expect(processExitsWith: .success) {
      let heard = Locked<[String]>([])
      KVODiagnostics.misuse = { line in heard.withLock { $0.append(line) } }
      let (silent, log) = (Silent(), Recorder())
      log.observe(silent, \.both, [.prior, .new], as: "both")
      log.observe(silent, \.did, [.prior, .new], as: "did")
      log.observe(silent, \.other, .new, as: "other")
      silent.both = 1
      silent.did += 1
      silent.other = 3
      expectEqual(log.take(), ["did prior", "other new 3"])
      expectEqual(silent.did, 1)
      expect(!silent.observationInfo.debugDescription.contains("open"))
      expectEqual(heard.withLock { $0 }, [])
    }
  }

  @Test("E5: a method that calls super only for the did is reported, and notifies no observer")
  func didAlone() async {
    await #expect(processExitsWith: .success) {
      let heard = Locked<[String]>([])
      KVODiagnostics.misuse = { line in heard.withLock { $0.append(line) } }
      let (silent, log) = (Silent(), Recorder())
      log.observe(silent, \.will, [.prior, .new], as: "will")
      silent.will = 1
      expectEqual(log.take(), [])
      let lines = heard.withLock { $0 }
      expect(lines.count == 1 && lines[0].contains("didChangeValue for \"will\""), "\(lines)")
    }
  }

  @Test(
    "E5: a set by a method is a change of its own; of the same key, before the change, it joins")
  func setsMore() throws {
    let (busy, log) = (Busy(), Recorder())
    log.observe(busy, \.value, [.old, .new], as: "value")
    log.observe(busy, \.isEdited, .new, as: "edited")
    busy.value = 5
    expectEqual(log.take(), ["edited new true", "value old 1 new 5"])
    busy.value = 6
    expectEqual(log.take(), ["edited new true", "value old 1 new 6"])
  }

  @Test(
    "E5 D7: a method that endlessly sets what it announces is stopped, naming class and key",
    arguments: Restless.Way.allCases)
  func setsWithoutEnd(_ way: Restless.Way) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [way] in
      KVODiagnostics.depthLimit = 100
      let (restless, log) = (Restless(way), Recorder())
      log.observe(restless, \.value, .new, as: "value")
      log.observe(restless, \.values, .new, as: "values")
      if way == .part { restless.mutableArray(\.values).append(1) } else { restless.value = 1 }
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    let method = way == .part ? "didChange for \"values\" of " : "didChangeValue for \"value\" of "
    expect(errors.contains("nested changes are being delivered: \(method)"), errors)
    expect(errors.contains("Restless sets what it announces, again and again"), errors)
  }

  @Test("E5: a manual pair around an automatic change, and one within it")
  func pairs() throws {
    let (document, log) = (Document(), Recorder())
    log.observe(document, \.title, [.old, .new], as: "title")
    document.note = { log.note($0) }
    document.willChangeValue(forKey: "title")
    document.title = 1
    document.didChangeValue(forKey: "title")
    expectEqual(
      log.take(),
      [
        "will title 0", "will title 0", "title old 0 new 1", "did title 1", "title old 0 new 1",
        "did title 1",
      ])
    try log.observe(document, "declared", [.old, .new], as: "declared")
    document.announces = true
    try document.setValue(4, forKey: "declared")
    expectEqual(
      log.take(),
      [
        "will declared 0", "will declared 0", "did declared 4", "declared old 0 new 4",
        "did declared 4",
      ])
  }

  @Test("E5: in a batch each change calls both methods, and observers are notified once")
  func batches() {
    let (document, log) = (Document(), Recorder())
    log.observe(document, \.title, [.old, .new], as: "title")
    document.note = { log.note($0) }
    document.coalescingNotifications {
      document.title = 1
      document.title = 2
    }
    expectEqual(
      log.take(),
      ["will title 0", "did title 1", "will title 1", "did title 2", "title old 0 new 2"])
  }

  @Test("E5 M1: a manual pair at the beginning of a batch does not silence the methods")
  func batchesByHand() {
    let (document, log) = (Document(), Recorder())
    log.observe(document, \.title, [.old, .new], as: "title")
    document.note = { log.note($0) }
    document.coalescingNotifications {
      document.withChange(forKey: "title") {}
      document.title = 1
      document.title += 1
    }
    expectEqual(
      log.take(),
      [
        "will title 0", "did title 0", "will title 0", "did title 1", "will title 1", "did title 2",
        "title old 0 new 2",
      ])
  }

  @Test("E5 M1: a key set within an access to another one leaves their batch unchanged")
  func batchesNested() {
    let (document, log) = (Document(), Recorder())
    log.observe(document, \.title, [.old, .new], as: "title")
    log.observe(document, \.pages, [.old, .new], as: "pages")
    func add(_ page: Int, within title: inout Int) {
      document.pages.append(page)
      title += page
    }
    document.coalescingNotifications {
      document.withChange(forKey: "title") {}
      add(1, within: &document.title)
      document.pages.append(2)
      expectEqual(log.take(), [])
    }
    expectEqual(log.take(), ["title old 0 new 1", "pages old [] new [1, 2]"])
    document.title = 5
    document.pages = []
    expectEqual(log.take(), ["title old 1 new 5", "pages old [1, 2] new []"])
  }

  @Test(
    "E5 H1: changes of elements and members call the methods for them where overridden")
  func elements() throws {
    let (shelf, log) = (Shelf(), Recorder())
    log.observe(shelf, \.books, [.old, .new], as: "books")
    log.observe(shelf, \.tags, [.old, .new], as: "tags")
    shelf.note = { log.note($0) }
    shelf.mutableArray(\.books).append("a")
    shelf.mutableArray(\.books).remove(at: 0)
    expectEqual(
      log.take(),
      [
        "will insertion books 0 []", "books insertion at 0 new [\"a\"]",
        "did insertion books 0 [\"a\"]", "will removal books 0 [\"a\"]",
        "books removal at 0 old [\"a\"]", "did removal books 0 []",
      ])
    shelf.mutableSet(\.tags).insert(1)
    _ = try shelf.mutableSetValue(forKey: "tags").remove(1)
    shelf.mutableSet(\.tags).set([3])
    shelf.tags = [7]
    expectEqual(
      log.take(),
      [
        "will union tags {1}", "tags insertion new {1}", "did union tags {1}",
        "will minus tags {1}", "tags removal old {1}", "did minus tags {1}",
        "will set tags {3}", "tags replacement old {} new {3}", "did set tags {3}",
        "tags old {3} new {7}",
      ])
  }

  @Test(
    "E5 H1: a class that overrides the pair alone gets the whole collection's change")
  func whole() {
    let (document, log) = (Document(), Recorder())
    log.observe(document, \.pages, .new, as: "pages")
    document.note = { log.note($0) }
    document.mutableArray(\.pages).append(1)
    expectEqual(log.take(), ["pages insertion at 0 new [1]"])
    document.pages = [2]
    expectEqual(log.take(), ["will pages [1]", "pages new [2]", "did pages [2]"])
  }

  @Test("E5 H6: a change that fails calls both methods, and notifies no observer")
  func fails() throws {
    let (shelf, log) = (Shelf(), Recorder())
    try log.observe(shelf, "firm", [.new], as: "firm")
    shelf.note = { log.note($0) }
    #expect(throws: Shelf.Refusal.self) {
      try shelf.mutableArrayValue(forKey: "firm").insert("x", at: 0)
    }
    expectEqual(log.take(), ["will insertion firm 0 []", "did insertion firm 0 []"])
    expect(!shelf.observationInfo.debugDescription.contains("open"))
  }

  @Test("E5 F5: a method's reads are not recorded for the getter in which the change is made")
  func reads() {
    let (document, log) = (Document(), Recorder())
    let other = Document()
    document.other = other
    log.observe(document, \.title, as: "title")
    log.observe(document, \.setting, .new, as: "setting")
    document.pages = [1]
    _ = log.take()
    other.title += 1
    expectEqual(log.take(), [])
    document.pages = []
    expectEqual(log.take().filter { $0 != "title" }, ["setting new 0"])
  }

  @Test("E5 I3: a change ends on another thread than it began on")
  func suspended() throws {
    let (document, log) = (Document(), Recorder())
    log.observe(document, \.title, [.old, .new], as: "title")
    document.note = { log.note($0) }
    let (shared, jobs) = (Shared(document), JobList())
    Task(executorPreference: jobs) { await Self.increment(&shared.value.title) }
    // The change stays open on this thread, which must not run other tests during it.
    jobs.runFirst()
    onThreads(1) { _ in while jobs.runFirst() {} }
    expectEqual(log.take(), ["will title 0", "title old 0 new 1", "did title 1"])
  }

  @Test(
    "E5 I3: an observer that another thread registers during a change is notified, without the methods"
  )
  func late() throws {
    let (document, log) = (Document(), Recorder())
    try log.observe(document, "plain")
    document.note = { log.note($0) }
    let shared = Shared((document, log))
    func register(_ value: inout Int) {
      onThreads(1) { _ in
        let (document, log) = shared.value
        _ = try? log.observe(document, "title", .new, as: "title")
      }
      value += 1
    }
    register(&document.title)
    expectEqual(log.take(), ["title new 1"])
  }

  private nonisolated(nonsending) static func increment(_ value: inout Int) async {
    await Task.yield()
    value += 1
  }
}

/// Runs a task's jobs on the threads that ask for them.
private final class JobList: TaskExecutor {
  private let jobs = Locked<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Whether there was a job.
  @discardableResult
  func runFirst() -> Bool {
    guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }
}

/// Marks itself as edited.
class Document: KVOObject {
  @Observed var title = 0
  @Observed var next: Document?
  @Observed var pages: [Int] = []
  var plain = 0
  var edits = 0
  var announces = false
  var other: Document?
  var note: (String) -> Void = { _ in }
  private var stored = 0

  var declared: Int {
    get { stored }
    set {
      if announces { willChangeValue(forKey: "declared") }
      stored = newValue
      if announces { didChangeValue(forKey: "declared") }
    }
  }
  var headline: Int { title * 10 }

  /// Sets an observed property.
  var setting: Int {
    title = 1
    return pages.count
  }

  override class func registerKeys() {
    Document.declareKeys { keys in
      keys.stored("plain", \.plain)
      keys.accessors("declared", \.declared, get: { $0.declared }, set: { $0.declared = $1 })
      keys.computed("headline", \.headline, affectedBy: ["title"])
    }
  }

  private func value(_ key: String) -> String {
    let value = (try? value(forKey: key)) ?? nil
    if value is Document { return "Document" }
    return value.map { "\($0)" } ?? "nil"
  }

  override func willChangeValue(forKey key: String) {
    _ = other?.title
    note("will \(key) \(value(key))")
    super.willChangeValue(forKey: key)
  }

  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    edits += 1
    note("did \(key) \(value(key))")
  }
}

@KVO final class Manuscript: Document {
  var written = 0
  var checked = 0 { didSet {} }
}

/// Does not call super.
private final class Silent: KVOObject {
  @Observed var both = 0
  @Observed var will = 0
  @Observed var did = 0
  @Observed var other = 0

  override func willChangeValue(forKey key: String) {
    if key != "both", key != "will" { super.willChangeValue(forKey: key) }
  }

  override func didChangeValue(forKey key: String) {
    if key != "both", key != "did" { super.didChangeValue(forKey: key) }
  }
}

/// Sets properties in the methods.
private final class Busy: KVOObject {
  @Observed var value = 0
  @Observed var isEdited = false

  override func willChangeValue(forKey key: String) {
    if key == "value" { value = 1 }
    super.willChangeValue(forKey: key)
  }

  override func didChangeValue(forKey key: String) {
    if key == "value" { isEdited = true }
    super.didChangeValue(forKey: key)
  }
}

/// Sets in its methods the keys that these announce.
final class Restless: KVOObject {
  enum Way: String, CaseIterable, Codable {
    case before, after, batch, part
  }

  @Observed var value = 0
  @Observed var values: [Int] = []
  private let way: Way

  init(_ way: Way) { self.way = way }

  override func didChangeValue(forKey key: String) {
    switch way {
    case .before: value += 1
    case .batch: coalescingNotifications { value += 1 }
    case .after, .part: break
    }
    super.didChangeValue(forKey: key)
    if way == .after { value += 1 }
  }

  override func didChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) {
    super.didChange(kind, valuesAt: indexes, forKey: key)
    mutableArray(\.values).append(1)
  }
}

/// Overrides only the methods for elements and members.
private final class Shelf: KVOObject {
  struct Refusal: Error {}

  @Observed var books: [String] = []
  @Observed var tags: Set<Int> = []
  var firm: [String] = []
  var note: (String) -> Void = { _ in }

  override class func registerKeys() {
    Shelf.declareKeys { keys in
      keys.orderedToMany(
        "firm", count: { $0.firm.count }, element: { $0.firm[$1] },
        insert: { _, _, _ in throw Refusal() }, remove: { _, _ in throw Refusal() })
    }
  }

  private func elements(_ key: String) -> String { "\(((try? value(forKey: key)) ?? nil) ?? "")" }

  override func willChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) {
    note("will \(kind) \(key) \(spelled(indexes)) \(key == "firm" ? "[]" : elements(key))")
    super.willChange(kind, valuesAt: indexes, forKey: key)
  }

  override func didChange(
    _ kind: KeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String
  ) {
    super.didChange(kind, valuesAt: indexes, forKey: key)
    note("did \(kind) \(key) \(spelled(indexes)) \(key == "firm" ? "[]" : elements(key))")
  }

  override func willChangeValue(
    forKey key: String, withSetMutation kind: KeyValueSetMutation, using objects: Set<AnyHashable>
  ) {
    note("will \(kind) \(key) \(shown(objects))")
    super.willChangeValue(forKey: key, withSetMutation: kind, using: objects)
  }

  override func didChangeValue(
    forKey key: String, withSetMutation kind: KeyValueSetMutation, using objects: Set<AnyHashable>
  ) {
    super.didChangeValue(forKey: key, withSetMutation: kind, using: objects)
    note("did \(kind) \(key) \(shown(objects))")
  }
}
