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
    _ object: Disturbed, _ log: Recorder, reaction: ((Call) -> Void)? = nil
  ) -> Disturbed {
    let root = make(disturbed.self)
    disturbed_setNext(root, object)
    log.observe(
      self == .path ? root.object : object.object, key, [.KVO_NEW, .KVO_DISTINCT],
      reaction: reaction)
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

/// A suspended access: a change of one property that ends on its own, in any order.
struct SuspendedAccess {
  private let frame: OpaquePointer

  init(_ object: Disturbed, _ key: String) {
    frame = kvo_uniform_will_key(object, kvo_key_intern(key)!)!
  }

  func end() { kvo_uniform_did(frame) }
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

/// Pauses an observer's first call before it reads, while another thread does something.
final class Passage {
  /// After the first call, `read` no longer pauses.
  var isOver = false
  private let turn = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

  init() { turn.initialize(to: 0) }
  deinit { turn.deallocate() }

  /// Called by the observer.
  func read(_ body: () -> Void) {
    guard !isOver else { return body() }
    isOver = true
    fixture_raise(turn)
    awaitTurn(turn, 2)
    body()
    fixture_raise(turn)
  }

  /// Runs `tell`, which must call the observer, on one thread, and the other two closures on another.
  func run(
    tell: @escaping () -> Void, meanwhile: @escaping () -> Void,
    afterwards: @escaping () -> Void = {}
  ) {
    let shared = Shared((turn, tell, meanwhile, afterwards))
    onThreads(2) { thread in
      let (turn, tell, meanwhile, afterwards) = shared.value
      guard thread == 1 else { return tell() }
      awaitTurn(turn, 1)
      meanwhile()
      fixture_raise(turn)
      awaitTurn(turn, 3)
      afterwards()
    }
  }
}

/// An observer of `value` and `other` that reads both whenever one of them changes.
final class Sight {
  let object: Disturbed
  let passage = Passage()
  private(set) var shown: [Int] = []

  init(_ object: Disturbed) { self.object = object }

  static let look: kvo_callback = { context, _, _, _ in
    let sight = Unmanaged<Sight>.fromOpaque(context!).takeUnretainedValue()
    sight.passage.read { sight.shown = [sight.object.pointee.value, sight.object.pointee.other] }
  }
}
