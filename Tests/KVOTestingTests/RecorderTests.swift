import Expectations
import KVORuntime
import KVOTesting
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// S2: recorded changes, and their failures.
@Suite(.leakFree, .stoppedTime) struct RecorderTests {
  final class Item: Tracked, @unchecked Sendable {
    @Observed var count = 0
    @Observed var name: String?
    @Observed var tags: [String] = []
  }

  private let item = Item()

  /// The only issue that a body records.
  private func issue(_ body: () throws -> Void) throws -> (text: String, line: Int)? {
    let found = Locked<[(String, Int)]>([])
    try withKnownIssue {
      try body()
    } matching: { issue in
      let text = issue.comments.map(\.rawValue).joined()
      found.withLock { $0.append((text, issue.sourceLocation?.line ?? 0)) }
      return true
    }
    let all = found.withLock { $0 }
    return all.count == 1 ? all[0] : nil
  }

  @Test("S2: each change is recorded, with what the options ask for, until it is taken")
  func recorded() {
    let changes = item.recordChanges(of: \.count)
    let fewer = item.recordChanges(of: \.count, options: [.initial, .new, .prior])
    item.count = 1
    item.count = 1
    expect(changes.newValues == [1, 1] && changes.oldValues == [0, 1] && changes.count == 2)
    changes.expect([.setting(from: 0, to: 1), .setting(from: 1)])
    expectEqual(changes.count, 0)
    changes.expectNone()
    fewer.expect([
      .setting(to: 0), .setting().prior, .setting(to: 1), .setting().prior, .setting(to: 1),
    ])
    item.count = 2
    changes.expect(newValues: [2])
    changes.stop()
    changes.stop()
    item.count = 3
    expect(changes.take().isEmpty)
  }

  @Test("S2: elements are recorded with their indexes")
  func elements() {
    let changes = item.recordChanges(of: \.tags)
    let tags = item.mutableArray(\.tags)
    tags.append("a")
    tags.insert("b", at: 0)
    tags[1] = "c"
    tags.remove(at: 0)
    changes.expect([
      .insertion(of: ["a"], at: RangeSet(0..<1)), .insertion(of: ["b"]),
      .replacement(of: ["a"], with: ["c"], at: RangeSet(1..<2)), .removal(of: ["b"]),
    ])
  }

  @Test("S2: a failure is one issue at the caller's line, names the first difference and shows all")
  func failure() throws {
    let changes = item.recordChanges(of: \.count)
    item.count = 1
    item.count = 3
    let line = #line + 2
    let report = try issue {
      changes.expect([.setting(from: 0, to: 1), .setting(from: 1, to: 2)])
    }
    expectEqual(report?.line, line)
    expectEqual(
      report?.text,
      """
      "count" of Item, change 2: expected new value 2, found 3
        expected: setting from 0 to 1; setting from 1 to 2
        found:    setting from 0 to 1; setting from 1 to 3
      """)
  }

  @Test(
    "S2: each difference is described",
    arguments: [
      ([.setting(from: ["x"])], "change 1: expected kind setting, found insertion"),
      ([.insertion(of: ["x"])], #"change 1: expected new value ["x"], found ["a"]"#),
      ([.insertion(at: RangeSet(1..<3))], "change 1: expected indexes 1..<3, found 0"),
      ([.insertion().prior], "change 1: expected one before the change"),
      (
        [],
        #"expected 0 changes, found 1; the first that was not expected is insertion to ["a"] at 0"#
      ),
      (
        [.insertion(), .removal(of: ["a"])],
        #"expected 2 changes, found 1; the first that is missing is removal from ["a"]"#
      ),
    ] as [([ExpectedChange<[String]>], String)])
  func differences(expected: [ExpectedChange<[String]>], text: String) throws {
    let changes = item.recordChanges(of: \.tags)
    item.mutableArray(\.tags).append("a")
    let report = try issue { changes.expect(expected) }?.text
    expectEqual(
      report?.split(separator: "\n").first.map { String($0) }, "\"tags\" of Item, \(text)")
  }

  @Test("S2: an old value that the options don't ask for is described as absent")
  func notAskedFor() throws {
    let changes = item.recordChanges(of: \.count, options: .new)
    item.count = 1
    let report = try issue { changes.expect([.setting(from: 0)]) }?.text
    expectEqual(
      report?.contains("expected old value 0, found none, which the options do not ask for"), true
    )
  }

  @Test("S2: by string, with nil; another type is an issue where the recorder was made")
  func byString() throws {
    let changes = try item.recordChanges(ofKeyPath: "name", as: String?.self)
    item.name = "a"
    item.name = nil
    changes.expect([.setting(from: .some(nil), to: "a"), .setting(from: "a", to: .some(nil))])
    let line = #line + 2
    let report = try issue {
      let wrong = try item.recordChanges(ofKeyPath: "count", as: String.self, options: .new)
      item.count = 1
      expectEqual(wrong.newValues, [])
    }
    expect(report?.line == line && report?.text == "\"count\" of Item reported 1, not String")
    #expect(throws: KeyValueError.self) {
      try item.recordChanges(ofKeyPath: "nme", as: String.self)
    }
  }

  @Test("S2: a recorder retains no object, and ends with itself")
  func lifetime() {
    weak var seen: Item?
    let changes: ChangeRecorder<Int>
    do {
      let item = Item()
      seen = item
      changes = item.recordChanges(of: \.count)
      item.count = 1
    }
    expect(seen == nil && changes.newValues == [1])
    do { _ = item.recordChanges(of: \.count) }
    expect(!item.isObserved(forKey: "count"))
  }

  @Test("S2: a task that waits before the change is woken by it")
  @MainActor func woken() async throws {
    let (item, clock) = (Item(), HandClock())
    let changes = item.recordChanges(of: \.count)
    // Runs only once this test waits. If the change does not wake it, the timeout does.
    Task { @MainActor in
      await clock.sleeping(1)
      item.count = 1
      clock.advance(by: .seconds(10))
    }
    try await clock.keepTime { try await changes.waitForChanges(1) }
    expectEqual(changes.newValues, [1])
  }

  @Test("S2: it waits for that many changes, from any threads, or a timeout")
  func waiting() async throws {
    let changes = item.recordChanges(of: \.count)
    let item = item
    Task.detached { onThreads(4) { _ in for _ in 0..<25 { item.withChange(of: \.count) {} } } }
    try await changes.waitForChanges(100)
    expectEqual(changes.take().count, 100)
    let error = await #expect(throws: ChangeTimeout.self) {
      try await withoutPatience { try await changes.waitForChanges(2) }
    }
    expect(
      error?.lastSeen == "0 of 2" && error?.subject == "The number of changes of \"count\" of Item")
  }
}
