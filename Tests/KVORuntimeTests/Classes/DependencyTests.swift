import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// F1 to F4: derived keys that a Swift class declares.
@Suite(.leakFree) struct DependencyTests {
  @Test("F1: a computed property with declared keys; old and new are its own")
  func computed() throws {
    let (name, log) = (FullName(), Recorder())
    log.observe(name, \.full, [.old, .new], as: "full")
    try name.addObserver(log.watcher(), forKeyPath: "full", options: .new)
    name.first = "Grace"
    expectEqual(
      log.take(), ["full old Ada Lovelace new Grace Lovelace", "w: full new Grace Lovelace"])
    try name.setValue("Hopper", forKey: "last")
    expectEqual(
      log.take(), ["full old Grace Lovelace new Grace Hopper", "w: full new Grace Hopper"])
    expect(try name.value(forKey: "full") as? String == "Grace Hopper")
    expectEqual(
      keyValueError { try name.setValue("x", forKey: "full") },
      .readOnly(key: "full", className: "FullName"))
  }

  @Test("F1: chains of any depth; the class function and a declaration from an extension")
  func chains() throws {
    let (name, log) = (FullName(), Recorder())
    try log.observe(name, "greeting", .new, as: "greeting")
    try log.observe(name, "length", .new, as: "length")
    name.first = "A"
    expectEqual(log.take(), ["greeting new Hello A Lovelace!", "length new 10"])
    name.title = "Dr"
    expectEqual(log.take(), ["greeting new Hello Dr A Lovelace!"])
    expect(try name.value(forKeyPath: "length") as? Int == 10)
  }

  @Test(
    "F1: a key may depend on a key that only manual changes announce and the class lacks")
  func byHand() throws {
    let (job, log) = (Job(), Recorder())
    try log.observe(job, "isDone", [.prior, .old, .new], as: "done")
    log.observe(job, \.label, .new, as: "label")
    job.state = 1
    expectEqual(
      log.take(), ["done prior old false", "done old false new true", "label new done"])
    job.withChange(forKey: "state") { job.stored = 0 }
    expectEqual(
      log.take(), ["done prior old true", "done old true new false", "label new waiting"])
    expectEqual(
      keyValueError { _ = try job.value(forKey: "state") },
      .undefinedKey(key: "state", className: "Job"))
    expectEqual(
      keyValueError { _ = try job.observe(keyPath: "state") { _, _ in } },
      .undefinedKey(key: "state", className: "Job"))
    job.removeAllObservers()
    expect(!isSwapped(job))
  }

  @Test(
    "F1: dependencies are inherited, extended by subclasses, and kept when a getter is overridden")
  func inherited() throws {
    let (name, log) = (Nickname(), Recorder())
    log.observe(name, \.full, .new, as: "full")
    try log.observe(name, "greeting", .new, as: "greeting")
    name.nick = "Lady"
    expectEqual(
      log.take(), ["full new Ada (Lady) Lovelace", "greeting new Hello Ada (Lady) Lovelace!"])
    name.last = "King"
    expectEqual(log.take(), ["full new Ada (Lady) King", "greeting new Hello Ada (Lady) King!"])
  }

  @Test("F1: a declaration made while the class answers for the key is not lost")
  func meanwhile() throws {
    let (object, log) = (Interrupted(), Recorder())
    try log.observe(object, "sum", .new, as: "sum")
    object.a = 1
    object.b = 2
    expectEqual(log.take(), ["sum new 1", "sum new 3"])
  }

  @Test("F1: a dependency that is declared while objects are observed")
  func late() throws {
    let (object, log) = (Late(), Recorder())
    log.observe(object, \.sum, [.old, .new], as: "sum")
    object.a = 1
    object.b = 1
    expectEqual(log.take(), ["sum old 0 new 1"])
    for _ in 0..<2 { Late.declareKeys { $0.dependency("sum", on: ["b"]) } }
    object.b = 2
    expectEqual(log.take(), ["sum old 2 new 3"])
    let second = Late()
    log.observe(second, \.sum, .new, as: "second")
    second.b = 5
    expectEqual(log.take(), ["second new 5"])
  }

  @Test("F2: however many ways lead to a derived key, it notifies once per change")
  func once() throws {
    let company = Company.small()
    let (payroll, log) = (Payroll(), Recorder())
    payroll.company = company
    try log.observe(payroll, "total", [.old, .new], as: "total")
    company.workers[0].salary += 1
    expectEqual(log.take(), ["total old 5500.0 new 5501.0"])
    company.workers.removeLast()
    expectEqual(log.take(), ["total old 5501.0 new 4501.0"])
    payroll.company = nil
    expectEqual(log.take(), ["total old 4501.0 new 0.0"])
    company.workers[0].salary += 1
    expectEqual(log.take(), [])
  }

  @Test("F3: a derived key inside an observed path")
  func insidePaths() throws {
    let (name, holder, log) = (FullName(), Holder(), Recorder())
    try log.observe(holder, "chosen.full", [.old, .new], as: "full")
    holder.name = name
    expectEqual(log.take(), ["full old nil new Ada Lovelace"])
    name.first = "Eva"
    expectEqual(log.take(), ["full old Ada Lovelace new Eva Lovelace"])
    holder.name = nil
    name.first = "Ada"
    expectEqual(log.take(), ["full old Eva Lovelace new nil"])
  }

  @Test("F4: a key turned off notifies nothing derived from it, except by a manual pair")
  func manual() throws {
    let (object, log) = (ManualPart(), Recorder())
    log.observe(object, \.sum, .new, as: "sum")
    log.observe(object, \.off, .new, as: "off")
    object.part = 3
    expectEqual(log.take(), [])
    object.willChangeValue(forKey: "part")
    object.part = 4
    object.didChangeValue(forKey: "part")
    expectEqual(log.take(), ["off new 4", "sum new 4"])
  }

  @Test("F1: the typed customisation protocol is asked once per class and key, also of subclasses")
  func customised() throws {
    for object in [Custom(), SubCustom(), Custom()] {
      let log = Recorder()
      log.observe(object, \.area, .new, as: "area")
      log.observe(object, \.quiet, .new, as: "quiet")
      log.observe(object, \.width, .new, as: "width")
      object.width = 2
      object.height = 3
      object.quiet = 1
      expectEqual(log.take(), ["width new 2", "area new 2", "area new 6"])
      try object.addObserver(log.watcher(), forKeyPath: "area", options: .new)
      object.height = 1
      expectEqual(log.take(), ["area new 2", "w: area new 2"])
    }
    expectEqual(Custom.asked.withLock { $0.filter { $0 == \Custom.area }.count }, 2)
    expectEqual(Custom.askedAutomatic.withLock { $0.filter { $0 == \Custom.quiet }.count }, 2)
  }

  @Test("C6: a dependency through a plain collection is reported with the operator to use")
  func throughCollection() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      KVODiagnostics.misuse = { say($0 + "\n") }
      let object = Misled()
      let token = try object.observe(keyPath: "names") { _, _ in }
      withExtendedLifetime(token) {}
    }
    expectEqual(
      result?.errors.contains(
        """
        "names" of Misled can't depend on "workers.name": "workers.name" of Misled goes on through \
        "workers", which is a collection: use an operator, as in "workers.@unionOfObjects.name".
        """), true)
  }

  @Test("B2 D6: a computed property with a setter is set by key, and notifies once")
  func writable() throws {
    let (object, log) = (Late(), Recorder())
    try log.observe(object, "doubled", [.old, .new], as: "doubled")
    log.observe(object, \.a, .new, as: "a")
    try object.setValue(8, forKey: "doubled")
    expectEqual(object.a, 4)
    expectEqual(log.take(), ["a new 4", "doubled old 0 new 8"])
  }

  @Test("F5: a key declared as computed, by string; reads by key count as reads, C's too")
  func tracked() throws {
    let (payroll, log) = (Reader(), Recorder())
    let made = kvo_object_create(account_class())!
    payroll.engine = ForeignObject(OpaquePointer(made))
    kvo_object_release(made)
    payroll.company = Company.small()
    for key in ["byRead", "byKey", "byPath", "ofEngine"] {
      try log.observe(payroll, key, [.old, .new], as: key)
    }
    log.observe(payroll, \.undeclared, .new, as: "undeclared")
    payroll.company?.workers[0].salary = 3001
    expectEqual(
      log.take(),
      [
        "undeclared new 5501.0", "byKey old 5500.0 new 5501.0", "byPath old 5500.0 new 5501.0",
        "byRead old 5500.0 new 5501.0",
      ])
    payroll.company?.workers.removeLast()
    expectEqual(log.take().count, 4)
    try payroll.engine?.setValue(7, forKey: "balance")
    expectEqual(log.take(), ["ofEngine old 0.0 new 7.0"])
    payroll.engine = nil
    payroll.company = nil
    expectEqual(log.take().count, 5)
  }

  @Test(
    "B2 E2: setting a declared key runs the property's own observers, in one change")
  func ownObservers() throws {
    let (object, log) = (Bounded(), Recorder())
    log.observe(object, \.level, [.old, .new], as: "level")
    try object.setValue(12, forKey: "level")
    expectEqual(object.level, 10)
    expectEqual(log.take().last, "level old 0 new 10")
  }
}

private class FullName: Tracked {
  @Observed var first = "Ada"
  @Observed var last = "Lovelace"
  @Observed var title = ""
  var full: String { "\(first) \(last)" }
  var greeting: String { "Hello \(title.isEmpty ? "" : title + " ")\(full)!" }

  override class func registerKeys() {
    FullName.declareKeys { keys in
      keys.computed("full", \.full, affectedBy: ["first", "last"])
      keys.accessors("greeting", get: { $0.greeting })
      keys.accessors("length", get: { $0.full.count })
    }
    FullName.declareLength()
  }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    let affecting = super.keyPathsForValuesAffectingValue(forKey: key)
    return key == "greeting" ? affecting.union(["full", "title"]) : affecting
  }
}

extension FullName {
  fileprivate static func declareLength() {
    declareKeys { $0.dependency("length", on: ["full"]) }
  }
}

private final class Nickname: FullName {
  @Observed var nick = ""
  override var full: String { "\(first) (\(nick)) \(last)" }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    let affecting = super.keyPathsForValuesAffectingValue(forKey: key)
    return key == "full" ? affecting.union(["nick"]) : affecting
  }
}

private final class Late: Tracked {
  @Observed var a = 0
  @Observed var b = 0
  var sum: Int { a + b }
  var doubled: Int {
    get { 2 * a }
    set { a = newValue / 2 }
  }

  override class func registerKeys() {
    Late.declareKeys { keys in
      keys.computed("sum", \.sum, affectedBy: ["a"])
      keys.computed("doubled", \.doubled, affectedBy: ["a"])
    }
  }
}

private final class Payroll: Tracked {
  @Observed var company: Company?

  override class func registerKeys() {
    Payroll.declareKeys { keys in
      keys.accessors("total", get: { ($0.company?.workers ?? []).reduce(0) { $0 + $1.salary } })
      keys.dependency(
        "total", on: ["company.workers.@sum.salary", "company.workers.@count", "company"])
    }
  }
}

private final class Holder: Tracked {
  @Observed var name: FullName?
  var chosen: FullName? { name }

  override class func registerKeys() {
    Holder.declareKeys { $0.computed("chosen", \.chosen, affectedBy: ["name"]) }
  }
}

private final class ManualPart: Tracked {
  @Observed var part = 0
  var sum: Int { part }
  var off: Int { part }

  override class func registerKeys() {
    ManualPart.declareKeys { keys in
      keys.computed("sum", \.sum, affectedBy: ["part"])
      keys.computed("off", \.off, affectedBy: ["part"])
      keys.automaticallyNotifies("part", false)
      keys.automaticallyNotifies("off", false)
    }
  }
}

private class Custom: Tracked, KeyValueObservingCustomization {
  // Key paths are immutable.
  struct Asked: @unchecked Sendable { let keyPath: AnyKeyPath }
  static let asked = Locked<[AnyKeyPath]>([])
  static let askedAutomatic = Locked<[AnyKeyPath]>([])

  @Observed var width = 1
  @Observed var height = 1
  @Observed var quiet = 0
  var area: Int { width * height }

  override class func registerKeys() {
    Custom.declareKeys { $0.accessors("area", \.area, get: { $0.area }) }
  }

  static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
    asked.withLock { $0.append(key) }
    return key == \Custom.area ? [\Custom.width, \Custom.height] : []
  }

  static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool {
    askedAutomatic.withLock { $0.append(key) }
    return key != \Custom.quiet
  }
}

private final class SubCustom: Custom {
  @Observed var depth = 1
}

private final class Misled: Tracked {
  @Observed var workers: [Worker] = []

  override class func registerKeys() {
    Misled.declareKeys { keys in
      keys.accessors("names", get: { $0.workers.map(\.name) })
      keys.dependency("names", on: ["workers.name"])
    }
  }
}

private final class Bounded: Tracked {
  @Observed var level = 0 {
    didSet { if level > 10 { level = 10 } }
  }

  override class func registerKeys() {
    declareKeys { $0.stored("level", \.level) }
  }
}

private final class Reader: Tracked {
  @Observed var company: Company?
  @Observed var engine: ForeignObject?
  var byRead: Double { company?.workers.reduce(0) { $0 + $1.salary } ?? 0 }
  var byKey: Double { (try? company?.workers.value(forKeyPath: "@sum.salary")) as? Double ?? 0 }
  var byPath: Double { (try? value(forKeyPath: "company.workers.@sum.salary")) as? Double ?? 0 }
  var ofEngine: Double { (try? engine?.value(forKey: "balance")) as? Double ?? 0 }
  var undeclared: Double { byKey }

  override class func registerKeys() {
    Reader.declareKeys { keys in
      keys.computed("byRead", \.byRead)
      keys.computed("byKey", \.byKey)
      keys.computed("byPath", \.byPath)
      keys.computed("ofEngine", \.ofEngine)
    }
  }
}

private final class Interrupted: Tracked {
  @Observed var a = 0
  @Observed var b = 0
  var sum: Int { a + b }
  private nonisolated(unsafe) static var isDeclared = false

  override class func registerKeys() {
    declareKeys { $0.computed("sum", \Interrupted.sum, affectedBy: ["a"]) }
  }
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    let answer = super.keyPathsForValuesAffectingValue(forKey: key)
    if key == "sum", !isDeclared {
      isDeclared = true
      declareKeys { $0.dependency("sum", on: ["b"]) }
    }
    return answer
  }
}

/// Announces its state manually, under a key that the class does not have.
private final class Job: KVOObject {
  var stored = 0
  var state: Int {
    get { stored }
    set {
      willChangeValue(forKey: "state")
      stored = newValue
      didChangeValue(forKey: "state")
    }
  }
  var isDone: Bool { stored == 1 }
  var label: String { isDone ? "done" : "waiting" }

  override class func registerKeys() {
    Job.declareKeys { keys in
      keys.computed("isDone", \.isDone, affectedBy: ["state"])
      keys.computed("label", \.label, affectedBy: ["isDone"])
    }
  }
}
