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
}
