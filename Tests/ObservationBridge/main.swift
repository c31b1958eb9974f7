// Runs the cases of BridgeTests, one at a time, named by the argument. A program of its own, because linking the
// bridge adds a hook to every read.
import CFixtures
import Glibc
import KVOChangeLogs
import KVOFoundation
import KVOObservation
import KVORuntime
import ModelFixtures
import Observation
import Synchronization
import TestSupport

class Person: KVOObject {
  @Observed var name = ""
  @Observed var age = 0
  @Observed var friend: Person?
  @Observed var list: [Int] = []
  @Observed var pair = (1, 2)
  var summary: String { "\(name) \(age) \(friend?.name ?? "-")" }
  override class func registerKeys() { declareKeys { $0.computed("summary", \.summary) } }
}

final class Row: KeyValueRecord {
  override class func registerKeys() { declareKeys { $0.value("k", 0) } }
}

/// Announces its level manually, as a property behind a lock does.
final class Meter: KVOObject {
  private var raw = 0
  var level: Int {
    get {
      access(keyPath: \.level)
      return raw
    }
    set { withChange(of: \.level) { raw = newValue } }
  }
  var isLow: Bool { level < 3 }

  /// Calls a body within a change, after the new level is stored.
  func set(_ level: Int, then body: () -> Void) {
    withChange(of: \.level) {
      Orders.gate()
      raw = level
      Orders.gate()
      body()
      Orders.gate()
    }
  }

  /// Changes the level in a change of the level.
  func setTwice(_ levels: (Int, Int)) {
    withChange(of: \.level) {
      Orders.gate()
      level = levels.0
      Orders.gate()
      raw = levels.1
      Orders.gate()
    }
  }
}

/// Reports reads while it holds its lock.
final class Vault: KVOObject {
  private let storage = Mutex(0)
  var balance: Int {
    get {
      storage.withLock {
        access(keyPath: \.balance)
        return $0
      }
    }
    set { withChange(of: \.balance) { storage.withLock { $0 = newValue } } }
  }
  var isOverdrawn: Bool { balance < 0 }
}

@KVO final class Journal: Diary {
  private var pages = 1
  func setOwnPages(_ pages: Int) { self.pages = pages }
}

@Observable final class Native { var value = 0 }

/// How often `onChange` was called, and the values at that time.
final class Notified: @unchecked Sendable {
  var count = 0
  var texts: [String] = []
}

@discardableResult
func track<R>(_ notified: Notified, _ body: () -> R) -> R {
  withObservationTracking(body) { notified.count += 1 }
}

func expect(_ holds: Bool, _ line: Int = #line) {
  if !holds {
    print("line \(line)")
    exit(1)
  }
}

/// Expects that a property which is not read any more stays observed for one more change.
func expectUnobserved(
  _ person: Person, _ key: String, after change: (Person) -> Void, _ line: Int = #line
) {
  expect(person.isObserved(forKey: key), line)
  change(person)
  expect(!person.isObserved(forKey: key), line)
}

func expectNone(_ failure: String?, _ line: Int = #line) {
  if let failure {
    print("line \(line): \(failure)")
    exit(1)
  }
}

/// Tracks a read that is the program's first use of the library.
func readFirst<Object: KVOObject>(
  _ object: Object, _ read: (Object) -> Void, _ change: (Object) -> Void
) {
  let notified = Notified()
  track(notified) { read(object) }
  change(object)
  expect(notified.count == 1)
}

/// Tries all orders of a thread that tracks a property, and one that changes it.
func tryOrders<Object: KVOObject>(
  _ make: () -> Object, _ key: ReferenceWritableKeyPath<Object, Int>,
  after prepare: (Object) -> Void = { _ in }, _ line: Int = #line,
  isolation: isolated (any Actor)? = #isolation, changes: @escaping (Object) -> Void
) async {
  nonisolated(unsafe) let (key, changes) = (key, changes)
  for isSlow in [false, true] {
    let tried = await inAllOrders(ofSwitches: 3) { orders in
      nonisolated(unsafe) let object = make()
      let (notified, seen) = (Count(), Count())
      prepare(object)
      // If the property was read before, this is a gate between the bridge's call and the store.
      let token = object.observe(key, options: .prior) { _, _ in Orders.gate() }
      orders.run {
        let read = withObservationTracking {
          defer { if isSlow { Orders.gate() } }
          return object[keyPath: key]
        } onChange: {
          notified.add()
        }
        // A change before Observation waits does not notify; the next one does.
        seen.add(isSlow ? object[keyPath: key] : read)
      } and: {
        changes(object)
      }
      guard seen.value == object[keyPath: key] || notified.value == 1 else { return false }
      if notified.value == 0 { object[keyPath: key] += 1 }
      return withExtendedLifetime(token) { notified.value == 1 }
    }
    expectNone(tried.failure, line)
  }
}

nonisolated(unsafe) let cases: [String: () async -> Void] = [
  "first-didset": { readFirst(Diary(), { _ = $0.title }, { $0.title = "a" }) },
  "first-function": { readFirst(Diary(), { _ = $0.greeting() }, { $0.greeting = { "a" } }) },
  "first-weak": { readFirst(Diary(), { _ = $0.owner }, { $0.owner = $0 }) },
  "first-announced": { readFirst(Diary(), { _ = $0.level }, { $0.level = 1 }) },
  "first-reported": { readFirst(Diary(), { _ = $0.size }, { $0.size = 1 }) },
  "first-observed": { readFirst(Person(), { _ = $0.name }, { $0.name = "a" }) },
  "first-untracked": {
    // Both threads use the library before they use Observation.
    let read: @Sendable () -> Void = {
      _ = Person().name
      readFirst(Person(), { _ = $0.name }, { $0.name = "a" })
    }
    read()
    onThreads(1) { _ in read() }
  },
  "first-hidden": { readFirst(Journal(), { _ = $0.readPages() }, { $0.setPages(2) }) },
  "fires": {
    let (person, notified) = (Person(), Notified())
    person.name = "before"
    track(notified) { person.name }
    expect(notified.count == 0)
    person.age = 3
    expect(notified.count == 0)
    person.name = "a"
    expect(notified.count == 1)
    person.name = "b"
    expect(notified.count == 1)  // once, as Observation does
    track(notified) { person.name + "\(person.age)" }
    person.age = 4
    person.name = "c"
    expect(notified.count == 2)
  },
  "old": {
    let (person, notified) = (Person(), Notified())
    nonisolated(unsafe) let read = person
    person.age = 1
    _ = withObservationTracking {
      person.age
    } onChange: {
      notified.texts.append("\(read.age)")
    }
    person.age = 2
    expect(notified.texts == ["1"])  // before it is stored
  },
  "across": {
    let (person, friend, notified) = (Person(), Person(), Notified())
    person.friend = friend
    for change in [{ friend.name = "x" }, { person.age = 1 }, { person.friend = nil }]
      as [() -> Void]
    {
      let before = notified.count
      track(notified) { person.summary }
      change()
      expect(notified.count == before + 1)
    }
    track(notified) { person.summary }
    friend.name = "y"  // an object that no property refers to
    expect(notified.count == 3)
  },
  "ways": {
    let (person, notified) = (Person(), Notified())
    let ways: [(String, () -> Void)] = [
      ("in place", { person.list.append(1) }),
      ("handle", { person.mutableArray(\.list).append(2) }),
      ("key", { try! person.setValue([3], forKey: "list") }),
      ("proxy", { try! person.mutableArrayValue(forKey: "list").append(4) }),
      ("bracket", { person.withChange(forKey: "list") {} }),
      ("batch", { person.coalescingNotifications { person.list = [] } }),
      (
        "by hand",
        {
          person.willChangeValue(forKey: "list")
          person.didChangeValue(forKey: "list")
        }
      ),
    ]
    for (index, way) in ways.enumerated() {
      track(notified) { _ = person.list.count }
      way.1()
      expect(notified.count == index + 1)
    }
    track(notified) { _ = person.pair.0 }
    person.pair.1 = 5
    expect(notified.count == ways.count + 1)
  },
  "keys": {
    let (person, row, meter, notified) = (Person(), Row(), Meter(), Notified())
    let key = try! KeyValueKey<Row, Int>("k")
    let reads: [(() -> Void, () -> Void)] = [
      ({ _ = try! person.value(forKey: "name") }, { person.name = "a" }),
      ({ _ = try! person.value(forKeyPath: "friend.name") }, { person.friend = Person() }),
      ({ _ = row[key] }, { row[key] = 2 }), ({ _ = try! row.value(forKey: "k") }, { row[key] = 3 }),
      ({ _ = person[keyPath: \.age] }, { person.age = 9 }),
      ({ _ = meter.level }, { meter.level = 1 }), ({ _ = meter.isLow }, { meter.level = 2 }),
    ]
    for (index, read) in reads.enumerated() {
      track(notified) { read.0() }
      read.1()
      expect(notified.count == index + 1)
    }
  },
  "lock": {
    let vault = Vault()
    expect(vault.balance == 0)
    var count = 0
    let token = vault.observe(\.isOverdrawn) { _, _ in count += 1 }
    vault.balance = -1
    expect(count == 1 && vault.isOverdrawn)
    withExtendedLifetime(token) {}
  },
  "nested": {
    let (person, native, outer, inner) = (Person(), Native(), Notified(), Notified())
    track(outer) {
      _ = native.value
      track(inner) { _ = person.age }
      return person.name
    }
    person.age = 1
    // an outer tracking of Observation's sees what inner ones read
    expect(inner.count == 1 && outer.count == 1)
    let (other, third) = (Notified(), Notified())
    track(other) { person.name.count + native.value }
    native.value = 1
    expect(other.count == 1)
    track(third) { person.name }
    person.name = "x"
    expect(third.count == 1)
  },
  "observers": {
    // Reads by registration, by its getters and by observers are not tracked.
    let (person, notified) = (Person(), Notified())
    var token: KeyValueObservation?
    var seen: [String] = []
    track(notified) {
      token = person.observe(\.summary, options: [.old, .new]) { _, change in
        seen.append("\(change.oldValue!)>\(change.newValue!)")
      }
    }
    person.name = "a"
    expect(notified.count == 0 && seen == [" 0 ->a 0 -"])
    // Tracking inside an observer's call.
    let inside = person.observe(\.age) { person, _ in _ = track(notified) { person.age } }
    person.age = 1
    person.age = 2
    expect(notified.count == 1)
    withExtendedLifetime((token, inside)) {}
  },
  "again": {
    // A property that is read again before each change stays observed, and each change notifies.
    let (person, notified) = (Person(), Notified())
    for age in 1...3 {
      track(notified) { person.age }
      person.age = age
      expect(notified.count == age && person.isObserved(forKey: "age"))
    }
    expectUnobserved(person, "age", after: { $0.age = 9 })
    track(notified) { person.age }
    person.age = 10
    expect(notified.count == 4)
  },
  "idle": {
    // An observer reads the property during a change that nothing waited for.
    let (person, notified) = (Person(), Notified())
    var reads = false
    let token = person.observe(\.age) { person, _ in
      if reads { track(notified) { person.age } }
    }
    track(notified) { person.age }
    person.age = 1
    reads = true
    person.age = 2
    reads = false
    expect(notified.count == 1)
    person.age = 3
    expect(notified.count == 2)
    withExtendedLifetime(token) {}
  },
  "prior": {
    // Before a change, an observer reads what is about to be replaced. As with an @Observable class, that is notified
    // of the next change.
    let (person, notified) = (Person(), Notified())
    var isRead = false
    let token = person.observe(\.age, options: .prior) { person, change in
      guard change.isPrior, !isRead else { return }
      isRead = true
      track(notified) { person.age }
    }
    person.age = 1
    expect(isRead && notified.count == 0)
    person.age = 2
    expect(notified.count == 1)
    withExtendedLifetime(token) {}
  },
  "deaths": {
    let notified = Notified()
    weak var gone: Person?
    do {
      let person = Person()
      gone = person
      track(notified) { person.name }
    }
    expect(gone == nil && notified.count == 0)
    let person = Person()
    track(notified) { person.name }
    expect(person.isObserved(forKey: "name"))
    person.removeAllObservers()
    person.name = "unseen"
    expect(notified.count == 0)
    track(notified) { person.name }
    person.name = "seen"
    // The tracking that waited before is notified as well.
    expect(notified.count == 2)
    expectUnobserved(person, "name", after: { $0.name = "unread" })
  },
  "threads": {
    let person = Person()
    nonisolated(unsafe) let shared = person
    let notified = Count()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<300 {
            let other = Person()
            _ = withObservationTracking {
              shared.name.count + other.age
            } onChange: {
              notified.add()
            }
            other.age = 1
          }
        }
      }
    }
    expect(notified.value == 1_200)
    person.name = "x"
    expect(notified.value == 1_200)  // each has been notified once
    _ = withObservationTracking {
      person.name
    } onChange: {
      notified.add()
    }
    person.name = "y"
    expect(notified.value == 1_201)
  },
  "batch": {
    // A read between two changes of a batch, by the same thread or by a tracked body inside it.
    let (person, notified, inner) = (Person(), Notified(), Notified())
    track(notified) { person.age }
    person.coalescingNotifications {
      person.age = 1
      track(inner) { person.age }
      person.age = 2
    }
    expect(notified.count == 1 && inner.count == 1)
    track(notified) { person.age }
    person.age = 3
    expect(notified.count == 2 && inner.count == 1)
  },
  "removed": {
    // What is tracked while `removeAllObservers()` ends the registration of a change that goes on.
    let (person, notified, late) = (Person(), Notified(), Notified())
    nonisolated(unsafe) let changed = person
    _ = withObservationTracking {
      person.age
    } onChange: {
      changed.removeAllObservers()
      track(late) { changed.age }
    }
    person.age = 1
    person.age = 2
    expect(late.count == 1)
    let token = person.observe(\.age) { person, _ in
      person.removeAllObservers()
      track(notified) { person.age }
    }
    track(notified) { person.age }
    person.age = 3
    person.age = 4
    expect(notified.count == 2)
    withExtendedLifetime(token) {}
  },
  "body": {
    // A change before Observation waits, which begins at the end of the body, does not notify; the next change does.
    let (person, inner, outer) = (Person(), Notified(), Notified())
    track(inner) {
      _ = person.age
      person.age = 1
      person.age = 2
    }
    expect(inner.count == 0 && person.isObserved(forKey: "age"))
    person.age = 3
    expect(inner.count == 1)
    expectUnobserved(person, "age", after: { $0.age += 1 })
    track(outer) {
      track(inner) { person.age }
      person.age = 4
    }
    expect(inner.count == 2 && outer.count == 0)
    person.age = 5
    expect(outer.count == 1)
    expectUnobserved(person, "age", after: { $0.age += 1 })
    // Tracking is over.
    _ = person.name
    expect(!person.isObserved(forKey: "name"))
  },
  "orders": {
    LibraryLocks.areGates()
    for wasRead in [false, true] {
      for changes in 1...2 {
        await tryOrders(Person.init, \.age) { person in
          if wasRead { track(Notified()) { person.age } }
        } changes: { person in
          for age in 1...changes { person.age = age }
        }
      }
    }
    await tryOrders(Meter.init, \.level) { $0.setTwice((1, 2)) }
    await tryOrders(Person.init, \.age) { person in
      person.coalescingNotifications {
        person.age = 1
        Orders.gate()
        person.age = 2
      }
    }
  },
  "within": {
    // A thread reads within its own change, during which another thread changes the property, too.
    LibraryLocks.areGates()
    for wasRead in [false, true] {
      let tried = await inAllOrders(ofSwitches: 4) { orders in
        nonisolated(unsafe) let meter = Meter()
        let (notified, seen) = (Count(), Count())
        if wasRead { track(Notified()) { meter.level } }
        orders.run {
          meter.set(1) {
            withObservationTracking {
              seen.add(meter.level)
            } onChange: {
              notified.add()
            }
          }
        } and: {
          meter.set(2) {}
        }
        return meter.level == seen.value || notified.value == 1
      }
      expectNone(tried.failure)
    }
  },
  "unended": {
    // A thread reads after a change of its own whose end was not reported: its observers had been removed.
    LibraryLocks.areGates()
    let tried = await inAllOrders(ofSwitches: 3) { orders in
      nonisolated(unsafe) let meter = Meter()
      let (notified, seen) = (Count(), Count())
      track(Notified()) { meter.level }
      orders.run {
        meter.set(1) { meter.removeAllObservers() }
        withObservationTracking {
          _ = meter.level
          Orders.gate()
        } onChange: {
          notified.add()
        }
        seen.add(meter.level)
      } and: {
        meter.set(2) {}
      }
      return meter.level == seen.value || notified.value == 1
    }
    expectNone(tried.failure)
  },
  "twice": {
    // Two threads read a property first, so that two registrations report its changes.
    for moment in 1... {
      var moments = 0
      await tryOrders(Person.init, \.age) { person in
        nonisolated(unsafe) let person = person
        let read: @Sendable () -> Void = { track(Notified()) { _ = person.age } }
        moments = run(read, interruptedAt: moment, by: read)
      } changes: {
        $0.age = 1
      }
      if moments < moment { return expect(moments > 2 || !LockGates.areAvailable) }
    }
  },
  "defaults": {
    // A default is read by key, which reads the default.
    let defaults = KVOUserDefaults(suiteName: "bridge-\(getpid())")!
    let notified = Notified()
    track(notified) { defaults.integer(forKey: "undeclared") }
    defaults.set(1, forKey: "undeclared")
    expect(notified.count == 1)
    track(notified) { defaults.string(forKey: "undeclared") }
    defaults.removeObject(forKey: "undeclared")
    expect(notified.count == 2)
  },
  "kept": {
    // Locks, registrars and registrations of read properties are freed too.
    func grown() -> Int {
      let before = Int(fixture_bytes_used())
      for age in 1...1_000 {
        let person = Person()
        track(Notified()) { person.age }
        person.age = age
      }
      return Int(fixture_bytes_used()) - before
    }
    _ = grown()
    expect(grown() < 64_000)
  },
  "threadend": { expect(readAtThreadEnd() == 20) },
  "log": {
    let (person, notified) = (Person(), Notified())
    do {
      let log = try ChangeLog(of: person, recording: .keys(of: Person.self, \.name))
      track(notified) { (log.canUndo, log.undoName, log.count) }
      expect(notified.count == 0)
      log.withGroup("Name") { person.name = "a" }
      expect(notified.count == 1)
      expect(track(notified) { log.canUndo && log.undoName == "Name" && !log.canRedo })
      expect(try log.undo())
      expect(notified.count == 2)
      expect(track(notified) { log.canRedo && log.redoName == "Name" })
      person.name = "b"
      expect(notified.count == 3)
    } catch {
      print(error)
      exit(1)
    }
  },
  "sequence": {
    let person = Person()
    nonisolated(unsafe) let shared = person
    var names = Observations { shared.name }.makeAsyncIterator()
    expect(await names.next() == "")
    let setter = Task {
      while !shared.isObserved(forKey: "name") { await Task.yield() }
      shared.name = "next"
    }
    expect(await names.next() == "next")
    await setter.value
  },
]

// A hanging case is aborted. No time limit decides any other result.
signal(SIGALRM) { _ in
  let text = "a case waits for ever (KVO_PATIENCE)\n"
  write(STDERR_FILENO, text, text.utf8.count)
  abort()
}
alarm(getenv("KVO_PATIENCE").flatMap { UInt32(String(cString: $0)) } ?? 300)

if CommandLine.arguments.dropFirst().first == "--list" {
  print(cases.keys.sorted().joined(separator: "\n"))
} else if let name = CommandLine.arguments.dropFirst().first, let body = cases[name] {
  await body()
} else {
  exit(2)
}
