import Expectations
import KVORuntime
import KVOTesting
import Testing
import XCTest

/// KVOTesting, spelled as in user code.
@Suite struct TestingContractTests {
  private final class Lamp: KVOObject, @unchecked Sendable {
    @Observed var level = 0
    @Observed var tags: [String] = []
  }

  private let lamp = Lamp()

  @Test func waiting() async throws {
    expectEqual(try await lamp.next(\.level, where: { $0 == 0 }, timeout: .seconds(5)), 0)
    expectEqual(try await lamp.next(keyPath: "level", as: Int.self, where: { $0 == 0 }), 0)
    do {
      // No further value comes, however long this waits.
      _ = try await lamp.next(\.level, timeout: .milliseconds(1))
      Issue.record("a change came that was not made")
    } catch let error as ChangeTimeout {
      expect(error.lastSeen == nil && error.timeout == .milliseconds(1))
      expect(error.subject.contains("level") && error.sourceLocation.line > 1)
      expect(error.description.contains(error.subject))
    }
  }

  @Test func recording() async throws {
    let changes: ChangeRecorder<Int> = lamp.recordChanges(of: \.level)
    lamp.level = 1
    try await changes.waitForChanges(1)
    expect(changes.count == 1 && changes.changes.count == 1)
    expect(changes.newValues == [1] && changes.oldValues == [0])
    let expected: [ExpectedChange<Int>] = [.setting(from: 0, to: 1)]
    expectEqual(expected[0].description, "setting from 0 to 1")
    changes.expect(expected)
    changes.expect(newValues: [])
    changes.expectNone()
    expect(changes.take().isEmpty)
    changes.stop()
    let named = try lamp.recordChanges(
      ofKeyPath: "tags", as: [String].self, options: [.prior, .old])
    lamp.mutableArray(\.tags).append("a")
    lamp.mutableArray(\.tags)[0] = "b"
    lamp.mutableArray(\.tags).remove(at: 0)
    named.expect([
      .insertion().prior, .insertion(), .replacement().prior, .replacement(), .removal().prior,
      .removal(),
    ])
  }

  @Test func bodies() async {
    lamp.expectChange(of: \.level, from: 0, to: 1) { lamp.level = 1 }
    lamp.expectChanges(of: \.level, [.setting(to: 2)]) { lamp.level = 2 }
    lamp.expectNoChange(of: \.level) {}
    await lamp.expectChange(of: \.level) {
      await Task.yield()
      lamp.level = 3
    }
    await lamp.expectChanges(of: \.level, []) { await Task.yield() }
  }

  @Test func expectations() throws {
    final class Case: XCTestCase, @unchecked Sendable {}
    let value = try XCTKVOExpectation(keyPath: "level", object: lamp, expectedValue: 0)
    expect(value.keyPath == "level" && value.expectedValue as? Int == 0)
    let handler: XCTKVOExpectation.Handler = { _, change in change[.newKey] as? Int == 5 }
    let handled = try XCTKVOExpectation(keyPath: "level", object: lamp, handler: handler)
    let test = Case(name: "case") { _ in }
    let all = [
      value, handled,
      try test.keyValueObservingExpectation(for: lamp, keyPath: "level", expectedValue: 5),
      try test.keyValueObservingExpectation(for: lamp, keyPath: "level", handler: handler),
    ]
    lamp.level = 5
    expectEqual(XCTWaiter.wait(for: all, timeout: 0), .completed)
  }
}
