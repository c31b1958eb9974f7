import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// The examples of Apple's guide to key-value observing, except those of dependent keys.
@Suite(.recording) struct GuideTests {
  // MARK: Registering

  @Test(
    "C11: guide, registering, listings 1 to 4: contexts by key, by class, or none; and removal",
    arguments: [
      guide_contexts.GUIDE_CONTEXT_PER_KEY, .GUIDE_CONTEXT_PER_CLASS, .GUIDE_NO_CONTEXT,
    ])
  func person(_ contexts: guide_contexts) {
    let account = make(guide_account.self)
    let person = make(guide_person.self)
    defer {
      account.release()
      person.release()
    }
    person.pointee.contexts = contexts
    guide_person_watch(person, account)
    guide_account_setBalance(account, 10)
    guide_account_setInterestRate(account, 2)
    guide_account_setName(account, "Savings")
    guide_account_setBalance(account, 12)
    expectEqual(
      person.takeHeard(),
      [
        "person: balance 0 to 10", "person: rate 0 to 2", "person: balance 10 to 12",
      ])
    guide_person_unwatch(person, account)
    guide_account_setBalance(account, 1)
    guide_account_setInterestRate(account, 1)
    expectEqual(person.takeHeard(), [])
    expect(!isSwapped(account.object))
  }

  @Test("D11: guide, context: a subclass and its superclass observe one key and do not clash")
  func child() {
    let account = make(guide_account.self)
    let child = make(guide_person.self, of: guide_child_class())
    defer {
      account.release()
      child.release()
    }
    guide_person_watch(child, account)
    guide_child_watch(child, account)
    guide_account_setBalance(account, 10)
    guide_account_setInterestRate(account, 2)
    expectEqual(
      child.takeHeard(),
      [
        "person: balance 0 to 10", "child: balance 0 to 10", "person: rate 0 to 2",
      ])
    guide_child_unwatch(child, account)
    guide_account_setBalance(account, 20)
    expectEqual(child.takeHeard(), ["person: balance 10 to 20"])
    guide_child_watch(child, account)
    guide_person_unwatch(child, account)
    guide_account_setBalance(account, 30)
    expectEqual(child.takeHeard(), ["child: balance 20 to 30"])
  }

  @Test("D10: guide, receiving: a notification that no class in the hierarchy takes stops")
  func unrecognised() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let account = make(guide_account.self)
      let child = make(guide_person.self, of: guide_child_class())
      kvo_add_observer(account.object, child.object, "name", [], address(99), nil)
      guide_account_setName(account, "Savings")
      print("still there")
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    for word in ["CGuideChild", "name", "CGuideAccount"] { expect(errors.contains(word)) }
  }

  @Test("C2: guide, removing: removing what is not registered is an error, and harmless")
  func removedTwice() {
    let account = make(guide_account.self)
    let person = make(guide_person.self)
    defer {
      account.release()
      person.release()
    }
    func remove(_ key: String) -> kvo_status {
      kvo_remove_observer(account.object, person.object, key, nil)
    }
    expectEqual(remove("balance"), .KVO_NOT_REGISTERED)
    guide_person_watch(person, account)
    expectEqual(remove("name"), .KVO_NOT_REGISTERED)
    expectEqual(remove("balance"), .KVO_OK)
    expectEqual(remove("balance"), .KVO_NOT_REGISTERED)
    guide_account_setInterestRate(account, 3)
    expectEqual(person.takeHeard(), ["person: rate 0 to 3"])
  }

  @Test("C4: guide, removing: an observer that dies without removing itself is released here")
  func deadObserver() {
    let account = make(guide_account.self)
    let person = make(guide_person.self)
    defer { account.release() }
    guide_person_watch(person, account)
    person.release()
    guide_account_setBalance(account, 1)
    expect(!isSwapped(account.object))
  }

  @Test("D12: guide, options: prior, to say that a dependent property of the observer will change")
  func investors() {
    let account = make(guide_account.self)
    let investors = (0..<3).map { _ in make(guide_investor.self) }
    defer {
      account.release()
      releaseAll(investors)
    }
    let log = Recorder()
    for (index, investor) in investors.enumerated() {
      investor.pointee.factor = Double(index + 1)
      guide_investor_watch(investor, account)
      log.observe(investor.object, "wealth", [.KVO_OLD, .KVO_NEW], as: "\(index + 1)")
    }
    guide_account_setBalance(account, 10)
    expectEqual(
      log.take(),
      [
        "1: wealth old 0.0 new 10.0", "2: wealth old 0.0 new 20.0", "3: wealth old 0.0 new 30.0",
      ])
    log.observe(investors[1].object, "wealth", [.KVO_PRIOR, .KVO_OLD], as: "prior")
    guide_account_setBalance(account, 1)
    expectEqual(
      log.take(),
      [
        "prior: prior wealth old 20.0", "1: wealth old 10.0 new 1.0",
        "2: wealth old 20.0 new 2.0", "prior: wealth old 20.0", "3: wealth old 30.0 new 3.0",
      ])
  }

  // MARK: Automatic notification

  @Test("E1: guide, automatic, listing 1: the accessor, the key, the key path")
  func automatic() {
    let account = make(guide_account.self)
    let document = make(guide_document.self)
    defer {
      account.release()
      document.release()
    }
    guide_document_setAccount(document, account)
    let log = Recorder()
    log.observe(account.object, "name", [.KVO_OLD, .KVO_NEW])
    log.observe(document.object, "account.name", .KVO_NEW, as: "document")
    guide_account_setName(account, "Savings")
    set(account.object, "name", .string("Current"))
    setPath(document.object, "account.name", .string("Shared"))
    expectEqual(
      log.take(),
      [
        "a: name old nil new Savings", "document: account.name new Savings",
        "a: name old Savings new Current", "document: account.name new Current",
        "a: name old Current new Shared", "document: account.name new Shared",
      ])
  }

  @Test("H5: guide, automatic, listing 1: a relationship's proxy notifies of an insertion")
  func automaticProxy() {
    let made = Numbered()
    let account = make(guide_account.self)
    let changes = Mutations(of: account.object, "transactions")
    let transactions = (0..<3).map { _ in made.make(guide_transaction.self).object }
    let proxy = Many(mutable: account.object, "transactions")
    for transaction in transactions.prefix(2) {
      expectEqual(proxy.change(by: transaction, kvo_collection_append).status, .KVO_OK)
    }
    expectEqual(changes.take(), ["insertion 0..<1 new [#1]", "insertion 1..<2 new [#2]"])
    Many(of: transactions).lend { guide_account_setTransactions(account, $0) }
    expectEqual(changes.take(), ["setting old [#1, #2] new [#1, #2, #3]"])
    expectEqual(proxy.text, "[#1, #2, #3]")
    changes.end()
    guide_account_setTransactions(account, nil)
    made.end()
    withExtendedLifetime(proxy) { account.release() }
  }

  // MARK: Manual notification

  @Test("E1: guide, manual, listing 2: off for the balance, the superclass decides on the others")
  func turnedOff() {
    func isAutomatic(_ cls: CClass) -> [Bool] {
      let keys: [String] = ["balance", "name", "transactions"]
      return keys.map { key in kvo_class_automatically_notifies(cls, key) }
    }
    expectEqual(isAutomatic(guide_account_class()), [true, true, true])
    expectEqual(isAutomatic(guide_ledger_class()), [false, true, true])
    expectEqual(isAutomatic(guide_strict_ledger_class()), [false, true, false])
    let ledger = make(guide_account.self, of: guide_ledger_class())
    defer { ledger.release() }
    let log = Recorder()
    for key in ["name", "interestRate"] { log.observe(ledger.object, key, .KVO_NEW) }
    guide_account_setName(ledger, "Savings")
    guide_account_setInterestRate(ledger, 2)
    expectEqual(log.take(), ["a: name new Savings", "a: interestRate new 2.0"])
  }

  @Test("E3: guide, manual, listing 3: the setter notifies, once, also by key")
  func byHand() {
    let ledger = make(guide_account.self, of: guide_ledger_class())
    defer { ledger.release() }
    let log = Recorder()
    log.observe(ledger.object, "balance", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    guide_account_setBalance(ledger, 5)
    set(ledger.object, "balance", .int(5))
    expectEqual(
      log.take(),
      [
        "a: prior balance old 0.0", "a: balance old 0.0 new 5.0",
        "a: prior balance old 5.0", "a: balance old 5.0 new 5.0",
      ])
  }

  @Test("E3: guide, manual, listing 4: no notification where nothing changed")
  func testedFirst() {
    let ledger = make(guide_account.self, of: guide_careful_ledger_class())
    defer { ledger.release() }
    let log = Recorder()
    log.observe(ledger.object, "balance", [.KVO_OLD, .KVO_NEW])
    for balance in [0.0, 5, 5, 6] { guide_account_setBalance(ledger, balance) }
    set(ledger.object, "balance", .int(6))
    expectEqual(log.take(), ["a: balance old 0.0 new 5.0", "a: balance old 5.0 new 6.0"])
  }

  @Test("D6: guide, manual, listing 5: nested changes for several keys")
  func nested() {
    let ledger = make(guide_account.self, of: guide_counting_ledger_class())
    defer { ledger.release() }
    let log = Recorder()
    for key in ["itemChanged", "balance"] {
      log.observe(ledger.object, key, [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    }
    guide_account_setBalance(ledger, 5)
    expectEqual(
      log.take(),
      [
        "a: prior balance old 0.0", "a: prior itemChanged old 0",
        "a: itemChanged old 0 new 1", "a: balance old 0.0 new 5.0",
      ])
  }

  @Test(
    "H2: guide, manual, listing 6: a manual removal notifies once, with its indexes",
    arguments: ["automatic too", "by hand alone"])
  func removalByHand(_ notification: String) {
    let made = Numbered()
    let isStrict = notification == "by hand alone"
    let ledger = make(
      guide_account.self, of: isStrict ? guide_strict_ledger_class() : guide_ledger_class())
    let all = (0..<4).map { _ in made.make(guide_transaction.self).object }
    Many(of: all).lend { guide_account_setTransactions(ledger, $0) }
    let options: kvo_options = [.KVO_PRIOR, .KVO_OLD, .KVO_NEW]
    let changes = Mutations(of: ledger.object, "transactions", options)
    withIndexes([0..<1, 2..<4]) { guide_ledger_removeTransactions(ledger, $0) }
    expectEqual(
      changes.take(),
      [
        "prior removal 0..<1 2..<4 old [#1, #3, #4]", "removal 0..<1 2..<4 old [#1, #3, #4]",
      ])
    expectEqual(readKey(ledger.object, "transactions"), "[#2]")
    changes.end()
    ledger.release()
    made.end()
  }

  // MARK: Implementation details

  @Test("A2: guide, details: the isa shows the dynamic subclass, kvo_class_of never does")
  func swizzling() {
    let account = make(guide_account.self)
    let other = make(guide_account.self)
    let person = make(guide_person.self)
    defer {
      releaseAll([account, other])
      person.release()
    }
    expectEqual(kvo_isa(account.object), guide_account_class())
    guide_person_watch(person, account)
    expectEqual(name(of: kvo_isa(account.object)), "KVONotifying_CGuideAccount")
    expectEqual(kvo_class_superclass(kvo_isa(account.object)!), guide_account_class())
    expectEqual(kvo_class_of(account.object), guide_account_class())
    expectEqual(kvo_isa(other.object), guide_account_class())
    guide_person_unwatch(person, account)
    expectEqual(kvo_isa(account.object), guide_account_class())
  }
}

extension UnsafeMutablePointer<guide_person> {
  /// The notifications since the last call of this function.
  fileprivate func takeHeard() -> [String] {
    withUnsafeMutableBytes(of: &pointee.heard) { bytes in
      let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      bytes[0] = 0
      return text.split(separator: "\n").map(String.init)
    }
  }
}
