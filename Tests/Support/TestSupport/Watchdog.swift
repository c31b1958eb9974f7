import CFixtures
import Glibc

/// The only time limit in tests, which decides no result. A wait longer than `KVO_PATIENCE` seconds, or five minutes,
/// aborts the process and is named on stderr. A wait for a task counts from the last progress of any.
package enum Watchdog {
  /// The limit in seconds, for limits that other code enforces.
  package static var patience: Int {
    let patience = Int(fixture_patience())
    return patience > 0 ? patience : .max / 1_000_000_000
  }

  /// Runs a body that may hang.
  package static func watch<R>(
    file: StaticString = #fileID, line: Int32 = #line, _ body: () throws -> R
  ) rethrows -> R {
    let wait = fixture_wait_begin(file.name, line)
    defer { fixture_wait_end(wait) }
    return try body()
  }

  /// Runs a body that may wait.
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
