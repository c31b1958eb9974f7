import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// M1: a batch whose keys have only plain observers notifies as one with a general delivery does, whatever happens in it.
@Suite(.serialized, .recording) struct PlainBatchTests {
  /// A batch of changes of `value` and `next`, and what happens in it.
  private final class Batch {
    let object: Disturbed
    let log = Recorder()
    let others = Recorder()
    var registrations: [Registration] = []
    /// Called when the observer of the key is.
    var reactions: [String: () -> Void] = [:]

    init(isGeneral: Bool, _ options: kvo_options) {
      object = make(disturbed.self)
      object.pointee.next = object
      for key in ["value", "next"] {
        registrations.append(
          log.observe(object.object, key, options) { [unowned self] _ in reactions[key]?() })
      }
      // A key with a prior observer begins the general delivery.
      if isGeneral { others.observe(object.object, "other", .KVO_PRIOR) }
    }

    func end() {
      reactions = [:]
      log.end()
      others.end()
      object.pointee.next = nil
      object.release()
    }

    func observe(_ key: String, _ options: kvo_options) {
      log.observe(object.object, key, options, as: "x")
    }
  }

  private typealias Event = (name: String, happen: @Sendable (Batch) -> Void)
  private static let events: [Event] = [
    ("nothing", { _ in }),
    ("an observer", { $0.observe("value", [.KVO_OLD, .KVO_NEW]) }),
    ("an observer of the other key", { $0.observe("next", .KVO_OLD) }),
    ("an initial call", { $0.observe("value", [.KVO_INITIAL, .KVO_NEW]) }),
    ("a prior observer", { $0.observe("value", [.KVO_PRIOR, .KVO_OLD]) }),
    ("a distinct one", { $0.observe("value", [.KVO_DISTINCT, .KVO_NEW]) }),
    ("a path", { $0.observe("next.value", [.KVO_OLD, .KVO_NEW]) }),
    ("the end", { $0.registrations[0].invalidate() }),
    ("the end of the other", { $0.registrations[1].invalidate() }),
    (
      "an end and a beginning",
      {
        $0.registrations[0].invalidate()
        $0.observe("value", [.KVO_OLD, .KVO_NEW])
      }
    ),
    ("the end of all", { kvo_remove_all_observers($0.object.object) }),
    ("a change", { disturbed_setValue($0.object, 7) }),
    ("a change of the other key", { disturbed_setNext($0.object, $0.object) }),
    (
      "a body",
      { batch in coalescing(batch.object.object) { disturbed_setValue(batch.object, 8) } }
    ),
    (
      "a pair",
      {
        kvo_will_change($0.object.object, "value")
        $0.object.pointee.value = 9
        kvo_did_change($0.object.object, "value")
      }
    ),
  ]

  private enum Place: CaseIterable {
    case before, between, after, getter, setter, storedBySetter, delivery, deliveryOfFirst
  }

  private func change(_ batch: Batch, at place: Place, _ event: @escaping () -> Void) {
    func reach(_ here: Place) { if here == place { event() } }
    coalescing(batch.object.object) {
      disturbed_setOther(batch.object, 1)
      reach(.before)
      disturbed_setNext(batch.object, batch.object)
      disturbed_setValue(batch.object, 1)
      reach(.between)
      disturbed_setValue(batch.object, 2)
      reach(.after)
    }
  }

  private func lines(
    isGeneral: Bool, _ options: kvo_options, _ place: Place, _ event: Event, isElsewhere: Bool
  ) -> [String] {
    let batch = Batch(isGeneral: isGeneral, options)
    let happen = {
      if isElsewhere { onAnotherThread { event.happen(batch) } } else { event.happen(batch) }
    }
    var isDone = false
    let once = {
      guard !isDone else { return }
      isDone = true
      happen()
    }
    if place == .delivery || place == .deliveryOfFirst {
      let key = place == .delivery ? "value" : "next"
      batch.reactions[key] = once
    }
    let places: [Place: disturbance] = [
      .getter: .DISTURBED_AFTER_LOAD, .setter: .DISTURBED_BEFORE_STORE,
      .storedBySetter: .DISTURBED_AFTER_STORE,
    ]
    if let disturbance = places[place] {
      batch.object.interruptHere(disturbance, with: once) { change(batch, at: place, once) }
    } else {
      change(batch, at: place, once)
    }
    disturbed_setValue(batch.object, 3)
    defer { batch.end() }
    return batch.log.take()
  }

  @Test(
    "M1: whatever happens in a batch of plain keys, it notifies as one of other keys does",
    arguments: [[], .KVO_NEW, [.KVO_OLD, .KVO_NEW]] as [kvo_options], [false, true])
  func asGeneral(_ options: kvo_options, _ isElsewhere: Bool) {
    for event in Self.events {
      for place in Place.allCases {
        let plain = lines(
          isGeneral: false, options, place, event, isElsewhere: isElsewhere)
        let general = lines(
          isGeneral: true, options, place, event, isElsewhere: isElsewhere)
        expectEqual(plain, general, "\(event.name) at \(place)")
        expect(!plain.isEmpty || event.name.contains("the end"), "\(event.name) at \(place)")
      }
    }
  }

  @Test("M1 M4: observers of plain keys get the values of the moment when the body ended")
  func valuesOfTheEnd() {
    let batch = Batch(isGeneral: false, .KVO_NEW)
    batch.reactions["next"] = { disturbed_setValue(batch.object, 5) }
    coalescing(batch.object.object) {
      disturbed_setNext(batch.object, batch.object)
      disturbed_setValue(batch.object, 1)
    }
    let values = batch.log.take().filter { $0.contains("value") }
    expectEqual(values, ["a: value new 5", "a: value new 1"])
    batch.end()
  }

  @Test(
    "M1 C5: a registration of several keys is notified in a batch as those of single keys are",
    arguments: [[], .KVO_NEW, [.KVO_OLD, .KVO_NEW]] as [kvo_options], [false, true])
  func groups(_ options: kvo_options, _ isElsewhere: Bool) {
    let outcomes = [false, true].map { isGrouped in
      let object = make(disturbed.self)
      let twin = Twin(object.object, isGrouped: isGrouped)
      twin.observe(["value", "other"], options)
      // In the first call, when the changes of the second key have yet to be delivered.
      twin.reactions[1] = {
        let observe = { _ = twin.observe(["other"], options) }
        if isElsewhere { onAnotherThread(observe) } else { observe() }
      }
      coalescing(object.object) {
        disturbed_setValue(object, 1)
        disturbed_setOther(object, 2)
        disturbed_setValue(object, 3)
      }
      expectEqual(twin.calls, 2)
      disturbed_setOther(object, 4)
      twin.finish()
      defer { object.release() }
      return twin.take()
    }
    expectEqual(outcomes[0], outcomes[1])
    expectEqual(outcomes[0].count, 4)
  }

  @Test(
    "M1 F1: a derived key with a setter of its own notifies once, from its value before the batch")
  func derivedWithSetter() {
    let cls = disturbed_fresh_class()
    expectEqual(kvo_class_add_dependency(cls, "value", "other", nil), .KVO_OK)
    let object = Disturbed.of(cls)
    let log = Recorder()
    log.observe(object.object, "value", [.KVO_OLD, .KVO_NEW])
    coalescing(object.object) {
      disturbed_setValue(object, 50)
      disturbed_setOther(object, 2)
    }
    expectEqual(log.take(), ["a: value old 0 new 50"])
    log.end()
    object.release()
  }

  @Test("M1 C5: a registration of several keys in the body is notified of the changes that follow")
  func groupInBody() {
    let object = make(disturbed.self)
    let twin = Twin(object.object, isGrouped: true)
    coalescing(object.object) {
      twin.observe(["value", "other"], [])
      disturbed_setValue(object, 1)
      disturbed_setOther(object, 2)
    }
    expectEqual(twin.calls, 2)
    twin.finish()
    object.release()
  }
}
