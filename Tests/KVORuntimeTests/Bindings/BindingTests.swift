import CFixtures
import CKVORuntime
import Dispatch
import Expectations
import Glibc
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// L: properties that follow others.
@Suite(.leakFree) struct BindingTests {
  class Cell: Tracked {
    @Observed var value = 0
    @Observed var text = ""
    @Observed var list: [Int] = []
    @Observed var next: Cell?
    @Observed var point = (x: 0, y: 0)
    var plain = 0
    var twice: Int { value * 2 }
    /// Limits its value to 0 to 9.
    var clamped: Int {
      get { value }
      set { value = min(max(newValue, 0), 9) }
    }
  }

  private final class Special: Cell {
    /// A plain property that a key path names by its offset.
    var own = 0
    override var clamped: Int {
      get { value }
      set { value = -newValue }
    }
  }

  private class Box<Element>: Tracked {
    @Observed var content: [Element]
    @Observed var action: (Int) -> Int = { $0 }

    init(_ content: [Element]) { self.content = content }
  }

  private let source = Cell()
  private let target = Cell()
  private let log = Log()

  /// Records the notifications of a value.
  private final class Log {
    private let notified = Locked<[Int]>([])
    private var tokens: [KeyValueObservation] = []

    func observe(_ cell: Cell) {
      tokens.append(
        cell.observe(\.value) { [notified] cell, _ in notified.withLock { $0.append(cell.value) } })
    }

    func take() -> [Int] {
      notified.withLock { notified in
        defer { notified = [] }
        return notified
      }
    }
  }

  @Test(
    "L1 L2: a binding made while its target forwards still sets it; one to itself sets once"
  )
  func madeInside() {
    let (third, master) = (Cell(), Cell())
    master.value = 77
    let outer = target.bind(\.value, to: source, \.value)
    var inner: KeyValueObservation?
    let observer = target.observe(\.value) { [source] _, _ in
      if inner == nil { inner = source.bind(\.value, to: master, \.value) }
    }
    source.value = 1
    expect(source.value == 77 && inner?.isValid == true)
    third.value = 20
    let own = third.bind(\.value, to: third, \.value) { min($0, 9) }
    expectEqual(third.value, 9)
    withExtendedLifetime((outer, observer, own)) {}
  }

  @Test(
    "L4: another thread's change during a binding has its own history"
  )
  func handedOver() {
    nonisolated(unsafe) let (a, b, c) = (Cell(), Cell(), Cell())
    let (inside, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let bindings = [b.bindTwoWay(\.value, to: a, \.value), c.bindTwoWay(\.value, to: b, \.value)]
    let observer = c.observe(\.value) { cell, _ in
      guard cell.value == 1 else { return }
      inside.signal()
      done.wait()
    }
    onThreads(2) { thread in
      if thread == 0 {
        a.value = 1
        return
      }
      inside.wait()
      c.value = 2
      done.signal()
    }
    expectEqual([a.value, b.value, c.value], [2, 2, 2])
    withExtendedLifetime((bindings, observer)) {}
  }

  @Test(
    "L4: so it does where an observer, not a binding, brings the change back"
  )
  func handedOverByHand() {
    nonisolated(unsafe) let (x, y, a, z) = (Cell(), Cell(), Cell(), Cell())
    let (inside, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let bindings = [
      y.bind(\.value, to: x, \.value), z.bind(\.value, to: a, \.value),
      x.bind(\.value, to: z, \.value),
    ]
    let hand = y.observe(\.value) { [unowned a] y, _ in a.value = y.value }
    let waiting = z.observe(\.value) { z, _ in
      guard z.value == 1 else { return }
      inside.signal()
      done.wait()
    }
    onThreads(2) { thread in
      if thread == 0 {
        x.value = 1
        return
      }
      inside.wait()
      a.value = 2
      done.signal()
    }
    expectEqual([x.value, y.value, a.value, z.value], [2, 2, 2, 2])
    withExtendedLifetime((bindings, hand, waiting)) {}
  }

  // MARK: Forwarded values

  @Test("L1: the target is set at once, then after each change")
  func sets() {
    source.value = 3
    let token = target.bind(\.value, to: source, \.value)
    expectEqual(target.value, 3)
    log.observe(target)
    for value in [4, 4, 5] { source.value = value }
    expectEqual(log.take(), [4, 4, 5])
    target.value = 9
    expectEqual(source.value, 5)
    token.invalidate()
    source.value = 6
    expect(target.value == 9 && !token.isValid)
  }

  @Test("L1: a transform makes the value that is set")
  func transforms() {
    let token = target.bind(\.text, to: source, \.value) { "<\($0)>" }
    expectEqual(target.text, "<0>")
    source.value = 7
    expectEqual(target.text, "<7>")
    withExtendedLifetime(token) {}
  }

  @Test(
    "L1: computed properties, key paths and collections are passed on whole, at their current value"
  )
  func kinds() {
    let twice = target.bind(\.value, to: source, \.twice)
    source.value = 4
    expectEqual(target.value, 8)
    let list = target.bind(\.list, to: source, \.list)
    source.mutableArray(\.list).append(1)
    source.mutableArray(\.list).append(2)
    expectEqual(target.list, [1, 2])
    let path = target.bind(\.text, to: source, \.next?.value) { $0.map(String.init) ?? "none" }
    expectEqual(target.text, "none")
    let third = Cell()
    source.next = third
    third.value = 5
    expectEqual(target.text, "5")
    source.next = nil
    expectEqual(target.text, "none")
    withExtendedLifetime((twice, list, path)) {}
  }

  @Test("L1: the target and the source may be named by key paths of each kind")
  func keyPaths() {
    let (box, other, special) = (Box(["a"]), Box(["b"]), Special())
    let generic = box.bind(\.content, to: other, \.content)
    other.content.append("c")
    expectEqual(box.content, ["b", "c"])
    let function = box.bind(\.action, to: other, \.action)
    other.action = { $0 + 1 }
    expectEqual(box.action(1), 2)
    let overridden = (special as Cell).bind(\.clamped, to: source, \.value)
    source.value = 70
    expectEqual(special.value, -70)
    let stored = special.bind(\.own, to: special as Cell, \.clamped)
    source.value = 80
    expectEqual(special.own, -80)
    target.list = [1, 2]
    let element = target.bind(\.list[1], to: source, \.value)
    let part = target.bind(\.point.x, to: source, \.value)
    source.value = 5
    expect(target.list == [1, 5] && target.point.x == 5)
    withExtendedLifetime((generic, function, overridden, stored, element, part)) {}
  }

  @Test(
    "L1: the target need not be observable; an earlier observer may set the source again"
  )
  func order() {
    let clamp = source.observe(\.value) { source, _ in
      if source.value > 3 { source.value = 3 }
    }
    let token = target.bind(\.plain, to: source, \.value)
    source.value = 8
    expect(source.value == 3 && target.plain == 3)
    withExtendedLifetime((clamp, token)) {}
  }

  @Test("L1: in a batch the target is set once, when the body ends")
  func batches() {
    let token = target.bind(\.value, to: source, \.value)
    log.observe(target)
    source.coalescingNotifications {
      for value in 1..<4 { source.value = value }
      expectEqual(target.value, 0)
    }
    expectEqual(log.take(), [3])
    withExtendedLifetime(token) {}
  }

  // MARK: Echo and rings

  @Test("L2: of two properties bound together, each set is passed on once, to the other alone")
  func twoWays() {
    source.value = 1
    let token = target.bindTwoWay(\.value, to: source, \.value)
    expectEqual(target.value, 1)
    log.observe(source)
    log.observe(target)
    source.value = 2
    expect(log.take() == [2, 2] && target.value == 2)
    target.value = 3
    expect(log.take() == [3, 3] && source.value == 3)
    // If a setter clamps the value, the target keeps the clamped one.
    token.invalidate()
    let clamping = target.bindTwoWay(\.clamped, to: source, \.value)
    source.value = 20
    expect(target.value == 9 && source.value == 20)
    target.clamped = 4
    expectEqual(source.value, 4)
    withExtendedLifetime(clamping) {}
  }

  @Test("L2: along a chain and around a ring each property is set once", arguments: 1...5)
  func rings(count: Int) {
    let cells = (0..<count).map { _ in Cell() }
    var tokens: [KeyValueObservation] = []
    for index in 0..<count {
      let next = cells[(index + 1) % count]
      tokens.append(next.bind(\.value, to: cells[index], \.value))
      log.observe(cells[index])
    }
    _ = log.take()
    for start in 0..<count {
      cells[start].value = start + 10
      expectEqual(log.take(), Array(repeating: start + 10, count: count))
    }
    for token in tokens { token.invalidate() }
  }

  @Test("L2: a ring of properties bound in pairs, and a property bound to itself")
  func pairs() {
    let third = Cell()
    let tokens = [
      target.bindTwoWay(\.value, to: source, \.value),
      third.bindTwoWay(\.value, to: target, \.value),
      source.bindTwoWay(\.value, to: third, \.value), source.bind(\.value, to: source, \.value),
    ]
    for (index, cell) in [source, target, third].enumerated() {
      cell.value = index + 1
      expect([source, target, third].allSatisfy { $0.value == index + 1 })
    }
    withExtendedLifetime(tokens) {}
  }

  @Test("L4: a circle of bindings that is closed and opened repeatedly leaks no memory")
  func closedAgain() async {
    await #expect(processExitsWith: .success) {
      let (first, second, third) = (Cell(), Cell(), Cell())
      let way = [
        second.bind(\.value, to: first, \.value), third.bind(\.value, to: second, \.value),
      ]
      first.bind(\.value, to: third, \.value).invalidate()
      // The first binding was in the old circle, and is not in the new ones.
      func closeAgain(times: Int) {
        for _ in 0..<times { second.bind(\.value, to: third, \.value).invalidate() }
      }
      closeAgain(times: 500)
      let before = fixture_bytes_used()
      closeAgain(times: 500)
      let left = fixture_bytes_used() - before
      precondition(left < 16 * 500, "\(left) bytes")
      first.value = 1
      precondition(third.value == 1)
      withExtendedLifetime(way) {}
    }
  }

  @Test("L2: the same property is recognised through a subclass's key path, and by its key")
  func spellings() {
    final class Spelled: Cell {}
    let special = Spelled()
    let there = special.bind(\Spelled.value, to: source, \.value)
    let back = source.bind(\.value, to: special as Cell, \Cell.value)
    log.observe(source)
    log.observe(special)
    source.value = 1
    expectEqual(log.take(), [1, 1])
    special.value = 2
    expectEqual(log.take(), [2, 2])
    withExtendedLifetime((there, back)) {}
  }

  @Test("L2: a change does not return by a binding that replaced the one that passes it on")
  func replaced() {
    var there = Optional(target.bind(\.value, to: source, \.value))
    var back: KeyValueObservation?
    let observer = target.observe(\.value) { [source] target, _ in
      guard back == nil else { return }
      there = nil
      back = source.bind(\.value, to: target, \.value)
      target.value = 2
    }
    source.value = 1
    expect(source.value == 1 && target.value == 2 && there == nil)
    target.value = 3
    expectEqual(source.value, 3)
    withExtendedLifetime((observer, back)) {}
  }

  @Test("L2: a value that an observer of the target sets to the source is passed on, once")
  func byHand() {
    let token = target.bind(\.value, to: source, \.value)
    let hand = target.observe(\.value) { [unowned source] target, _ in
      if target.value > 5 { source.value = 5 }
    }
    source.value = 8
    expect(source.value == 5 && target.value == 5)
    // An observer that always sets the source again does not recurse endlessly.
    let endless = target.observe(\.value) { [unowned source] target, _ in
      source.value = target.value - 1
    }
    source.value = 4
    expectEqual(target.value, 3)
    withExtendedLifetime((token, hand, endless)) {}
  }

  @Test(
    "L2 L4: a value that an observer along a chain sets to its first property is passed on, once",
    arguments: 1...4)
  func byHandAlongChain(_ length: Int) {
    let cells = [source] + (0..<length).map { _ in Cell() }
    for observed in 1...length {
      for isEarly in [false, true] {
        func limit() -> KeyValueObservation {
          cells[observed].observe(\.value) { [unowned source] cell, _ in
            if cell.value > 5 { source.value = 5 }
          }
        }
        let early = isEarly ? limit() : nil
        let tokens = (1...length).map { cells[$0].bind(\.value, to: cells[$0 - 1], \.value) }
        let late = isEarly ? nil : limit()
        source.value = 8
        expectEqual(cells.map(\.value), Array(repeating: 5, count: length + 1))
        // An observer that always sets the source again does not recurse endlessly.
        let endless = cells[length].observe(\.value) { [unowned source] cell, _ in
          source.value = cell.value - 1
        }
        source.value = 4
        expectEqual(cells[1...].map(\.value), Array(repeating: 3, count: length))
        endless.invalidate()
        withExtendedLifetime((early, late, tokens)) {}
      }
    }
  }

  @Test("L2 L4: a value that an observer sets while the end of a chain is bound is passed on")
  func byHandWhileBinding() {
    let last = Cell()
    let first = target.bind(\.value, to: source, \.value)
    let limit = last.observe(\.value) { [unowned source] last, _ in
      if last.value > 5 { source.value = 5 }
    }
    source.value = 8
    let second = last.bind(\.value, to: target, \.value)
    expect(source.value == 5 && target.value == 5 && last.value == 5)
    withExtendedLifetime((first, second, limit)) {}
  }

  @KVO final class Thermometer: Tracked {
    var celsius = 0
    var fahrenheit: Int { celsius * 9 / 5 + 32 }
  }

  @Test(
    "L2: a change does not return by a key that depends on the property that it was passed on to")
  func byDependentKey() {
    let thermometer = Thermometer()
    let set = thermometer.bind(\.celsius, to: source, \.value)
    let back = source.bind(\.value, to: thermometer, \.fahrenheit)
    for value in [10, 20] {
      source.value = value
      expect(source.value == value && thermometer.celsius == value)
    }
    withExtendedLifetime((set, back)) {}
  }

  // MARK: Ends

  @Test(
    "L3: a binding ends with its source, its target or its token, and retains none of them",
    arguments: 0..<4)
  func ends(way: Int) {
    for isTwoWay in [false, true] {
      var from: Cell? = Cell()
      var to: Cell? = Cell()
      var token: KeyValueObservation? =
        isTwoWay
        ? to!.bindTwoWay(\.value, to: from!, \.value) : to!.bind(\.value, to: from!, \.value)
      weak let (gone, other) = (from, to)
      switch way {
      case 0: from = nil
      case 1: to = nil
      case 2: token = nil
      default: from?.removeAllObservers()
      }
      expect(token?.isValid ?? false == false)
      expect(way != 0 || gone == nil)
      expect(way != 1 || other == nil)
      from?.value = 1
      to?.value = 2
      expect(from == nil || from!.observationInfo.registrations.isEmpty)
      expect(to == nil || to!.observationInfo.registrations.isEmpty)
    }
  }

  @Test("L3: an end may die while it is set, and the token during its notification")
  func endsInside() {
    var from: Cell? = Cell()
    var to: Cell? = Cell()
    var token = Optional(to!.bind(\.value, to: from!, \.value))
    let dropping = to!.observe(\.value) { _, _ in
      to = nil
      token = nil
    }
    from!.value = 1
    expect(to == nil && token == nil && from!.observationInfo.registrations.isEmpty)
    let last = target.bind(\.value, to: from!, \.value)
    let letting = target.observe(\.value) { _, _ in from = nil }
    from!.value = 2
    expect(from == nil && target.value == 2 && !last.isValid)
    withExtendedLifetime((dropping, letting)) {}
  }

  // MARK: Threads

  private final class Slot: Tracked, @unchecked Sendable {
    private let stored = Locked(0)
    var value: Int {
      get { stored.withLock { $0 } }
      set { withChange(of: \.value) { stored.withLock { $0 = newValue } } }
    }

    override class func registerKeys() {
      declareKeys {
        $0.accessors(
          "value", \.value, get: { $0.value },
          set: { slot, value in slot.stored.withLock { $0 = value } })
      }
    }
  }

  @Test("L4: whatever threads set concurrently, the target equals the source in the end")
  func oneWayThreads() {
    let (from, to, last) = (Slot(), Slot(), Slot())
    let tokens = [
      to.bind(\.value, to: from, \.value), last.bind(\.value, to: to, \.value) { $0 + 1 },
    ]
    for round in 0..<50 {
      onThreads(4) { thread in
        for value in 0..<20 { from.value = round * 100 + thread * 20 + value }
      }
      expect(to.value == from.value && last.value == to.value + 1)
    }
    for token in tokens { token.invalidate() }
  }

  @Test("L4: a value set by one thread while another forwards is passed on by that one")
  func leftToAnother() {
    let (from, to) = (Slot(), Slot())
    let (inside, isSet) = (Count(), Count())
    let notified = Locked<[Int]>([])
    let token = to.bind(\.value, to: from, \.value)
    let waiting = to.observe(\.value) { to, _ in
      notified.withLock { $0.append(to.value) }
      guard to.value == 1 else { return }
      inside.add()
      waitUntil { isSet.value > 0 }
    }
    onThreads(2) { thread in
      guard thread == 1 else {
        from.value = 1
        return
      }
      waitUntil { inside.value > 0 }
      from.value = 2
      from.value = 3
      isSet.add()
    }
    expect(to.value == 3 && notified.withLock { $0 } == [1, 3])
    withExtendedLifetime((token, waiting)) {}
  }

  @Test("L4: two properties bound together are equal in the end, whichever threads set either")
  func twoWayThreads() {
    let (one, other) = (Slot(), Slot())
    let token = other.bindTwoWay(\.value, to: one, \.value)
    for round in 0..<100 {
      onThreads(4) { thread in
        let slot = thread % 2 == 0 ? one : other
        for value in 0..<10 { slot.value = round * 100 + thread * 10 + value }
      }
      expectEqual(one.value, other.value)
    }
    token.invalidate()
  }

  @Test("L3 L4: bindings are made and ended, and objects die, while threads set")
  func comings() {
    let from = Slot()
    onThreads(3) { thread in
      for value in 0..<400 {
        if thread == 0 {
          from.value = value
        } else {
          let to = Slot()
          let token = to.bindTwoWay(\.value, to: from, \.value)
          if value % 2 == 0 { token.invalidate() }
          from.value = value
        }
      }
    }
    expect(from.observationInfo.registrations.isEmpty)
  }

  // MARK: C objects

  @Test("L5: a Swift property follows a C object's key, and the reverse, with a transform")
  func foreign() throws {
    let account = CAccount()
    account_setBalance(account.pointer, 2)
    let here = try target.bind(\.value, to: account.wrapped, "balance") { (value: Double) in
      Int(value)
    }
    expectEqual(target.value, 2)
    account_setBalance(account.pointer, 5)
    expectEqual(target.value, 5)
    let notified = Locked(0)
    let count = try account.wrapped.observe("owner", as: String?.self) { _, _ in
      notified.withLock { $0 += 1 }
    }
    let there = try account.wrapped.bind("owner", to: source, \.text)
    expectEqual(notified.withLock { $0 }, 1)
    source.text = "Ada"
    expectEqual(String(cString: account_owner(account.pointer)), "Ada")
    withExtendedLifetime((here, there, count)) {}
  }

  @Test("L5: a C object and a Swift object bound together pass on each change once")
  func foreignTwoWay() throws {
    let account = CAccount()
    account_setBalance(account.pointer, 4)
    let token = try target.bindTwoWay(\.value, to: account.wrapped, "balance")
    expectEqual(target.value, 4)
    log.observe(target)
    let notified = Locked(0)
    let count = try account.wrapped.observe("balance", as: Int.self) { _, _ in
      notified.withLock { $0 += 1 }
    }
    account_setBalance(account.pointer, 6)
    expect(log.take() == [6] && notified.withLock { $0 } == 1)
    target.value = 8
    expect(log.take() == [8] && notified.withLock { $0 } == 2)
    expectEqual(account_balance(account.pointer), 8)
    withExtendedLifetime((token, count)) {}
  }

  @Test("L5: such a binding ends with either object, and retains neither")
  func foreignEnds() throws {
    var account: CAccount? = CAccount()
    let made = kvo_object_create(account_class())!
    var wrapped: ForeignObject? = ForeignObject(OpaquePointer(made))
    kvo_object_release(made)
    let tokens = [
      try target.bind(\.value, to: wrapped!, "balance"),
      try wrapped!.bind("balance", to: source, \.value),
      try target.bindTwoWay(\.plainNumber, to: wrapped!, "balance"),
    ]
    source.value = 3
    expect(tokens.allSatisfy { $0.isValid })
    wrapped = nil
    expect(tokens.allSatisfy { !$0.isValid })
    source.value = 4
    expectEqual(target.value, 3)
    expect(source.observationInfo.registrations.isEmpty)
    let mortal = Cell()
    var other: Cell? = Cell()
    let last = try account!.wrapped.bind("balance", to: other!, \.value)
    other = nil
    expect(!last.isValid)
    account = nil
    withExtendedLifetime(mortal) {}
  }

  @Test("L5: a bad value that arrives while it is made is no error of making it")
  func laterError() async {
    await #expect(processExitsWith: .success) {
      let heard = Locked<[String]>([])
      KVODiagnostics.misuse = { message in heard.withLock { $0.append(message) } }
      let (cell, account) = (Cell(), CAccount())
      cell.text = "1"
      let observer = try account.wrapped.observe("balance", as: Double.self) { _, _ in
        cell.text = "much"
      }
      let token = try account.wrapped.bind("balance", to: cell, \.text) { text -> Any in
        text == "1" ? 1.5 : text
      }
      precondition(token.isValid && account_balance(account.pointer) == 1.5)
      precondition(heard.withLock { $0.count } == 1)
      withExtendedLifetime(observer) {}
    }
  }

  @Test("L5: an impossible binding throws and registers nothing; a later failure is misuse")
  func foreignErrors() async throws {
    let account = CAccount()
    #expect(throws: KeyValueError.undefinedKey(key: "blance", className: "CAccount")) {
      try target.bind(\.value, to: account.wrapped, "blance")
    }
    #expect(throws: KeyValueError.self) { try account.wrapped.bind("balance", to: source, \.text) }
    #expect(throws: KeyValueError.self) { try target.bind(\.value, to: account.wrapped, "owner") }
    expect(source.observationInfo.registrations.isEmpty)
    expect(account.wrapped.observationInfo.registrations.isEmpty)
    await #expect(processExitsWith: .success) {
      let heard = Locked<[String]>([])
      KVODiagnostics.misuse = { message in heard.withLock { $0.append(message) } }
      let (cell, account) = (Cell(), CAccount())
      let token = try account.wrapped.bind("balance", to: cell, \.text) { text -> Any in
        text.isEmpty ? 1.5 : text
      }
      cell.text = "much"
      let notified = heard.withLock { $0 }
      precondition(notified.count == 1 && notified[0].contains("A binding passes on nothing: "))
      precondition(notified[0].contains("\"balance\"") && account_balance(account.pointer) == 1.5)
      withExtendedLifetime(token) {}
    }
  }
}

extension BindingTests.Cell {
  /// That property under another name.
  var plainNumber: Int {
    get { value }
    set { value = newValue }
  }
}
