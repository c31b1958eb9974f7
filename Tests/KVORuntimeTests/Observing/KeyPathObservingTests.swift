import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// G, F3, C6 and H3 for string key paths over Swift objects.
@Suite(.leakFree) struct KeyPathObservingTests {
  @Test("G1 G2: a change of any object on the path notifies under the full path")
  func links() throws {
    let bob = Worker("Bob")
    let (ada, eve) = (Worker("Ada"), Worker("Eve"))
    let log = Recorder()
    try log.observe(bob, "boss.name", [.old, .new])
    try bob.addObserver(log.watcher(), forKeyPath: "boss.boss.name", options: [.old, .new])
    bob.boss = ada
    ada.name = "Ida"
    expectEqual(
      log.take(), ["a old nil new Ada", "w: boss.boss.name old nil new nil", "a old Ada new Ida"])
    ada.boss = eve
    eve.name = "Eva"
    expectEqual(
      log.take(), ["w: boss.boss.name old nil new Eve", "w: boss.boss.name old Eve new Eva"])
    bob.boss = nil
    expectEqual(log.take(), ["a old Ida new nil", "w: boss.boss.name old Eva new nil"])
    ada.name = "Ada"
    eve.name = "Eve"
    expectEqual(log.take(), [])
    bob.boss = ada
    bob.boss = ada
    expectEqual(
      log.take(),
      [
        "a old nil new Ada", "w: boss.boss.name old nil new Eve",
        "a old Ada new Ada", "w: boss.boss.name old Eve new Eve",
      ])
  }

  @Test("C6 H3: operators follow membership and elements, notifying once per change")
  func operators() throws {
    let company = Company.small()
    let log = Recorder()
    let paths = [
      "workers.@sum.salary", "workers.@count", "friends.@max.age", "seats.@count",
      "workers.@unionOfArrays.scores",
    ]
    for path in paths { try log.observe(company, path, .new, as: path) }
    company.workers[0].salary += 1
    expectEqual(log.take(), ["workers.@sum.salary new 5501.0"])
    company.workers[1].age = 60
    expectEqual(log.take(), ["friends.@max.age new 60"])
    let eve = Worker("Eve", salary: 100)
    company.workers.append(eve)
    expectEqual(
      log.take(),
      [
        "workers.@sum.salary new 5601.0", "workers.@count new 4",
        "workers.@unionOfArrays.scores new [4, 84, 2, 7]",
      ])
    eve.scores.append(5)
    eve.salary = 0
    expectEqual(
      log.take(),
      [
        "workers.@unionOfArrays.scores new [4, 84, 2, 7, 5]", "workers.@sum.salary new 5501.0",
      ])
    company.workers.removeLast()
    company.seats.append(nil)
    expectEqual(log.take().count, 4)
    eve.salary = 7
    expectEqual(log.take(), [])
  }

  @Test("G1: through an optional collection, and a property of type Any")
  func optionals() throws {
    let ada = Worker("Ada")
    let log = Recorder()
    try log.observe(ada, "staff.@count", [.old, .new], as: "count")
    try log.observe(ada, "anything.name", [.old, .new], as: "name")
    ada.staff = [Worker("Bob")]
    ada.staff?.append(Worker("Cyd"))
    ada.anything = Worker("Dan")
    (ada.anything as? Worker)?.name = "Don"
    ada.anything = nil
    expectEqual(
      log.take(),
      [
        "count old nil new 1", "count old 1 new 2", "name old nil new Dan", "name old Dan new Don",
        "name old Don new nil",
      ])
    ada.staff = nil
    expectEqual(log.take(), ["count old 2 new nil"])
  }

  static let refusals: [(path: String, error: KeyValueError)] = [
    ("head.hat", .undefinedKey(key: "hat", className: "Worker")),
    ("hat.name", .undefinedKey(key: "hat", className: "Company")),
    (
      "workers.name",
      .invalidKeyPath(keyPath: "workers.name", component: "name", className: "Company")
    ),
    ("workers.@sum.hat", .undefinedKey(key: "hat", className: "Worker")),
    ("head.age.x", .invalidKeyPath(keyPath: "head.age.x", component: "x", className: "Worker")),
    (
      "byName.bob.name.x",
      .invalidKeyPath(keyPath: "byName.bob.name.x", component: "x", className: "Worker")
    ),
    ("head..name", .invalidKeyPath(keyPath: "head..name", component: "", className: "Company")),
    ("workers.@middle.age", .invalidOperator("@middle", keyPath: "workers.@middle.age")),
  ]

  @Test(
    "C6 C8: a path that can't be followed is an error, and nothing is registered",
    arguments: refusals)
  func refusing(_ path: String, _ error: KeyValueError) {
    let company = Company.small()
    expectEqual(keyValueError { _ = try company.observe(keyPath: path) { _, _ in } }, error)
    expectEqual(keyValueError { try company.addObserver(Worker("w"), forKeyPath: path) }, error)
    expect(company.observationInfo.registrations.isEmpty)
  }

  @Test("G3: a weak link's death is silent; neither links nor ends are retained")
  func lifetimes() throws {
    let company = Company()
    let log = Recorder()
    var ada: Worker? = Worker("Ada")
    company.guest = ada
    try log.observe(company, "guest.name", [.old, .new])
    ada?.name = "Ida"
    expectEqual(log.take(), ["a old Ada new Ida"])
    ada = nil
    expect(company.guest == nil)
    expectEqual(log.take(), [])
    let eve = Worker("Eve")
    try company.setValue(eve, forKey: "guest")
    expectEqual(log.take(), ["a old nil new Eve"])
  }

  @Test("G4: after a direct write and an empty pair the new object is followed")
  func directWrites() throws {
    let company = Company()
    let (ada, eve) = (Worker("Ada"), Worker("Eve"))
    let log = Recorder()
    company.guest = ada
    try log.observe(company, "guest.name", [.old, .new])
    company.guest = eve
    company.willChangeValue(forKey: "guest")
    company.didChangeValue(forKey: "guest")
    expectEqual(log.take(), ["a old Eve new Eve"])
    ada.name = "Ida"
    eve.name = "Eva"
    expectEqual(log.take(), ["a old Eve new Eva"])
  }

  @Test("B5 G1: links are what an overridden value(forKey:) answers; a single key follows D5")
  func overriddenLinks() throws {
    let (substitute, stored) = (Worker("Sub"), Worker("Ada"))
    let proxy = Stand(for: substitute)
    proxy.boss = stored
    let log = Recorder()
    try log.observe(proxy, "boss.name", [.old, .new], as: "path")
    try log.observe(proxy, "rank.name", [.new], as: "rank")
    try log.observe(proxy, "name", [.old, .new], as: "key")
    stored.name = "Ida"
    expectEqual(log.take(), [])
    substitute.name = "Eve"
    expectEqual(log.take(), ["path old Sub new Eve", "rank new Eve"])
    proxy.name = "Pat"
    expectEqual(log.take(), ["key old stand new Pat"])
    proxy.boss = nil
    expectEqual(log.take(), ["path old Eve new Eve"])
  }

  @Test("G1: a path is followed through a key that only its alias names")
  func aliases() throws {
    let (hidden, log) = (Hidden(), Recorder())
    let company = Company()
    company.head = hidden
    try log.observe(company, "head.secret", [.old, .new])
    hidden.isSecret = true
    expectEqual(log.take(), ["a old false new true"])
    expect(try company.value(forKeyPath: "head.secret") as? Bool == true)
  }
}

private final class Hidden: Worker {
  @Observed var isSecret = false

  init() { super.init("hidden") }
}

/// Its boss and rank read differently by key.
private final class Stand: Worker {
  @Observed var rank = 1
  private let substitute: Worker

  init(for substitute: Worker) {
    self.substitute = substitute
    super.init("stand")
  }

  override func value(forKey key: String) throws -> Any? {
    switch key {
    case "boss", "rank": substitute
    case "name": "by key"
    default: try super.value(forKey: key)
    }
  }
}
