import CFixtures
import Glibc

/// The only limit of time in tests, which decides no result: a wait that lasts longer than `KVO_PATIENCE` seconds, or
/// than five minutes, aborts the process and is named on stderr. One for a task counts from the last progress of any.
package enum Watchdog {
  /// In seconds, for limits that others keep.
  package static var patience: Int {
    let patience = Int(fixture_patience())
    return patience > 0 ? patience : .max / 1_000_000_000
  }

  /// Runs what may hang.
  package static func watch<R>(
    file: StaticString = #fileID, line: Int32 = #line, _ body: () throws -> R
  ) rethrows -> R {
    let wait = fixture_wait_begin(file.name, line)
    defer { fixture_wait_end(wait) }
    return try body()
  }

  /// Runs what may wait.
  package static func watch<R>(
    _ place: String, line: Int, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> R
  ) async rethrows -> R {
    let name = strdup(place)!
    let wait = fixture_wait_begin_for_task(name, Int32(line))
    defer {
      fixture_wait_end(wait)
      free(name)
    }
    return try await body()
  }
}
