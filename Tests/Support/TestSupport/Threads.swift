import CFixtures
import Glibc

/// A value that threads share deliberately, where the test ensures that this is safe.
package struct Shared<Wrapped>: @unchecked Sendable {
  package let value: Wrapped
  package init(_ value: Wrapped) { self.value = value }
}

/// Runs `body(0)` … `body(count - 1)` on new threads, which start together, and waits for all.
package func onThreads(
  _ count: Int, file: StaticString = #fileID, line: Int32 = #line,
  _ body: @escaping @Sendable (Int) -> Void
) {
  let box = ThreadBody(body)
  withExtendedLifetime(box) {
    fixture_run_threads_at(
      file.name, line, Int32(count),
      { context, index in
        Unmanaged<ThreadBody>.fromOpaque(context!).takeUnretainedValue().run(Int(index))
      },
      Unmanaged.passUnretained(box).toOpaque())
  }
}

/// Waits until a C counter has been raised to `least`.
package func awaitTurn(
  _ turn: UnsafePointer<Int32>, _ least: Int32, file: StaticString = #fileID, line: Int32 = #line
) {
  fixture_await_at(file.name, line, turn, least)
}

/// Waits until the condition holds, which another thread brings about.
package func waitUntil(
  file: StaticString = #fileID, line: Int32 = #line, _ condition: () -> Bool
) {
  let wait = fixture_wait_begin(file.name, line)
  var turn: UInt32 = 0
  while !condition() {
    fixture_poll(turn)
    turn += 1
  }
  fixture_wait_end(wait)
}

/// Waits until the condition holds, which another task brings about.
package func yieldUntil(
  file: StaticString = #fileID, line: Int32 = #line, isolation: isolated (any Actor)? = #isolation,
  _ condition: () -> Bool
) async {
  let wait = fixture_wait_begin_for_task(file.name, line)
  var turn: UInt32 = 0
  while !condition() {
    let pause = fixture_pause(turn)
    if pause == 0 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(pause)) }
    turn += 1
  }
  fixture_wait_end(wait)
}

extension StaticString {
  /// For the watchdog: a static string has a fixed address.
  var name: UnsafePointer<CChar> {
    UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

/// Passes the test's scope to the threads.
private final class ThreadBody: Sendable {
  private let body: @Sendable (Int) -> Void
  private let scope = Lifetimes.current

  init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }

  func run(_ index: Int) {
    Lifetimes.$current.withValue(scope) { body(index) }
  }
}
