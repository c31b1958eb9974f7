import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// I3: observers registered, or reached by a link, while a setter runs on another thread.
@Suite(.serialized, .recording) struct LateRegistrationTests {
  /// The observations that exist before the setter begins.
  enum Before: CaseIterable { case nothing, otherKey, otherObject, both, sameKey }
  enum Way: CaseIterable {
    case setter, key

    func set(_ object: Disturbed, _ value: Int) {
      switch self {
      case .setter: disturbed_setValue(object, value)
      case .key: CKVORuntimeTests.set(object.object, "value", .int(Int64(value)))
      }
    }
  }

  private func observe(
    _ before: Before, _ object: Disturbed = .ofFreshClass(), around body: (Disturbed) -> Void
  ) {
    let other = make(kvo_class_of(object.object))
    let log = Recorder()
    switch before {
    case .nothing: break
    case .otherKey: log.observe(object.object, "other")
    case .otherObject: log.observe(other, "value")
    case .both:
      log.observe(object.object, "other")
      log.observe(other, "value")
    case .sameKey: log.observe(object.object, "value")
    }
    body(object)
    log.end()
    kvo_object_release(other)
    object.release()
  }

  @Test(
    "I3: a setter that returns after a registration notifies it of the stored value",
    arguments: Before.allCases, Way.allCases)
  func setterUnderWay(_ before: Before, _ way: Way) {
    observe(before) { object in
      let log = Recorder()
      object.interrupt(.DISTURBED_BEFORE_STORE) {
        log.observe(object.object, "value", [.KVO_NEW, .KVO_INITIAL])
      } in: {
        way.set(object, 5)
      }
      expectEqual(log.take(), ["a: value new 0", "a: value new 5"])
      way.set(object, 6)
      expectEqual(log.take(), ["a: value new 6"])
    }
  }

  @Test(
    "I3: an observer that comes too late for old is notified of a change from new to new",
    arguments: Before.allCases
  )
  func oldIsNeverMissing(_ before: Before) {
    observe(before) { object in
      let log = Recorder()
      object.interrupt(.DISTURBED_BEFORE_STORE) {
        log.observe(object.object, "value", [.KVO_OLD, .KVO_NEW])
        log.observe(object.object, "value", .KVO_OLD, as: "b")
        log.observe(object.object, "value", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR], as: "c")
        log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT], as: "d")
      } in: {
        disturbed_setValue(object, 5)
      }
      expectEqual(
        log.take(),
        [
          "a: value old 5 new 5", "b: value old 5", "c: prior value old 5",
          "c: value old 5 new 5", "d: value new 5",
        ])
      disturbed_setValue(object, 6)
      expectEqual(
        log.take(),
        [
          "c: prior value old 5", "a: value old 5 new 6", "b: value old 5",
          "c: value old 5 new 6", "d: value new 6",
        ])
    }
  }

  @Test(
    "I3: a late observer that asks for old alone is notified, also if all others ask for old alone")
  func oldAlone() {
    let object = Disturbed.ofFreshClass()
    let log = Recorder()
    log.observe(object.object, "value", .KVO_OLD)
    object.interrupt(.DISTURBED_BEFORE_STORE) {
      log.observe(object.object, "value", .KVO_OLD, as: "b")
      log.observe(object.object, "value", [.KVO_OLD, .KVO_PRIOR], as: "c")
    } in: {
      disturbed_setValue(object, 5)
    }
    expectEqual(
      log.take(),
      ["a: value old 0", "b: value old 0", "c: prior value old 5", "c: value old 5"])
    log.end()
    object.release()
  }

  @Test("I3: old is the change's own if an earlier observer has asked for it")
  func oldOfOthers() {
    let object = make(disturbed.self)
    let log = Recorder()
    log.observe(object.object, "value", .KVO_OLD)
    object.interrupt(.DISTURBED_BEFORE_STORE) {
      log.observe(object.object, "value", [.KVO_OLD, .KVO_NEW], as: "b")
    } in: {
      disturbed_setValue(object, 5)
    }
    expectEqual(log.take(), ["a: value old 0", "b: value old 0 new 5"])
    log.end()
    object.release()
  }

  @Test(
    "D7 I3: an observer that the setter itself registers gets the next change",
    arguments: Before.allCases)
  func onTheSameThread(_ before: Before) {
    observe(before) { object in
      let log = Recorder()
      object.interruptHere(.DISTURBED_BEFORE_STORE) {
        log.observe(object.object, "value", .KVO_NEW)
      } in: {
        disturbed_setValue(object, 5)
      }
      expectEqual(log.take(), [])
      disturbed_setValue(object, 6)
      expectEqual(log.take(), ["a: value new 6"])
    }
  }

  @Test(
    "I3: an observer removed again before the setter returns is not notified",
    arguments: Before.allCases)
  func removedAgain(_ before: Before) {
    observe(before) { object in
      let log = Recorder()
      object.interrupt(.DISTURBED_BEFORE_STORE) {
        log.observe(object.object, "value", .KVO_NEW).invalidate()
      } in: {
        disturbed_setValue(object, 5)
      }
      expectEqual(log.take(), [])
    }
  }

  @Test(
    "D7 I3: an unobserved object may die in its setter, whatever is registered during it",
    arguments: [false, true])
  func diesInSetter(_ isObserved: Bool) {
    let deaths = Deaths()
    let object = Disturbed.ofFreshClass()
    object.pointee.tracked.deaths = deaths.counter
    let others = (0..<300).map { _ in make(disturbed.self) }
    let log = Recorder()
    object.interrupt(.DISTURBED_AFTER_STORE) {
      for other in others { log.observe(other.object, "value") }
      if isObserved { log.observe(object.object, "value") }
      object.release()
    } in: {
      disturbed_setValue(object, 5)
    }
    expectEqual(deaths.count, 1)
    expectEqual(log.take(), [])
    log.end()
    releaseAll(others)
  }

  @Test("I3: a path registered while its link is set follows what the link leads to")
  func linkUnderWay() {
    let root = Disturbed.ofFreshClass()
    let old = make(disturbed.self)
    let new = make(disturbed.self)
    let log = Recorder()
    disturbed_setNext(root, old)
    root.interrupt(.DISTURBED_BEFORE_STORE) {
      log.observe(root.object, "next.value", [.KVO_OLD, .KVO_NEW])
    } in: {
      disturbed_setNext(root, new)
    }
    expectEqual(log.take(), ["a: next.value old 0 new 0"])
    disturbed_setValue(new, 5)
    disturbed_setValue(old, 7)
    expectEqual(log.take(), ["a: next.value old 0 new 5"])
    log.end()
    releaseAll([root, old, new])
  }

  @Test(
    "I3: a path that reaches an object while it is being set is notified of that",
    arguments: [false, true])
  func leafUnderWay(_ isObserved: Bool) {
    let root = make(disturbed.self)
    let leaf = Disturbed.ofFreshClass()
    let log = Recorder()
    log.observe(root.object, "next.value", [.KVO_OLD, .KVO_NEW])
    if isObserved { log.observe(leaf.object, "value", as: "b") }
    leaf.interrupt(.DISTURBED_BEFORE_STORE) {
      disturbed_setNext(root, leaf)
    } in: {
      disturbed_setValue(leaf, 5)
    }
    let notified = ["a: next.value old nil new 0", "a: next.value old 5 new 5"]
    expectEqual(log.take(), notified + (isObserved ? ["b: value"] : []))
    log.end()
    releaseAll([root, leaf])
  }

  @Test(
    "D3 I3: distinct delivers a value that was changed and restored by two threads",
    arguments: Way.allCases)
  func distinct(_ way: Way) {
    let object = make(disturbed.self)
    let log = Recorder()
    disturbed_setValue(object, 1)
    log.observe(object.object, "value", [.KVO_OLD, .KVO_NEW, .KVO_DISTINCT])
    object.interrupt(.DISTURBED_BEFORE_STORE) {
      disturbed_setValue(object, 7)
    } in: {
      way.set(object, 1)
    }
    expectEqual(log.take(), ["a: value old 1 new 7", "a: value old 1 new 1"])
    object.interrupt(.DISTURBED_BEFORE_STORE) {
      disturbed_setValue(object, 1)
    } in: {
      way.set(object, 1)
    }
    way.set(object, 1)
    onThreads(1) { [object = Shared(object)] _ in way.set(object.value, 1) }
    expectEqual(log.take(), [])
    log.end()
    object.release()
  }

  @Test("D3 I3: distinct compares with what initial or a path has delivered in between")
  func distinctElsewhere() {
    let root = make(disturbed.self)
    let leaf = make(disturbed.self)
    let log = Recorder()
    disturbed_setNext(root, leaf)
    log.observe(root.object, "next.value", [.KVO_NEW, .KVO_DISTINCT])
    log.observe(leaf.object, "value", [.KVO_NEW, .KVO_DISTINCT], as: "b")
    leaf.interrupt(.DISTURBED_BEFORE_STORE) {
      disturbed_setValue(leaf, 7)
      log.observe(leaf.object, "value", [.KVO_NEW, .KVO_DISTINCT, .KVO_INITIAL], as: "c")
    } in: {
      disturbed_setValue(leaf, 0)
    }
    expectEqual(
      log.take(),
      [
        "a: next.value new 7", "b: value new 7", "c: value new 7", "a: next.value new 0",
        "b: value new 0", "c: value new 0",
      ])
    log.end()
    releaseAll([root, leaf])
  }

  @Test(
    "I5: what a handler reads itself is the final value, whichever call comes last",
    arguments: [[.KVO_NEW], [.KVO_NEW, .KVO_INITIAL]] as [kvo_options])
  func lastValue(_ options: kvo_options) {
    let object = make(disturbed.self)
    let log = Recorder()
    var shown = -1
    let observe = {
      _ = log.observe(object.object, "value", options) { _ in
        shown = disturbed_value(object)
      }
    }
    let isInitial = options.contains(.KVO_INITIAL)
    if !isInitial { observe() }
    object.interrupt(.DISTURBED_AFTER_LOAD) {
      disturbed_setValue(object, 5)
    } in: {
      if isInitial { observe() } else { disturbed_setValue(object, 1) }
    }
    expectEqual(log.take(), ["a: value new 5", isInitial ? "a: value new 0" : "a: value new 1"])
    expectEqual(shown, 5)
    log.end()
    object.release()
  }

  // MARK: Keys that share a setter

  @Test(
    "A5 I3: the first observer of a key is notified by a running setter that shares it",
    arguments: [false, true], ["twin", "Twin"])
  func twins(_ isLarge: Bool, _ observed: String) {
    let object = Disturbed.of(disturbed_fresh_class_of_twins(isLarge))
    let log = Recorder()
    let other = observed == "twin" ? "Twin" : "twin"
    log.observe(object.object, observed)
    object.interrupt(.DISTURBED_BEFORE_STORE) {
      log.observe(object.object, other, [], as: "b")
    } in: {
      disturbed_setTwin(object, isLarge, 5)
    }
    expectEqual(Set(log.take()), ["a: \(observed)", "b: \(other)"])
    disturbed_setTwin(object, isLarge, 6)
    expectEqual(Set(log.take()), ["a: \(observed)", "b: \(other)"])
    log.end()
    object.release()
  }

  @Test("A5 I3: of two such keys the new one notifies once, from new to new")
  func twinsWithOld() {
    let object = Disturbed.of(disturbed_fresh_class_of_twins(false))
    let log = Recorder()
    log.observe(object.object, "twin", [.KVO_OLD, .KVO_NEW])
    object.interrupt(.DISTURBED_BEFORE_STORE) {
      log.observe(object.object, "Twin", [.KVO_OLD, .KVO_NEW], as: "b")
    } in: {
      set(object.object, "twin", .int(5))
    }
    expectEqual(log.take().sorted(), ["a: twin old 0 new 5", "b: Twin old 5 new 5"])
    log.end()
    object.release()
  }

  @Test("A5 D7: an object may die in the setter during which its second key is first observed")
  func twinsDie() {
    let deaths = Deaths()
    let object = Disturbed.of(disturbed_fresh_class_of_twins(false))
    object.pointee.tracked.deaths = deaths.counter
    let log = Recorder()
    log.observe(object.object, "twin")
    let shared = Shared { _ = log.observe(object.object, "Twin", [], as: "b") }
    object.interruptHere(.DISTURBED_AFTER_STORE) {
      onThreads(1) { _ in shared.value() }
      object.release()
    } in: {
      disturbed_setTwin(object, false, 5)
    }
    expectEqual(deaths.count, 1)
    expectEqual(log.take(), [])
    log.end()
  }
}
