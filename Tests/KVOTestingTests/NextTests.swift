import Expectations
import KVORuntime
import KVOTesting
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// S1: waiting for a property's values.
@Suite(.leakFree, .stoppedTime) struct NextTests {
  final class Download: Tracked, @unchecked Sendable {
    enum State: Sendable { case waiting, running, done }
    @Observed var state = State.waiting
    @Observed var title: String? = nil
  }

  private let download = Download()

  /// Changes once it is observed, on another thread.
  private func change(_ body: @escaping @Sendable (Download) -> Void) {
    let download = download
    Task.detached {
      await yieldUntil {
        download.isObserved(forKey: "state") || download.isObserved(forKey: "title")
      }
      body(download)
    }
  }

  @Test("S1: the current value counts, if a condition accepts it")
  func already() async throws {
    download.state = .done
    expectEqual(try await download.next(\.state, where: { $0 == .done }), .done)
    expect(!download.isObserved(forKey: "state"))
  }

  @Test("S1: each value is seen, also a transient one, on the thread of the change")
  func seen() async throws {
    change { download in
      download.state = .running
      download.state = .done
      download.state = .waiting
    }
    expectEqual(try await download.next(\.state, where: { $0 == .running }), .running)
    expect(!download.isObserved(forKey: "state"))
  }

  @Test("S1: without a condition the next change is awaited, by key path and by string")
  func nextChange() async throws {
    change { $0.state = .waiting }
    expectEqual(try await download.next(\.state), .waiting)
    download.title = nil
    change { download in
      download.title = nil
      download.title = "a"
    }
    expectEqual(try await download.next(keyPath: "title", as: String.self), "a")
    change { $0.title = "b" }
    expectEqual(try await download.next(keyPath: "title", as: String.self), "b")
    await #expect(throws: KeyValueError.self) {
      try await download.next(keyPath: "titel", as: String.self)
    }
  }

  @Test("S1: a timeout reports what was awaited, where, and the last value seen")
  func timeout() async throws {
    let (download, clock) = (download, HandClock())
    download.state = .running
    let location = SourceLocation(
      fileID: "Module/File.swift", filePath: "/Module/File.swift", line: 7, column: 1)
    let waiting = Task {
      try await clock.keepTime {
        try await download.next(
          \.state, where: { $0 == .done }, timeout: .milliseconds(60), fileID: location.fileID,
          filePath: "/Module/File.swift", line: location.line, column: location.column)
      }
    }
    await clock.sleeping(1)
    clock.advance(by: .milliseconds(59))
    expectEqual(clock.sleepers, 1)
    clock.advance(by: .milliseconds(1))
    expectEqual(clock.sleepers, 0)
    let error = await #expect(throws: ChangeTimeout.self) { try await waiting.value }
    expect(error?.lastSeen == "running" && error?.sourceLocation == location)
    expectEqual(
      error?.description,
      """
      "state" of Download did not become what was waited for within 0.06 seconds: the last value \
      was running (File.swift:7)
      """)
    expect(!download.isObserved(forKey: "state"))
    let none = await #expect(throws: ChangeTimeout.self) {
      try await withoutPatience { try await download.next(\.title) }
    }
    expect(none?.lastSeen == nil && none?.description.contains("it did not change") == true)
    download.title = "a"
    let ignored = await #expect(throws: ChangeTimeout.self) {
      try await withoutPatience {
        try await download.next(keyPath: "title", as: Int.self, where: { $0 == 1 })
      }
    }
    expectEqual(ignored?.lastSeen, "a, a String and no Int")
  }

  @Test(
    "S1: the last value seen is the property's, in every order of two threads that set it"
  )
  func lastSeen() async throws {
    let tried = await inAllOrders { orders in
      let (gauge, clock) = (Gauge(), HandClock())
      let waiting = Task {
        try await clock.keepTime {
          try await gauge.next(\.value, where: { $0 > 2 }, timeout: .seconds(1))
        }
      }
      await clock.sleeping(1)
      orders.run {
        gauge.value = 1
      } and: {
        gauge.value = 2
      }
      clock.advance(by: .seconds(1))
      let error = await #expect(throws: ChangeTimeout.self) { try await waiting.value }
      return error?.lastSeen == "\(gauge.last)"
    }
    expectEqual(tried.failure, nil)
  }

  @Test("S1: a cancellation ends the waiting at once")
  func cancelled() async throws {
    let (download, clock) = (download, HandClock())
    let task = Task {
      try await clock.keepTime { try await download.next(\.state, where: { $0 == .done }) }
    }
    await clock.sleeping(1)
    task.cancel()
    clock.advance(by: .seconds(10))  // if the cancellation does not end it, the timeout does
    await #expect(throws: CancellationError.self) { try await task.value }
    expect(!download.isObserved(forKey: "state"))
    let early = Task {
      await yieldUntil { Task.isCancelled }
      return try await download.next(\.state)
    }
    early.cancel()
    await #expect(throws: CancellationError.self) { try await early.value }
  }

  @Test("S1: on the main actor it waits without leaving it")
  @MainActor func mainActor() async throws {
    let download = Download()
    Task { @MainActor in download.state = .done }
    expectEqual(try await download.next(\.state, where: { $0 == .done }), .done)
  }

  @Test("S1: many wait at a time, and each gets the first value that it accepts")
  func many() async throws {
    let tally = Tally()
    try await withThrowingTaskGroup { group in
      for goal in 1...20 {
        nonisolated(unsafe) let tally = tally
        group.addTask { try await tally.next(\.count, where: { $0 >= goal }) }
      }
      nonisolated(unsafe) let counting = tally
      group.addTask {
        await yieldUntil { counting.observationInfo.registrations.count == 20 }
        for count in 1...20 { counting.count = count }
        return 1
      }
      var values = Set<Int>()
      for try await value in group { values.insert(value) }
      expectEqual(values, Set(1...20))
    }
  }

  final class Tally: Tracked { @Observed var count = 0 }
}
