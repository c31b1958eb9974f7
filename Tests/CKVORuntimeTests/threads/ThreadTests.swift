import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// I1, and C4 and C5 between threads: everything at once on the same objects and keys. The counts are exact, and no
/// call is made after its registration has ended.
@Suite(.serialized, .recording) struct ThreadTests {
  @Test("I1: n sets on m threads make n times m calls of an observer registered throughout")
  func exactCount() {
    let object = make(gauge.self)
    let steady = Probe()
    let churn = Tally()
    defer { object.release() }
    let handle = steady.register(object.object, "first")
    let shared = Shared(object)

    onThreads(6) { thread in
      let object = shared.value
      for round in 0..<1_500 {
        switch thread {
        case 0..<4: gauge_setFirst(object, round)
        case 4: churn.makeAndEnd(object.object, "first", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
        default: churn.makeAndEnd(object.object, "second", .KVO_INITIAL)
        }
      }
    }

    expectEqual(steady.calls, 4 * 1_500)
    kvo_handle_release(handle)
    expectEqual(steady.ended, 1)
    expect(churn.isSettled)
    expectEqual(kvo_isa(object.object), gauge_class())
  }

  @Test("I1: manual pairs and sets by key are counted exactly as well")
  func exactCountOfAllKinds() {
    let object = make(gauge.self)
    let steady = Probe()
    defer { object.release() }
    let handle = steady.register(object.object, "first")
    let shared = Shared(object)
    onThreads(4) { thread in
      let object = shared.value.object
      for round in 0..<500 {
        switch thread {
        case 0, 1:
          kvo_will_change(object, "first")
          kvo_did_change(object, "first")
        case 2: set(object, "first", .int(Int64(round)))
        default: gauge_setFirst(shared.value, round)
        }
      }
    }
    expectEqual(steady.calls, 4 * 500)
    kvo_handle_release(handle)
  }

  @Test("I1: no registration is lost where many are made at once")
  func noneLost() {
    for _ in 0..<30 {
      let object = make(gauge.self)
      let probe = Probe()
      let observer = make(watcher.self)
      let shared = Shared(object)
      let watching = Shared(observer)
      observer.pointee.sink_context = Unmanaged.passUnretained(probe).toOpaque()
      observer.pointee.sink = { context, _, _, _, _, _ in Probe.from(context).count() }
      let handles = Locked<[Shared<OpaquePointer?>]>([])
      onThreads(4) { thread in
        for index in 0..<20 {
          let key = index % 2 == 0 ? "first" : "second"
          if thread == 0 {
            add(watching.value, to: shared.value.object, key)
          } else {
            let handle = Shared(probe.register(shared.value.object, key))
            handles.withLock { $0.append(handle) }
          }
        }
      }
      gauge_setFirst(object, 1)
      expectEqual(probe.calls, 40)
      gauge_setSecond(object, 1)
      expectEqual(probe.calls, 80)
      handles.withLock { for handle in $0 { kvo_handle_release(handle.value) } }
      expectEqual(probe.ended, 60)
      observer.release()
      expectEqual(kvo_isa(object.object), gauge_class())
      object.release()
    }
  }

  @Test("I1: objects of one class may get their first observers on several threads at once")
  func firstObservers() throws {
    for round in 0..<30 {
      let cls = try require(
        kvo_class_create("CFresh\(round)", gauge_class(), MemoryLayout<gauge>.size, nil))
      expectEqual(kvo_class_register(cls, nil), .KVO_OK)
      let objects = (0..<4).map { _ in Shared(make(cls)) }
      let probe = Probe()
      let handles = Locked<[Shared<OpaquePointer?>]>([])
      onThreads(4) { thread in
        let handle = Shared(probe.register(objects[thread].value, thread < 2 ? "first" : "second"))
        handles.withLock { $0.append(handle) }
      }
      expectEqual(Set(objects.map { kvo_isa($0.value) }).count, 1)
      for object in objects {
        set(object.value, "first", .int(1))
        set(object.value, "second", .int(1))
      }
      expectEqual(probe.calls, 4)
      handles.withLock { for handle in $0 { kvo_handle_release(handle.value) } }
      for object in objects { kvo_object_release(object.value) }
    }
  }

  @Test("I1: if several threads remove one registration, one of them does")
  func oneRemoval() {
    let object = make(gauge.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let shared = Shared((object.object, observer))
    for _ in 0..<300 {
      add(observer, to: object.object, "first")
      let removed = Count()
      onThreads(3) { _ in
        let (object, observer) = shared.value
        if remove(observer, from: object, "first").status == .KVO_OK { removed.add() }
      }
      expectEqual(removed.value, 1)
    }
    expectEqual(kvo_isa(object.object), gauge_class())
  }

  @Test("C5: invalidation, removal of all and death at once end a registration once")
  func endsAtOnce() {
    for _ in 0..<300 {
      let deaths = Deaths()
      let object = make(gauge.self)
      let probe = Probe()
      object.pointee.tracked.deaths = deaths.counter
      let handle = Shared(probe.register(object.object, "first"))
      let shared = Shared(object)
      kvo_object_retain(object.object)
      onThreads(3) { thread in
        switch thread {
        case 0: kvo_handle_release(handle.value)
        case 1: shared.value.release()
        default:
          kvo_remove_all_observers(shared.value.object)
          shared.value.release()
        }
      }
      expectEqual(probe.ended, 1)
      expectEqual(deaths.count, 1)
    }
  }

  @Test("C4 I1: observers and observed objects die while other threads notify")
  func deathsWhileNotifying() {
    let stage = Stage()
    let tally = Tally()
    onThreads(6) { thread in
      for round in 0..<1_000 {
        switch thread {
        case 0..<3: stage.setSomething(round)
        case 3: stage.replaceObject(round, tally)
        default: stage.comeAndGo(round)
        }
      }
    }
    stage.end()
    expectEqual(stage.deaths.count, stage.made.value)
    expect(tally.isSettled)
  }

  @Test("C5: `ended` waits for the calls that were in progress, and for none that began later")
  func endedBesideLaterCalls() {
    let object = make(gauge.self)
    let probe = Probe()
    let gate = UnsafeMutablePointer<CFixtures.gate>.allocate(capacity: 1)
    gate.initialize(to: .init())
    var waiting: OpaquePointer?
    kvo_add_callback(object.object, "first", [], gate_callback, gate, nil, &waiting, nil)
    let turn = UnsafeMutablePointer<CInt>.allocate(capacity: 1)
    turn.initialize(to: 0)
    let shared = Shared((object, gate, turn))
    let ends = Locked<[Int]>([])
    onThreads(3) { thread in
      let (object, gate, turn) = shared.value
      switch thread {
      case 0:  // the call that is in progress
        gauge_setFirst(object, 1)
        fixture_raise(turn)
      case 1:  // the one that begins later
        awaitTurn(turn, 1)
        gauge_setFirst(object, 2)
      default:
        awaitTurn(&gate.pointee.begun, 1)
        kvo_handle_release(probe.register(object.object, "first"))
        fixture_raise(turn)
        awaitTurn(&gate.pointee.begun, 2)
        ends.withLock { $0.append(probe.ended) }
        fixture_raise(&gate.pointee.let_go)
        awaitTurn(turn, 2)
        ends.withLock { $0.append(probe.ended) }
        fixture_raise(&gate.pointee.let_go)
      }
    }
    expect(ends.withLock { $0 } == [0, 1] && probe.calls == 0)
    kvo_handle_release(waiting)
    object.release()
    gate.deallocate()
    turn.deallocate()
  }

  @Test("C4 I1: an observer that dies in its call finishes the call, and is not called again")
  func deathWhileNotified() {
    for _ in 0..<200 {
      let object = make(gauge.self)
      let deaths = Deaths()
      let observer = deaths.makeWatcher()
      let probe = Probe()
      observer.pointee.sink_context = Unmanaged.passUnretained(probe).toOpaque()
      observer.pointee.sink = { context, _, _, _, _, _ in Probe.from(context).count() }
      add(observer, to: object.object, "first", [.KVO_OLD, .KVO_NEW])
      let shared = Shared((object, observer))
      onThreads(2) { thread in
        if thread == 0 {
          for value in 0..<20 { gauge_setFirst(shared.value.0, value) }
        } else {
          shared.value.1.release()
        }
      }
      let notified = probe.calls
      gauge_setFirst(object, 0)
      expectEqual(probe.calls, notified)
      expectEqual(deaths.count, 1)
      expectEqual(kvo_isa(object.object), gauge_class())
      object.release()
    }
  }

  @Test("A4 I1: a method may be replaced while other threads set and deliver")
  func replacingWhileSetting() throws {
    let cls = try require(
      kvo_class_create("CReplacing", gauge_class(), MemoryLayout<gauge>.size, nil))
    expectEqual(kvo_class_register(cls, nil), .KVO_OK)
    let object = make(cls)
    let probe = Probe()
    defer { kvo_object_release(object) }
    let handle = probe.register(object, "first")
    let method = try require(kvo_class_method(cls, "setFirst:"))
    let original = kvo_class_imp(cls, method)
    let shared = Shared((cls, object, original))
    onThreads(3) { thread in
      let (cls, object, original) = shared.value
      let instance = UnsafeMutableRawPointer(object).assumingMemoryBound(to: gauge.self)
      for round in 0..<500 {
        if thread == 0 {
          kvo_class_replace_method(
            cls, "setFirst:", round % 2 == 0 ? storeNothing : original, nil, nil)
        } else {
          gauge_setFirst(instance, round)
        }
      }
    }
    expectEqual(probe.calls, 1_000)
    kvo_handle_release(handle)
  }

  @Test("I1: swapping in and out under a running setter loses no store")
  func noStoreLost() {
    let object = make(gauge.self)
    let tally = Tally()
    defer { object.release() }
    let shared = Shared(object)
    let wrong = Count()
    onThreads(3) { thread in
      for round in 0..<1_500 {
        switch thread {
        case 0:
          gauge_setFirst(shared.value, round)
          if gauge_first(shared.value) != round { wrong.add() }
        case 1: tally.makeAndEnd(shared.value.object, "first", .KVO_NEW)
        default: tally.makeAndEnd(shared.value.object, "first", .KVO_PRIOR)
        }
      }
    }
    expectEqual(wrong.value, 0)
    expect(tally.isSettled)
  }

  enum Begun: CaseIterable {
    case bySetter, byKey, byHand
  }

  @Test(
    "I3: a thread that begins during another's set delivers its own change")
  func recordsApart() {
    let object = make(disturbed.self)
    let log = Recorder()
    log.observe(object.object, "value", .KVO_NEW)
    let shared = Shared(object)
    // ends, and leaves its record for reuse
    onThreads(1) { _ in disturbed_setValue(shared.value, 1) }
    onThreads(1) { _ in
      shared.value.interrupt(.DISTURBED_BEFORE_STORE) {
        disturbed_setValue(shared.value, 2)
      } in: {
        disturbed_setValue(shared.value, 3)
      }
    }
    expectEqual(log.take(), (1...3).map { "a: value new \($0)" })
    log.end()
    object.release()
  }

  @Test(
    "I3: an initial call has the old value, and a change on another thread delivers the rest",
    arguments: Begun.allCases, [[], .KVO_NEW, [.KVO_OLD, .KVO_NEW]] as [kvo_options])
  func registersDuringChange(_ begun: Begun, _ options: kvo_options) {
    let object = make(gauge.self)
    let shared = Shared(object)
    let late = Probe()
    let handle = Locked(Shared<OpaquePointer?>(nil))
    @Sendable func registerElsewhere() {
      onThreads(1) { _ in
        let made = late.register(shared.value.object, "first", options.union(.KVO_INITIAL))
        handle.withLock { $0 = Shared(made) }
      }
    }
    let log = Recorder()
    let early = log.observe(object.object, "first", .KVO_PRIOR) { call in
      if call.isPrior && begun != .byHand { registerElsewhere() }
    }
    switch begun {
    case .bySetter: gauge_setFirst(object, 1)
    case .byKey: set(object.object, "first", .int(1))
    case .byHand:
      kvo_will_change(object.object, "first")
      registerElsewhere()
      kvo_did_change(object.object, "first")
    }
    expectEqual(late.calls, 2)
    early.invalidate()
    gauge_setFirst(object, 2)
    expectEqual(late.calls, 3)
    kvo_handle_release(handle.withLock { $0.value })
    object.release()
  }

  @Test("I3: an initial call has the stored value, or its change finds the registration")
  func nothingMissed() {
    expectEqual(late_store_missed_values(500), 0)
  }

  @Test(
    "I4: two threads are in the accessors of one observed property at once",
    arguments: [[], .KVO_OLD, [.KVO_OLD, .KVO_NEW]] as [kvo_options])
  func storageIsNotLocked(_ options: kvo_options) {
    let object = make(concurrent_setter.self)
    let probe = Probe()
    let handle = probe.register(object.object, "room", options)
    concurrent_setter_hold(object)
    expectEqual(object.pointee.arrivals_in_setter, 2)
    expectEqual(options.isEmpty, (object.pointee.arrivals_in_getter == 0))
    expectEqual(probe.calls, 2)
    kvo_handle_release(handle)
    object.release()
  }
}

private let storeNothing = unsafeBitCast(
  { _, _, _ in } as @convention(c) (CObject, OpaquePointer, Int) -> Void, to: kvo_imp.self)
