import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// C4 and C5: lifetimes of objects and observers, and what a death leaves of a registration.
@Suite(.recording) struct LifetimeTests {
  @Test("C4: a registration retains neither side", arguments: [true, false])
  func keepsNeitherAlive(_ observerFirst: Bool) {
    let deaths = Deaths()
    let object = deaths.make()
    let observer = deaths.makeWatcher()
    add(observer, to: object.object, "mark", [.KVO_OLD, .KVO_NEW])
    if observerFirst { observer.release() } else { object.release() }
    expectEqual(deaths.count, 1)
    if observerFirst { object.release() } else { observer.release() }
    expectEqual(deaths.count, 2)
  }

  @Test("C4: an observer that dies ends its registrations, with all objects and keys")
  func observerDies() {
    let objects = (0..<3).map { _ in make(account.self) }
    defer { releaseAll(objects) }
    let observer = make(watcher.self)
    let other = make(watcher.self)
    defer { other.release() }
    let log = Recorder()
    log.listen(to: observer, as: "dead")
    log.listen(to: other, as: "other")
    for object in objects {
      add(observer, to: object.object, "balance")
      add(observer, to: object.object, "owner", context: address(1))
    }
    add(other, to: objects[0].object, "balance")

    observer.release()

    for object in objects { account_setBalance(object, 1) }
    for object in objects { account_setOwner(object, "Ada") }
    expectEqual(log.take(), ["other: balance"])
    expect(isSwapped(objects[0].object))
    expectEqual(kvo_isa(objects[1].object), account_class())
    expect(!kvo_is_observed(objects[0].object, "owner"))
  }

  /// Registers with its object again whenever its registration ends.
  private final class Returning {
    let object: CObject
    let most: Int
    var ended = 0

    init(_ object: CObject, most: Int) {
      self.object = object
      self.most = most
      register()
    }

    private func register() {
      let status = kvo_add_callback(
        object, "balance", [], { _, _, _, _ in }, Unmanaged.passUnretained(self).toOpaque(),
        { Unmanaged<Returning>.fromOpaque($0!).takeUnretainedValue().hasEnded() }, nil, nil)
      expectEqual(status, .KVO_OK)
    }

    private func hasEnded() {
      ended += 1
      if ended < most { register() }
    }
  }

  @Test("C4: what is registered with a dying object when its registrations end ends as well")
  func registeredWhileDying() {
    let object = make(account.self)
    let returning = Returning(object.object, most: 5)
    object.release()
    expectEqual(returning.ended, 5)
  }

  @Test("C4: what is registered with a dying object when what it owns dies ends as well")
  func registeredWhileOwnedDies() {
    final class LastWords {
      let object: CObject
      var returning: Returning?
      init(_ object: CObject) { self.object = object }
    }
    let object = make(account.self)
    let branch = make(tracked.self)
    let words = LastWords(object.object)
    branch.pointee.last_words_context = Unmanaged.passUnretained(words).toOpaque()
    branch.pointee.last_words = { context, _ in
      let words = Unmanaged<LastWords>.fromOpaque(context!).takeUnretainedValue()
      words.returning = Returning(words.object, most: 2)
    }
    account_setBranch(object, branch)
    branch.release()
    object.release()
    expectEqual(words.returning?.ended, 2)
  }

  @Test("C4: registering for ever with a dying object is misuse, which names its class")
  func registeredForEver() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let object = make(account.self)
      let returning = Returning(object.object, most: .max)
      object.release()
      precondition(returning.ended == 100)
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("An object of CAccount is dying, and whenever its registrations end"))
  }

  @Test("C4: an observed object that dies ends its registrations and leaves its observers alone")
  func observedDies() {
    let object = make(account.self)
    let second = make(account.self)
    defer { second.release() }
    let observer = make(watcher.self)
    defer { observer.release() }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    add(observer, to: object.object, "balance")
    add(observer, to: second.object, "balance")
    let registration = log.observe(object.object, "balance")

    object.release()

    expectEqual(registration.ended, 1)
    account_setBalance(second, 1)
    expectEqual(log.take(), ["w: balance"])
  }

  @Test("C4: the token of a dead object is inert")
  func inertToken() {
    let object = make(account.self)
    let log = Recorder()
    let registration = log.observe(object.object, "balance")
    expect(registration.isValid)
    object.release()
    expect(!registration.isValid)
    registration.invalidate()
    registration.invalidate()
    registration.release()
    expectEqual(registration.ended, 1)
  }

  @Test("C4: an observer that removes itself as it dies finds its registrations")
  func removesItselfDying() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer { object.release() }
    let farewell = Farewell { dying in
      let known = kvo_is_observed(object.object, "balance")
      return [known ? "known" : "unknown"]
        + ["balance", "balance", "owner"].map { key in
          "\(attempt { kvo_remove_observer(object.object, dying, key, $0) }.status == .KVO_OK)"
        }
    }
    farewell.give(to: observer)
    add(observer, to: object.object, "balance")
    add(observer, to: object.object, "owner")

    observer.release()

    expectEqual(farewell.said, ["known", "true", "false", "true"])
    expectEqual(kvo_isa(object.object), account_class())
  }

  @Test("C4: an observed object still has its registrations in its own last callback")
  func observedInLastCall() {
    let object = make(tracked.self)
    let log = Recorder()
    let registration = log.observe(object.object, "mark")
    let farewell = Farewell { [kvo_is_observed($0, "mark") ? "observed" : "not"] }
    object.pointee.last_words_context = farewell.context
    object.pointee.last_words = Farewell.words
    object.release()
    expectEqual(farewell.said, ["observed"])
    expectEqual(registration.ended, 1)
  }

  @Test("C4: an object at a dead one's address is not taken for it")
  func reusedObjectAddress() {
    let observer = make(watcher.self)
    defer { observer.release() }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    let dead = make(account.self)
    add(observer, to: dead.object, "balance")
    let registration = log.observe(dead.object, "balance")
    dead.release()

    let others = (0..<100).map { _ in make(account.self) }
    defer { releaseAll(others) }
    for other in others {
      expectEqual(kvo_isa(other.object), account_class())
      expect(!kvo_is_observed(other.object, "balance"))
      expectEqual(remove(observer, from: other.object, "balance").status, .KVO_NOT_REGISTERED)
      account_setBalance(other, 1)
    }
    registration.invalidate()
    expectEqual(log.take(), [])
  }

  @Test("C4: an observer at a dead one's address is not taken for it")
  func reusedObserverAddress() {
    let object = make(account.self)
    defer { object.release() }
    let dead = make(watcher.self)
    add(dead, to: object.object, "balance")
    dead.release()

    let log = Recorder()
    let others = (0..<100).map { _ in make(watcher.self) }
    defer { releaseAll(others) }
    for other in others {
      log.listen(to: other, as: "other")
      expectEqual(remove(other, from: object.object, "balance").status, .KVO_NOT_REGISTERED)
    }
    account_setBalance(object, 1)
    expectEqual(log.take(), [])
  }

  @Test("C4: an observer may die in its own call, and in the call of an earlier one")
  func observerDiesInCall() {
    let object = make(account.self)
    let deaths = Deaths()
    defer { object.release() }
    let suicide = deaths.makeWatcher()
    let victim = deaths.makeWatcher()
    let log = Recorder()
    log.listen(to: suicide, as: "suicide") { _ in
      victim.release()
      suicide.release()
      log.note("dropped")
    }
    log.listen(to: victim, as: "victim")
    add(suicide, to: object.object, "balance")
    add(victim, to: object.object, "balance")
    log.observe(object.object, "balance", as: "last")

    account_setBalance(object, 1)
    account_setBalance(object, 2)

    expectEqual(deaths.count, 2)
    expectEqual(log.take(), ["suicide: balance", "dropped", "last: balance", "last: balance"])
  }

  @Test("C4: a binding that frees its objects itself announces it beforehand")
  func objectsOfABinding() async {
    await #expect(processExitsWith: .success) {
      offset_object_install()
      let lodgers = UnsafeMutablePointer<offset_object>.allocate(capacity: 2)
      lodgers.initialize(repeating: offset_object(), count: 2)
      let headers = (0..<2).map { (lodgers + $0).header }
      let observer = make(watcher.self)
      let log = Recorder()
      log.listen(to: observer, as: "w")
      let registrations = headers.map { log.observe($0, "rent", [.KVO_OLD, .KVO_NEW]) }
      add(observer, to: headers[0], "rent")

      offset_object_set_rent(lodgers, 5)
      expectEqual(log.take(), ["a: rent old 0.0 new 5.0", "w: rent"])
      kvo_object_will_die(headers[0])
      expectEqual(registrations.map(\.ended), [1, 0])
      expectEqual(registrations.map(\.isValid), [false, true])

      lodgers[0] = offset_object()
      offset_object_set_rent(lodgers, 6)
      expect(!kvo_is_observed(headers[0], "rent"))
      expectEqual(remove(observer, from: headers[0], "rent").status, .KVO_NOT_REGISTERED)
      offset_object_set_rent(lodgers + 1, 7)
      expectEqual(log.take(), ["a: rent old 0.0 new 7.0"])
      kvo_object_will_die(headers[1])
      observer.release()
      lodgers.deallocate()
    }
  }

  // MARK: Tokens

  @Test("C5: invalidating again is harmless, and `ended` is called once")
  func idempotent() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    let registration = log.observe(object.object, "balance")
    for _ in 0..<3 {
      registration.invalidate()
      expect(!registration.isValid)
      expectEqual(registration.ended, 1)
    }
    registration.release()
    expectEqual(registration.ended, 1)
    kvo_handle_release(nil)
  }

  @Test("C5: two threads may invalidate one token at once")
  func fromTwoThreads() {
    let object = make(account.self)
    defer { object.release() }
    for _ in 0..<200 {
      let log = Recorder()
      let registration = log.observe(object.object, "balance")
      let shared = Shared(registration)
      onThreads(2) { _ in shared.value.invalidate() }
      expectEqual(registration.ended, 1)
      expect(!registration.isValid)
    }
    expectEqual(kvo_isa(object.object), account_class())
  }

  @Test(
    "C5: a token may be invalidated or released inside its own call, which ends first",
    arguments: [true, false])
  func insideItsCall(_ givenBack: Bool) {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    var token: Registration?
    token = log.observe(object.object, "balance") { _ in
      if givenBack { token?.release() } else { token?.invalidate() }
      log.note("ended \(token!.ended) times")
    }
    account_setBalance(object, 1)
    account_setBalance(object, 2)
    expectEqual(log.take(), ["a: balance", "ended 0 times"])
    expectEqual(token?.ended, 1)
    expectEqual(kvo_isa(object.object), account_class())
  }

  @Test("C5: `ended` waits for the outermost of nested calls")
  func endedAfterNestedCalls() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    var token: Registration?
    token = log.observe(object.object, "balance", .KVO_NEW) { call in
      let depth = token!.calls
      if depth < 4 { account_setBalance(object, Double(depth)) } else { token!.invalidate() }
      log.note("ended \(token!.ended) times")
    }
    account_setBalance(object, 0)
    expectEqual(log.take().suffix(4), Array(repeating: "ended 0 times", count: 4))
    expectEqual(token?.calls, 4)
    expectEqual(token?.ended, 1)
  }

  /// The ways in which a registration ends, other than by its token.
  enum End: CaseIterable { case removeAll, death, failedRegistration }

  @Test(
    "C5: `ended` is called once per registration, however it ends",
    arguments: End.allCases)
  func endedOnce(_ end: End) {
    let object = make(account.self)
    let log = Recorder()
    let key = end == .failedRegistration ? "nonsense" : "balance"
    let registrations = (0..<10).map { _ in log.observe(object.object, key, .KVO_NEW) }
    if end == .removeAll { kvo_remove_all_observers(object.object) }
    object.release()
    let times = end == .failedRegistration ? 0 : 1
    expectEqual(registrations.map(\.ended), Array(repeating: times, count: 10))
  }

  @Test("C5: a registration made without a handle lives as long as the object")
  func withoutHandle() {
    let object = make(account.self)
    let count = UnsafeMutablePointer<(calls: Int, ended: Int)>.allocate(capacity: 1)
    count.initialize(to: (0, 0))
    defer { count.deallocate() }
    let status = kvo_add_callback(
      object.object, "balance", [],
      { context, _, _, _ in
        context!.assumingMemoryBound(to: (calls: Int, ended: Int).self).pointee.calls += 1
      },
      count,
      { $0!.assumingMemoryBound(to: (calls: Int, ended: Int).self).pointee.ended += 1 },
      nil, nil)
    expectEqual(status, .KVO_OK)
    account_setBalance(object, 1)
    expect(count.pointee == (1, 0))
    object.release()
    expect(count.pointee == (1, 1))
  }

  @Test("C5: a context that owns its own handle may release it in `ended`")
  func contextOwnsHandle() {
    let object = make(account.self)
    let owner = HandleOwner()
    let status = kvo_add_callback(
      object.object, "balance", [], { _, _, _, _ in }, owner.context,
      { context in
        let owner = Unmanaged<HandleOwner>.fromOpaque(context!).takeUnretainedValue()
        owner.ended += 1
        kvo_handle_release(owner.slot.pointee)
      },
      owner.slot, nil)
    expectEqual(status, .KVO_OK)
    object.release()
    expectEqual(owner.ended, 1)
  }

  @Test("C5: `ended` may change and register anything")
  func endedMayAct() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "owner", .KVO_NEW, as: "other")
    let owner = HandleOwner()
    owner.onEnd = {
      account_setOwner(object, "Ada")
      log.observe(object.object, "balance", .KVO_NEW, as: "heir")
    }
    kvo_add_callback(
      object.object, "balance", [], { _, _, _, _ in }, owner.context,
      { Unmanaged<HandleOwner>.fromOpaque($0!).takeUnretainedValue().onEnd() }, owner.slot, nil)
    kvo_handle_release(owner.slot.pointee)
    account_setBalance(object, 1)
    expectEqual(log.take(), ["other: owner new Ada", "heir: balance new 1.0"])
  }
}

/// Code that an object runs as it dies.
private final class Farewell {
  private let speech: (CObject) -> [String]
  private(set) var said: [String] = []

  init(_ speech: @escaping (CObject) -> [String]) { self.speech = speech }

  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static let words: fixture_last_words = { context, dying in
    let farewell = Unmanaged<Farewell>.fromOpaque(context!).takeUnretainedValue()
    farewell.said += farewell.speech(dying)
  }

  func give(to observer: UnsafeMutablePointer<watcher>) {
    observer.pointee.tracked.last_words_context = context
    observer.pointee.tracked.last_words = Self.words
  }
}

/// A context that owns its registration's handle.
private final class HandleOwner {
  let slot = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
  var ended = 0
  var onEnd: () -> Void = {}

  init() { slot.initialize(to: nil) }
  deinit { slot.deallocate() }

  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}
