import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// D3, I3 and I5: which changes `distinct` may drop where changes of several threads overlap.
@Suite(.serialized, .recording) struct DistinctThreadTests {
  /// Runs each step on its thread, one after another.
  private func inTurns(_ steps: [(thread: Int, body: () -> Void)]) {
    let turn = Shared(UnsafeMutablePointer<Int32>.allocate(capacity: 1))
    turn.value.pointee = 0
    defer { turn.value.deallocate() }
    let shared = Shared(steps)
    onThreads((steps.map(\.thread).max() ?? 0) + 1) { thread in
      for (index, step) in shared.value.enumerated() where step.thread == thread {
        awaitTurn(turn.value, Int32(index))
        step.body()
        fixture_raise(turn.value)
      }
    }
  }

  @Test(
    "D3 I3: distinct drops no value that several changes let an observer see",
    arguments: DistinctWay.allCases)
  func foundInPassing(_ way: DistinctWay) {
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
    expectEqual(
      log.take(), ["a: \(way.key) new 1", "a: \(way.key) new 2", "a: \(way.key) new 2"])
    log.end()
    releaseAll([root, object])
  }

  @Test(
    "D3 F2: distinct drops no value seen on a path that has moved since",
    arguments: [1, 2], [false, true])
  func moved(_ threads: Int, _ isDerived: Bool) {
    let root = Disturbed.ofFreshClass()
    let objects = [make(disturbed.self), make(disturbed.self)]
    if isDerived {
      kvo_class_add_dependency(kvo_class_of(root.object), "value", "next.value", nil)
    }
    disturbed_setValue(objects[0], 1)
    disturbed_setValue(objects[1], 2)
    disturbed_setNext(root, objects[0])
    let log = Recorder()
    let path = isDerived ? "value" : "next.value"
    log.observe(root.object, path, [.KVO_NEW, .KVO_DISTINCT])
    let store = {
      for object in [root, objects[0]] { object.pointee.value = 2 }
    }
    root.pointee.value = 1
    inTurns([
      (
        threads - 1,
        {
          kvo_will_change(objects[0].object, "value")
          store()
        }
      ),
      (0, { disturbed_setNext(root, objects[1]) }),
      (threads - 1, { kvo_did_change(objects[0].object, "value") }),
      (0, { disturbed_setValue(objects[1], 2) }),
    ])
    expectEqual(log.take(), ["a: \(path) new 2"])
    log.end()
    releaseAll([root] + objects)
  }

  @Test(
    "I5 D3: what a handler of distinct changes reads itself is the final value",
    arguments: DistinctWay.allCases)
  func readInPassing(_ way: DistinctWay) {
    let object = make(disturbed.self)
    let log = Recorder()
    let passage = Passage()
    var shown = -1
    let root = way.observe(object, log) { _ in passage.read { shown = disturbed_value(object) } }
    passage.run {
      disturbed_setValue(object, 5)
    } meanwhile: {
      kvo_will_change(object.object, "value")
      object.pointee.value = 7
    } afterwards: {
      object.pointee.value = 5
      kvo_did_change(object.object, "value")
    }
    expectEqual(shown, 5)
    log.end()
    releaseAll([root, object])
  }

  @Test(
    "I5 D3: keys of one token are one observer, which may read all of them when notified of one",
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
    expectEqual(outcome.status, .KVO_OK)
    sight.passage.run {
      disturbed_setValue(object, 7)
    } meanwhile: {
      kvo_will_change(object.object, "other")
      object.pointee.other = 2
    } afterwards: {
      object.pointee.other = 0
      kvo_did_change(object.object, "other")
    }
    expectEqual(sight.shown, [7, 0])
    kvo_handle_release(handle)
    log.end()
    object.release()
  }

  @Test(
    "D3: another thread's delivery at the time of a fork has ended in the child",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func fork() {
    let object = make(disturbed.self)
    let log = Recorder()
    let passage = Passage()
    log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT]) { _ in passage.read {} }
    passage.run {
      disturbed_setValue(object, 5)
    } meanwhile: {
      inChild = (object, log)
      let status = fixture_fork(
        { _ in
          let (object, log) = inChild!
          _ = log.take()
          disturbed_setValue(object, 5)
          return log.take() == []
        }, nil)
      inChild = nil
      expectEqual(status, 0)
    }
    log.end()
    object.release()
  }
}

/// Global, because the code of a forked child captures nothing.
nonisolated(unsafe) private var inChild: (Disturbed, Recorder)?
