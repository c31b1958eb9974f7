import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// D3: which changes `distinct` may drop where changes of one thread overlap.
@Suite(.serialized, .recording) struct DistinctTests {
  @Test("D3: NaN over NaN is not a distinct change; a set gains and loses it once (H4)")
  func notANumber() {
    let object = make(account.self)
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_NEW, .KVO_DISTINCT])
    for balance in [Double.nan, -.nan, 1, .nan] { account_setBalance(object, balance) }
    expectEqual(
      log.take(), ["a: balance new nan", "a: balance new 1.0", "a: balance new nan"])
    log.end()
    object.release()
  }

  @Test(
    "D3: distinct drops no value that crossing changes of one thread let an observer see",
    arguments: DistinctWay.allCases)
  func crossing(_ way: DistinctWay) {
    let object = make(disturbed.self)
    let log = Recorder()
    disturbed_setValue(object, 1)
    let root = way.observe(object, log)
    onFirstThreadAndAnother {
      kvo_will_change(object.object, "value")
      object.pointee.value = 2
      let access = SuspendedAccess(object, "value")
      object.pointee.value = 1
      kvo_did_change(object.object, "value")
      object.pointee.value = 2
      access.end()
      disturbed_setValue(object, 2)
      disturbed_setValue(object, 1)
    }
    expectEqual(
      log.take(), [1, 2, 1, 1, 2, 1].map { "a: \(way.key) new \($0)" })
    log.end()
    releaseAll([root, object])
  }

  @Test("D3 F1: distinct drops no value that crossing changes of several keys let an observer see")
  func crossingKeys() {
    let object = Disturbed.ofFreshClass()
    kvo_class_add_dependency(kvo_class_of(object.object), "value", "other", nil)
    let log = Recorder()
    log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT])
    kvo_will_change(object.object, "other")
    object.pointee.value = 2
    kvo_will_change(object.object, "value")
    object.pointee.value = 0
    kvo_did_change(object.object, "other")
    object.pointee.value = 2
    kvo_did_change(object.object, "value")
    expectEqual(log.take(), ["a: value new 0", "a: value new 2"])
    log.end()
    object.release()
  }

  @Test("D3 D6: nor one seen in a derived key's change inside which another's ends")
  func endsInDerived() {
    let object = Disturbed.ofFreshClass()
    kvo_class_add_dependency(kvo_class_of(object.object), "value", "other", nil)
    let log = Recorder()
    log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT])
    kvo_will_change(object.object, "other")
    object.pointee.value = 2
    let access = SuspendedAccess(object, "value")
    kvo_did_change(object.object, "other")
    access.end()
    expectEqual(log.take(), ["a: value new 2"])
    log.end()
    object.release()
  }

  @Test("D3 D7: nor one read from a change that begins and ends during deliveries")
  func withinTelling() {
    let object = make(disturbed.self)
    let log = Recorder()
    var access: SuspendedAccess?
    var shown = 0
    log.observe(object.object, "value", as: "b") { _ in
      guard shown == 0 else { return }
      access = SuspendedAccess(object, "value")
      object.pointee.value = 7
    }
    log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT]) { _ in
      shown = object.pointee.value
      guard shown == 7 else { return }
      object.pointee.value = 5
      access?.end()
    }
    disturbed_setValue(object, 5)
    expectEqual(shown, 5)
    log.end()
    object.release()
  }

  @Test(
    "D3 D7: nor one stored during a delivery that goes on after the change",
    arguments: [false, true])
  func outlivesTelling(_ isFirstThread: Bool) {
    let object = make(disturbed.self)
    let log = Recorder()
    let body = {
      var access: SuspendedAccess?
      var shown = 0
      log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT]) { _ in
        if access == nil {
          access = SuspendedAccess(object, "value")
          object.pointee.value = 7
        }
        shown = object.pointee.value
      }
      disturbed_setValue(object, 5)
      expectEqual(shown, 7)
      object.pointee.value = 5
      access?.end()
      expectEqual(shown, 5)
    }
    if isFirstThread { body() } else { onAnotherThread(body) }
    log.end()
    object.release()
  }

  @Test("D3 F2: a value delivered when a path moves is not delivered again by the change it left")
  func movedAndTold() {
    let root = make(disturbed.self)
    let objects = [make(disturbed.self), make(disturbed.self)]
    disturbed_setNext(root, objects[0])
    disturbed_setValue(objects[1], 3)
    let log = Recorder()
    log.observe(root.object, "next.value", [.KVO_NEW, .KVO_DISTINCT])
    kvo_will_change(objects[0].object, "value")
    objects[0].pointee.value = 2
    disturbed_setNext(root, objects[1])
    kvo_did_change(objects[0].object, "value")
    expectEqual(log.take(), ["a: next.value new 3"])
    log.end()
    releaseAll([root] + objects)
  }

  @Test(
    "D3: however changes nest and cross on a thread, distinct has delivered the final value",
    arguments: [0, 1, 2, 3], [false, true])
  func tangle(_ way: UInt32, _ isFirstThread: Bool) {
    let run = {
      let way = tangle_way(rawValue: way)!
      for seed in 0..<300 as Range<UInt64> {
        let untold = tangle_find_untold(way, seed, 100).map { String(cString: $0) }
        expect(untold == nil, "seed \(seed)")
        if untold != nil { break }
      }
    }
    if isFirstThread { run() } else { onAnotherThread(run) }
  }

  @Test(
    "D3: a change in which another was dropped is dropped too",
    arguments: DistinctWay.allCases)
  func passedOverWithin(_ way: DistinctWay) {
    let object = make(disturbed.self)
    let log = Recorder()
    let root = way.observe(object, log)
    let bracketed = { (body: () -> Void) in
      kvo_will_change(object.object, "value")
      body()
      kvo_did_change(object.object, "value")
    }
    onFirstThreadAndAnother {
      bracketed { bracketed { bracketed {} } }
      bracketed {
        disturbed_setValue(object, 1)
        disturbed_setValue(object, 0)
      }
    }
    expectEqual(
      log.take(), [1, 0, 0, 1, 0, 0].map { "a: \(way.key) new \($0)" })
    log.end()
    releaseAll([root, object])
  }

  @Test(
    "D3 D7: setting an equal value in an observer of distinct changes notifies no observer",
    arguments: DistinctWay.allCases)
  func setsItself(_ way: DistinctWay) {
    let object = make(disturbed.self)
    let log = Recorder()
    let root = way.observe(object, log) { _ in
      disturbed_setValue(object, min(disturbed_value(object) + 1, 3))
    }
    onAnotherThread { disturbed_setValue(object, 1) }
    expectEqual(
      log.take(), (1...3).map { "a: \(way.key) new \($0)" })
    log.end()
    releaseAll([root, object])
  }

  @Test("D3: a delivery on this thread counts once, also when a pair ends in its own prior call")
  func pairInItsOwnPrior() {
    let object = make(disturbed.self)
    let log = Recorder()
    onAnotherThread {
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
    expectEqual(log.take().filter { $0.hasPrefix("a") }, ["a: value new 1"])
    log.end()
    object.release()
  }

  @Test(
    "D3: keys of one token that one change affects notify once each, and only if distinct")
  func keysOfOneChange() {
    let object = Disturbed.ofFreshClass()
    kvo_class_add_dependency(kvo_class_of(object.object), "next", "other", nil)
    let sight = Sight(object)
    sight.passage.isOver = true
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
    expectEqual(sight.shown, [])
    disturbed_setOther(object, 2)
    expectEqual(sight.shown, [0, 2])
    kvo_handle_release(handle)
    object.release()
  }
}
