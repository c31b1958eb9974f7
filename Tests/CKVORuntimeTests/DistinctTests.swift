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
    "D3: distinct hides nothing that a change of one thread has found in passing that crosses it",
    arguments: Way.allCases)
  func crossing(_ way: Way) {
    let object = make(disturbed.self)
    let log = Recorder()
    disturbed_setValue(object, 1)
    let root = way.observe(object, log)
    let shared = Shared(object)
    let body = Shared {
      let object = shared.value
      kvo_will_change(object.object, "value")
      object.pointee.value = 2
      let access = Access(object, "value")
      object.pointee.value = 1
      kvo_did_change(object.object, "value")
      object.pointee.value = 2
      access.end()
      disturbed_setValue(object, 2)
      disturbed_setValue(object, 1)
    }
    body.value()
    onThreads(1) { _ in body.value() }  // not the first of the process
    let key = way == .path ? "next.value" : "value"
    #expect(
      log.take().filter { $0.hasPrefix("a") }
        == [1, 2, 1, 1, 2, 1].map { "a: \(key) new \($0)" })
    log.end()
    releaseAll([root, object])
  }

  @Test("D3 F1: distinct hides nothing that changes of several keys find which cross")
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
    #expect(log.take() == ["a: value new 0", "a: value new 2"])
    log.end()
    object.release()
  }

  @Test("D3 D6: nor what is found by a change of a derived key in which that of another ends")
  func endsInDerived() {
    let object = Disturbed.ofFreshClass()
    kvo_class_add_dependency(kvo_class_of(object.object), "value", "other", nil)
    let log = Recorder()
    log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT])
    kvo_will_change(object.object, "other")
    object.pointee.value = 2
    let access = Access(object, "value")
    kvo_did_change(object.object, "other")
    access.end()
    #expect(log.take() == ["a: value new 2"])
    log.end()
    object.release()
  }

  @Test("D3 D7: nor what he reads of a change that begins and ends while he and others are told")
  func withinTelling() {
    let object = make(disturbed.self)
    let log = Recorder()
    var access: Access?
    var shown = 0
    log.observe(object.object, "value", as: "b") { _ in
      guard shown == 0 else { return }
      access = Access(object, "value")
      object.pointee.value = 7
    }
    log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT]) { _ in
      shown = object.pointee.value
      guard shown == 7 else { return }
      object.pointee.value = 5
      access?.end()
    }
    disturbed_setValue(object, 5)
    #expect(shown == 5)
    log.end()
    object.release()
  }

  @Test(
    "D3 D7: nor what a change has stored while an observer was told that goes on when he has been",
    arguments: [false, true])
  func outlivesTelling(_ isFirstThread: Bool) {
    let object = make(disturbed.self)
    let log = Recorder()
    let shared = Shared((object, log))
    let body = Shared {
      let (object, log) = shared.value
      var access: Access?
      var shown = 0
      log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT]) { _ in
        if access == nil {
          access = Access(object, "value")
          object.pointee.value = 7
        }
        shown = object.pointee.value
      }
      disturbed_setValue(object, 5)
      #expect(shown == 7)
      object.pointee.value = 5
      access?.end()
      #expect(shown == 5)
    }
    if isFirstThread { body.value() } else { onThreads(1) { _ in body.value() } }
    log.end()
    object.release()
  }

  @Test(
    "D3 F2: distinct hides nothing that a path has found in passing which has moved since",
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
    #expect(log.take() == ["a: \(path) new 2"])
    log.end()
    releaseAll([root] + objects)
  }

  @Test("D3 F2: what is told when a path moves is not told again by the change that it has left")
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
    #expect(log.take() == ["a: next.value new 3"])
    log.end()
    releaseAll([root] + objects)
  }

  @Test(
    "D3: however changes nest and cross on a thread, in the end distinct has told all that there is",
    arguments: [0, 1, 2, 3], [false, true])
  func tangle(_ way: UInt32, _ isFirstThread: Bool) {
    let run: @Sendable () -> Void = {
      let way = tangle_way(rawValue: way)!
      for seed in 0..<300 as Range<UInt64> {
        let untold = tangle_find_untold(way, seed, 100).map { String(cString: $0) }
        #expect(untold == nil, "seed \(seed)")
        if untold != nil { break }
      }
    }
    if isFirstThread { run() } else { onThreads(1) { _ in run() } }
  }

  @Test(
    "I5 D3: what a handler of distinct changes reads itself is in the end what there is",
    arguments: Way.allCases)
  func readInPassing(_ way: Way) {
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
    #expect(shown == 5)
    log.end()
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
    sight.passage.run {
      disturbed_setValue(object, 7)
    } meanwhile: {
      kvo_will_change(object.object, "other")
      object.pointee.other = 2
    } afterwards: {
      object.pointee.other = 0
      kvo_did_change(object.object, "other")
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
      #expect(status == 0)
    }
    log.end()
    object.release()
  }
}

/// For what a forked child does, which captures nothing.
nonisolated(unsafe) private var inChild: (Disturbed, Recorder)?

/// An access that is suspended: a change of one property, which ends by itself.
private struct Access {
  private let frame: OpaquePointer

  init(_ object: Disturbed, _ key: String) {
    frame = kvo_uniform_will_key(object, kvo_key_intern(key)!)!
  }

  func end() { kvo_uniform_did(frame) }
}

/// An observer's first call, and what another thread does meanwhile before he reads.
private final class Passage {
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
    fixture_await(turn, 2)
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
      fixture_await(turn, 1)
      meanwhile()
      fixture_raise(turn)
      fixture_await(turn, 3)
      afterwards()
    }
  }
}

/// An observer of `value` and `other`, who reads both whenever he is told of either.
private final class Sight {
  let object: Disturbed
  let passage = Passage()
  private(set) var shown: [Int] = []

  init(_ object: Disturbed) { self.object = object }

  static let look: kvo_callback = { context, _, _, _ in
    let sight = Unmanaged<Sight>.fromOpaque(context!).takeUnretainedValue()
    sight.passage.read { sight.shown = [sight.object.pointee.value, sight.object.pointee.other] }
  }
}
