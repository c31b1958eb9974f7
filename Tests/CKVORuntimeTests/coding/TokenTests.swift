import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Cached keys of a binding, which make observing again free of lookups.
@Suite struct TokenTests {
  // In processes of their own, because other tests change classes and give hints. With the slow path
  // forced, the cache is not used.
  @Test("C12: a token names a key for objects of one type, until their class changes")
  func names() async {
    await #expect(processExitsWith: .success) {
      kvo_set_fast_path_disabled(false)
      let object = make(account.self).object
      defer { kvo_object_release(object) }
      let (type, other) = (UnsafeRawPointer(address(1)!), UnsafeRawPointer(address(2)!))
      let before = kvo_class_changes(object)
      remember(object, type, after: before)
      precondition(!isNamed(object, type), "what was never observed is not ready")
      observeOnce(object)
      remember(object, type, after: before)
      precondition(isNamed(object, type))
      precondition(!isNamed(object, other), "another type may have another key")
      kvo_class_add_dependency(kvo_class_of(object), "interestRate", "balance", nil)
      precondition(!isNamed(object, type), "the class may answer otherwise")
      observeOnce(object)
      remember(object, type, after: before)
      precondition(!isNamed(object, type), "what was looked up before is not known any more")
      remember(object, type, after: kvo_class_changes(object))
      precondition(isNamed(object, type) && !isNamed(object, type, .KVO_INITIAL))
    }
  }

  @Test("J2: while hints are wanted, a binding's key does not count as ready")
  func hints() async {
    await #expect(processExitsWith: .success) {
      kvo_set_fast_path_disabled(false)
      let object = make(account.self).object
      defer { kvo_object_release(object) }
      let type = UnsafeRawPointer(address(1)!)
      observeOnce(object)
      remember(object, type, after: kvo_class_changes(object))
      precondition(isNamed(object, type) && kvo_key_is_ready(object, "balance"))
      kvo_set_hint_handler { _ in }
      precondition(!isNamed(object, type), "by a token")
      precondition(!kvo_key_is_ready(object, "balance"), "by a name")
      kvo_set_hint_handler(nil)
      precondition(!kvo_key_is_ready(object, "balances") && !kvo_key_is_ready(object, "me.balance"))
    }
  }

  @Test("F1: a derived key's dependencies are released when its last observer removes itself")
  func derived() async {
    await #expect(processExitsWith: .success) {
      let (object, observer) = (make(account.self).object, make(watcher.self).object)
      defer { for made in [object, observer] { kvo_object_release(made) } }
      kvo_class_add_dependency(kvo_class_of(object), "interestRate", "balance", nil)
      for _ in 0..<2 {
        kvo_add_observer(object, observer, "interestRate", [], nil, nil)
        precondition(isSwapped(object))
        kvo_remove_observer(object, observer, "interestRate", nil)
        precondition(!isSwapped(object), "something of it is left")
      }
    }
  }

  @Test(
    "C5: a binding's words are copied, passed to the callback, and once to `ended`")
  func words() {
    let object = make(account.self)
    defer { object.release() }
    for options: kvo_options in [[], .KVO_DISTINCT, .KVO_INITIAL] {
      let log = Recorder()
      var handle: OpaquePointer?
      var words = (Unmanaged.passUnretained(log), 7)
      let status = kvo_add_callback_with_words(
        object.object, "balance", options, { words, _, _, _ in note("called", words!) }, &words,
        MemoryLayout.size(ofValue: words), { note("ended", $0) }, &handle, nil)
      words.1 = 8
      expectEqual(status, .KVO_OK)
      _ = log.take()
      account_setBalance(object, account_balance(object) + 1)
      kvo_handle_invalidate(handle!)
      kvo_handle_release(handle)
      expectEqual(log.take(), ["called 7", "ended 7"])
    }
  }
}

private func note(_ what: String, _ words: UnsafeMutableRawPointer) {
  let (log, number) = words.load(as: (Unmanaged<Recorder>, Int).self)
  log.takeUnretainedValue().note("\(what) \(number)")
}

private var token: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 4096)! }

private func remember(_ object: CObject, _ type: UnsafeRawPointer, after changes: UInt32) {
  kvo_remember_token(object, type, token, kvo_key_intern("balance")!, changes)
}

private func observeOnce(_ object: CObject) {
  var handle: OpaquePointer?
  kvo_add_callback(object, "balance", [], { _, _, _, _ in }, nil, nil, &handle, nil)
  kvo_handle_release(handle)
}

private func isNamed(
  _ object: CObject, _ type: UnsafeRawPointer, _ options: kvo_options = []
) -> Bool {
  var (handle, word): (OpaquePointer?, Int) = (nil, 0)
  defer { kvo_handle_release(handle) }
  return kvo_add_callback_by_token(
    object, type, token, options, { _, _, _, _ in }, &word, MemoryLayout<Int>.size, nil, &handle)
}
