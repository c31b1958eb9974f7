import CFixtures
import CKVORuntime
import TestSupport

/// How a change of `value` is told to an observer of distinct changes: to it alone, to it among
/// others, along a path.
enum DistinctWay: CaseIterable {
  case alone, amongOthers, path

  var key: String { self == .path ? "next.value" : "value" }

  /// The other one writes nothing down: it is called on every thread that changes the object.
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

/// An access that is suspended: a change of one property, which ends by itself.
struct SuspendedAccess {
  private let frame: OpaquePointer

  init(_ object: Disturbed, _ key: String) {
    frame = kvo_uniform_will_key(object, kvo_key_intern(key)!)!
  }

  func end() { kvo_uniform_did(frame) }
}

/// Runs `body` on the first thread of the process and on one that is not.
func onFirstThreadAndAnother(_ body: @escaping () -> Void) {
  body()
  onAnotherThread(body)
}

/// Runs `body` on a thread that is not the first of the process, and waits.
func onAnotherThread(_ body: @escaping () -> Void) {
  let shared = Shared(body)
  onThreads(1) { _ in shared.value() }
}

/// An observer's first call, and what another thread does meanwhile before the observer reads.
final class Passage {
  /// Later calls just read.
  var isOver = false
  private let turn = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

  init() { turn.initialize(to: 0) }
  deinit { turn.deallocate() }

  /// In the observer.
  func read(_ body: () -> Void) {
    guard !isOver else { return body() }
    isOver = true
    fixture_raise(turn)
    awaitTurn(turn, 2)
    body()
    fixture_raise(turn)
  }

  /// `tell` on one thread, which has the observer called; the others on another.
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

/// An observer of `value` and `other`, which reads both whenever it is told of either.
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
