import Expectations
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// D3: an observer of distinct changes in every order of two threads. The threads may also switch while two values are
/// compared.
@Suite(.leakFree) struct DistinctOrderTests {
  private struct Mark: Equatable, Sendable {
    let number: Int

    static func == (a: Mark, b: Mark) -> Bool {
      Orders.gate()
      return a.number == b.number
    }
  }

  private final class Meter: Tracked, @unchecked Sendable {
    private let stored = Locked(Mark(number: 0))

    override init() {
      LibraryLocks.areGates()
      super.init()
    }

    var mark: Mark {
      get { read() }
      set { withChange(of: \.mark) { store(newValue) } }
    }

    var last: Int { stored.withLock { $0.number } }

    private func read() -> Mark {
      Orders.gate()
      defer { Orders.gate() }
      return stored.withLock { $0 }
    }

    private func store(_ mark: Mark) {
      Orders.gate()
      stored.withLock { $0 = mark }
    }

    override class func registerKeys() {
      declareKeys {
        $0.accessors(
          "mark", \.mark, get: { $0.read() }, set: { meter, mark in meter.store(mark) })
      }
    }

    func set(_ numbers: [Int]) { for number in numbers { mark = Mark(number: number) } }

    func observe(_ options: KeyValueObservingOptions, _ notified: Locked<[Int]>)
      -> KeyValueObservation
    {
      observe(\.mark, options: options) { _, change in
        notified.withLock { $0.append(change.newValue!.number) }
      }
    }
  }

  private struct Program: Sendable, CustomTestStringConvertible {
    let first: [Int], second: [Int]
    var testDescription: String { "\(first) and \(second)" }
  }

  private static let programs = [
    Program(first: [1], second: [1]), Program(first: [1], second: [0]),
    Program(first: [1], second: [2]), Program(first: [1, 0], second: [1]),
  ]

  /// Whether the observer received the values that the rule demands: none twice, and the property's last value last.
  private func isRight(_ notified: [Int], from start: Int, to end: Int) -> Bool {
    let values = [start] + notified
    return zip(values, notified).allSatisfy { $0 != $1 } && values.last == end
  }

  @Test(
    "D3 I3: if two threads set, no value is delivered twice in a row, and the last value is",
    arguments: programs, [false, true])
  private func twoSet(_ program: Program, _ isAmongOthers: Bool) async {
    let tried = await inAllOrders(ofSwitches: 4) { orders in
      let (meter, notified) = (Meter(), Locked<[Int]>([]))
      let others = isAmongOthers ? [meter.observe(\.mark) { _, _ in }] : []
      let token = meter.observe([.new, .distinct], notified)
      orders.run {
        meter.set(program.first)
      } and: {
        meter.set(program.second)
      }
      return withExtendedLifetime((token, others)) {
        isRight(notified.withLock { $0 }, from: 0, to: meter.last)
      }
    }
    expectEqual(tried.failure, nil)
  }

  @Test(
    "D3 I3: if one thread sets while another registers, the value at registration or the last is known",
    arguments: [[1], [1, 0], [1, 2]], [false, true])
  private func registers(_ numbers: [Int], _ isInitial: Bool) async {
    let options: KeyValueObservingOptions = [isInitial ? .initial : [], .new, .distinct]
    let tried = await inAllOrders(ofSwitches: 4) { orders in
      let (meter, notified) = (Meter(), Locked<[Int]>([]))
      let token = Locked<KeyValueObservation?>(nil)
      orders.run {
        let made = meter.observe(options, notified)
        token.withLock { $0 = made }
      } and: {
        meter.set(numbers)
      }
      let before = notified.withLock { $0 }
      let isLast = !isInitial || before.last == meter.last
      meter.mark = Mark(number: meter.last)
      let isKnown = isLast && notified.withLock { $0 } == before
      meter.mark = Mark(number: 9)
      return isKnown && notified.withLock { $0 } == before + [9]
    }
    expectEqual(tried.failure, nil)
  }

  private final class Shelf: Tracked, @unchecked Sendable {
    private let stored = Locked([1])

    override init() {
      LibraryLocks.areGates()
      super.init()
    }

    var items: [Int] {
      get { read() }
      set { withChange(of: \.items) { stored.withLock { $0 = newValue } } }
    }

    func insert() {
      withChange(.insertion, at: RangeSet(1..<2), forKey: "items") {
        Orders.gate()
        stored.withLock { $0.insert(2, at: 1) }
      }
    }

    private func read() -> [Int] {
      defer { Orders.gate() }
      return stored.withLock { $0 }
    }

    override class func registerKeys() {
      declareKeys {
        $0.accessors(
          "items", \.items, get: { $0.read() },
          set: { shelf, items in shelf.stored.withLock { $0 = items } })
      }
    }
  }

  @Test("D3 I3: the setting after an insertion during a registration is delivered")
  func insertsMeanwhile() async {
    let tried = await inAllOrders(ofSwitches: 4) { orders in
      let (shelf, calls, token) = (Shelf(), Locked(0), Locked<KeyValueObservation?>(nil))
      orders.run {
        let made = shelf.observe(\.items, options: [.new, .distinct]) { _, _ in
          calls.withLock { $0 += 1 }
        }
        token.withLock { $0 = made }
      } and: {
        shelf.insert()
      }
      let before = calls.withLock { $0 }
      shelf.items = [1]
      return calls.withLock { $0 } == before + 1
    }
    expectEqual(tried.failure, nil)
  }
}
