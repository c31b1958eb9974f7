/// The cost of an unobserved observable property elsewhere than in an open class of another module: in a
/// subclass in this module, and in a final class, whose loops are optimised.
import BenchmarkModel
import KVORuntime

/// Properties of a subclass whose superclass is in another module: an inherited one and its own.
var subclassFamily: Family {
  Family(cases: [
    .time("swift.sub.plain.set", .plain) { accounts(PlainSubaccount(), setInherited) },
    .time("swift.sub.set", .none) { accounts(ObservedSubaccount(), setInherited) },
    .time("swift.sub.plain.get", .plain) { accounts(PlainSubaccount(), getInherited) },
    .time("swift.sub.get", .none) { accounts(ObservedSubaccount(), getInherited) },
    .time("swift.sub.plain.own", .plain) { accounts(PlainSubaccount(), changeOwn) },
    .time("swift.sub.own", .none) { accounts(ObservedSubaccount(), changeOwn) },
    .time("swift.sub.plain.object", .plain, isExtra: true) {
      accounts(PlainSubaccount(), setObject)
    },
    .time("swift.sub.object", .none, isExtra: true) { accounts(ObservedSubaccount(), setObject) },
  ])
}

/// The sum of a property over a thousand objects of a final class.
var sumFamily: Family {
  Family(cases: [
    .time("swift.sum.plain", .plain) {
      let items = (0..<1000).map(PlainItem.init)
      return Workload(run: { for _ in 0..<$0 { sumAmounts(of: items) } }, finish: { _ in })
    },
    .time("swift.sum", .none) {
      let items = (0..<1000).map(ObservedItem.init)
      return Workload(run: { for _ in 0..<$0 { sumAmounts(of: items) } }, finish: { _ in })
    },
  ])
}

/// Appending to an observed array, short or long, and removing the element: two changes.
var appendFamily: Family {
  Family(
    cases: appendCounts.map { count in
      .time("swift.append.\(count)", .uniform) { appending(to: count) }
    })
}

/// Appends to arrays of objects whose sum is observed: by a handle, which names the element, and in place.
var followedAppendFamily: Family {
  Family(
    cases: appendCounts.flatMap { count -> [Case] in
      [
        .time("swift.append.followed.\(count)", .uniform) { appendingFollowed(to: count) },
        .time("swift.append.followed.inplace.\(count)", .uniform) {
          appendingFollowedInPlace(to: count)
        },
      ]
    })
}

/// The numbers of elements of the arrays.
let appendCounts = [2000, 200_000]

// MARK: Classes

// Open, so that the compiler does not treat the classes as final and remove the loops.
open class PlainSubaccount: PlainAccount {
  open var limit = 0.0
  open var owner: AnyObject?
}

open class ObservedSubaccount: ObservedAccount {
  @Observed open var limit = 0.0
  @Observed open var owner: AnyObject?
}

private final class PlainItem {
  var amount: Int

  init(_ amount: Int) { self.amount = amount }
}

private final class ObservedItem: KVOObject {
  @Observed var amount: Int

  init(_ amount: Int) {
    _amount = Observed(wrappedValue: amount)
    super.init()
  }
}

private final class List: KVOObject {
  @Observed var items: [Int] = []
}

private final class Basket: KVOObject {
  @Observed var items: [ObservedItem] = []
}

// MARK: Loops

/// Stores the values read, so that reads are not optimised away.
nonisolated(unsafe) private var sink = 0.0

@inline(never)
private func setInherited(_ account: PlainSubaccount, _ iterations: Int) {
  for i in 0..<iterations { account.balance = Double(i) }
}

@inline(never)
private func setInherited(_ account: ObservedSubaccount, _ iterations: Int) {
  for i in 0..<iterations { account.balance = Double(i) }
}

@inline(never)
private func getInherited(_ account: PlainSubaccount, _ iterations: Int) {
  var sum = 0.0
  for _ in 0..<iterations { sum += account.balance }
  sink = sum
}

@inline(never)
private func getInherited(_ account: ObservedSubaccount, _ iterations: Int) {
  var sum = 0.0
  for _ in 0..<iterations { sum += account.balance }
  sink = sum
}

@inline(never)
private func changeOwn(_ account: PlainSubaccount, _ iterations: Int) {
  for i in 0..<iterations { account.limit = account.limit + Double(i) }
}

@inline(never)
private func changeOwn(_ account: ObservedSubaccount, _ iterations: Int) {
  for i in 0..<iterations { account.limit = account.limit + Double(i) }
}

@inline(never)
private func setObject(_ account: PlainSubaccount, _ iterations: Int) {
  for _ in 0..<iterations { account.owner = account }
  account.owner = nil
}

@inline(never)
private func setObject(_ account: ObservedSubaccount, _ iterations: Int) {
  for _ in 0..<iterations { account.owner = account }
  account.owner = nil
}

// Stores the sum, so that the loop is not optimised away.
@inline(never)
private func sumAmounts(of items: [PlainItem]) {
  var sum = 0
  for item in items { sum &+= item.amount }
  sink = Double(sum)
}

// Stores the sum, so that the loop is not optimised away.
@inline(never)
private func sumAmounts(of items: [ObservedItem]) {
  var sum = 0
  for item in items { sum &+= item.amount }
  sink = Double(sum)
}

// MARK: Workloads

private func accounts<Account>(
  _ account: Account, _ loop: @escaping (Account, Int) -> Void
) -> Workload {
  Workload(run: { loop(account, $0) }, finish: { _ in })
}

private func appending(to count: Int) -> Workload {
  let list = List()
  list.items = Array(0..<count)
  list.items.reserveCapacity(count + 1)
  var calls = 0
  let token = list.observe(\.items, options: .new) { _, _ in calls += 1 }
  return Workload(
    run: {
      for i in 0..<$0 {
        list.items.append(i)
        list.items.removeLast()
      }
    },
    finish: {
      require(calls == 2 * $0, "the observer was notified of \(calls) of \(2 * $0) changes")
      token.invalidate()
    })
}

private func appendingFollowed(to count: Int) -> Workload {
  appendingFollowed(to: count) { basket, item, iterations in
    let items = basket.mutableArray(\.items)
    for _ in 0..<iterations {
      items.append(item)
      items.removeLast()
    }
  }
}

private func appendingFollowedInPlace(to count: Int) -> Workload {
  appendingFollowed(to: count) { basket, item, iterations in
    for _ in 0..<iterations {
      basket.items.append(item)
      basket.items.removeLast()
    }
  }
}

private func appendingFollowed(
  to count: Int, _ run: @escaping (Basket, ObservedItem, Int) -> Void
) -> Workload {
  let basket = Basket()
  basket.items = (0..<count).map(ObservedItem.init)
  basket.items.reserveCapacity(count + 1)
  let item = ObservedItem(0)
  var calls = 0
  let token = try? basket.observe(keyPath: "items.@sum.amount") { _, _ in calls += 1 }
  return Workload(
    run: { run(basket, item, $0) },
    finish: {
      require(calls == 2 * $0, "the observer was notified of \(calls) of \(2 * $0) changes")
      token?.invalidate()
    })
}
