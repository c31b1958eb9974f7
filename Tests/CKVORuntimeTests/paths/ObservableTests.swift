import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// C7, C8, C10, C11: which objects can observe which keys, and with which context.
@Suite(.recording) struct ObservableTests {
  @Test("C7: an object may observe itself")
  func observingItself() {
    let object = make(watcher.self)
    let deaths = Deaths()
    object.pointee.tracked.deaths = deaths.counter
    let log = Recorder()
    log.listen(to: object, as: "self")
    add(object, to: object.object, "seen", [.KVO_OLD, .KVO_NEW])
    add(object, to: object.object, "mark", .KVO_NEW)
    watcher_setSeen(object, 4)
    expectEqual(set(object.object, "mark", .int(2)).status, .KVO_OK)
    expectEqual(log.take(), ["self: seen old 0 new 4", "self: mark new 2"])
    object.release()
    expectEqual(deaths.count, 1)
  }

  @Test("C7: an object may remove itself as its own observer")
  func removingItself() {
    let object = make(watcher.self)
    defer { object.release() }
    let log = Recorder()
    log.listen(to: object, as: "self")
    add(object, to: object.object, "seen")
    expectEqual(remove(object, from: object.object, "seen").status, .KVO_OK)
    watcher_setSeen(object, 4)
    expectEqual(log.take(), [])
    expectEqual(kvo_isa(object.object), watcher_class())
  }

  @Test("C8: a key is accepted if an accessor, an ivar or the class's hook answers it")
  func acceptedKeys() {
    let cases: [(CObject, [String])] = [
      (make(account_class()), ["balance", "number", "owner", "branch", "place"]),
      (make(plain_class()), ["secret", "open", "partner", "place"]),
      (make(forgiving_class()), ["level", "ghost"]),
      (make(spelled_class()), ["name", "Name", "änderung"]),
      (make(savings_class()), ["balance", "sets"]),
    ]
    for (object, keys) in cases {
      let log = Recorder()
      for key in keys {
        expectEqual(log.observe(object, key).outcome.status, .KVO_OK, "\(key)")
      }
      kvo_object_release(object)
    }
  }

  @Test(
    "C8: any other key is undefined, and nothing is registered",
    arguments: [
      "nonsense", "Balance", "setBalance:", "set", " balance",
    ])
  func undefinedKey(_ key: String) {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let log = Recorder()
    let registration = log.observe(object.object, key, .KVO_INITIAL)
    for outcome in [registration.outcome, add(observer, to: object.object, key, .KVO_INITIAL)] {
      expectEqual(outcome.status, .KVO_UNDEFINED_KEY)
      expectEqual(outcome.className, "CAccount")
      expectEqual(outcome.key, key)
      expect(outcome.message.contains("CAccount") && outcome.message.contains(key))
    }
    expect(registration.handle == nil)
    expectEqual(registration.ended, 0)
    expectEqual(log.take(), [])
    expectEqual(kvo_isa(object.object), account_class())
    expect(!kvo_is_observed(object.object, key))
  }

  @Test("C8: a hidden ivar, or a key with only a void getter, is undefined")
  func hiddenKeys() {
    let closed = make(sealed.self)
    let object = make(spelled.self)
    let open = make(forgiving.self)
    defer {
      closed.release()
      object.release()
      open.release()
    }
    let log = Recorder()
    expectEqual(log.observe(closed.object, "secret").outcome.status, .KVO_UNDEFINED_KEY)
    expectEqual(log.observe(object.object, "hollow").outcome.status, .KVO_UNDEFINED_KEY)
    expectEqual(log.observe(open.object, "spectre").outcome.status, .KVO_UNDEFINED_KEY)
  }

  @Test(
    "C8: an empty key, or one with an empty component, is an invalid key path",
    arguments: [
      "", ".", ".balance", "balance.", "branch..mark",
    ])
  func emptyKey(_ key: String) {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    expectEqual(log.observe(object.object, key).outcome.status, .KVO_INVALID_KEY_PATH)
    expectEqual(kvo_isa(object.object), account_class())
  }

  @Test("C8: a key that only the hook answers notifies by manual changes")
  func hookedKeyByHand() {
    let object = make(forgiving.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "ghost", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(object.object, "ghost")
    object.pointee.ghost_ = 3
    kvo_did_change(object.object, "ghost")
    expectEqual(log.take(), ["a: ghost old 0.0 new 3.0"])
  }

  @Test("C10: a token replaced with initial ends the old registration and starts the new one")
  func replacedToken() {
    let first = make(account.self)
    let second = make(account.self)
    defer {
      first.release()
      second.release()
    }
    let log = Recorder()
    var token: Registration?
    func observe(_ target: UnsafeMutablePointer<account>, as name: String) {
      token?.release()
      token = log.observe(target.object, "balance", [.KVO_INITIAL, .KVO_NEW], as: name)
    }

    observe(first, as: "1")
    observe(second, as: "2")
    account_setBalance(first, 10)
    account_setBalance(second, 20)
    expectEqual(log.take(), ["1: balance new 0.0", "2: balance new 0.0", "2: balance new 20.0"])
    expectEqual(kvo_isa(first.object), account_class())
  }

  @Test("C10: a token may be replaced from inside its own callback")
  func replacedInsideCallback() {
    let first = make(account.self)
    let second = make(account.self)
    defer {
      first.release()
      second.release()
    }
    let log = Recorder()
    var tokens: [Registration] = []
    tokens.append(
      log.observe(first.object, "balance", .KVO_NEW, as: "1") { _ in
        tokens[0].release()
        tokens.append(log.observe(second.object, "balance", [.KVO_INITIAL, .KVO_NEW], as: "2"))
        expectEqual(tokens[0].ended, 0)
      })

    account_setBalance(first, 1)
    expectEqual(tokens[0].ended, 1)
    account_setBalance(first, 2)
    account_setBalance(second, 3)
    expectEqual(log.take(), ["1: balance new 1.0", "2: balance new 0.0", "2: balance new 3.0"])
  }

  @Test(
    "C11: a context is passed back unchanged, whatever its address",
    arguments: [
      1, 3, 0x7FFF, 0xDEAD_BEEF, -1, Int.min,
    ])
  func contexts(_ number: Int) {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    var contexts: [UnsafeMutableRawPointer?] = []
    let log = Recorder()
    log.listen(to: observer, as: "w") { contexts.append($0.context) }
    add(
      observer, to: object.object, "balance", [.KVO_PRIOR, .KVO_INITIAL], context: address(number))
    account_setBalance(object, 1)
    expectEqual(contexts, Array(repeating: address(number), count: 3))
    expectEqual(
      remove(observer, from: object.object, "balance", context: address(number)).status, .KVO_OK)
  }

  @Test("C11: the addresses of two statics distinguish two keys")
  func staticContexts() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    var keys: [UnsafeMutableRawPointer?: [String]] = [:]
    let log = Recorder()
    log.listen(to: observer, as: "w") { keys[$0.context, default: []].append($0.keyPath) }
    add(observer, to: object.object, "balance", context: base_watcher_context())
    add(observer, to: object.object, "interestRate", context: sub_watcher_context())
    account_setBalance(object, 1)
    account_setInterestRate(object, 2)
    expectEqual(
      keys,
      [
        base_watcher_context(): ["balance"], sub_watcher_context(): ["interestRate"],
      ])
  }

  @Test("C11: a callback's context is passed back unchanged, and passed to `ended`")
  func callbackContext() {
    let object = make(account.self)
    defer { object.release() }
    let counts = UnsafeMutablePointer<(calls: Int, ended: Int)>.allocate(capacity: 1)
    counts.initialize(to: (0, 0))
    defer { counts.deallocate() }
    var handle: OpaquePointer?
    let count: kvo_callback = { context, _, _, _ in
      context!.assumingMemoryBound(to: (calls: Int, ended: Int).self).pointee.calls += 1
    }
    let status = kvo_add_callback(
      object.object, "balance", [], count, counts,
      { $0!.assumingMemoryBound(to: (calls: Int, ended: Int).self).pointee.ended += 1 },
      &handle, nil)
    expectEqual(status, .KVO_OK)
    account_setBalance(object, 1)
    expect(counts.pointee == (1, 0))
    kvo_handle_release(handle)
    expect(counts.pointee == (1, 1))
  }
}
