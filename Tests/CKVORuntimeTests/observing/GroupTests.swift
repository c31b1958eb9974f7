import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// C5: several keys registered at once, with one handle.
@Suite(.recording) struct GroupTests {
  /// The calls of the callbacks of one registration of several keys.
  private final class Listener {
    var calls: [String] = []
    var endings = 0
    // Not a stored property: an inout access during registration would exclude the initial calls, which read it.
    private let slot = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
    var handle: OpaquePointer? {
      get { slot.pointee }
      set { slot.pointee = newValue }
    }
    var endsAtCall = false
    var releasesAtCall = 0
    var dropsAtCall: CObject?
    private(set) var entries: UnsafeMutablePointer<Entry>

    struct Entry {
      let number: Int
      let listener: Unmanaged<Listener>
    }

    init() {
      slot.initialize(to: nil)
      entries = .allocate(capacity: 8)
      for number in 0..<8 {
        (entries + number).initialize(
          to: Entry(number: number, listener: Unmanaged.passUnretained(self)))
      }
    }

    deinit {
      entries.deallocate()
      slot.deallocate()
    }

    func add(_ object: CObject, _ keys: [String], _ options: kvo_options = []) -> Outcome {
      let pointers = keys.map { kvo_key_intern($0)! }
      return attempt { error in
        kvo_add_callback_for_keys(
          object, pointers, pointers.count, options,
          { context, _, key, _ in
            let entry = context!.assumingMemoryBound(to: Entry.self).pointee
            let listener = entry.listener.takeUnretainedValue()
            listener.calls.append("\(entry.number) \(String(cString: key))")
            if let dropped = listener.dropsAtCall.take() { kvo_object_release(dropped) }
            if listener.calls.count == listener.releasesAtCall {
              kvo_handle_release(listener.handle)
            }
            if listener.endsAtCall, let handle = listener.handle { kvo_handle_invalidate(handle) }
          }, entries, MemoryLayout<Entry>.stride,
          {
            $0!.assumingMemoryBound(to: Entry.self).pointee.listener.takeUnretainedValue()
              .endings += 1
          }, slot, error)
      }
    }

    func take() -> [String] {
      defer { calls = [] }
      return calls
    }
  }

  private func withAccount(_ body: (UnsafeMutablePointer<account>, Listener) -> Void) {
    let object = make(account.self)
    let listener = Listener()
    body(object, listener)
    kvo_handle_release(listener.handle)
    withExtendedLifetime(listener) { object.release() }
    expect(listener.endings <= 1)
  }

  @Test("C5: each key's callback gets its own context, and one handle ends them all")
  func contexts() {
    withAccount { object, listener in
      expectEqual(
        listener.add(object.object, ["balance", "interestRate", "balance"]).status, .KVO_OK)
      account_setBalance(object, 1)
      account_setInterestRate(object, 2)
      expectEqual(listener.take(), ["0 balance", "2 balance", "1 interestRate"])
      expect(kvo_handle_is_valid(listener.handle!))
      kvo_handle_invalidate(listener.handle!)
      expect(listener.endings == 1 && !kvo_handle_is_valid(listener.handle!))
      account_setBalance(object, 3)
      expect(listener.take() == [] && kvo_isa(object.object) == account_class())
    }
  }

  @Test("C5: they end by removing all, by the object's death, or with the handle, once")
  func ends() {
    for way in 0..<3 {
      let object = make(account.self)
      let listener = Listener()
      expectEqual(listener.add(object.object, ["balance", "owner"], .KVO_PRIOR).status, .KVO_OK)
      if way == 0 { kvo_remove_all_observers(object.object) }
      if way == 1 { object.release() }
      if way == 2 {
        kvo_handle_release(listener.handle)
        listener.handle = nil
      }
      expectEqual(listener.endings, 1)
      kvo_handle_release(listener.handle)
      if way != 1 { object.release() }
      expectEqual(listener.endings, 1)
    }
  }

  /// Registers for the keys of a group when its own registration ends.
  private final class Successor {
    let object: CObject
    let keys: [String]

    init(_ object: CObject, _ keys: [String]) {
      self.object = object
      self.keys = keys
    }

    func observe(_ key: String) {
      let status = kvo_add_callback(
        object, key, [], { _, _, _, _ in }, Unmanaged.passUnretained(self).toOpaque(),
        { Unmanaged<Successor>.fromOpaque($0!).takeUnretainedValue().register() }, nil, nil)
      precondition(status == .KVO_OK)
    }

    private func register() {
      for key in keys {
        precondition(
          kvo_add_callback(object, key, [], { _, _, _, _ in }, nil, nil, nil, nil) == .KVO_OK)
      }
    }
  }

  // Registrations end in table order, which depends on addresses: one of the three keys precedes both others.
  @Test(
    "C5: removing all ends a token of several keys as a whole, also if `ended` registers again",
    arguments: ["balance", "interestRate", "frozen"])
  func removedWithSuccessors(_ other: String) {
    withAccount { object, listener in
      let group = ["balance", "interestRate", "frozen"].filter { $0 != other }
      let successor = Successor(object.object, group)
      expectEqual(listener.add(object.object, group).status, .KVO_OK)
      successor.observe(other)
      let path = attempt { error in
        kvo_add_callback(
          object.object, "branch.mark", [], { _, _, _, _ in }, nil, nil, nil, error)
      }
      expectEqual(path.status, .KVO_OK)
      kvo_remove_all_observers(object.object)
      expect(listener.endings == 1 && !kvo_handle_is_valid(listener.handle!))
      account_setBalance(object, 1)
      account_setInterestRate(object, 1)
      account_setFrozen(object, true)
      expectEqual(listener.take(), [])
      kvo_remove_all_observers(object.object)
      withExtendedLifetime(successor) {}
    }
  }

  // Inside a call, what is freed has to wait, and takes one serial: the serials show that it was freed once.
  @Test("C5: ended by their handle, they are freed at once, not one by one")
  func endedAtOnce() async {
    await #expect(processExitsWith: .success) {
      for options in [kvo_options(), .KVO_PRIOR] {
        let object = make(account.self)
        let listener = Listener()
        let outcome = listener.add(object.object, ["balance", "interestRate", "owner"], options)
        listener.releasesAtCall = 1
        let before = fixture_serial()
        account_setBalance(object, 1)
        precondition(outcome.status == .KVO_OK && listener.endings == 1)
        precondition(fixture_serial() == before + 1)
        object.release()
      }
    }
  }

  @Test("C3 C5: if ended inside an initial call, the other keys are never registered")
  func endedInInitialCall() {
    withAccount { object, listener in
      listener.endsAtCall = true
      let outcome = listener.add(
        object.object, ["balance", "interestRate", "owner"], [.KVO_INITIAL, .KVO_NEW])
      expectEqual(outcome.status, .KVO_OK)
      expectEqual(listener.take(), ["0 balance"])
      expect(listener.endings == 1 && !kvo_handle_is_valid(listener.handle!))
      for key in ["balance", "interestRate", "owner"] {
        expect(!kvo_is_observed(object.object, key))
      }
    }
  }

  @Test("C5 D7: the object may be dropped in the first of several initial calls")
  func droppedInInitialCall() {
    let deaths = Deaths()
    let object = deaths.make()
    let listener = Listener()
    listener.dropsAtCall = object.object
    let outcome = listener.add(object.object, ["mark", "mark"], [.KVO_INITIAL, .KVO_NEW])
    expect(outcome.status == .KVO_OK && deaths.count == 1)
    expectEqual(listener.take(), ["0 mark", "1 mark"])
    expect(listener.endings == 1 && !kvo_handle_is_valid(listener.handle!))
    kvo_handle_release(listener.handle)
  }

  @Test("C5: the handle may be released inside an initial call", arguments: [1, 2])
  func releasedInInitialCall(_ call: Int) {
    let object = make(account.self)
    let listener = Listener()
    listener.releasesAtCall = call
    let outcome = listener.add(object.object, ["balance", "owner"], .KVO_INITIAL)
    expect(outcome.status == .KVO_OK && listener.endings == 1)
    expect(!kvo_is_observed(object.object, "balance"))
    object.release()
  }

  @Test(
    "C8: if one key can't be observed, none is",
    arguments: [
      (["balance", "nonsense"], kvo_status.KVO_UNDEFINED_KEY),
      (["balance", "branch.mark"], .KVO_INVALID_KEY_PATH),
      (["balance", "@count"], .KVO_INVALID_KEY_PATH),
      (["balance", ""], .KVO_INVALID_KEY_PATH),
      ([], .KVO_INVALID_ARGUMENT),
    ])
  func refused(_ keys: [String], _ status: kvo_status) {
    withAccount { object, listener in
      let outcome = listener.add(object.object, keys, .KVO_INITIAL)
      expect(outcome.status == status && outcome.className == "CAccount")
      expect(keys.last.map { outcome.message.contains("\"\($0)\"") } ?? true)
      expect(listener.handle == nil && listener.endings == 0 && listener.calls == [])
      expect(!kvo_is_observed(object.object, "balance"))
    }
  }

  @Test("C9: several keys of a collection can't be observed either")
  func collection() {
    let many = Many(ints: 0..<3)
    let listener = Listener()
    many.lend {
      expectEqual(listener.add(CObject($0), ["count"]).status, .KVO_NOT_OBSERVABLE)
    }
  }
}
