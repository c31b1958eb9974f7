import CFixtures
import CKVORuntime
import Expectations
import Glibc
import TestSupport
import Testing

/// D9: C++ exceptions on their way through the runtime. They must not pass through Swift, so the fixtures throw and
/// catch them, and return the number that was thrown.
@Suite(.recording) struct ExceptionTests {
  private let deaths = Deaths()
  private let object: UnsafeMutablePointer<thrower>
  private let trap = UnsafeMutablePointer<CFixtures.trap>.allocate(capacity: 1)

  init() {
    object = make(thrower.self)
    object.pointee.base.deaths = deaths.counter
    trap.initialize(to: .init())
  }

  /// Whether a change of the key is delivered in full, and once.
  private func isNotified(_ log: Recorder, line: String) -> Bool {
    _ = log.take()
    guard thrown_by_set_reading(object, 9) == 0 else { return false }
    return log.take() == [line]
  }

  /// Releases the object, which must be the last reference to it, and frees the trap.
  private func end(alsoDead others: Int = 0) {
    object.release()
    expectEqual(deaths.count, 1 + others)
    trap.deallocate()
  }

  @Test("D9: an exception of an observer passes through, past the observers after it")
  func final() {
    let log = Recorder()
    log.observe(object.object, "reading", [.KVO_OLD, .KVO_NEW], as: "before")
    let handle = observe("reading", [])
    log.observe(object.object, "reading", .KVO_NEW, as: "after")
    trap.pointee.final = 7
    expectEqual(thrown_by_set_reading(object, 1), 7)
    expectEqual(log.take(), ["before: reading old 0.0 new 1.0"])
    expectEqual(object.pointee.reading, 1)
    trap.pointee.final = 0
    expectEqual(thrown_by_set_reading(object, 2), 0)
    expectEqual(log.take(), ["before: reading old 1.0 new 2.0", "after: reading new 2.0"])
    kvo_handle_release(handle)
    log.end()
    end()
  }

  @Test("D9: an exception of a prior call keeps the setter from running, and closes the change")
  func prior() {
    let log = Recorder()
    let handle = observe("reading", [.KVO_PRIOR, .KVO_OLD])
    log.observe(object.object, "reading", .KVO_NEW)
    trap.pointee.prior = 7
    expectEqual(thrown_by_set_reading(object, 1), 7)
    expectEqual(object.pointee.reading, 0)
    expectEqual(log.take(), [])
    trap.pointee.prior = 0
    expect(isNotified(log, line: "a: reading new 9.0"))
    kvo_handle_release(handle)
    log.end()
    end()
  }

  @Test(
    "D9: an exception of a setter closes its change without notifying",
    arguments: ["reading", "extent"])
  func setter(_ key: String) {
    let log = Recorder()
    log.observe(object.object, key, .KVO_OLD)
    object.pointee.setter_throws = 7
    for _ in 0..<3 { expectEqual(set(key), 7) }
    expectEqual(log.take(), [])
    object.pointee.setter_throws = 0
    expectEqual(set(key), 0)
    expectEqual(log.take().count, 1)
    log.end()
    end()
  }

  @Test(
    "D9: an exception of a getter, before or after the change, passes through and closes it",
    arguments: ["reading", "extent"], [kvo_options.KVO_OLD, .KVO_NEW])
  func getter(_ key: String, _ options: kvo_options) {
    let log = Recorder()
    log.observe(object.object, key, options)
    object.pointee.getter_throws = 7
    expectEqual(set(key), 7)
    expectEqual(thrown_by_get_value(object.object, key), 7)
    expectEqual(log.take(), [])
    object.pointee.getter_throws = 0
    expectEqual(set(key), 0)
    expectEqual(log.take().count, 1)
    log.end()
    end()
  }

  @Test(
    "D9 D3: a value has been delivered if the observer throws, and not if the getter does",
    arguments: [false, true], [false, true])
  func distinct(_ byGetter: Bool, _ amongOthers: Bool) {
    let log = Recorder()
    let handle = observe("reading", [.KVO_NEW, .KVO_DISTINCT])
    if amongOthers { log.observe(object.object, "reading", as: "b") }
    if byGetter { object.pointee.getter_throws = 7 } else { trap.pointee.final = 7 }
    var thrown = [thrown_by_set_reading(object, 1)]
    object.pointee.getter_throws = 0
    trap.pointee.final = 0
    trap.pointee.calls = 0
    var calls: [Int32] = []
    for value in [1.0, 2, 2] {
      thrown.append(thrown_by_set_reading(object, value))
      calls.append(trap.pointee.calls)
    }
    expectEqual(thrown, [7, 0, 0, 0])
    expectEqual(calls, byGetter ? [1, 2, 2] : [0, 1, 1])
    kvo_handle_release(handle)
    log.end()
    end()
  }

  @Test(
    "D9 B6 B7: an exception of an element's getter releases everything read before",
    arguments: [
      "reading", "ward.mark", "@sum.reading", "@max.reading", "@unionOfObjects.ward",
      "self.@distinctUnionOfObjects.reading",
    ])
  func elementGetter(_ path: String) {
    let (first, ward) = (make(thrower.self), deaths.make())
    first.pointee.base.deaths = deaths.counter
    first.pointee.ward = ward
    object.pointee.getter_throws = 7
    withCollection(.KVO_ARRAY, of: [first.object, object.object]) {
      expectEqual(thrown_by_get_path($0, path), 7)
      object.pointee.setter_throws = 7
      expectEqual(thrown_by_set_key($0, "reading"), 7)
      expectEqual(first.pointee.reading, 1)
    }
    object.pointee.getter_throws = 0
    first.pointee.ward = nil
    first.release()
    ward.release()
    end(alsoDead: 2)
  }

  @Test("D9: the initial call may throw: the registration remains, and its handle is returned")
  func initial() {
    let log = Recorder()
    log.observe(object.object, "reading")
    trap.pointee.final = 7
    var handle: OpaquePointer?
    expectEqual(
      thrown_by_add(object.object, "reading", [.KVO_INITIAL, .KVO_NEW], trap, &handle), 7)
    trap.pointee.final = 0
    expect(isNotified(log, line: "a: reading"))
    expectEqual(trap.pointee.calls, 2)
    expectEqual(handle.map(kvo_handle_is_valid), true)
    kvo_handle_release(handle)
    log.end()
    end()
  }

  @Test("D9: if a getter on its path throws, a registration is made or not, and ends once")
  func path() {
    let ward = deaths.make()
    object.pointee.ward = ward
    object.pointee.getter_throws = 7
    var thrown = 0
    for calm in 0... {
      object.pointee.calm_reads = CInt(calm)
      trap.pointee.ends = 0
      var handle: OpaquePointer?
      let number = thrown_by_add(
        object.object, "ward.mark", [.KVO_INITIAL, .KVO_NEW], trap, &handle)
      let isMade = handle != nil
      kvo_handle_release(handle)
      expectEqual(trap.pointee.ends, (isMade ? 1 : 0), "\(calm) reads before it")
      guard number == 7 else { break }
      thrown += 1
    }
    expect(thrown > 2)
    object.pointee.getter_throws = 0
    object.pointee.ward = nil
    ward.release()
    end(alsoDead: 1)
  }

  @Test("D9: if a getter on its path throws, a registration leaks no memory")
  func memory() async {
    await #expect(processExitsWith: .success) {
      let deaths = Deaths()
      let (object, ward) = (make(thrower.self), deaths.make())
      let trap = UnsafeMutablePointer<CFixtures.trap>.allocate(capacity: 1)
      trap.initialize(to: .init())
      object.pointee.ward = ward
      object.pointee.getter_throws = 7
      func throwAtEachRead(times: Int) {
        for number in 0..<times {
          object.pointee.calm_reads = CInt(number % 4)
          var handle: OpaquePointer?
          _ = thrown_by_add(object.object, "ward.mark", [.KVO_INITIAL, .KVO_NEW], trap, &handle)
          kvo_handle_release(handle)
        }
      }
      throwAtEachRead(times: 2_000)
      let before = fixture_bytes_used()
      throwAtEachRead(times: 2_000)
      let left = fixture_bytes_used() - before
      precondition(left < 16 * 2_000, "\(left) bytes")
      trap.deallocate()
      object.release()
      withExtendedLifetime(deaths) { ward.release() }
    }
    trap.deallocate()
    object.release()
  }

  @Test("C5 D9: an initial call that throws ends all keys registered with it")
  func group() {
    trap.pointee.final = 7
    var handle: OpaquePointer?
    expectEqual(
      thrown_by_add_keys(object.object, "reading", "note", .KVO_INITIAL, trap, &handle), 7)
    expect(trap.pointee.calls == 1 && trap.pointee.ends == 1)
    expectEqual(handle.map(kvo_handle_is_valid), false)
    expect(!kvo_is_observed(object.object, "reading") && !kvo_is_observed(object.object, "note"))
    kvo_handle_release(handle)
    expectEqual(trap.pointee.ends, 1)
    end()
  }

  @Test(
    "D9: an observer object that throws is no longer retained",
    arguments: [[], .KVO_PRIOR, .KVO_INITIAL] as [kvo_options])
  func observerObject(_ options: kvo_options) {
    let observer = make(throwing_watcher.self)
    observer.pointee.watcher.tracked.deaths = deaths.counter
    observer.pointee.trap = trap
    let isInitial = options == .KVO_INITIAL
    if !isInitial { watch(observer, options) }
    trap.pointee.prior = 7
    trap.pointee.final = 7
    if isInitial {
      expectEqual(thrown_by_add_observer(object.object, observer.object, "reading", options), 7)
    } else {
      expectEqual(thrown_by_set_reading(object, 1), 7)
    }
    expectEqual(trap.pointee.calls, 1)
    observer.release()
    expectEqual(deaths.count, 1)
    expectEqual(thrown_by_set_reading(object, 2), 0)
    end(alsoDead: 1)
  }

  @Test("D9: an exception in a set by key releases the value", arguments: [true, false])
  func byKey(_ observed: Bool) {
    let log = Recorder()
    if observed { log.observe(object.object, "ward", .KVO_OLD) }
    let ward = deaths.make()
    object.pointee.setter_throws = 7
    var value = kvo_value_object(ward.object)
    expectEqual(thrown_by_set_value(object.object, "ward", &value), 7)
    kvo_value_destroy(&value)
    object.pointee.ward = nil
    expectEqual(log.take(), [])
    ward.release()
    expectEqual(deaths.count, 1)
    log.end()
    end(alsoDead: 1)
  }

  @Test("D9: an observer of storage that is set by key may throw")
  func storageByKey() {
    let log = Recorder()
    let handle = observe("note", [.KVO_OLD, .KVO_NEW])
    log.observe(object.object, "note", [.KVO_OLD, .KVO_NEW])
    trap.pointee.final = 7
    var value = kvo_value_string("one")
    expectEqual(thrown_by_set_value(object.object, "note", &value), 7)
    kvo_value_destroy(&value)
    trap.pointee.final = 0
    CKVORuntimeTests.set(object.object, "note", .string("two"))
    expectEqual(log.take(), ["a: note old one new two"])
    kvo_handle_release(handle)
    log.end()
    end()
  }

  @Test("D9: a manual will or did that throws leaves no pair open")
  func byHand() {
    let log = Recorder()
    let handle = observe("reading", [.KVO_PRIOR, .KVO_OLD])
    log.observe(object.object, "reading", .KVO_OLD)
    trap.pointee.prior = 7
    expectEqual(thrown_by_will_change(object.object, "reading"), 7)
    expect(!dump(object.object).contains("open"))
    trap.pointee.prior = 0
    object.pointee.getter_throws = 8
    expectEqual(thrown_by_will_change(object.object, "reading"), 8)
    expect(!dump(object.object).contains("open"))
    object.pointee.getter_throws = 0
    trap.pointee.final = 9
    expectEqual(thrown_by_will_change(object.object, "reading"), 0)
    expectEqual(thrown_by_did_change(object.object, "reading"), 9)
    expect(!dump(object.object).contains("open"))
    trap.pointee.final = 0
    expectEqual(log.take(), [])
    expect(isNotified(log, line: "a: reading old 0.0"))
    kvo_handle_release(handle)
    log.end()
    end()
  }

  @Test("D9 M4: changes of a body are delivered before an exception that leaves it passes on")
  func coalesced() {
    let log = Recorder()
    log.observe(object.object, "reading", [.KVO_OLD, .KVO_NEW])
    expectEqual(thrown_by_coalescing(object, 0), 0)
    expectEqual(log.take(), ["a: reading old 0.0 new 2.0"])
    expectEqual(thrown_by_coalescing(object, 7), 7)
    expectEqual(log.take(), ["a: reading old 2.0 new 2.0"])
    expect(isNotified(log, line: "a: reading old 2.0 new 9.0"))
    log.end()
    end()
  }

  @Test("D9 M4: an observer that throws in or before a batch's delivery leaves no batch behind")
  func thrownInBatch() {
    let log = Recorder()
    let handle = observe("reading", .KVO_PRIOR)
    log.observe(object.object, "reading", .KVO_OLD)
    for (prior, final, thrown) in [(0, 9, 9), (7, 0, 7), (7, 9, 9)] as [(Int32, Int32, Int32)] {
      (trap.pointee.prior, trap.pointee.final) = (prior, final)
      expectEqual(thrown_by_coalescing(object, 8), thrown)
      expect(!dump(object.object).contains("batch"))
    }
    (trap.pointee.prior, trap.pointee.final) = (0, 0)
    let reading = object.pointee.reading
    expect(isNotified(log, line: "a: reading old \(reading)"))
    kvo_handle_release(handle)
    log.end()
    end()
  }

  @Test(
    "D9 D7: a mutation after an exception of a prior call in a batch is no setting",
    arguments: MutableTests.everyWay)
  func mutationAfterBatch(_ methods: shelf_methods) {
    let handle = observe("reading", .KVO_PRIOR)
    trap.pointee.prior = 7
    expectEqual(thrown_by_coalescing(object, 8), 7)
    let shelf = makeShelf(methods, [7])
    shelf.store(Many(ints: [7]))
    let log = Mutations(of: shelf.object)
    expectEqual(Many(mutable: shelf.object).append(.int(4)).status, .KVO_OK)
    expectEqual(log.take().map { $0.prefix(9) }, ["insertion"])
    log.end()
    shelf.release()
    kvo_handle_release(handle)
    end()
  }

  @Test(
    "D9 D7: a manual will whose prior call drops the object and throws leaks neither")
  func droppedByHandThenThrown() {
    let handle = observe("reading", .KVO_PRIOR)
    trap.pointee.prior = 7
    trap.pointee.first_context = UnsafeMutableRawPointer(object)
    trap.pointee.first = { kvo_object_release($0?.assumingMemoryBound(to: kvo_object.self)) }
    expectEqual(thrown_by_will_change(object.object, "reading"), 7)
    expectEqual(deaths.count, 1)
    kvo_handle_release(handle)
    trap.deallocate()
  }

  @Test("D9: a will whose pair the prior call has already ended is not undone again")
  func endedByHandThenThrown() {
    let log = Recorder()
    log.observe(object.object, "reading", [.KVO_PRIOR, .KVO_NEW]) { [object] call in
      if call.isPrior { kvo_did_change(object.object, "reading") }
    }
    let handle = observe("reading", .KVO_PRIOR)
    trap.pointee.prior = 7
    expectEqual(thrown_by_will_change(object.object, "reading"), 7)
    expectEqual(log.take(), ["a: prior reading", "a: reading new 0.0"])
    expect(!dump(object.object).contains("open"))
    kvo_handle_release(handle)
    log.end()
    end()
  }

  /// An object whose death is counted, and whose dealloc throws 7.
  private func makeDying() -> UnsafeMutablePointer<thrower> {
    let made = make(thrower.self)
    made.pointee.base.deaths = deaths.counter
    made.pointee.dealloc_throws = 7
    return made
  }

  @Test("D9: an object whose dealloc throws dies all the same, and so do later ones")
  func dealloc() {
    for _ in 0..<200 { expectEqual(thrown_by_release(makeDying().object), 7) }
    expectEqual(deaths.count, 200)
    deaths.make().release()
    expectEqual(deaths.count, 201)
    object.pointee.dealloc_throws = 7
    var key = 0
    let kept = UnsafeMutableRawPointer(deaths.make())
    kvo_object_associate(
      object.object, &key, kept,
      { kvo_object_release($0.assumingMemoryBound(to: kvo_object.self)) }, nil)
    var handle: OpaquePointer?
    expectEqual(thrown_by_add(object.object, "reading", .KVO_NEW, trap, &handle), 0)
    expectEqual(thrown_by_release(object.object), 7)
    expectEqual(deaths.count, 203)
    expectEqual(trap.pointee.ends, 1)
    expectEqual(handle.map(kvo_handle_is_valid), false)
    kvo_handle_release(handle)
    trap.deallocate()
  }

  @Test("P2 D9: where values kept with an object throw at its death, all of them are released")
  func keptValues() {
    var released = 0
    expectEqual(thrown_by_death_with_values(object.object, 3, 7, &released), 7)
    expectEqual(released, 3)
    expectEqual(deaths.count, 1)
    trap.deallocate()
  }

  @Test(
    "P4 D9: values released with a collection may change other objects, and throw",
    arguments: [0, 7])
  func values(_ thrown: CInt) {
    let account = make(account.self)
    let branch = deaths.make()
    account_setBranch(account, branch)
    branch.release()
    var ends = 0
    expectEqual(
      thrown_by_death_of_list(account, deaths.make().object, thrown, &ends), thrown)
    expectEqual(ends, 1)
    expect(account.pointee.branch == nil)
    expectEqual(deaths.count, 2)
    account.release()
    end(alsoDead: 2)
  }

  @Test("D9: where deallocs of owned objects throw, all of them die, and later ones too")
  func deallocsOfElements() {
    let elements = (0..<3).map { _ in makeDying() }
    let last = deaths.make()
    let array = withCollection(.KVO_ARRAY, of: elements.map(\.object) + [last.object]) {
      kvo_object_retain(CObject($0))
    }
    releaseAll(elements)
    last.release()
    expectEqual(thrown_by_release(array), 7)
    expectEqual(deaths.count, 4)
    end(alsoDead: 4)
  }

  @Test("D9: an exception through nested changes closes all of them", arguments: [1, 15, 16, 40])
  func nested(_ depth: Int32) {
    let log = Recorder()
    expectEqual(thrown_by_countdown(object, depth, 7), 7)
    expectEqual(object.pointee.reading, 0)
    log.observe(object.object, "reading", [.KVO_OLD, .KVO_NEW])
    expect(isNotified(log, line: "a: reading old 0.0 new 9.0"))
    log.end()
    end()
  }

  @Test("D9: caught inside a callback, it leaves the outer change unchanged")
  func caughtInside() {
    let log = Recorder()
    let inner = make(thrower.self)
    inner.pointee.base.deaths = deaths.counter
    log.observe(inner.object, "reading")
    inner.pointee.setter_throws = 7
    log.observe(object.object, "reading", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW]) { _ in
      log.note("caught \(thrown_by_set_reading(inner, 1))")
    }
    expectEqual(thrown_by_set_reading(object, 3), 0)
    expectEqual(
      log.take(),
      [
        "a: prior reading old 0.0", "caught 7", "a: reading old 0.0 new 3.0", "caught 7",
      ])
    log.end()
    inner.release()
    expectEqual(deaths.count, 1)
    end(alsoDead: 1)
  }

  @Test("D9: a registration that its callback ends before it throws is ended for good")
  func endsItself() {
    let probe = Probe()
    let registration = probe.register(object.object, "reading")
    let handle = observe("reading", [])
    trap.pointee.final = 7
    trap.pointee.first_context = UnsafeMutableRawPointer(registration)
    trap.pointee.first = { kvo_handle_release($0.map { OpaquePointer($0) }) }
    expectEqual(thrown_by_set_reading(object, 1), 7)
    expectEqual(probe.calls, 1)
    expectEqual(probe.ended, 1)
    trap.pointee.first = nil
    trap.pointee.final = 0
    expectEqual(thrown_by_set_reading(object, 2), 0)
    expectEqual(probe.calls, 1)
    kvo_handle_release(handle)
    end()
  }

  @Test("D9: an observer that drops the object and throws leaks neither")
  func dropsObject() {
    let handle = observe("reading", [.KVO_OLD, .KVO_NEW])
    trap.pointee.final = 7
    trap.pointee.first_context = UnsafeMutableRawPointer(object)
    trap.pointee.first = { kvo_object_release($0?.assumingMemoryBound(to: kvo_object.self)) }
    expectEqual(thrown_by_set_reading(object, 1), 7)
    expectEqual(deaths.count, 1)
    kvo_handle_release(handle)
    trap.deallocate()
  }

  @Test(
    "D9: an exception of the program's code releases what was read, made and held",
    arguments: faulty_use.all)
  func faulty(_ use: faulty_use) {
    var throwing: Int32 = 0
    expectEqual(faulty_run(use, true, &throwing), 0)
    expect(throwing > 0)
    trap.deallocate()
    object.release()
  }

  @Test("D9: an exception of the program's code leaks no memory")
  func memoryOfFaulty() async {
    await #expect(processExitsWith: .success) {
      let uses: [faulty_use] = [
        .FAULTY_PROXY_ALONG_PATH, .FAULTY_SNAPSHOT, .FAULTY_VISITED, .FAULTY_ELEMENTS_REPLACED,
        .FAULTY_STRUCT, .FAULTY_DISTINCT_RELEASED, .FAULTY_DISTINCT_REMOVED,
        .FAULTY_DISTINCT_REMOVED_WITH_PATH,
      ]
      func runAll(times: Int) {
        var throwing: Int32 = 0
        for _ in 0..<times { for use in uses { _ = faulty_run(use, false, &throwing) } }
      }
      runAll(times: 2_000)
      let before = fixture_bytes_used()
      runAll(times: 2_000)
      let left = fixture_bytes_used() - before
      precondition(left < 16 * 2_000, "\(left) bytes")
    }
    trap.deallocate()
    object.release()
  }

  // MARK: Helpers

  private func observe(_ key: String, _ options: kvo_options) -> OpaquePointer? {
    var handle: OpaquePointer?
    kvo_add_callback(object.object, key, options, trap_callback, trap, nil, &handle, nil)
    return handle
  }

  private func watch(
    _ observer: UnsafeMutablePointer<throwing_watcher>, _ options: kvo_options
  ) {
    expectEqual(thrown_by_add_observer(object.object, observer.object, "reading", options), 0)
  }

  @Test("D9: an exception of a setter at the end of a key path releases the objects on the path")
  func setterOfPath() {
    let last = make(thrower.self)
    last.pointee.base.deaths = deaths.counter
    object.pointee.ward = UnsafeMutableRawPointer(last).assumingMemoryBound(to: tracked.self)
    last.pointee.setter_throws = 7
    var value = kvo_value_double(1)
    for _ in 0..<3 { expectEqual(thrown_by_set_path(object.object, "ward.reading", &value), 7) }
    last.pointee.setter_throws = 0
    expectEqual(thrown_by_set_path(object.object, "ward.reading", &value), 0)
    object.pointee.ward = nil
    last.release()
    end(alsoDead: 1)
  }

  private func set(_ key: String) -> Int32 {
    key == "extent" ? thrown_by_set_edge(object, 1) : thrown_by_set_reading(object, 1)
  }

  private func dump(_ object: CObject) -> String {
    guard let text = kvo_copy_debug_dump(object) else { return "no memory" }
    defer { free(text) }
    return String(cString: text)
  }
}

extension faulty_use {
  fileprivate static var all: [faulty_use] {
    (0...faulty_use.FAULTY_DEPENDENCY.rawValue).map { faulty_use(rawValue: $0)! }
  }
}
