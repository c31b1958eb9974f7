import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// D7: what callbacks may do during a delivery.
@Suite(.recording) struct ReentrancyTests {
  @Test("D7: a set in a final call is a change of its own, delivered in full before the rest")
  func setInFinal() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW], as: "first") { _ in
      if account_balance(object) < 3 { account_setBalance(object, account_balance(object) + 1) }
    }
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW], as: "second")
    account_setBalance(object, 1)
    expectEqual(
      log.take(),
      [
        "first: balance old 0.0 new 1.0", "first: balance old 1.0 new 2.0",
        "first: balance old 2.0 new 3.0", "second: balance old 2.0 new 3.0",
        "second: balance old 1.0 new 2.0", "second: balance old 0.0 new 1.0",
      ])
  }

  @Test("D7: recursion goes to any depth", arguments: [10, 500])
  func deepRecursion(_ depth: Int) {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW]) { _ in
      let balance = account_balance(object)
      if balance < Double(depth) { account_setBalance(object, balance + 1) }
    }
    account_setBalance(object, 1)
    expectEqual(
      log.take(), (1...depth).map { "a: balance old \(Double($0 - 1)) new \(Double($0))" })
  }

  @Test("D7: two keys may set each other")
  func mutualKeys() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", .KVO_NEW) { _ in
      account_setInterestRate(object, account_balance(object) / 10)
    }
    log.observe(object.object, "interestRate", .KVO_NEW) { _ in
      if account_balance(object) < 200 { account_setBalance(object, account_balance(object) + 100) }
    }
    account_setBalance(object, 10)
    expectEqual(
      log.take(),
      [
        "a: balance new 10.0", "a: interestRate new 1.0", "a: balance new 110.0",
        "a: interestRate new 11.0", "a: balance new 210.0", "a: interestRate new 21.0",
      ])
  }

  @Test(
    "D7: a set of the same key in a prior call joins the open change",
    arguments: [true, false])
  func setInPrior(_ byKey: Bool) {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW]) { call in
      guard call.isPrior else { return }
      if byKey { set(object.object, "balance", .double(5)) } else { account_setBalance(object, 5) }
      log.note("is \(account_balance(object))")
    }
    account_setBalance(object, 1)
    expectEqual(log.take(), ["a: prior balance old 0.0", "is 5.0", "a: balance old 0.0 new 1.0"])
  }

  @Test("D7: a set of another key in a prior call is a change of its own")
  func setOtherInPrior() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", .KVO_PRIOR) { call in
      if call.isPrior { account_setInterestRate(object, 1) }
    }
    log.observe(object.object, "interestRate", [.KVO_PRIOR, .KVO_NEW])
    account_setBalance(object, 1)
    expectEqual(
      log.take(),
      [
        "a: prior balance", "a: prior interestRate", "a: interestRate new 1.0", "a: balance",
      ])
  }

  @Test("D7: an observer added during a change gets the next one", arguments: [true, false])
  func addedDuringChange(_ inPrior: Bool) {
    let object = make(account.self)
    let added = make(watcher.self)
    defer {
      object.release()
      added.release()
    }
    let log = Recorder()
    log.listen(to: added, as: "w")
    var first = true
    log.observe(object.object, "balance", .KVO_PRIOR, as: "adder") { call in
      guard first, call.isPrior == inPrior else { return }
      first = false
      log.observe(object.object, "balance", .KVO_NEW, as: "added")
      add(added, to: object.object, "balance")
    }
    account_setBalance(object, 1)
    expectEqual(log.take(), ["adder: prior balance", "adder: balance"])
    account_setBalance(object, 2)
    expectEqual(
      log.take(),
      [
        "adder: prior balance", "adder: balance", "added: balance new 2.0", "w: balance",
      ])
  }

  /// How a callback removes a later observer.
  enum Taking: CaseIterable { case invalidate, release, remove, removeAll, death }

  @Test(
    "D7: an observer removed during a change is not called again",
    arguments: Taking.allCases, [true, false])
  func removedDuringChange(_ taking: Taking, _ inPrior: Bool) {
    let object = make(account.self)
    let victim = make(watcher.self)
    defer { object.release() }
    let log = Recorder()
    log.listen(to: victim, as: "victim")
    var token: Registration?
    var done = false
    log.observe(object.object, "balance", .KVO_PRIOR, as: "remover") { call in
      guard !done, call.isPrior == inPrior else { return }
      done = true
      switch taking {
      case .invalidate: token?.invalidate()
      case .release: token?.release()
      case .remove: remove(victim, from: object.object, "balance")
      case .removeAll: kvo_remove_all_observers(object.object)
      case .death: victim.release()
      }
    }
    switch taking {
    case .invalidate, .release:
      token = log.observe(object.object, "balance", .KVO_PRIOR, as: "victim")
    case .remove, .removeAll, .death: add(victim, to: object.object, "balance", .KVO_PRIOR)
    }
    if taking != .removeAll { log.observe(object.object, "balance", as: "last") }

    account_setBalance(object, 1)

    if inPrior {
      expectEqual(
        log.take(),
        ["remover: prior balance"]
          + (taking == .removeAll ? [] : ["remover: balance", "last: balance"]))
    } else {
      expectEqual(
        log.take(),
        ["remover: prior balance", "victim: prior balance", "remover: balance"]
          + (taking == .removeAll ? [] : ["last: balance"]))
    }
    if taking != .death { victim.release() }
  }

  @Test("D7: an observer may remove itself and an earlier one during a change")
  func removingItselfAndEarlier() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    var tokens: [Registration] = []
    tokens.append(log.observe(object.object, "balance", as: "0"))
    tokens.append(
      log.observe(object.object, "balance", as: "1") { _ in
        tokens[0].invalidate()
        tokens[1].invalidate()
      })
    tokens.append(log.observe(object.object, "balance", as: "2"))
    account_setBalance(object, 1)
    account_setBalance(object, 1)
    expectEqual(log.take(), ["0: balance", "1: balance", "2: balance", "2: balance"])
  }

  @Test("D7: an observer removed and added again during a change gets the next one")
  func removedAndAddedAgain() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    var once = true
    log.observe(object.object, "balance", as: "a") { _ in
      guard once else { return }
      once = false
      remove(observer, from: object.object, "balance")
      add(observer, to: object.object, "balance")
    }
    add(observer, to: object.object, "balance")
    account_setBalance(object, 1)
    expectEqual(log.take(), ["a: balance"])
    account_setBalance(object, 1)
    expectEqual(log.take(), ["a: balance", "w: balance"])
  }

  @Test("D7: a callback may drop the object", arguments: [true, false])
  func droppingTheObject(_ inPrior: Bool) {
    let deaths = Deaths()
    let object = deaths.make()
    let log = Recorder()
    var registrations: [Registration] = []
    registrations.append(
      log.observe(object.object, "mark", [.KVO_PRIOR, .KVO_NEW], as: "dropper") { call in
        if call.isPrior == inPrior { object.release() }
      })
    registrations.append(log.observe(object.object, "mark", .KVO_NEW, as: "next"))

    tracked_setMark(object, 4)

    expectEqual(deaths.count, 1)
    expectEqual(registrations.map(\.ended), [1, 1])
    expectEqual(log.take().first, "dropper: prior mark")
  }

  @Test("D7: a callback may drop the object in its initial call")
  func droppingInInitial() {
    let deaths = Deaths()
    let object = deaths.make()
    let log = Recorder()
    let registration = log.observe(object.object, "mark", .KVO_INITIAL) { $0.object.release() }
    expectEqual(registration.outcome.status, .KVO_OK)
    expectEqual(deaths.count, 1)
    expectEqual(registration.ended, 1)
    expect(!registration.isValid)
  }

  @Test(
    "D7 B11: the object may be dropped while several of its keys are set: the others are still set")
  func droppingAmongKeys() {
    let deaths = Deaths()
    let object = deaths.make()
    let log = Recorder()
    let registration = log.observe(object.object, "mark", .KVO_NEW) { call in
      if log.lines.count == 1 { call.object.release() }
    }
    let values = [kvo_value_int(4), kvo_value_int(5)]
    let outcome = withKeys(["mark", "mark"]) { keys in
      attempt { kvo_set_values_for_keys(object.object, keys, 2, values, $0) }
    }
    expectEqual(outcome.status, .KVO_OK)
    expectEqual(log.take(), ["a: mark new 4", "a: mark new 5"])
    expect(deaths.count == 1 && registration.ended == 1)
  }

  @Test("D7 B5: the object may be dropped while a key path that begins at it is set")
  func droppingAlongPath() {
    let deaths = Deaths()
    let object = deaths.make()
    let log = Recorder()
    log.observe(object.object, "mark", .KVO_NEW) { $0.object.release() }
    var value = kvo_value_int(4)
    let outcome = attempt { kvo_set_value_for_key_path(object.object, "self.mark", &value, $0) }
    expectEqual(outcome.status, .KVO_OK)
    expectEqual(log.take(), ["a: mark new 4"])
    expectEqual(deaths.count, 1)
  }

  @Test("D7: a callback may set the key in its initial call and is notified")
  func settingInInitial() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_INITIAL, .KVO_OLD, .KVO_NEW]) { call in
      if account_balance(object) == 0 { account_setBalance(object, 3) }
    }
    expectEqual(log.take(), ["a: balance new 0.0", "a: balance old 0.0 new 3.0"])
  }

  @Test("D7: a callback may read, register and remove on any object")
  func anythingOnOthers() {
    let object = make(account.self)
    let other = make(account.self)
    defer {
      object.release()
      other.release()
    }
    let log = Recorder()
    var token: Registration?
    log.observe(object.object, "balance", as: "a") { _ in
      account_setOwner(other, "Ada")
      log.note(read(other.object, "owner"))
      if token == nil {
        token = log.observe(other.object, "owner", .KVO_NEW, as: "other")
      } else {
        token?.invalidate()
      }
    }
    for _ in 0..<3 { account_setBalance(object, 1) }
    expectEqual(
      log.take(),
      [
        "a: balance", "Ada", "a: balance", "other: owner new Ada", "Ada", "a: balance", "Ada",
      ])
    expectEqual(kvo_isa(other.object), account_class())
  }

  @Test(
    "D7: removing the last observer in a call keeps what the setter stored",
    arguments: [true, false])
  func lastObserverRemovedInCall(_ inPrior: Bool) {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", .KVO_PRIOR) { call in
      if call.isPrior == inPrior { kvo_remove_all_observers(call.object) }
    }
    account_setBalance(object, 6)
    expectEqual(account_balance(object), 6)
    expectEqual(kvo_isa(object.object), account_class())
    expectEqual(log.take().count, (inPrior ? 1 : 2))
  }
}

extension CObject {
  fileprivate func release() { kvo_object_release(self) }
}
