import Expectations
import KVORuntime
import TestSupport
import Testing

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
    expectEqual(log.take(), [])
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
}
