import Expectations
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// K: sequences in every order of a thread that changes the object and one that reads.
@Suite(.leakFree) struct SequenceOrderTests {
  private typealias Iterator = KeyValueValues<Int>.AsyncIterator

  // MARK: The last value

  @Test("K1: a reader that begins while a thread sets reads the property's last value last")
  func begins() async {
    let tried = await inAllOrders { orders in
      let (gauge, iterator) = (Gauge(), Locked<Iterator?>(nil))
      orders.run {
        let made = gauge.values(of: \.value).makeAsyncIterator()
        iterator.withLock { $0 = made }
      } and: {
        gauge.value = 1
      }
      var values = iterator.withLock { $0 }!
      return await values.next() == 1
    }
    expectEqual(tried.failure, nil)
  }

  @Test("K1: if two threads set, the last value read is the property's last")
  func setByTwo() async {
    let tried = await inAllOrders { orders in
      let gauge = Gauge()
      var values = gauge.values(of: \.value).makeAsyncIterator()
      orders.run {
        gauge.value = 1
      } and: {
        gauge.value = 2
      }
      return await values.next() == gauge.last
    }
    expectEqual(tried.failure, nil)
  }

  @Test("K1 K4: a reader that begins, reads and waits while a thread sets reaches the last value")
  func waits() async {
    let tried = await inAllOrders(ofSwitches: 4) { orders in
      let (gauge, reader, read) = (Gauge(), TaskThread(), Locked<[Int]>([]))
      orders.run {
        gauge.value = 1
        gauge.value = 2
      } and: {
        reader.run {
          for await value in gauge.values(of: \.value) {
            read.withLock { $0.append(value) }
            if value == 2 { break }
          }
        }
      }
      let values = read.withLock { $0 }
      return values == values.sorted() && !gauge.isObserved(forKey: "value")
    }
    expectEqual(tried.failure, nil)
  }

  // MARK: Every change

  @Test("K2 K4: a reader gets each change, in order, whenever it begins to wait")
  func changes() async {
    let tried = await inAllOrders(ofSwitches: 4) { orders in
      let (gauge, reader, read) = (Gauge(), TaskThread(), Locked<[Int]>([]))
      let iterator = Shared(gauge.changes(of: \.value).makeAsyncIterator())
      orders.run {
        gauge.value = 1
        gauge.value = 2
      } and: {
        reader.run {
          var changes = iterator.value
          for _ in 0..<2 {
            let change = await changes.next()
            read.withLock { $0.append(change!.newValue!) }
          }
        }
      }
      return read.withLock { $0 } == [1, 2]
    }
    expectEqual(tried.failure, nil)
  }

  // MARK: Ends

  enum End: CaseIterable, Sendable {
    case death, removal, cancellation

    func happen(_ gauge: Slot<Gauge>, _ reader: TaskThread) {
      switch self {
      case .death: gauge.drop()
      case .removal: gauge.use { $0.removeAllObservers() }
      case .cancellation: reader.cancel()
      }
    }
  }

  @Test(
    "K3: a reader ends at the object's death, removal or its cancellation, whenever that is",
    arguments: End.allCases)
  func ends(by end: End) async {
    let tried = await inAllOrders(ofSwitches: 4) { orders in
      let (gauge, reader, values) = (Slot(Gauge()), TaskThread(), Locked<Iterator?>(nil))
      gauge.use { gauge in
        values.withLock { $0 = gauge.values(of: \.value).makeAsyncIterator() }
      }
      let made = Shared(values.withLock { $0 }!)
      orders.run {
        end.happen(gauge, reader)
      } and: {
        reader.run {
          var values = made.value
          while await values.next() != nil {}
        }
      }
      var isObserved = false
      gauge.use { isObserved = $0.isObserved(forKey: "value") }
      return !isObserved
    }
    expectEqual(tried.failure, nil)
  }
}
