import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// The driver that runs two threads in all orders.
@Suite struct OrdersTests {
  @Test("Two threads are run in every order of the steps between their gates, each once")
  func every() async {
    let orders = Locked<Set<String>>([])
    let tried = await inAllOrders { threads in
      let order = Locked("")
      threads.run {
        for _ in 0..<3 {
          Orders.gate()
          order.withLock { $0 += "a" }
        }
      } and: {
        for _ in 0..<2 {
          Orders.gate()
          order.withLock { $0 += "b" }
        }
      }
      let made = order.withLock { $0 }
      orders.withLock { _ = $0.insert(made) }
      return made.count == 5
    }
    // There is a step before the first gate as well: 4 and 3 steps have 35 orders.
    expect(tried.failure == nil && tried.count == 35)
    expectEqual(orders.withLock { $0.count }, 10)
  }

  @Test("With few switches there are fewer orders")
  func switches() async {
    for (switches, count) in [(0, 1), (1, 3), (2, 5), (3, 6), (4, 6)] {
      let tried = await inAllOrders(ofSwitches: switches) { threads in
        threads.run {
          Orders.gate()
        } and: {
          Orders.gate()
        }
        return true
      }
      expectEqual(tried.count, count, "\(switches)")
    }
  }

  @Test("A lost update is found, and its order is reported")
  func lostUpdate() async {
    let tried = await inAllOrders { threads in
      let count = Locked(0)
      let raise: @Sendable () -> Void = {
        let found = count.withLock { $0 }
        Orders.gate()
        count.withLock { $0 = found + 1 }
      }
      threads.run(raise, and: raise)
      return count.withLock { $0 } == 2
    }
    expectEqual(tried.failure?.sorted().map(String.init).joined(), "0011")
  }

  @Test(
    "Each lock of the library is a gate, and a thread that wants a held lock does not go on"
  )
  func locks() async {
    LibraryLocks.areGates()
    let tried = await inAllOrders { threads in
      let count = LockedValue(0)
      let raise: @Sendable () -> Void = {
        count.withLock { number in
          let found = number
          Orders.gate()
          number = found + 1
        }
      }
      threads.run(raise, and: raise)
      return count.withLock { $0 } == 2
    }
    expectEqual(tried.failure, nil)
    if LockGates.areAvailable { expect(tried.count > 2) }
  }

  @Test("A waiting thread goes on once the other has done what it waits for")
  func waiting() async {
    let tried = await inAllOrders { threads in
      let (isDone, order) = (Locked(false), Locked(""))
      threads.run {
        Orders.gate()
        order.withLock { $0 += "a" }
        isDone.withLock { $0 = true }
      } and: {
        Orders.wait { isDone.withLock { $0 } }
        order.withLock { $0 += "b" }
      }
      return order.withLock { $0 } == "ab"
    }
    expectEqual(tried.failure, nil)
    expect(tried.count > 1)
  }

  @Test("When neither thread can go on the program stops, and prints the order that led there")
  func deadlock() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let runs = Count()
      _ = await inAllOrders { threads in
        runs.add()
        let isWithoutGates = runs.value == 1
        threads.run {
          Orders.wait { isWithoutGates }
        } and: {
          Orders.wait { isWithoutGates }
        }
        return true
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    expect(text.contains("neither of the threads can go on: 01"))
  }
}
