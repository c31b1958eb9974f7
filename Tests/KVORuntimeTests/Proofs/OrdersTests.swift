import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// The driver that tries all orders of two threads.
@Suite struct OrdersTests {
  @Test("Two threads are run in every order of what lies between their gates, each once")
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
    // Before the first gate there is a step as well: of 4 and 3 steps there are 35 orders.
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

  @Test("A lost update is found, and its order is told")
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
    "Each lock of the library is a gate, and no thread goes on while the other holds the lock that it wants"
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
    if LockGates.areThere { expect(tried.count > 2) }
  }

  @Test("A thread that waits goes on once the other has done what it waits for")
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

  @Test("Where neither thread can go on the program stops, and says in what order they came there")
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
