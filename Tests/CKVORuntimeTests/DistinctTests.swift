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
}
