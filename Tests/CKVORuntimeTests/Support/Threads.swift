import CFixtures
import Glibc

/// Something that threads share on purpose: its author has seen to it that they may.
struct Shared<Wrapped>: @unchecked Sendable {
  let value: Wrapped
  init(_ value: Wrapped) { self.value = value }
}

/// Runs `body(0)` … `body(count - 1)` on threads of their own, which begin together, and waits.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
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

private final class ThreadBody: Sendable {
  let run: @Sendable (Int) -> Void
  init(_ run: @escaping @Sendable (Int) -> Void) { self.run = run }
}

/// A value behind a lock that the thread sanitizer knows, unlike the standard library's.
final class Locked<Value>: @unchecked Sendable {
  private var value: Value
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init(_ value: Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<R>(_ body: (inout Value) -> R) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
