import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

import class Foundation.Thread

private final class Melody: KVOObject, @unchecked Sendable {
  @Observed var title = "a"
  @Observed var plays = 1
}

private class Record: KVOObject, @unchecked Sendable {
  @Observed var melody: Melody
  @Observed var melodies: [Melody] = []
  @Observed var count = 1
  @Observed var step = 2
  @Observed var extra = 0
  @Observed var isLong = true

  init(_ melody: Melody) {
    self.melody = melody
    super.init()
  }

  var total: Int { isLong ? count * step : step }
  var sum: Int { count + step }
  var result: Int { sum + extra }
  var label: String { melody.title + String(step) }

  override class func registerKeys() {
    Record.declareKeys { keys in
      keys.computed("sum", \.sum, affectedBy: ["count", "step"])
      keys.computed("result", \.result, affectedBy: ["sum", "extra"])
      keys.computed("label", \.label, affectedBy: ["melody.title", "step"])
    }
  }
}

private final class ManualRecord: Record, @unchecked Sendable {
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "count" }
}

private final class Shelf: KVOObject {
  @Observed var record: Record
  @Observed var number = 0

  init(_ record: Record) {
    self.record = record
    super.init()
  }
}

private func mutate<T>(_ value: inout T, _ body: (inout T) -> Void) { body(&value) }

@MainActor private func mutateLater(
  _ value: inout Int, _ body: @MainActor (inout Int) async -> Void
) async {
  await body(&value)
}

/// A class whose method does not announce changes of `count` in the end.
private final class QuietRecord: Record, @unchecked Sendable {
  override func didChangeValue(forKey key: String) {
    if key != "count" { super.didChangeValue(forKey: key) }
  }
}

/// Runs each job on a thread of its own.
private final class ThreadForEachJob: SerialExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let (job, executor) = (UnownedJob(job), asUnownedSerialExecutor())
    Thread.detachNewThread { job.runSynchronously(on: executor) }
  }
}

private actor Roamer {
  private nonisolated let executor = ThreadForEachJob()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Sets `step` in a mutation of `count`, before and after it goes on on another thread.
  func setSteps(of record: Record) async {
    await mutateAcross(&record.count) {
      $0 = 7
      record.step = 3
      await Task.yield()
      record.step = 4
    }
  }

  private func mutateAcross(_ value: inout Int, _ body: (inout Int) async -> Void) async {
    await body(&value)
  }
}

/// E4: notifications that a change leaves to the mutation in which it is made.
@Suite(.leakFree) struct OwedInPlaceTests {
  private let melody = Melody()
  private let second = Melody()
  private let log = Recorder()

  init() { second.title = "z" }

  @Test(
    "E4: a key that no longer depends on the property after the mutation is notified all the same",
    arguments: [1, 2])
  func dependsNoMore(_ observers: Int) {
    let record = Record(melody)
    for _ in 0..<observers { log.observe(record, \.total, [.old, .new, .prior], as: "total") }
    mutate(&record.count) {
      $0 = 7
      record.isLong = false
    }
    let calls = ["total prior old 2", "total old 2 new 2"].flatMap {
      [String](repeating: $0, count: observers)
    }
    expectEqual(log.take(), calls)
    record.count = 8
    expectEqual(log.take(), [])
  }

  @Test("E4: so is one that is announced by hand, in a batch, or bound")
  func othersDependNoMore() {
    let (manual, record, target) = (ManualRecord(melody), Record(melody), Shelf(Record(second)))
    log.observe(manual, \.total, [.old, .new], as: "manual")
    manual.withChange(of: \.count) {
      mutate(&manual.count) {
        $0 = 7
        manual.isLong = false
        manual.step = 3
      }
    }
    expectEqual(log.take(), ["manual old 2 new 3"])
    log.observe(record, \.total, [.old, .new], as: "record")
    record.coalescingNotifications {
      mutate(&record.count) {
        $0 = 7
        record.isLong = false
        record.step = 4
      }
    }
    expectEqual(log.take(), ["record old 2 new 4"])
    record.isLong = true
    let binding = target.bind(\.number, to: record, \.total)
    mutate(&record.count) {
      $0 = 9
      record.isLong = false
    }
    expectEqual(target.number, 4)
    binding.invalidate()
  }

  @Test("E4: a path whose link is set while its end is mutated is notified once, and follows")
  func relinked() throws {
    let record = Record(melody)
    log.observe(record, \.melody.title, [.old, .new], as: "typed")
    try log.observe(record, "melody.title", [.old, .new], as: "string")
    mutate(&melody.title) {
      $0 = "b"
      record.melody = second
    }
    expectEqual(Set(log.take()), ["typed old a new z", "string old a new z"])
    melody.title = "lost"
    second.title = "y"
    expectEqual(Set(log.take()), ["typed old z new y", "string old z new y"])
  }

  @Test("E4: a key that depends on the property through other keys or a path is not read")
  func indirect() throws {
    let record = Record(melody)
    let shelf = Shelf(record)
    try log.observe(record, "result", [.old, .new], as: "result")
    try log.observe(record, "label", [.old, .new], as: "label")
    mutate(&record.count) {
      $0 = 7
      record.extra = 3
    }
    expectEqual(log.take(), ["result old 3 new 12"])
    mutate(&melody.title) {
      $0 = "b"
      record.step = 5
    }
    expectEqual(Set(log.take()), ["result old 12 new 15", "label old a2 new b5"])
    try log.observe(shelf, "record.sum", [.old, .new], as: "shelf")
    mutate(&record.count) {
      $0 = 8
      shelf.record = Record(second)
    }
    expectEqual(Set(log.take()), ["result old 15 new 16", "shelf old 12 new 3"])
  }

  @Test("E4: elements under an operator that are exchanged notify of their exchange once")
  func exchanged() throws {
    let record = Record(melody)
    second.plays = 2
    record.melodies = [melody, second]
    try log.observe(record, "melodies.@max.plays", [.old, .new], as: "max")
    swap(&melody.plays, &second.plays)
    expectEqual(log.take(), ["max old 2 new 2"])
    second.plays = 3
    expectEqual(log.take(), ["max old 2 new 3"])
  }

  @Test("E4 G5: a batch that ends later has the value that was notified as the old one")
  func batchEndsLater() {
    let record = Record(melody)
    log.observe(record, \.melody.title, [.old, .new], as: "typed")
    melody.coalescingNotifications {
      mutate(&record.melody) { $0.title = "b" }
      expectEqual(log.take(), ["typed old a new b"])
    }
    expectEqual(log.take(), ["typed old b new b"])
    melody.coalescingNotifications {
      mutate(&record.melody) { $0.title = "c" }
      expectEqual(log.take(), ["typed old b new c"])
      melody.title = "d"
    }
    expectEqual(log.take(), ["typed old c new d"])
  }

  @Test("E4: changes by another task are not part of a mutation that has been suspended")
  @MainActor func suspended() async {
    let record = Record(melody)
    log.observe(record, \.total, [.old, .new], as: "total")
    let (begun, isSet) = (Awaited(false), Awaited(false))
    let task = Task { @MainActor in
      await mutateLater(&record.count) {
        begun.withLock { $0 = true }
        await isSet.wait(for: true)
        $0 = 10
      }
    }
    await begun.wait(for: true)
    record.step = 5
    expectEqual(log.take(), ["total old 2 new 5"])
    isSet.withLock { $0 = true }
    await task.finished()
    expectEqual(log.take().count, 1)
    expectEqual(record.total, 50)
  }

  @Test("E4: a mutation that goes on on another thread gets the changes that it makes there")
  func resumedElsewhere() async {
    let record = Record(melody)
    log.observe(record, \.total, [.old, .new], as: "total")
    log.observe(record, \.step, [.new], as: "step")
    await Roamer().setSteps(of: record)
    expectEqual(log.take(), ["step new 3", "step new 4", "total old 2 new 28"])
    record.step = 5
    expectEqual(log.take(), ["step new 5", "total old 28 new 35"])
  }

  @Test("E4: a pair of a manual property around the mutation notifies what changes in it")
  func manualPair() {
    let record = ManualRecord(melody)
    log.observe(record, \.total, [.old, .new], as: "total")
    record.willChangeValue(forKey: "count")
    record.willChangeValue(forKey: "extra")
    mutate(&record.count) {
      $0 = 7
      record.step = 3
      expectEqual(log.take(), [])
    }
    record.didChangeValue(forKey: "extra")
    expectEqual(log.take(), [])
    record.didChangeValue(forKey: "count")
    expectEqual(log.take(), ["total old 2 new 21"])
  }

  @Test("E4 E5: a change that its class does not announce notifies of what others have left to it")
  func notAnnounced() throws {
    let record = QuietRecord(melody)
    try log.observe(record, "count", [.old, .new], as: "count")
    try log.observe(record, "sum", [.old, .new], as: "sum")
    mutate(&record.count) {
      $0 = 7
      record.step = 3
    }
    expectEqual(log.take(), ["sum old 3 new 10"])
    record.count = 8
    expectEqual(log.take(), [])
  }
}
