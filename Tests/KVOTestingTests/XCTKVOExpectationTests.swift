import Expectations
import Foundation
import KVORuntime
import KVOTesting
import ModelFixtures
import TestScopes
import TestSupport
import Testing
import XCTest

/// S4: XCTest's expectations, awaited by XCTWaiter, which needs no test case.
@Suite(.leakFree, .serialized) struct XCTKVOExpectationTests {
  final class Task: Tracked, @unchecked Sendable {
    @Observed var state = "new"
    @Observed var count = 0
    @Observed var boss: Task?
  }

  private let task = Task()

  /// The timeout for expectations that are fulfilled. It only ends a hanging test.
  private static let limit = TimeInterval(Watchdog.patience)

  private func wait(for expectation: XCTestExpectation, _ timeout: TimeInterval = Self.limit)
    -> XCTWaiter.Result
  {
    XCTWaiter.wait(for: [expectation], timeout: timeout)
  }

  // On a thread of its own: waiters block shared threads of tests and queues.
  private func later(_ body: @escaping @Sendable (Task) -> Void) {
    let task = task
    Thread.detachNewThread { body(task) }
  }

  @Test("S4: fulfilled at once if the value is the expected one, numbers by value")
  func already() throws {
    for (key, value) in [("state", "new"), ("count", 0), ("count", 0.0), ("boss.count", 0)]
      as [(String, Any)]
    {
      task.boss = task
      let done = try XCTKVOExpectation(keyPath: key, object: task, expectedValue: value)
      expectEqual(wait(for: done, 0), .completed)
      expect(!task.isObserved(forKey: key))
    }
    task.boss = nil
  }

  @Test(
    "S4: an NSNumber equals the same number, a raw value its enumeration case, also in collections")
  func numbers() throws {
    final class Job: KVOObject {
      enum Stage: Int { case first, last }
      @Observed var count: UInt8 = 5
      @Observed var ratio: Float = 0.5
      @Observed var stage = Stage.last
      @Observed var stages: [Stage?] = [.first, nil, .last]
      @Observed var past: Set<Stage> = [.first]
      @Observed var missing: Set<Int?> = [2, nil]
      @Observed var limit = Double.nan
      @Observed var balance = Decimal(string: "12345678901234567.89")!
      @Observed var mark: Character = "b"
      @Observed var notes: [String: Any] = ["a": 1, "b": [Double.nan]]
      @Observed var names: [Stage: String] = [.last: "end"]
      @Observed var next: Stage?
    }
    let job = Job()
    for (key, value, result) in [
      ("count", NSNumber(value: 5), .completed), ("count", NSNumber(value: 5.5), .timedOut),
      ("ratio", NSNumber(value: 0.5), .completed), ("ratio", 0.5, .completed),
      ("stage", 1, .completed), ("stage", NSNumber(value: 1), .completed), ("stage", 0, .timedOut),
      ("stage", Job.Stage.last, .completed),
      ("stages", [0, nil, 1] as [Int?], .completed), ("stages", [0, 0, 1], .timedOut),
      ("stages", [0, nil], .timedOut), ("past", Set([0]), .completed),
      ("past", Set([1]), .timedOut), ("past", Set([0, 1]), .timedOut),
      ("limit", Double.nan, .completed), ("limit", NSNumber(value: Float.nan), .completed),
      ("limit", 0, .timedOut),
      ("balance", Decimal(string: "12345678901234567.89")!, .completed),
      ("balance", Decimal(string: "12345678901234567.88")!, .timedOut), ("mark", "b", .completed),
      ("mark", "B", .timedOut),
      ("notes", ["a": NSNumber(value: 1), "b": [Float.nan]], .completed),
      ("notes", ["a": 1, "b": [0]], .timedOut), ("notes", ["a": 1], .timedOut),
      ("notes", ["a": 1, "c": [Double.nan]], .timedOut), ("names", [1: "end"], .completed),
      ("names", [0: "end"], .timedOut), ("notes", NSNull(), .timedOut),
      ("next", Job.Stage?.none as Any, .completed), ("next", 0, .timedOut),
      ("next", NSNull(), .completed), ("stages", NSArray(array: [0, NSNull(), 1]), .completed),
      ("stages", NSArray(array: [NSNull(), 0, 1]), .timedOut),
      ("missing", NSSet(array: [NSNull(), 2]), .completed),
      ("stage", Job.Stage?.none as Any, .timedOut),
    ] as [(String, Any, XCTWaiter.Result)] {
      let done = try XCTKVOExpectation(keyPath: key, object: job, expectedValue: value)
      expectEqual(wait(for: done, 0), result)
    }
  }

  @Test("S4: fulfilled once when the value becomes the expected one, however often")
  func comes() throws {
    let done = try XCTKVOExpectation(keyPath: "state", object: task, expectedValue: "done")
    later { task in for state in ["a", "done", "b", "done"] { task.state = state } }
    expectEqual(wait(for: done), .completed)
    let never = try XCTKVOExpectation(keyPath: "state", object: task, expectedValue: 7)
    task.state = "x"
    expectEqual(wait(for: never, 0), .timedOut)
    expectEqual(never.expectationDescription, #"Expect "state" of Task to become 7"#)
  }

  @Test("S4: without an expected value by the first change, not by the current value")
  func first() throws {
    let changed = try XCTKVOExpectation(keyPath: "count", object: task)
    expectEqual(wait(for: changed, 0), .timedOut)
    let again = try XCTKVOExpectation(keyPath: "count", object: task)
    later { $0.count = 0 }
    expectEqual(wait(for: again), .completed)
  }

  @Test("S4: a handler gets each change, with old and new, and chooses one")
  func handler() throws {
    let seen = Locked<[String]>([])
    let done = try XCTKVOExpectation(keyPath: "count", object: task) { object, change in
      seen.withLock { $0.append("\(change[.oldKey]!) \(change[.newKey]!)") }
      return (object as? Task)?.count == 2
    }
    task.count = 1
    task.count = 2
    task.count = 3
    expect(wait(for: done) == .completed && seen.withLock { $0 } == ["0 1", "1 2"])
  }

  @Test("S4: a test case's expectations, and an unknown key")
  func testCase() throws {
    final class Case: XCTestCase, @unchecked Sendable {}
    let test = Case(name: "case") { _ in }
    let value = try test.keyValueObservingExpectation(for: task, keyPath: "count", expectedValue: 2)
    let handled = try test.keyValueObservingExpectation(for: task, keyPath: "count") { _, change in
      change[.newKey] as? Int == 1
    }
    let already = try test.keyValueObservingExpectation(
      for: task, keyPath: "state", expectedValue: "new")
    let task = task
    onThreads(1) { _ in for count in 1...3 { task.count = count } }
    expectEqual(XCTWaiter.wait(for: [value, handled, already], timeout: 0), .completed)
    #expect(throws: KeyValueError.self) {
      try test.keyValueObservingExpectation(for: task, keyPath: "cuont", expectedValue: 2)
    }
  }

  @Test("S4: threads fulfil it once")
  func threads() throws {
    let done = try XCTKVOExpectation(keyPath: "count", object: task)
    let task = task
    onThreads(4) { _ in for _ in 0..<25 { task.withChange(of: \.count) {} } }
    expectEqual(wait(for: done), .completed)
  }

  /// A test of XCTest that fails in each of the ways in which this library reports a failure.
  private final class FailingCase: XCTestCase, @unchecked Sendable {
    static func fail(_ test: XCTestCase) throws {
      let task = Task()
      task.expectNoChange(of: \.count) { task.count = 1 }
      task.expectChange(of: \.count, to: 3) { task.count = 2 }
      task.expectChanges(of: \.count, []) { task.count = 3 }
      let recorder = task.recordChanges(of: \.count)
      task.count = 4
      recorder.expect(newValues: [5])
      let texts = try task.recordChanges(ofKeyPath: "count", as: String.self)
      task.count = 5
      _ = texts.take()
    }
  }

  @Test("S3: failures fail a test of XCTest, at its lines")
  func failures() {
    let test = FailingCase(name: "failing", testClosure: FailingCase.fail)
    keptTest = test
    withKnownIssue { test.run() }
    expect((test.testRun?.failureCount ?? 0) >= 5, "\(test.testRun?.failureCount ?? 0) failures")
  }
}

/// A test of XCTest that has run; it and its run retain each other.
nonisolated(unsafe) private var keptTest: XCTestCase?
