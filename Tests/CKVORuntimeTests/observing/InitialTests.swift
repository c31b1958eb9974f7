import CFixtures
import CKVORuntime
import Expectations
import Testing

/// C3: the one call made before registration returns.
@Suite(.recording) struct InitialTests {
  static let initialLines: [(kvo_options, String)] = [
    (.KVO_INITIAL, "a: balance"),
    ([.KVO_INITIAL, .KVO_NEW], "a: balance new 5.0"),
    ([.KVO_INITIAL, .KVO_OLD], "a: balance"),
    ([.KVO_INITIAL, .KVO_PRIOR], "a: balance"),
    ([.KVO_INITIAL, .KVO_NEW, .KVO_OLD, .KVO_PRIOR], "a: balance new 5.0"),
  ]

  @Test(
    "C3: initial delivers before registration returns, once, with the new value if asked",
    arguments: initialLines)
  func initial(_ options: kvo_options, _ line: String) {
    let object = make(account.self)
    defer { object.release() }
    account_setBalance(object, 5)
    let log = Recorder()
    log.observe(object.object, "balance", options)
    expectEqual(log.take(), [line])
  }

  @Test("C3: an observer object gets the initial call as well, with its context")
  func initialForObject() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    add(observer, to: object.object, "balance", [.KVO_INITIAL, .KVO_NEW], context: address(3))
    expectEqual(log.take(), ["w[3]: balance new 0.0"])
  }

  @Test("C3: initial is delivered even where automatic notification is off")
  func initialOfManualKey() {
    let object = make(hand.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_INITIAL, .KVO_NEW])
    expectEqual(log.take(), ["a: balance new 0.0"])
  }

  @Test("C3: initial delivers nil as nil")
  func initialNil() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "owner", [.KVO_INITIAL, .KVO_NEW])
    log.observe(object.object, "branch", [.KVO_INITIAL, .KVO_NEW])
    expectEqual(log.take(), ["a: owner new nil", "a: branch new nil"])
  }

  @Test("C3: a registration may be ended inside its initial call", arguments: [false, true])
  func endedInsideInitial(_ byRemovingAll: Bool) {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    let context = InitialContext(byRemovingAll: byRemovingAll)
    let status = withExtendedLifetime(context) {
      kvo_add_callback(
        object.object, "balance", [.KVO_INITIAL],
        { context, object, _, _ in InitialContext.from(context).end(object) },
        Unmanaged.passUnretained(context).toOpaque(),
        { InitialContext.from($0).ended += 1 }, context.handle, nil)
    }
    expectEqual(status, .KVO_OK)
    expectEqual(context.calls, 1)
    expectEqual(context.ended, 1)
    expect(context.sawHandle)
    expectEqual(kvo_isa(object.object), account_class())
    account_setBalance(object, 1)
    expectEqual(context.calls, 1)
    kvo_handle_release(context.handle.pointee)
    expectEqual(context.ended, 1)
    expectEqual(log.take(), [])
  }

  @Test("C3: an observer object may remove itself inside its initial call")
  func observerRemovedInsideInitial() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w") { call in
      log.note("\(remove(observer, from: call.object, "balance"))")
    }
    add(observer, to: object.object, "balance", .KVO_INITIAL)
    account_setBalance(object, 1)
    expectEqual(log.take(), ["w: balance", "KVO_OK"])
    expectEqual(kvo_isa(object.object), account_class())
  }
}

/// A context with which a callback can end its own registration while it is being made.
private final class InitialContext {
  let handle = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
  let byRemovingAll: Bool
  var calls = 0
  var ended = 0
  var sawHandle = false

  init(byRemovingAll: Bool) {
    handle.initialize(to: nil)
    self.byRemovingAll = byRemovingAll
  }

  deinit { handle.deallocate() }

  static func from(_ context: UnsafeMutableRawPointer?) -> InitialContext {
    Unmanaged<InitialContext>.fromOpaque(context!).takeUnretainedValue()
  }

  func end(_ object: CObject) {
    calls += 1
    guard let handle = handle.pointee else { return }
    sawHandle = true
    if byRemovingAll { kvo_remove_all_observers(object) } else { kvo_handle_invalidate(handle) }
  }
}
