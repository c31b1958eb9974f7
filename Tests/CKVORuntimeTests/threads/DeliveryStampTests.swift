import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// L2: a binding learns from the stamps of deliveries what has happened since a change began to be delivered.
@Suite(.recording) struct DeliveryStampTests {
  /// Objects whose observers take stamps.
  private final class Stamps {
    let object = make(account.self), other = make(account.self)
    private(set) var all: [UInt64] = []
    let log = Recorder()

    func observe(_ key: String, reaction: ((Stamps) -> Void)? = nil) {
      log.observe(object.object, key) { [unowned self] _ in
        add()
        reaction?(self)
      }
    }

    func add() { all.append(kvo_binding_delivery_stamp()) }

    deinit {
      log.end()
      object.release()
      other.release()
    }
  }

  @Test("L2: all observers of a change get one stamp, and each change another one")
  func changes() {
    let stamps = Stamps()
    for _ in 0..<2 { stamps.observe("balance") }
    for balance in 1...2 { account_setBalance(stamps.object, Double(balance)) }
    for _ in 0..<2 { stamps.add() }
    let all = stamps.all
    expect(all.count == 6 && all[0] == all[1] && all[2] == all[3])
    expect(all[1] < all[2] && all[3] < all[4] && all[4] < all[5])
  }

  @Test("L2: a change inside the delivery of another one has a stamp of its own")
  func nested() {
    let stamps = Stamps()
    stamps.observe("balance") {
      account_setInterestRate($0.object, 1)
      $0.add()
    }
    stamps.observe("interestRate")
    account_setBalance(stamps.object, 1)
    let all = stamps.all
    expect(all.count == 3 && all[0] < all[1] && all[2] == all[0])
  }

  enum Way: CaseIterable, Sendable { case pair, bracket, batch }

  @Test("L2: the stamp is taken at the end of a manual change or batch", arguments: Way.allCases)
  func manual(_ way: Way) {
    let stamps = Stamps()
    stamps.observe("balance")
    stamps.log.observe(stamps.other.object, "interestRate") { [unowned stamps] _ in stamps.add() }
    let object = stamps.object.object
    func change() { account_setInterestRate(stamps.other, 1) }
    switch way {
    case .pair:
      kvo_will_change(object, "balance")
      change()
      kvo_did_change(object, "balance")
    case .bracket:
      let change = kvo_scoped_change_begin_named(object, "balance")
      account_setInterestRate(stamps.other, 1)
      kvo_scoped_change_end(change!)
    case .batch:
      let batch = kvo_batch_begin(object)
      account_setBalance(stamps.object, 1)
      change()
      kvo_batch_end(batch!)
    }
    expect(stamps.all.count == 2 && stamps.all[0] < stamps.all[1])
  }

  // MARK: Changes that another thread has begun

  /// A change of an object's key that this thread ends.
  private func begunElsewhere(_ object: UnsafeMutablePointer<kvo_object>, _ key: String)
    -> OpaquePointer
  {
    nonisolated(unsafe) var change: OpaquePointer?
    onAnotherThread { change = kvo_stored_property_will_change_key(object, kvo_key_intern(key)!) }
    return change!
  }

  @Test("L2: all observers of a change that another thread has begun get one stamp")
  func takenOver() {
    let stamps = Stamps()
    stamps.observe("balance") {
      account_setInterestRate($0.object, 1)
      $0.add()
    }
    stamps.observe("balance")
    stamps.observe("interestRate")
    kvo_stored_property_did_change(begunElsewhere(stamps.object.object, "balance"))
    stamps.add()
    let all = stamps.all
    expect(all.count == 5 && all[0] < all[1] && all[2] == all[0] && all[3] == all[0])
    expect(all[1] < all[4])
  }

  @Test("L2: a change that another thread has begun has a stamp of its own in an observer's call")
  func takenOverInCall() {
    let stamps = Stamps()
    var change: OpaquePointer?
    stamps.observe("balance") { stamps in
      if let change { kvo_stored_property_did_change(change) }
      stamps.add()
    }
    stamps.observe("interestRate")
    change = begunElsewhere(stamps.object.object, "interestRate")
    account_setBalance(stamps.object, 1)
    let all = stamps.all
    expect(all.count == 3 && all[0] < all[1] && all[2] == all[0])
  }

  private enum Stage { case none, begun, delivering, stamped }

  @Test("L2: a thread that has begun a change is not delivering it if another thread does")
  func deliveredElsewhere() {
    let stamps = Stamps()
    let stage = Locked(Stage.none)
    let change = Locked<OpaquePointer?>(nil)
    stamps.observe("balance") { _ in
      stage.withLock { $0 = .delivering }
      waitUntil { stage.withLock { $0 == .stamped } }
    }
    let shared = Shared(stamps)
    onThreads(2) { index in
      let stamps = shared.value
      if index == 0 {
        let begun = kvo_stored_property_will_change_key(
          stamps.object.object, kvo_key_intern("balance")!)
        change.withLock { $0 = begun }
        stage.withLock { $0 = .begun }
        waitUntil { stage.withLock { $0 == .delivering } }
        for _ in 0..<2 { stamps.add() }
        stage.withLock { $0 = .stamped }
      } else {
        waitUntil { stage.withLock { $0 == .begun } }
        kvo_stored_property_did_change(change.withLock { $0! })
      }
    }
    let all = stamps.all
    expect(all.count == 3 && all[0] < all[1] && all[1] < all[2])
  }
}
