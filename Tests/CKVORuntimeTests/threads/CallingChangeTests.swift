import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// N: a change log learns which change calls it, whichever thread ends that.
@Suite(.recording) struct CallingChangeTests {
  /// An object whose observers note which changes call them.
  fileprivate final class Calls {
    struct Called: Equatable {
      let key: String
      let isPrior: Bool
      let change: kvo_calling_change

      static func == (one: Called, other: Called) -> Bool {
        one.key == other.key && one.change.thread == other.change.thread
          && one.change.began == other.change.began
      }
    }

    let object = make(account.self)
    private(set) var all: [Called] = []
    let log = Recorder()

    /// - Parameter reaction: is called before the change is noted.
    func observe(_ key: String, reaction: ((_ isPrior: Bool) -> Void)? = nil) {
      log.observe(object.object, key, [.KVO_NEW, .KVO_PRIOR]) { [unowned self] call in
        let isPrior = call.isPrior
        reaction?(isPrior)
        all.append(Called(key: key, isPrior: isPrior, change: kvo_binding_calling_change(isPrior)))
      }
    }

    /// Begins a change on another thread, for this one to end.
    func beginElsewhere(_ key: String) -> OpaquePointer {
      nonisolated(unsafe) var change: OpaquePointer?
      nonisolated(unsafe) let object = object.object
      onAnotherThread {
        change = kvo_stored_property_will_change_key(object, kvo_key_intern(key)!)
      }
      return change!
    }

    deinit {
      log.end()
      object.release()
    }
  }

  @Test("N1: the calls before and after a change name the same change", arguments: [false, true])
  func sameChange(endsElsewhere: Bool) {
    let calls = Calls()
    calls.observe("balance")
    if endsElsewhere {
      kvo_stored_property_did_change(calls.beginElsewhere("balance"))
    } else {
      account_setBalance(calls.object, 1)
    }
    let all = calls.all
    expect(all.map(\.isPrior) == [true, false] && all[0] == all[1])
    expect(all[0].change.thread != nil)
    expectEqual(all[1].change.taken > all[1].change.began, endsElsewhere)
  }

  @Test("N1: a prior call names its change after a change that an earlier prior call has made")
  func afterNested() {
    let calls = Calls()
    calls.observe("balance") { [unowned calls] isPrior in
      guard isPrior else { return }
      _ = kvo_binding_stamp()
      account_setInterestRate(calls.object, 1)
    }
    calls.observe("interestRate")
    calls.observe("balance")
    account_setBalance(calls.object, 1)
    let all = calls.all
    expectEqual(
      all.map { "\($0.isPrior) \($0.key)" },
      [
        "true interestRate", "false interestRate", "true balance", "true balance", "false balance",
        "false balance",
      ])
    expect(all[0] == all[1] && all[2...].allSatisfy { $0 == all[2] })
    expect(all[0].change.began > all[2].change.began)
  }

  @Test("N1: the keys of a batch, and a manual pair, call with one change before and after it")
  func manual() {
    let calls = Calls()
    calls.observe("balance")
    calls.observe("interestRate")
    let (object, other) = (calls.object.object, Calls())
    other.observe("interestRate")
    let batch = kvo_batch_begin(object)
    let bracket = kvo_scoped_change_begin_named(other.object.object, "interestRate")
    account_setBalance(calls.object, 1)
    kvo_scoped_change_end(bracket!)
    kvo_batch_end(batch!)
    kvo_will_change(object, "balance")
    _ = kvo_binding_stamp()
    kvo_did_change(object, "balance")
    let all = calls.all
    let balance = all.filter { $0.key == "balance" }
    expect(balance.count == 4 && balance[0] == balance[1] && balance[2] == balance[3])
  }

  @Test("N2: a change that another thread has begun counts from when this thread takes it over")
  func countsFromTakeover() {
    let calls = Calls()
    let log = Recorder()
    nonisolated(unsafe) var before: (earlier: Bool, now: Bool)?
    let change = calls.beginElsewhereObserved(log) { stamp in
      before = (kvo_binding_began_before(stamp), kvo_binding_began_before(.max))
    }
    expect(!kvo_binding_began_before(.max))
    kvo_stored_property_did_change(change)
    expect(before?.earlier == false && before?.now == true)
    expect(!kvo_binding_began_before(.max))
    log.end()
  }

  @Test("N3: a thread is within a change that it has taken over, until that has ended")
  func isWithin() {
    let calls = Calls()
    var wasWithin: [Bool] = []
    calls.observe("balance") { [unowned calls] isPrior in
      if !isPrior { wasWithin.append(kvo_binding_is_within(calls.all[0].change)) }
    }
    let change = calls.beginElsewhere("balance")
    expect(!kvo_binding_is_within(calls.all[0].change))
    kvo_stored_property_did_change(change)
    expectEqual(wasWithin, [true])
    expect(!kvo_binding_is_within(calls.all[0].change))
  }

  @Test("N3: a thread is within the changes that it has open or delivers")
  func isWithinOwn() {
    let calls = Calls()
    var wasWithin: [Bool] = []
    calls.observe("balance") { [unowned calls] isPrior in
      if isPrior { return }
      wasWithin.append(kvo_binding_is_within(calls.all[0].change))
      let change = Shared(calls.all[0].change)
      onAnotherThread { expect(!kvo_binding_is_within(change.value)) }
    }
    account_setBalance(calls.object, 1)
    expectEqual(wasWithin, [true])
    expect(!kvo_binding_is_within(calls.all[0].change))
  }
}

extension CallingChangeTests.Calls {
  /// Begins a change whose final call passes a stamp that was taken after its beginning, and before this thread ends it.
  fileprivate func beginElsewhereObserved(_ log: Recorder, _ body: @escaping (UInt64) -> Void)
    -> OpaquePointer
  {
    var stamp: UInt64 = 0
    log.observe(object.object, "balance") { _ in body(stamp) }
    let change = beginElsewhere("balance")
    stamp = kvo_binding_stamp()
    return change
  }
}
