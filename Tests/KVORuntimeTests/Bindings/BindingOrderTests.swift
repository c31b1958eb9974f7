import Expectations
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// L: bindings in every order of two threads that set, bind, end or release.
@Suite(.leakFree) struct BindingOrderTests {
  // MARK: Equal in the end

  @Test("L4: the target equals the source, in every order of two threads that set the source")
  func oneWayOrders() async {
    let tried = await inAllOrders { orders in
      let (from, to) = (Gauge(), Gauge())
      let token = to.bind(\.value, to: from, \.value)
      orders.run {
        from.value = 1
      } and: {
        from.value = 2
      }
      return withExtendedLifetime(token) { to.last == from.last }
    }
    expectEqual(tried.failure, nil)
  }

  @Test(
    "L4: two properties bound together are equal, in every order of two threads that set either")
  func twoWayOrders() async {
    let tried = await inAllOrders { orders in
      let (one, other) = (Gauge(), Gauge())
      let token = other.bindTwoWay(\.value, to: one, \.value)
      orders.run {
        one.value = 1
      } and: {
        other.value = 2
      }
      return withExtendedLifetime(token) { one.last == other.last }
    }
    expectEqual(tried.failure, nil)
  }

  @Test(
    "L2 L4: target and source are equal where an observer of the target limits the source, in every order"
  )
  func limitedOrders() async {
    let tried = await inAllOrders(ofSwitches: 3) { orders in
      let (from, to) = (Gauge(), Gauge())
      let binding = to.bind(\.value, to: from, \.value)
      let limit = to.observe(\.value) { [unowned from] to, _ in
        if to.last > 10 { from.value = 10 }
      }
      orders.run {
        from.value = 20
      } and: {
        from.value = 30
      }
      return withExtendedLifetime((binding, limit)) { to.last == 10 && from.last == 10 }
    }
    expectEqual(tried.failure, nil)
  }

  @Test("L4: so are two with a binding in each direction")
  func oppositeOrders() async {
    let tried = await inAllOrders { orders in
      let (one, other) = (Gauge(), Gauge())
      let tokens = [
        other.bind(\.value, to: one, \.value), one.bind(\.value, to: other, \.value),
      ]
      orders.run {
        one.value = 1
      } and: {
        other.value = 2
      }
      return withExtendedLifetime(tokens) { one.last == other.last }
    }
    expectEqual(tried.failure, nil)
  }

  @Test(
    "L4: properties in a ring of bindings are equal, whichever two of them threads set",
    arguments: [1, 2])
  func ringOrders(distance: Int) async {
    let tried = await inAllOrders(ofSwitches: 3) { orders in
      let gauges = (0..<3).map { _ in Gauge() }
      let tokens = (0..<3).map { gauges[($0 + 1) % 3].bind(\.value, to: gauges[$0], \.value) }
      orders.run {
        gauges[0].value = 1
      } and: {
        gauges[distance].value = 2
      }
      return withExtendedLifetime(tokens) { gauges.allSatisfy { $0.last == gauges[0].last } }
    }
    expectEqual(tried.failure, nil)
  }

  @Test("L4: so are three properties that are bound in pairs")
  func pairOrders() async {
    let tried = await inAllOrders(ofSwitches: 2) { orders in
      let gauges = (0..<3).map { _ in Gauge() }
      let tokens = (0..<3).map { gauges[($0 + 1) % 3].bindTwoWay(\.value, to: gauges[$0], \.value) }
      orders.run {
        gauges[0].value = 1
      } and: {
        gauges[1].value = 2
      }
      return withExtendedLifetime(tokens) { gauges.allSatisfy { $0.last == gauges[0].last } }
    }
    expectEqual(tried.failure, nil)
  }

  @Test("L4: two are equal, whenever the second of two opposite bindings is made")
  func closedWhileSet() async {
    let tried = await inAllOrders(ofSwitches: 3) { orders in
      let (one, other) = (Gauge(), Gauge())
      let there = other.bind(\.value, to: one, \.value)
      let back = Locked<KeyValueObservation?>(nil)
      orders.run {
        one.value = 1
      } and: {
        let made = one.bind(\.value, to: other, \.value)
        back.withLock { $0 = made }
      }
      let isEqual = one.last == other.last
      let token = back.withLock { $0 }
      return withExtendedLifetime((there, token)) { isEqual }
    }
    expectEqual(tried.failure, nil)
  }

  // MARK: Ends

  enum End: CaseIterable, Sendable {
    case token, target, registrations
  }

  @Test(
    "L3: once a binding has ended nothing is passed on, even while it ends",
    arguments: End.allCases)
  func ends(by end: End) async {
    let tried = await inAllOrders { orders in
      let (from, to) = (Gauge(), Slot(Gauge()))
      let token = Locked<KeyValueObservation?>(nil)
      to.use { to in token.withLock { $0 = to.bind(\.value, to: from, \.value) } }
      orders.run {
        from.value = 1
      } and: {
        switch end {
        case .token: token.withLock { $0 }?.invalidate()
        case .target: to.drop()
        case .registrations: from.removeAllObservers()
        }
      }
      from.value = 2
      var isPassedOn = false
      to.use { isPassedOn = $0.last == 2 }
      let isValid = token.withLock { $0!.isValid }
      return !isPassedOn && !isValid && from.observationInfo.registrations.isEmpty
    }
    expectEqual(tried.failure, nil)
  }

  @Test("L3 L4: where one of two opposite bindings ends, the other goes on, in every order")
  func halfEnds() async {
    let tried = await inAllOrders(ofSwitches: 3) { orders in
      let (one, other) = (Gauge(), Gauge())
      let there = other.bind(\.value, to: one, \.value)
      let back = one.bind(\.value, to: other, \.value)
      orders.run {
        other.value = 1
      } and: {
        back.invalidate()
      }
      one.value = 2
      return withExtendedLifetime(there) { other.last == 2 }
    }
    expectEqual(tried.failure, nil)
  }
}
