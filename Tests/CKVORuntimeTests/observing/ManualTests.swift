import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// D6 and E3: manual pairs beside automatic changes.
///
/// A script is a list of steps such as `wA`: will, did, set by the setter, store into the field; of key A (balance)
/// or B (interestRate). Each set or store adds 1.
@Suite(.recording) struct ManualTests {
  @Test("D6: every pair is a change of its own, delivered by its did", arguments: ChangeScript.all)
  func pairs(_ script: ChangeScript) {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    for key in ["balance", "interestRate"] {
      log.observe(object.object, key, [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    }
    run(script.steps, on: object)
    expectEqual(log.take(), script.lines.map(spelledOut))
  }

  @Test("D6: pairs on an unobserved object change nothing", arguments: ChangeScript.all)
  func pairsUnobserved(_ script: ChangeScript) {
    let object = make(account.self)
    defer { object.release() }
    run(script.steps, on: object)
    expectEqual(kvo_isa(object.object), account_class())
    let stores = script.steps.split(separator: " ").count { $0 == "fA" || $0 == "sA" }
    expectEqual(account_balance(object), Double(stores))
  }

  @Test("D6: pairs match by object")
  func pairsByObject() {
    let first = make(account.self)
    let second = make(account.self)
    defer {
      first.release()
      second.release()
    }
    let log = Recorder()
    log.observe(first.object, "balance", [.KVO_OLD, .KVO_NEW], as: "1")
    log.observe(second.object, "balance", [.KVO_OLD, .KVO_NEW], as: "2")
    run("wA fA", on: first)
    run("wA fA fA", on: second)
    run("dA", on: first)
    run("dA", on: second)
    expectEqual(log.take(), ["1: balance old 0.0 new 1.0", "2: balance old 0.0 new 2.0"])
  }

  @Test("D6: pairs match by thread: another thread's is its own")
  func pairsByThread() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    run("wA fA", on: object)
    let shared = Shared(object)
    onThreads(1) { _ in run("wA fA dA", on: shared.value) }
    run("fA dA", on: object)
    expectEqual(log.take(), ["prior A 0", "prior A 1", "A 1 2", "A 0 3"].map(spelledOut))
  }

  @Test("D6: a bracket inside an automatic setter joins its change")
  func bracketInSetter() {
    let object = make(quirk.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "bracketed", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    quirk_setBracketed(object, 2)
    set(object.object, "bracketed", .int(3))
    expectEqual(
      log.take(),
      [
        "a: prior bracketed old 0", "a: bracketed old 0 new 2",
        "a: prior bracketed old 2", "a: bracketed old 2 new 3",
      ])
  }

  @Test("D6: a setter that calls itself notifies once")
  func setterCallsItself() {
    let object = make(quirk.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "nested", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    quirk_setNested(object, 4)
    expectEqual(log.take(), ["a: prior nested old 0", "a: nested old 0 new 4"])
  }

  @Test("D6: a pair in a prior call of an automatic change joins it")
  func pairInPriorOfAutomatic() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW]) { call in
      if call.isPrior { run("wA fA dA", on: object) }
    }
    run("sA", on: object)
    expectEqual(log.take(), ["prior A 0", "A 0 1"].map(spelledOut))
  }

  @Test("D6: a change is closed before its final calls: a pair in one is a change of its own")
  func pairInFinal() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW]) { _ in
      if account_balance(object) < 2 { run("wA fA dA", on: object) }
    }
    run("sA", on: object)
    expectEqual(log.take(), ["A 0 1", "A 1 2"].map(spelledOut))
  }

  @Test("D6: a pair may be opened in the prior call and closed in the final one")
  func pairAcrossCalls() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", .KVO_PRIOR, as: "bridge") { call in
      if call.isPrior {
        kvo_will_change(object.object, "interestRate")
      } else {
        object.pointee.interestRate = account_balance(object) / 100
        kvo_did_change(object.object, "interestRate")
      }
    }
    log.observe(object.object, "interestRate", [.KVO_OLD, .KVO_NEW])
    account_setBalance(object, 500)
    expectEqual(
      log.take(),
      [
        "bridge: prior balance", "bridge: balance", "a: interestRate old 0.0 new 5.0",
      ])
  }

  // MARK: Pairs beside automatic changes

  @Test("E3: a setter with a manual pair may skip it where nothing changed")
  func skippedPair() {
    let object = make(hand.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW])
    for balance in [5.0, 5, 0, 0] { hand_setBalance(object, balance) }
    expectEqual(log.take(), ["a: balance old 0.0 new 5.0", "a: balance old 5.0 new 0.0"])
  }

  @Test("E3: another key may be set within a manual pair")
  func otherKeyWithinPair() {
    let object = make(hand.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_PRIOR, .KVO_NEW])
    log.observe(object.object, "itself", [.KVO_PRIOR, .KVO_NEW])
    hand_setBalance(object, 2)
    expectEqual(
      log.take(),
      [
        "a: prior balance", "a: prior itself", "a: itself new 2.0", "a: balance new 2.0",
      ])
  }

  @Test("E3: a manual pair notifies of an in-place change of plain storage")
  func inPlaceChange() {
    let object = make(account.self)
    let bare = make(plain.self)
    defer {
      object.release()
      bare.release()
    }
    let log = Recorder()
    log.observe(object.object, "place", [.KVO_OLD, .KVO_NEW])
    log.observe(bare.object, "secret", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(object.object, "place")
    object.pointee.place.longitude += 2
    kvo_did_change(object.object, "place")
    kvo_will_change(bare.object, "secret")
    bare.pointee.secret = 9
    kvo_did_change(bare.object, "secret")
    expectEqual(
      log.take(),
      [
        "a: place old (0.0, 0.0) new (0.0, 2.0)", "a: secret old 0.0 new 9.0",
      ])
  }

  @Test(
    "E3: setting plain storage without a pair is silent; the next pair delivers the true values")
  func unbracketedStore() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW])
    object.pointee.balance = 4
    expectEqual(log.take(), [])
    account_setBalance(object, 5)
    expectEqual(log.take(), ["a: balance old 4.0 new 5.0"])
  }

  @Test("D6: a did finds its will among many open ones, whichever ends first")
  func manyOpen() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW], as: "a")
    let others = (0..<40).map { "other\($0)" }
    for round in 0..<3 {
      for key in others[..<20] { kvo_will_change(object.object, key) }
      kvo_will_change(object.object, "balance")
      for key in others[20...] { kvo_will_change(object.object, key) }
      object.pointee.balance += 1
      kvo_will_change(object.object, "balance")
      // Few pairs stay open, in a table that has grown for many.
      for key in others[..<37] { kvo_did_change(object.object, key) }
      object.pointee.balance += 1
      kvo_will_change(object.object, "balance")
      object.pointee.balance += 1
      let last = Double(3 * round + 3)
      for opened in stride(from: last - 1, through: last - 3, by: -1) {
        kvo_did_change(object.object, "balance")
        expectEqual(log.take(), ["a: balance old \(opened) new \(last)"])
      }
      for key in others[37...] { kvo_did_change(object.object, key) }
    }
  }
}

/// Expands `prior A 0` to the recorder's line.
private func spelledOut(_ line: String) -> String {
  var words = line.split(separator: " ").map(String.init)
  let isPrior = words[0] == "prior"
  if isPrior { words.removeFirst() }
  let key = words[0] == "A" ? "balance" : "interestRate"
  let old = "\(key) old \(words[1]).0"
  return isPrior ? "a: prior \(old)" : "a: \(old) new \(words[2]).0"
}

private func run(_ steps: String, on object: UnsafeMutablePointer<account>) {
  for step in steps.split(separator: " ") {
    let isBalance = step.last == "A"
    let key = isBalance ? "balance" : "interestRate"
    switch step.first {
    case "w": kvo_will_change(object.object, key)
    case "d": kvo_did_change(object.object, key)
    case "f" where isBalance: object.pointee.balance += 1
    case "f": object.pointee.interestRate += 1
    case "s" where isBalance: account_setBalance(object, object.pointee.balance + 1)
    default: account_setInterestRate(object, object.pointee.interestRate + 1)
    }
  }
}
