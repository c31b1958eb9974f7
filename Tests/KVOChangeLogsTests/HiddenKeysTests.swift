import Expectations
import KVOChangeLogs
import KVORuntime
import TestScopes
import Testing

@Suite(.leakFree) struct HiddenKeysTests {
  @Test("Q2 N1: a change log records hidden properties, and undoes their changes")
  func hidden() throws {
    let object = LoggedBelow()
    let changes = try object.changes()
    object.set(5)
    object.setOwn(6)
    expectEqual(try changes.records().map { $0.newValue as? Int }, [5])
    try changes.undo()
    expectEqual([object.get(), try object.value(forKey: "count") as? Int], [1, 6])
  }
}

@KVO private class Logged: KVOObject {
  private var count = 1
  func set(_ count: Int) { self.count = count }
  func get() -> Int { count }
  func changes() throws -> ChangeLog {
    try ChangeLog(of: self, recording: .keys(of: Logged.self, \.count))
  }
}

@KVO private final class LoggedBelow: Logged {
  private var count = 2
  func setOwn(_ count: Int) { self.count = count }
}
