import CFixtures
import CKVORuntime
import TestSupport
import Testing

/// D3, I3 and I5: what is kept from an observer that asks for distinct changes, where changes overlap.
@Suite(.serialized, .recording) struct DistinctTests {
  /// How the change is told: to one observer, to one among several, along a path.
  enum Way: CaseIterable {
    case alone, amongOthers, path

    func observe(
      _ object: Disturbed, _ log: Recorder, reaction: ((Call) -> Void)? = nil
    ) -> Disturbed {
      let root = make(disturbed.self)
      disturbed_setNext(root, object)
      let (observed, key) = self == .path ? (root.object, "next.value") : (object.object, "value")
      log.observe(observed, key, [.KVO_NEW, .KVO_DISTINCT], reaction: reaction)
      if self == .amongOthers { log.observe(object.object, "value", .KVO_PRIOR, as: "b") }
      return root
    }
  }

  /// Each step on its thread, one after another.
  private func inTurns(_ steps: [(thread: Int, body: () -> Void)]) {
    let turn = Shared(UnsafeMutablePointer<Int32>.allocate(capacity: 1))
    turn.value.pointee = 0
    defer { turn.value.deallocate() }
    let shared = Shared(steps)
    onThreads((steps.map(\.thread).max() ?? 0) + 1) { thread in
      for (index, step) in shared.value.enumerated() where step.thread == thread {
        fixture_await(turn.value, Int32(index))
        step.body()
        fixture_raise(turn.value)
      }
    }
  }

  @Test(
    "D3 I3: distinct hides nothing that several changes have found in passing",
    arguments: Way.allCases)
  func foundInPassing(_ way: Way) {
    let object = make(disturbed.self)
    let log = Recorder()
    disturbed_setValue(object, 1)
    let root = way.observe(object, log)
    let will = { kvo_will_change(object.object, "value") }
    let did = { kvo_did_change(object.object, "value") }
    inTurns([
      (
        0,
        {
          will()
          object.pointee.value = 2
        }
      ),
      (1, will),
      (
        2,
        {
          will()
          object.pointee.value = 1
        }
      ),
      (0, did),
      (1, { object.pointee.value = 2 }),
      (2, did),
      (1, did),
    ])
    let key = way == .path ? "next.value" : "value"
    #expect(
      log.take().filter { $0.hasPrefix("a") }
        == ["a: \(key) new 1", "a: \(key) new 2", "a: \(key) new 2"])
    log.end()
    releaseAll([root, object])
  }

  @Test(
    "I5 D3: what a handler of distinct changes reads itself is in the end what there is",
    arguments: Way.allCases)
  func readInPassing(_ way: Way) {
    let object = make(disturbed.self)
    let log = Recorder()
    let turn = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    turn.pointee = 0
    var shown = -1
    var isFirst = true
    let root = way.observe(object, log) { _ in
      let isFirstCall = isFirst
      isFirst = false
      if isFirstCall {
        fixture_raise(turn)
        fixture_await(turn, 2)
      }
      shown = disturbed_value(object)
      if isFirstCall { fixture_raise(turn) }
    }
    let shared = Shared((object, turn))
    onThreads(2) { thread in
      let (object, turn) = shared.value
      guard thread == 1 else { return disturbed_setValue(object, 5) }
      fixture_await(turn, 1)
      kvo_will_change(object.object, "value")
      object.pointee.value = 7
      fixture_raise(turn)
      fixture_await(turn, 3)
      object.pointee.value = 5
      kvo_did_change(object.object, "value")
    }
    #expect(shown == 5)
    log.end()
    turn.deallocate()
    releaseAll([root, object])
  }

  @Test("D3: a change in which another was passed over is passed over too", arguments: Way.allCases)
  func passedOverWithin(_ way: Way) {
    let object = make(disturbed.self)
    let log = Recorder()
    let root = way.observe(object, log)
    let bracketed = Shared { (body: () -> Void) in
      kvo_will_change(object.object, "value")
      body()
      kvo_did_change(object.object, "value")
    }
    let body = Shared {
      bracketed.value { bracketed.value { bracketed.value {} } }
      bracketed.value {
        disturbed_setValue(object, 1)
        disturbed_setValue(object, 0)
      }
    }
    body.value()
    onThreads(1) { _ in body.value() }  // not the first of the process
    let key = way == .path ? "next.value" : "value"
    #expect(
      log.take().filter { $0.hasPrefix("a") }
        == [1, 0, 0, 1, 0, 0].map { "a: \(key) new \($0)" })
    log.end()
    releaseAll([root, object])
  }

  @Test(
    "D3 D7: what an observer of distinct changes sets to what it is already is told to nobody",
    arguments: Way.allCases)
  func setsItself(_ way: Way) {
    let object = make(disturbed.self)
    let log = Recorder()
    let root = way.observe(object, log) { _ in
      disturbed_setValue(object, min(disturbed_value(object) + 1, 3))
    }
    let shared = Shared(object)
    onThreads(1) { _ in disturbed_setValue(shared.value, 1) }  // not the first of the process
    let key = way == .path ? "next.value" : "value"
    #expect(
      log.take().filter { $0.hasPrefix("a") } == (1...3).map { "a: \(key) new \($0)" })
    log.end()
    releaseAll([root, object])
  }

  @Test("D3: what a thread is telling counts once, also by a pair that ends in its own prior call")
  func pairInItsOwnPrior() {
    let object = make(disturbed.self)
    let log = Recorder()
    let shared = Shared((object, log))
    onThreads(1) { _ in  // not the first of the process
      let (object, log) = shared.value
      var priors = 0
      var finals = 0
      log.observe(object.object, "value", .KVO_PRIOR, as: "p") { call in
        priors += 1
        guard priors == 1 else { return }
        object.pointee.value = 1
        kvo_did_change(object.object, "value")
      }
      log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT]) { _ in
        finals += 1
        if finals < 50 { disturbed_setValue(object, object.pointee.value) }
      }
      kvo_will_change(object.object, "value")
    }
    #expect(log.take().filter { $0.hasPrefix("a") } == ["a: value new 1"])
    log.end()
    object.release()
  }

  @Test(
    "I5 D3: keys of one token are one observer, who may read all of them when told of one",
    arguments: [false, true])
  func keysOfOneToken(_ isAmongOthers: Bool) {
    let object = make(disturbed.self)
    let log = Recorder()
    if isAmongOthers { log.observe(object.object, "other", as: "b") }
    let sight = Sight(object)
    var handle: OpaquePointer?
    let outcome = attempt { error in
      withUnsafeMutablePointer(to: &handle) { handle in
        withKeys(["value", "other"]) {
          kvo_add_callback_for_keys(
            object.object, $0, 2, [.KVO_NEW, .KVO_DISTINCT], Sight.look,
            Unmanaged.passUnretained(sight).toOpaque(), 0, nil, handle, error)
        }
      }
    }
    #expect(outcome.status == .KVO_OK)
    let shared = Shared(sight)
    onThreads(2) { thread in
      let sight = shared.value
      if thread == 0 {
        disturbed_setValue(sight.object, 7)
      } else {
        fixture_await(sight.turn, 1)
        kvo_will_change(sight.object.object, "other")
        sight.object.pointee.other = 2
        fixture_raise(sight.turn)
        fixture_await(sight.turn, 3)
        sight.object.pointee.other = 0
        kvo_did_change(sight.object.object, "other")
      }
    }
    #expect(sight.shown == [7, 0])
    kvo_handle_release(handle)
    log.end()
    object.release()
  }

  @Test(
    "D3: keys of one token that one change affects are told of it once each, and only if it is one")
  func keysOfOneChange() {
    let object = Disturbed.ofFreshClass()
    kvo_class_add_dependency(kvo_class_of(object.object), "next", "other", nil)
    let sight = Sight(object)
    sight.turn.pointee = 9
    var handle: OpaquePointer?
    _ = attempt { error in
      withUnsafeMutablePointer(to: &handle) { handle in
        withKeys(["value", "other", "next"]) {
          kvo_add_callback_for_keys(
            object.object, $0, 3, [.KVO_NEW, .KVO_DISTINCT], Sight.look,
            Unmanaged.passUnretained(sight).toOpaque(), 0, nil, handle, error)
        }
      }
    }
    disturbed_setOther(object, 0)
    #expect(sight.shown == [])
    disturbed_setOther(object, 2)
    #expect(sight.shown == [0, 2])
    kvo_handle_release(handle)
    object.release()
  }

  @Test(
    "D3: what another thread was telling when a process forked has ended in the child",
    .enabled(if: fixture_can_fork()))
  func fork() {
    let object = make(disturbed.self)
    let log = Recorder()
    let turn = Shared(UnsafeMutablePointer<Int32>.allocate(capacity: 1))
    turn.value.initialize(to: 0)
    log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT]) { _ in
      guard turn.value.pointee == 0 else { return }
      fixture_raise(turn.value)
      fixture_await(turn.value, 2)
    }
    let shared = Shared((object, log))
    onThreads(2) { thread in
      let (object, _) = shared.value
      if thread == 0 {
        disturbed_setValue(object, 5)
      } else {
        fixture_await(turn.value, 1)
        inChild = shared.value
        let status = fixture_fork(
          { _ in
            let (object, log) = inChild!
            _ = log.take()
            disturbed_setValue(object, 5)
            return log.take() == []
          }, nil)
        inChild = nil
        #expect(status == 0)
        fixture_raise(turn.value)
      }
    }
    log.end()
    turn.value.deallocate()
    object.release()
  }
}

/// For what a forked child does, which captures nothing.
nonisolated(unsafe) private var inChild: (Disturbed, Recorder)?

/// An observer of `value` and `other`, who reads both whenever he is told of either: the first time when
/// another thread has come so far, and has changed one in passing.
private final class Sight {
  let object: Disturbed
  let turn = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
  private(set) var shown: [Int] = []

  init(_ object: Disturbed) {
    self.object = object
    turn.initialize(to: 0)
  }

  deinit { turn.deallocate() }

  static let look: kvo_callback = { context, _, _, _ in
    let sight = Unmanaged<Sight>.fromOpaque(context!).takeUnretainedValue()
    let isFirst = sight.turn.pointee == 0
    if isFirst {
      fixture_raise(sight.turn)
      fixture_await(sight.turn, 2)
    }
    sight.shown = [sight.object.pointee.value, sight.object.pointee.other]
    if isFirst { fixture_raise(sight.turn) }
  }
}
