/// Setting and getting one property of a Swift object. The loops are functions that know only the object's
/// static type, so every access is that of an open class's property.
import BenchmarkModel
import KVORuntime
import Observation

/// Setting a property of a Swift object, and getting it.
var swiftSetterFamily: Family {
  Family(cases: [
    .time("swift.plain.set", .plain, plainSet),
    .time("swift.set.unobserved", .none, unobservedSet),
    .time("swift.plain.get", .plain, plainGet),
    .time("swift.get", .none, observedGet),
    .time("floor.swift.didset", .floor, handlersSet),
    .time("swift.set.observed", .uniform) { observedSet(observers: 1) },
    .time("swift.set.observed.oldnew", .uniform) {
      observedSet(observers: 1, options: [.old, .new])
    },
    .time("observation.set.observed", .floor, trackedSet),
    .time("swift.set.otherkey", .none, isExtra: true, otherKeySet),
    .time("swift.plain.modify", .plain, isExtra: true, plainModify),
    .time("swift.modify.unobserved", .none, isExtra: true, unobservedModify),
    .time("swift.macro.set.unobserved", .none, isExtra: true) { macroSet(observing: nil) },
    .time("swift.macro.set.observed", .uniform, isExtra: true) { macroSet(observing: \.balance) },
    .time("swift.macro.set.observed.oldnew", .uniform, isExtra: true) {
      macroSet(observing: \.balance, options: [.old, .new])
    },
    .time("swift.macro.set.otherkey", .none, isExtra: true) { macroSet(observing: \.interestRate) },
    .time("swift.macro.get", .none, isExtra: true, macroGet),
    .time("swift.macro.modify.unobserved", .none, isExtra: true) { macroModify(observing: nil) },
    .time("swift.macro.modify.observed", .uniform, isExtra: true) {
      macroModify(observing: \.balance)
    },
    .time("swift.macro.modify.otherkey", .none, isExtra: true) {
      macroModify(observing: \.interestRate)
    },
    .time("swift.own.plain.modify", .plain, isExtra: true, ownPlainModify),
    .time("swift.own.modify", .none, isExtra: true, ownModify),
    .time("swift.own.set", .none, isExtra: true) { ownSet(isObserved: false) },
    .time("swift.own.set.observed", .uniform, isExtra: true) { ownSet(isObserved: true) },
    .time("swift.text.set.observed.oldnew", .uniform, isExtra: true, textSet),
  ])
}

/// Setting a property of a Swift object that has many observers.
var swiftObserversFamily: Family {
  Family(
    cases: observerCounts.map { count in
      .time("swift.observers.\(count)", .uniform) { observedSet(observers: count) }
    })
}

/// Ten sets of a property with one notification.
var swiftBatchFamily: Family {
  Family(cases: [.time("swift.coalesce.10", .uniform, coalescedSets)])
}

/// A counter that an observer increments.
private final class Counter: @unchecked Sendable {
  var value = 0

  func check(is expected: Int) {
    require(value == expected, "observers were notified of \(value) of \(expected) changes")
  }
}

/// Stores sums of the values read, so that reads are not optimised away.
nonisolated(unsafe) private var sink = 0.0

// MARK: Loops

@inline(never)
private func setBalance(of account: PlainAccount, _ iterations: Int) {
  for i in 0..<iterations { account.balance = Double(i) }
}

@inline(never)
private func setBalance(of account: DidSetAccount, _ iterations: Int) {
  for i in 0..<iterations { account.balance = Double(i) }
}

@inline(never)
private func setBalance(of account: ObservedAccount, _ iterations: Int) {
  for i in 0..<iterations { account.balance = Double(i) }
}

@inline(never)
private func sumOfBalances(of account: PlainAccount, _ iterations: Int) -> Double {
  var sum = 0.0
  for _ in 0..<iterations { sum += account.balance }
  return sum
}

@inline(never)
private func sumOfBalances(of account: ObservedAccount, _ iterations: Int) -> Double {
  var sum = 0.0
  for _ in 0..<iterations { sum += account.balance }
  return sum
}

@inline(never)
private func addToBalance(of account: PlainAccount, _ iterations: Int) {
  for _ in 0..<iterations { account.balance += 1 }
}

@inline(never)
private func addToBalance(of account: ObservedAccount, _ iterations: Int) {
  for _ in 0..<iterations { account.balance += 1 }
}

@inline(never)
private func setBalance(of account: MacroAccount, _ iterations: Int) {
  for i in 0..<iterations { account.balance = Double(i) }
}

@inline(never)
private func sumOfBalances(of account: MacroAccount, _ iterations: Int) -> Double {
  var sum = 0.0
  for _ in 0..<iterations { sum += account.balance }
  return sum
}

@inline(never)
private func addToBalance(of account: MacroAccount, _ iterations: Int) {
  for _ in 0..<iterations { account.balance += 1 }
}

@inline(never)
private func setOwner(of account: NamedAccount, _ names: [String], _ iterations: Int) {
  for i in 0..<iterations { account.owner = names[i & 1] }
}

/// A class of this module, whose properties the compiler accesses directly.
@KVO private final class OwnAccount: KVOObject {
  var balance = 0.0
}

private final class OwnPlainAccount {
  var balance = 0.0
}

@inline(never)
private func addToBalance(of account: OwnAccount, _ iterations: Int) {
  for _ in 0..<iterations { account.balance += 1 }
}

@inline(never)
private func setBalance(of account: OwnAccount, _ iterations: Int) {
  for i in 0..<iterations { account.balance = Double(i) }
}

@inline(never)
private func addToBalance(of account: OwnPlainAccount, _ iterations: Int) {
  for _ in 0..<iterations { account.balance += 1 }
}

// MARK: Workloads

private func ownModify() -> Workload {
  let account = OwnAccount()
  return Workload(run: { addToBalance(of: account, $0) }, finish: { _ in })
}

private func ownSet(isObserved: Bool) -> Workload {
  let account = OwnAccount()
  let counter = Counter()
  let token = isObserved ? account.observe(\.balance) { _, _ in counter.value += 1 } : nil
  return Workload(
    run: { setBalance(of: account, $0) },
    finish: {
      counter.check(is: isObserved ? $0 : 0)
      token?.invalidate()
    })
}

private func textSet() -> Workload {
  let account = NamedAccount()
  let counter = Counter()
  let token = account.observe(\.owner, options: [.old, .new]) { _, _ in counter.value += 1 }
  // Too long to be stored in the string itself.
  let names = ["Ada, Countess of Lovelace", "Grace Brewster Murray Hopper"]
  return Workload(
    run: { setOwner(of: account, names, $0) },
    finish: {
      counter.check(is: $0)
      token.invalidate()
    })
}

private func ownPlainModify() -> Workload {
  let account = OwnPlainAccount()
  return Workload(run: { addToBalance(of: account, $0) }, finish: { _ in })
}

private func macroGet() -> Workload {
  let account = MacroAccount()
  return Workload(run: { sink = sumOfBalances(of: account, $0) }, finish: { _ in })
}

/// Observes a property, or none, while the balance is set.
private func macroSet(
  observing property: ReferenceWritableKeyPath<MacroAccount, Double>?,
  options: KeyValueObservingOptions = []
) -> Workload {
  let account = MacroAccount()
  let counter = Counter()
  let token = property.map { account.observe($0, options: options) { _, _ in counter.value += 1 } }
  return Workload(
    run: { setBalance(of: account, $0) },
    finish: {
      counter.check(is: property == \.balance ? $0 : 0)
      token?.invalidate()
    })
}

private func macroModify(
  observing property: ReferenceWritableKeyPath<MacroAccount, Double>?
) -> Workload {
  let account = MacroAccount()
  let counter = Counter()
  let token = property.map { account.observe($0) { _, _ in counter.value += 1 } }
  return Workload(
    run: { addToBalance(of: account, $0) },
    finish: {
      counter.check(is: property == \.balance ? $0 : 0)
      token?.invalidate()
    })
}

private func plainSet() -> Workload {
  let account = PlainAccount()
  return Workload(run: { setBalance(of: account, $0) }, finish: { _ in })
}

private func plainGet() -> Workload {
  let account = PlainAccount()
  return Workload(run: { sink = sumOfBalances(of: account, $0) }, finish: { _ in })
}

private func plainModify() -> Workload {
  let account = PlainAccount()
  return Workload(run: { addToBalance(of: account, $0) }, finish: { _ in })
}

private func unobservedSet() -> Workload {
  let account = ObservedAccount()
  return Workload(run: { setBalance(of: account, $0) }, finish: { _ in })
}

private func observedGet() -> Workload {
  let account = ObservedAccount()
  return Workload(run: { sink = sumOfBalances(of: account, $0) }, finish: { _ in })
}

private func unobservedModify() -> Workload {
  let account = ObservedAccount()
  return Workload(run: { addToBalance(of: account, $0) }, finish: { _ in })
}

private func handlersSet() -> Workload {
  let account = DidSetAccount()
  let counter = Counter()
  account.handlers.append { _ in counter.value += 1 }
  return Workload(run: { setBalance(of: account, $0) }, finish: { counter.check(is: $0) })
}

private func observedSet(observers: Int, options: KeyValueObservingOptions = []) -> Workload {
  let account = ObservedAccount()
  let counter = Counter()
  let tokens = (0..<observers).map { _ in
    account.observe(\.balance, options: options) { _, _ in counter.value += 1 }
  }
  return Workload(
    run: { setBalance(of: account, $0) },
    finish: {
      counter.check(is: $0 * observers)
      for token in tokens { token.invalidate() }
    })
}

// Tracking ends after one change, so it is started again each time, as a view does.
private func track(_ account: TrackedAccount, _ counter: Counter) {
  withObservationTracking {
    _ = account.balance
  } onChange: {
    counter.value += 1
  }
}

@inline(never)
private func setBalance(
  of account: TrackedAccount, _ counter: Counter, _ iterations: Int
) {
  for i in 0..<iterations {
    account.balance = Double(i)
    track(account, counter)
  }
}

private func trackedSet() -> Workload {
  let account = TrackedAccount()
  let counter = Counter()
  track(account, counter)
  return Workload(
    run: { setBalance(of: account, counter, $0) }, finish: { counter.check(is: $0) })
}

private func otherKeySet() -> Workload {
  let account = ObservedAccount()
  let counter = Counter()
  let token = account.observe(\.interestRate) { _, _ in counter.value += 1 }
  return Workload(
    run: { setBalance(of: account, $0) },
    finish: { _ in
      counter.check(is: 0)
      token.invalidate()
    })
}

@inline(never)
private func setTenTimes(_ account: ObservedAccount, _ iterations: Int) {
  for i in 0..<iterations {
    account.coalescingNotifications {
      for step in 0..<10 { account.balance = Double(i + step) }
    }
  }
}

private func coalescedSets() -> Workload {
  let account = ObservedAccount()
  let counter = Counter()
  let token = account.observe(\.balance) { _, _ in counter.value += 1 }
  return Workload(
    run: { setTenTimes(account, $0) },
    finish: { total in
      withExtendedLifetime(account) { counter.check(is: total) }
      token.invalidate()
    })
}
