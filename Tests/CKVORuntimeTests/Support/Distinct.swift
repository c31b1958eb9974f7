import CFixtures
import CKVORuntime
import TestSupport

/// Where a change of `value` reaches an observer of distinct changes: as the only observer, as one of several, or
/// along a path.
enum DistinctWay: CaseIterable {
  case alone, amongOthers, path

  var key: String { self == .path ? "next.value" : "value" }

  /// The other observer records nothing, because it is called on every thread that changes the object.
  func observe(
    _ object: Disturbed, _ log: Recorder, _ more: kvo_options = [],
    reaction: ((Call) -> Void)? = nil
  ) -> Disturbed {
    let root = make(disturbed.self)
    disturbed_setNext(root, object)
    log.observe(
      self == .path ? root.object : object.object, key,
      more.union([.KVO_NEW, .KVO_DISTINCT]), reaction: reaction)
    if self == .amongOthers {
      let outcome = attempt {
        kvo_add_callback(
          object.object, "value", .KVO_PRIOR, { _, _, _, _ in }, nil, nil, nil, $0)
      }
      precondition(outcome.status == .KVO_OK)
    }
    return root
  }
}

/// Runs `body` on the process's first thread, then on another one.
func onFirstThreadAndAnother(_ body: @escaping () -> Void) {
  body()
  onAnotherThread(body)
}

/// Runs `body` on a thread other than the process's first, and waits.
func onAnotherThread(_ body: @escaping () -> Void) {
  let shared = Shared(body)
  onThreads(1) { _ in shared.value() }
}
