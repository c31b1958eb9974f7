import CFixtures

/// Something that threads share on purpose: its author has seen to it that they may.
package struct Shared<Wrapped>: @unchecked Sendable {
  package let value: Wrapped
  package init(_ value: Wrapped) { self.value = value }
}

/// Runs `body(0)` … `body(count - 1)` on threads of their own, which begin together, and waits.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let box = ThreadBody(body)
  withExtendedLifetime(box) {
    fixture_run_threads(
      Int32(count),
      { context, index in
        Unmanaged<ThreadBody>.fromOpaque(context!).takeUnretainedValue().run(Int(index))
      },
      Unmanaged.passUnretained(box).toOpaque())
  }
}

/// Carries the test's scope to the threads.
private final class ThreadBody: Sendable {
  private let body: @Sendable (Int) -> Void
  private let scope = Lifetimes.current

  init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }

  func run(_ index: Int) {
    Lifetimes.$current.withValue(scope) { body(index) }
  }
}
