import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// K: changes as asynchronous sequences.
@Suite(.leakFree) struct SequenceTests {
  private class Sensor: Tracked {
    @Observed var reading = 0
    @Observed var name: String?
    @Observed var samples: [Int] = []
    @Observed var next: Sensor?
    var twice: Int { reading * 2 }
  }

  private let sensor = Sensor()

  // MARK: Values

  @Test(
    "K1: the current value comes first, then each one set while the reader waits for it"
  )
  func values() async {
    sensor.reading = 1
    var iterator = sensor.values(of: \.reading).makeAsyncIterator()
    expectEqual(await iterator.next(), 1)
    for value in 2..<6 {
      sensor.reading = value
      expectEqual(await iterator.next(), value)
    }
  }

  @Test("K1: a slow reader gets only the newest value")
  func newest() async {
    var iterator = sensor.values(of: \.reading).makeAsyncIterator()
    for value in 1..<100 { sensor.reading = value }
    expectEqual(await iterator.next(), 99)
    for value in 100..<200 { sensor.reading = value }
    expectEqual(await iterator.next(), 199)
  }

  @Test(
    "K1: nil, computed properties and key paths have values like others, collections are whole"
  )
  func kinds() async {
    var names = sensor.values(of: \.name).makeAsyncIterator()
    var twice = sensor.values(of: \.twice).makeAsyncIterator()
    var samples = sensor.values(of: \.samples).makeAsyncIterator()
    var nextReadings = sensor.values(of: \.next?.reading).makeAsyncIterator()
    expectEqual(await names.next(), .some(nil))
    expectEqual(await nextReadings.next(), .some(nil))
    expect(await (twice.next(), samples.next()) == (0, []))
    sensor.name = "north"
    sensor.reading = 4
    sensor.mutableArray(\.samples).append(7)
    expectEqual(await names.next(), "north")
    expect(await (twice.next(), samples.next()) == (8, [7]))
    sensor.mutableArray(\.samples).insert(6, at: 0)
    expectEqual(await samples.next(), [6, 7])
    let next = Sensor()
    next.reading = 3
    sensor.next = next
    expectEqual(await nextReadings.next(), 3)
    sensor.name = nil
    expectEqual(await names.next(), .some(nil))
  }

  // MARK: Changes

  @Test("K2: every change is kept until it is read, in order, with what the options ask for")
  func changes() async {
    var all = sensor.changes(of: \.reading).makeAsyncIterator()
    var olds = sensor.changes(of: \.reading, options: [.old, .prior]).makeAsyncIterator()
    for value in 1...1000 { sensor.reading = value }
    for value in 1...1000 {
      let change = await all.next()
      expect(
        change?.oldValue == value - 1 && change?.newValue == value && change?.isPrior == false)
    }
    for value in 1...1000 {
      let (prior, change) = await (olds.next(), olds.next())
      expect(prior?.isPrior == true && change?.isPrior == false)
      expect(prior?.oldValue == value - 1 && change?.newValue == nil)
    }
  }

  @Test("K2: changes of elements come with kind and indexes, an initial one when it is asked for")
  func elements() async {
    var changes = sensor.changes(of: \.samples, options: [.new, .initial]).makeAsyncIterator()
    sensor.mutableArray(\.samples).append(5)
    sensor.samples = [1, 2]
    expectEqual(await changes.next()?.newValue, [])
    let insertion = await changes.next()
    expect(insertion?.kind == .insertion && insertion?.newValue == [5])
    expectEqual(insertion?.indexes, RangeSet(0..<1))
    expectEqual(await changes.next()?.newValue, [1, 2])
  }

  // MARK: Start and end

  @Test("K3: a sequence registers when an iterator is made, and for as long as it exists")
  func registration() async {
    let values = sensor.values(of: \.reading)
    let changes = sensor.changes(of: \.reading)
    expect(!sensor.isObserved(forKey: "reading"))
    do {
      var first = values.makeAsyncIterator()
      var second = changes.makeAsyncIterator()
      expectEqual(sensor.observationInfo.registrations.count, 2)
      sensor.reading = 3
      expectEqual(await first.next(), 3)
      expectEqual(await second.next()?.newValue, 3)
    }
    expect(!sensor.isObserved(forKey: "reading"))
    for await value in values {
      expectEqual(value, 3)
      break
    }
    expect(!sensor.isObserved(forKey: "reading"))
  }

  @Test("K3: the object's death ends the sequence, after the buffered values have been read")
  func death() async throws {
    var object: Sensor? = Sensor()
    weak let gone = object
    var values = object!.values(of: \.reading).makeAsyncIterator()
    var changes = object!.changes(of: \.reading).makeAsyncIterator()
    let sequence = object!.changes(of: \.reading)
    object!.reading = 1
    object!.reading = 2
    object = nil
    expect(gone == nil)
    expectEqual(await values.next(), 2)
    expect(await values.next() == nil)
    expect(await (changes.next()?.newValue, changes.next()?.newValue) == (1, 2))
    for _ in 0..<2 { expect(await changes.next() == nil) }
    var late = sequence.makeAsyncIterator()
    expect(await late.next() == nil)
  }

  @Test("K3: a waiting reader is woken by the object's death")
  func deathWhileWaiting() async {
    var object: Sensor? = Sensor()
    let read = Awaited<[Int]>([])
    let values = object!.values(of: \.reading)
    let reader = Task { for await value in values { read.withLock { $0.append(value) } } }
    await read.wait(for: [0])
    object!.reading = 1
    await read.wait(for: [0, 1])
    object = nil
    await reader.finished()
    expectEqual(read.value, [0, 1])
  }

  @Test(
    "K3: cancelling the reading task ends sequence and registration", arguments: [false, true])
  func cancellation(_ isBefore: Bool) async {
    let values = sensor.values(of: \.reading)
    let changes = sensor.changes(of: \.reading)
    let (begun, ended, leaving) = (Awaited(false), Awaited(false), Awaited(false))
    let reader = Task {
      await begun.wait(for: true)
      var (value, change) = (values.makeAsyncIterator(), changes.makeAsyncIterator())
      while await value.next() != nil {}
      while await change.next() != nil {}
      ended.withLock { $0 = true }
      await leaving.wait(for: true)
    }
    if isBefore { reader.cancel() }
    begun.withLock { $0 = true }
    if !isBefore { await yieldUntil { sensor.isObserved(forKey: "reading") } }
    reader.cancel()
    await ended.wait(for: true)
    expect(!sensor.isObserved(forKey: "reading"))
    leaving.withLock { $0 = true }
    await reader.finished()
  }

  @Test("K3: ending all registrations of an object ends its sequences")
  func removal() async {
    var values = sensor.values(of: \.reading).makeAsyncIterator()
    sensor.removeAllObservers()
    sensor.reading = 1
    expectEqual(await values.next(), 0)
    expect(await values.next() == nil)
  }

  @Test("K3: copies of an iterator share its values")
  func copies() async {
    var one = sensor.changes(of: \.reading, options: .new).makeAsyncIterator()
    var other = one
    for value in 1...4 { sensor.reading = value }
    expectEqual(await one.next()?.newValue, 1)
    expectEqual(await other.next()?.newValue, 2)
    expectEqual(await one.next()?.newValue, 3)
    expectEqual(await other.next()?.newValue, 4)
    expectEqual(sensor.observationInfo.registrations.count, 1)
  }

  private final class Sample: Sendable {
    private let life = Life(of: Sample.self)
  }
  private final class Sampler: Tracked {
    @Observed var sample: Sample?
  }

  @Test("K3: a value is released once read, or replaced by another")
  func lifetimes() async {
    let sampler = Sampler()
    var values = sampler.values(of: \.sample).makeAsyncIterator()
    var changes = sampler.changes(of: \.sample, options: .new).makeAsyncIterator()
    weak var gone: Sample?
    do {
      let sample = Sample()
      gone = sample
      sampler.sample = sample
      sampler.sample = nil
    }
    expect(gone != nil)
    expectEqual(await values.next().map { $0 == nil }, true)
    _ = await changes.next()
    expect(gone == nil)
  }

  @MainActor private final class Screen {
    var lines: [String] = []
    func show(_ names: KeyValueValues<String?>) async {
      for await name in names { lines.append(name ?? "none") }
    }
  }

  @Test("K3: an actor reads from within itself")
  @MainActor func actors() async {
    var object: Sensor? = Sensor()
    let screen = Screen()
    let reader = Task { [names = object!.values(of: \.name)] in await screen.show(names) }
    await yieldUntil { screen.lines == ["none"] }
    object!.name = "a"
    await yieldUntil { screen.lines.count == 2 }
    object = nil
    await reader.finished()
    expectEqual(screen.lines, ["none", "a"])
  }

  // MARK: Threads

  @Test(
    "I1 K4: nothing is lost between changing threads and reading tasks, and every reader ends")
  func threads() async {
    let (setters, sets) = (3, 2000)
    var object: Sensor? = Sensor()
    let shared = Slot(object!)
    let count = Locked(0)
    let sequence = object!.changes(of: \.reading, options: .new)
    let readers = (0..<3).map { _ in
      Task {
        for await _ in sequence { count.withLock { $0 += 1 } }
      }
    }
    await yieldUntil { shared.registrationCount == 3 }
    object = nil
    await withCheckedContinuation { done in
      onThreads(setters) { thread in
        for value in 0..<sets {
          shared.use { ($0 as Sensor).withChange(of: \.reading) { _ = value } }
        }
      }
      done.resume()
    }
    shared.drop()
    for reader in readers { await reader.finished() }
    expectEqual(count.withLock { $0 }, setters * sets * 3)
  }

  @Test(
    "K4: several tasks waiting for one registration get a change each, and all get its end"
  )
  func sharedReaders() async {
    var object: Sensor? = Sensor()
    let iterator = Shared(object!.changes(of: \.reading, options: .new).makeAsyncIterator())
    let (begun, read) = (Awaited(0), Awaited<[Int]>([]))
    let readers = (0..<3).map { _ in
      Task {
        var copy = iterator.value
        begun.withLock { $0 += 1 }
        while let change = await copy.next() { read.withLock { $0.append(change.newValue!) } }
      }
    }
    await begun.wait(for: 3)
    for value in 1...30 {
      object!.reading = value
      if value % 3 == 0 { await read.wait { $0.count == value } }
    }
    object = nil
    for reader in readers { await reader.finished() }
    expectEqual(read.value.sorted(), Array(1...30))
  }

  @Test(
    "K1: if an observer sets the property again, the last value read is the property's last"
  )
  func setAgainByObserver() async {
    let clamp = sensor.observe(\.reading) { sensor, _ in
      if sensor.reading > 9 { sensor.reading = 9 }
    }
    var values = sensor.values(of: \.reading).makeAsyncIterator()
    sensor.reading = 20
    expectEqual(await values.next(), 9)
    withExtendedLifetime(clamp) {}
  }

  @Test("I1 K4: a value set while a reader begins to wait, or none waits, is read at last")
  func lastValue() async {
    for round in 0..<200 {
      let object = Sensor()
      let shared = Shared(object)
      // Made on this thread: it reads the current value, which another thread is about to set.
      let iterator = Shared(object.values(of: \.reading).makeAsyncIterator())
      let reader = Task {
        var values = iterator.value
        while let value = await values.next(), value != 2 {}
      }
      onThreads(1) { _ in
        for _ in 0..<(round % 7) { shared.value.withChange(of: \.name) {} }
        shared.value.reading = 1
        shared.value.reading = 2
      }
      await reader.finished()
    }
  }

  // MARK: C objects

  @Test("K1 K2: C objects' keys, changed by C threads, have sequences")
  func foreign() async throws {
    let account = CAccount()
    var values = try account.wrapped.values(of: "balance", as: Double.self).makeAsyncIterator()
    var changes = try account.wrapped.changes(of: "branch.balance", as: Double?.self)
      .makeAsyncIterator()
    expectEqual(await values.next(), 0)
    let pointer = Shared(account.pointer)
    onThreads(1) { _ in account_setBalance(pointer.value, 5) }
    expectEqual(await values.next(), 5)
    let branch = CAccount()
    account_setBalance(branch.pointer, 3)
    account_setBranch(
      account.pointer, UnsafeMutableRawPointer(branch.pointer).assumingMemoryBound(to: tracked.self)
    )
    expectEqual(await changes.next()?.newValue, 3)
    account_setBranch(account.pointer, nil)
    expectEqual(await changes.next()?.newValue, .some(nil))
    #expect(throws: KeyValueError.self) {
      try account.wrapped.values(of: "nothing", as: Double.self)
    }
    account_setOwner(account.pointer, "Ada")
    #expect(throws: KeyValueError.self) {
      try account.wrapped.changes(of: "owner", as: Double.self)
    }
  }
}

extension Slot where Object: KVOObject {
  fileprivate var registrationCount: Int {
    var count = 0
    use { count = $0.observationInfo.registrations.count }
    return count
  }
}
