import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// F5, F6 and G for typed key paths: undeclared computed properties and paths over objects.
@Suite(.leakFree) struct TrackingTests {
  private final class Worker: KVOObject {
    @Observed var first = "Ann"
    @Observed var last = "Lee"
    @Observed var usesNick = false
    @Observed var nick = "Ace"
    @Observed var salary = 1
    @Observed var boss: Worker?
    @Observed var staff: [Worker] = []
    @Observed var point = (x: 1, y: 2)
    @Observed var list = [1, 2]
    @Observed var grades: [String: Int] = [:]
    let life = Life(of: Worker.self)
    let number: Int
    init(_ number: Int = 0) { self.number = number }
    var plain = 1
    weak var friend: Worker?

    var full: String { usesNick ? nick : "\(first) \(last)" }
    var initials: String { String(full.prefix(1)) }
    var upper: String { first.uppercased() }
    var total: Int { staff.reduce(0) { $0 + $1.salary } }
    var superior: Worker? { boss?.boss }
    var constant: Int { 7 }
    var temporary: Int { Worker().salary + salary }
  }

  // MARK: Computed properties

  @Test("F5: a computed property is observed through what its getter reads, and follows its reads")
  func computed() {
    let worker = Worker()
    let log = Recorder()
    log.observe(worker, \.full, [.old, .new])
    worker.first = "Bea"
    expectEqual(log.take(), ["a old Ann Lee new Bea Lee"])
    worker.nick = "Unread"
    expectEqual(log.take(), [])
    worker.usesNick = true
    expectEqual(log.take(), ["a old Bea Lee new Unread"])
    worker.first = "Silent"
    expectEqual(log.take(), [])
    worker.nick = "Zed"
    expectEqual(log.take(), ["a old Unread new Zed"])
  }

  @Test("F5: a computed property that reads another is affected by what the other reads")
  func computedOfComputed() {
    let worker = Worker()
    let log = Recorder()
    log.observe(worker, \.initials, [.old, .new])
    worker.first = "Bea"
    worker.usesNick = true
    expectEqual(log.take(), ["a old A new B", "a old B new A"])
  }

  @Test("F5: in a to-many relationship joining objects are followed, leaving ones are not")
  func overElements() {
    let manager = Worker()
    let workers = (0..<3).map { _ in Worker() }
    let log = Recorder()
    log.observe(manager, \.total, [.old, .new])
    manager.staff = [workers[0], workers[1], workers[1]]
    workers[1].salary = 10
    manager.staff.removeFirst()
    workers[0].salary = 100
    manager.staff.append(workers[2])
    workers[2].salary = 5
    expectEqual(
      log.take(),
      [
        "a old 0 new 3", "a old 3 new 21", "a old 21 new 20", "a old 20 new 21", "a old 21 new 25",
      ])
  }

  @Test("F5: one change that reaches a computed property in two ways notifies once")
  func once() {
    let worker = Worker()
    worker.boss = worker
    let log = Recorder()
    log.observe(worker, \.boss?.full, [.old, .new])
    worker.first = "Bea"
    worker.boss = nil
    expectEqual(log.take(), ["a old Ann Lee new Bea Lee", "a old Bea Lee new nil"])
  }

  @Test("F5: an object that a getter makes is followed only while it lives")
  func temporaries() {
    let worker = Worker()
    let log = Recorder()
    log.observe(worker, \.temporary, [.old, .new])
    worker.salary = 2
    expectEqual(log.take(), ["a old 2 new 3"])
  }

  @Test("D5: in prior calls a computed property still answers the old value")
  func prior() {
    let worker = Worker()
    let log = Recorder()
    log.observe(worker, \.full, [.prior, .old, .new]) { worker, change in
      log.note("reads \(worker.full)")
    }
    worker.first = "Bea"
    expectEqual(
      log.take(),
      [
        "a prior old Ann Lee", "reads Ann Lee", "a old Ann Lee new Bea Lee", "reads Bea Lee",
      ])
  }

  @Test("C3: initial delivers the value of a computed property and of a path")
  func initial() {
    let worker = Worker()
    let log = Recorder()
    log.observe(worker, \.full, [.initial, .new])
    log.observe(worker, \.boss?.first, [.initial, .new])
    expectEqual(log.take(), ["a new Ann Lee", "a new nil"])
  }

  @Test("D3: distinct drops changes that leave a computed property unchanged")
  func distinct() {
    let worker = Worker()
    let log = Recorder()
    log.observe(worker, \.initials, [.distinct, .new])
    worker.first = "Abe"
    worker.first = "Bob"
    expectEqual(log.take(), ["a new B"])
  }

  @Test("F5: a computed property can be observed with many others on many objects at once")
  func many() {
    let boss = Worker()
    let workers = (0..<50).map { Worker($0) }
    let log = Recorder()
    for worker in workers {
      worker.boss = boss
      log.observe(worker, \.boss?.full, as: "\(worker.number)")
    }
    boss.last = "Roe"
    expectEqual(log.take(), workers.map { "\($0.number)" })
  }

  // MARK: The key of a key path

  @Test("F6: a getter that reads one property is no alias of it")
  func getterIsNoAlias() {
    let worker = Worker()
    let log = Recorder()
    log.observe(worker, \.upper, [.old, .new])
    worker.first = "Bea"
    expectEqual(log.take(), ["a old ANN new BEA"])
  }

  @Test("F6: through structs, tuples, collections and subscripts the leaf is delivered")
  func leaves() {
    let worker = Worker()
    let log = Recorder()
    log.observe(worker, \.point.x, [.old, .new], as: "x")
    log.observe(worker, \.list.count, [.old, .new], as: "count")
    log.observe(worker, \.list[0], [.old, .new], as: "[0]")
    log.observe(worker, \.grades["maths"], [.old, .new], as: "maths")
    worker.point.x = 5
    worker.point.y = 6
    expectEqual(log.take(), ["x old 1 new 5", "x old 5 new 5"])
    worker.list.append(3)
    worker.list[0] = 4
    expectEqual(
      log.take(),
      [
        "count old 2 new 3", "[0] old 1 new 1", "count old 3 new 3", "[0] old 1 new 4",
      ])
    worker.grades["maths"] = 1
    expectEqual(log.take(), ["maths old nil new 1"])
  }

  @Test("F6: equal key paths are one key, whoever makes them")
  func equalKeyPaths() {
    let worker = Worker()
    let log = Recorder()
    func path(_ index: Int) -> KeyPath<Worker, Int> { \.list[index] }
    for _ in 0..<3 { log.observe(worker, path(1)) }
    let names = Set(worker.observationInfo.registrations.map(\.keyPath))
    expectEqual(names.count, 1)
    worker.list[1] = 7
    expectEqual(log.take(), ["a", "a", "a"])
  }

  @Test("F6: a key path that reads nothing observable stops; the message names it and the remedy")
  func nothingObservable() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Worker().observe(\.constant) { _, _ in }
    }
    let message = String(decoding: result.standardErrorContent, as: UTF8.self)
    for word in ["can't be observed", "Worker", "declareKeys", "@Observed"] {
      expect(message.contains(word))
    }
  }

  // MARK: Paths

  @Test("G1 G2: a path delivers its leaf before and after, whatever changes on the path")
  func path() {
    let worker = Worker()
    let boss = Worker()
    let other = Worker()
    boss.first = "Bob"
    other.first = "Oma"
    let log = Recorder()
    log.observe(worker, \.boss?.boss?.first, [.old, .new])
    worker.boss = boss
    boss.boss = other
    other.first = "Omi"
    worker.boss = nil
    boss.boss = nil
    other.first = "Silent"
    expectEqual(
      log.take(),
      [
        "a old nil new nil", "a old nil new Oma", "a old Oma new Omi", "a old Omi new nil",
      ])
    boss.boss = other
    worker.boss = boss
    worker.boss = boss
    other.first = "Ona"
    expectEqual(
      log.take(),
      [
        "a old nil new Silent", "a old Silent new Silent", "a old Silent new Ona",
      ])
  }

  @Test("G1: a path through a computed link is followed")
  func computedLink() {
    let worker = Worker()
    let boss = Worker()
    let top = Worker()
    worker.boss = boss
    boss.boss = top
    let log = Recorder()
    log.observe(worker, \.superior?.first, [.old, .new])
    top.first = "Top"
    boss.boss = nil
    expectEqual(log.take(), ["a old Ann new Top", "a old Top new nil"])
  }

  @Test("G2 C4: objects on the path are not retained, and leave nothing behind")
  func linksDie() {
    let worker = Worker()
    let log = Recorder()
    log.observe(worker, \.boss?.first, [.old, .new])
    weak var gone: Worker?
    do {
      let boss = Worker()
      gone = boss
      worker.boss = boss
      worker.boss = nil
      expectEqual(log.take(), ["a old nil new Ann", "a old Ann new nil"])
      expect(boss.observationInfo.registrations.isEmpty)
      expect(!boss.isObserved(forKey: "first"))
    }
    expect(gone == nil)
    worker.friend = nil
  }

  @Test("C5: when its token ends, a path is registered nowhere")
  func tokenEnds() {
    let worker = Worker()
    let boss = Worker()
    worker.boss = boss
    let log = Recorder()
    let token = log.observe(worker, \.boss?.full)
    expect(boss.isObserved(forKey: "first") && worker.isObserved(forKey: "boss"))
    token.invalidate()
    for key in ["first", "last", "usesNick"] { expect(!boss.isObserved(forKey: key)) }
    expect(!worker.isObserved(forKey: "boss"))
    boss.first = "Bob"
    expectEqual(log.take(), [])
  }

  @Test("C7: an object may observe a path that leads back to itself")
  func circle() {
    let worker = Worker()
    worker.boss = worker
    let log = Recorder()
    log.observe(worker, \.boss?.boss?.first, [.old, .new])
    worker.first = "Bea"
    worker.boss = nil
    expectEqual(log.take(), ["a old Ann new Bea", "a old Bea new nil"])
  }

  @Test("D13: a path's observers keep their order of registration, derived keys come after")
  func order() {
    let worker = Worker()
    let boss = Worker()
    worker.boss = boss
    let log = Recorder()
    log.observe(boss, \.first, as: "1 key")
    log.observe(boss, \.upper, as: "5 computed")
    log.observe(worker, \.boss?.first, as: "2 path")
    log.observe(boss, \.first, as: "3 key")
    log.observe(worker, \.boss?.first, as: "4 path")
    boss.first = "Bob"
    expectEqual(log.take(), ["1 key", "2 path", "3 key", "4 path", "5 computed"])
  }

  @Test("D7: a handler may change a link of the path, and end its own registration")
  func reentrant() {
    let worker = Worker()
    let boss = Worker()
    let other = Worker()
    worker.boss = boss
    let log = Recorder()
    log.observe(worker, \.boss?.first, [.new]) { worker, change in
      if worker.boss === boss { worker.boss = other }
    }
    boss.first = "Bob"
    expectEqual(log.take(), ["a new Bob", "a new Ann"])
    boss.first = "Silent"
    other.first = "Oma"
    expectEqual(log.take(), ["a new Oma"])
  }

  @Test("F5: a getter that notifies while it is read is affected by its own reads alone")
  func notifyingGetter() {
    final class Cache: KVOObject {
      @Observed var source = 1
      @Observed var hits = 0
      @Observed var noise = 0
      var value: Int {
        if hits < 3 { hits += 1 }
        return source
      }
    }
    let cache = Cache()
    let log = Recorder()
    log.observe(cache, \.hits) { cache, _ in _ = cache.noise }
    let token = cache.observe(\.value) { _, _ in log.note("value") }
    _ = log.take()
    cache.noise = 1
    expectEqual(log.take(), [])
    cache.source = 2
    expect(log.take().contains("value"))
    token.invalidate()
  }

  @Test("F5: random programs over computed properties agree with reading them before and after")
  func randomPrograms() {
    var random = Random(seed: 11)
    for _ in 0..<30 {
      let workers = (0..<4).map { _ in Worker() }
      let log = Recorder()
      var shown: [() -> String] = []
      for (number, worker) in workers.enumerated() {
        log.observe(worker, \.full, [.old, .new], as: "full\(number)")
        log.observe(worker, \.total, [.old, .new], as: "total\(number)")
        log.observe(worker, \.boss?.boss?.full, [.old, .new], as: "path\(number)")
        shown.append { "full\(number) \(worker.full)" }
        shown.append { "total\(number) \(worker.total)" }
        shown.append { "path\(number) \(worker.boss?.boss?.full ?? "nil")" }
      }
      for _ in 0..<60 {
        let worker = workers[random.next(4)]
        let before = shown.map { $0() }
        switch random.next(6) {
        case 0: worker.first = "F\(random.next(1000))"
        case 1: worker.usesNick.toggle()
        case 2: worker.nick = "N\(random.next(1000))"
        case 3: worker.salary = random.next(1000)
        case 4: worker.boss = random.next(3) == 0 ? nil : workers[random.next(4)]
        default: worker.staff = (0..<random.next(4)).map { _ in workers[random.next(4)] }
        }
        // Each change was notified once with both values. Other notifications have equal values.
        let lines = log.take()
        expectEqual(Set(lines).count, lines.count)
        for (old, new) in zip(before, shown.map { $0() }) {
          let name = old.prefix { $0 != " " }
          let line = "\(name) old\(old.dropFirst(name.count)) new\(new.dropFirst(name.count))"
          let notified = lines.filter { $0.hasPrefix("\(name) ") }
          if old != new {
            expectEqual(notified, [line])
          } else {
            expect(notified == [line] || notified.isEmpty)
          }
        }
      }
      for worker in workers {
        worker.boss = nil
        worker.staff = []
      }
    }
  }
}
