import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// L1: callbacks registered by code on an actor run on that actor, wherever the change is made.
@Suite(.leakFree) struct CallingActorTests {
  @Test(
    "L1 C5: an action that the main actor registers is called on it, in the order of the changes")
  @MainActor func action() async {
    let shared = SharedGauge()
    let screen = Screen()
    let token = shared.observe(\.level, options: .new, target: screen, action: Screen.changed)
    shared.level = 1
    expectEqual(screen.levels, [1])
    await screen.waits(for: 3) {
      shared.level = 2
      shared.level = 3
    }
    expectEqual(screen.levels, [1, 2, 3])
    token.invalidate()
  }

  @Test("L1 C5: an action whose registration ends before its turn on the actor is not called")
  @MainActor func ended() async {
    let shared = SharedGauge()
    let screen = Screen()
    var calls = 0
    screen.onContent = { calls += 1 }
    let token = shared.observe(
      \.content, options: .new, target: screen, action: Screen.contentChanged)
    // The main actor stays busy until the registration has ended.
    let isKept = passContent(to: shared, thenNil: 1)
    token.invalidate()
    expect(isKept())
    // A call that has had its turn keeps no value.
    await yieldUntil { !isKept() }
    expectEqual(calls, 0)
    screen.onContent = nil
  }

  @Test(
    "L1 C5: calls that wait for the actor are made before a later one, in the order of the changes")
  @MainActor func order() {
    let shared = SharedGauge()
    let screen = Screen()
    let token = shared.observe(\.level, options: .new, target: screen, action: Screen.changed)
    // The main actor makes none of these calls before its own change.
    onAnotherThread { for level in 1...100 { shared.level = level } }
    shared.level = 101
    expectEqual(screen.levels, Array(1...101))
    token.invalidate()
  }

  @Test("L1 C5: an action that a waiting call ends is not called again")
  @MainActor func endsItself() {
    let shared = SharedGauge()
    let screen = Screen()
    let token = shared.observe(\.level, options: .new, target: screen, action: Screen.changed)
    screen.onLevel = { token.invalidate() }
    onAnotherThread { shared.level = 1 }
    shared.level = 2
    expectEqual(screen.levels, [1])
    screen.onLevel = nil
  }

  @Test("L1: a value that has been delivered is not kept, also while other calls wait")
  @MainActor func delivered() {
    let shared = SharedGauge()
    let screen = Screen()
    let token = shared.observe(
      \.content, options: .new, target: screen, action: Screen.contentChanged)
    let isKept = passContent(to: shared, thenNil: 5)
    var wasKept: [Bool] = []
    screen.onContent = { wasKept.append(isKept()) }
    expect(isKept())
    // The call for this change makes the waiting ones first.
    shared.content = nil
    expect(!isKept())
    expectEqual(wasKept, [true, false, false, false, false, false, false])
    screen.onContent = nil
    token.invalidate()
  }

  @Test("L1 C4: an actor that keeps the token of what it has registered is not kept alive")
  func actorDies() async {
    let shared = SharedGauge()
    var counter: Counter? = Counter()
    weak let weakCounter = counter
    await counter?.keepObserving(shared)
    await counter?.waits(for: 1) { shared.level = 1 }
    counter = nil
    await yieldUntil { weakCounter == nil }
    shared.level = 2
    expect(!shared.isObserved(forKey: "level"))
  }

  @Test("L1: a property of the main actor is set on it")
  @MainActor func bound() async {
    let shared = SharedGauge()
    let screen = Screen()
    let label = Label(screen)
    let token = label.bind(\.level, to: shared, \.level)
    shared.level = 1
    expectEqual(label.level, 1)
    await screen.waits(for: 3) { shared.level = 2 }
    expectEqual(screen.levels, [0, 1, 2])
    token.invalidate()
    onAnotherThread { shared.level = 3 }
    expectEqual(label.level, 2)
  }

  @Test("L1 L4: so are two properties bound together; they are equal in the end")
  @MainActor func boundTwoWay() async {
    let shared = SharedGauge()
    let screen = Screen()
    let label = Label(screen)
    let token = label.bindTwoWay(\.level, to: shared, \.level)
    label.level = 5
    expectEqual(shared.level, 5)
    await screen.waits(for: 3) { shared.level = 6 }
    expectEqual([label.level, shared.level], [6, 6])
    token.invalidate()
  }

  @Test(
    "L2: a change that goes round a ring of bindings on several actors sets each property once",
    arguments: [[BindingPlace.anywhere, .main, .anywhere], [.main, .other, .main, .anywhere]])
  @MainActor func ring(places: [BindingPlace]) async {
    let sets = Awaited(places.map { _ in 0 })
    let gauges = places.indices.map { index in
      CountedGauge { sets.withLock { $0[index] += 1 } }
    }
    var tokens: [KeyValueObservation] = []
    for (index, place) in places.enumerated() {
      let (from, to) = (gauges[index], gauges[(index + 1) % places.count])
      switch place {
      case .anywhere: tokens.append(to.bind(\.level, to: from, \.level, isolation: nil))
      case .main: tokens.append(to.bind(\.level, to: from, \.level))
      case .other: tokens.append(await Other.bind(to, to: from))
      }
    }
    // The binding that closes the ring sets all but the last one again.
    await sets.wait { $0[places.count - 2] == 2 }
    sets.withLock { $0 = places.map { _ in 0 } }
    onAnotherThread { gauges[0].level = 7 }
    await sets.wait { !$0.contains(0) }
    expectEqual(sets.value, places.map { _ in 1 })
    expectEqual(gauges.map(\.level), places.map { _ in 7 })
    for token in tokens { token.invalidate() }
  }

  @Test("L2: properties that an actor binds to each other are set once for a change made elsewhere")
  @MainActor func pairs() async {
    let sets = Awaited([0, 0, 0, 0])
    let gauges = (0..<4).map { index in CountedGauge { sets.withLock { $0[index] += 1 } } }
    let tokens = (0..<4).flatMap { index in
      (0..<index).map { gauges[index].bindTwoWay(\.level, to: gauges[$0], \.level) }
    }
    sets.withLock { $0 = [0, 0, 0, 0] }
    for round in 1...2 {
      onAnotherThread { gauges[0].level = round }
      // In the second round, all that waited in the first one has been passed on.
      await sets.wait { $0.allSatisfy { $0 >= round } }
    }
    expectEqual(sets.value, [2, 2, 2, 2])
    expectEqual(gauges.map(\.level), [2, 2, 2, 2])
    for token in tokens { token.invalidate() }
  }

  @Test("L2 C4: a change that waits for an actor is passed on to an object at a dead one's address")
  @MainActor func reusedAddress() async {
    let sets = Awaited(0)
    let last = CountedGauge { sets.withLock { $0 += 1 } }
    let relay = SharedGauge()
    var source: SharedGauge? = SharedGauge()
    var tokens = [
      relay.bind(\.level, to: source!, \.level, isolation: nil),
      last.bind(\.level, to: relay, \.level),
    ]
    // The main actor stays busy until the source has died.
    let dying = Shared(Unmanaged.passUnretained(source!))
    onAnotherThread { dying.value.takeUnretainedValue().level = 7 }
    let address = ObjectIdentifier(source!)
    source = nil
    let heirs = (0..<100).map { _ in SharedGauge() }
    let heir = heirs.first { ObjectIdentifier($0) == address } ?? heirs[0]
    tokens.append(heir.bind(\.level, to: last, \.level, isolation: nil))
    await sets.wait { $0 == 2 }
    expectEqual([last.level, heir.level], [7, 7])
    for token in tokens { token.invalidate() }
  }

  @Test("L2 C4: so it is if the dead one was a C object")
  @MainActor func reusedAddressOfC() async throws {
    let sets = Awaited(0)
    let last = CountedGauge { sets.withLock { $0 += 1 } }
    let relay = SharedGauge()
    var source: CAccount? = CAccount()
    var tokens = [
      try relay.bind(
        \.level, to: source!.wrapped, "balance", transform: { (balance: Double) in Int(balance) },
        isolation: nil),
      last.bind(\.level, to: relay, \.level),
    ]
    let dying = Shared(Unmanaged.passUnretained(source!))
    onAnotherThread { account_setBalance(dying.value.takeUnretainedValue().pointer, 7) }
    let address = source!.pointer
    source = nil
    // The runtime frees the dead object's memory together with that of later registrations.
    for _ in 0..<100 { relay.observe(\.level) { _, _ in }.invalidate() }
    let heirs = (0..<100).map { _ in CAccount() }
    let heir = heirs.first { $0.pointer == address } ?? heirs[0]
    tokens.append(
      try heir.wrapped.bind("balance", to: last, \.level, transform: { Double($0) }, isolation: nil)
    )
    await sets.wait { $0 == 2 }
    expectEqual([last.level, Int(account_balance(heir.pointer))], [7, 7])
    for token in tokens { token.invalidate() }
  }

  @Test("L1: so it is on any other actor, and nonisolated code runs on the thread of the change")
  func others() async {
    let shared = SharedGauge()
    let counter = Counter()
    let token = await counter.observe(shared)
    await counter.waits(for: 1) { shared.level = 1 }
    expectEqual(await counter.levels, [1])
    token.invalidate()
    let plain = PlainTarget()
    let direct = shared.observe(\.level, options: .new, target: plain, action: PlainTarget.changed)
    shared.level = 2
    expectEqual(plain.levels, [2])
    direct.invalidate()
  }
}

/// Where a binding sets its target.
enum BindingPlace: Sendable { case anywhere, main, other }

@globalActor private actor Other {
  static let shared = Other()

  @Other static func bind(_ to: CountedGauge, to from: CountedGauge) -> KeyValueObservation {
    to.bind(\.level, to: from, \.level)
  }
}

private final class CountedGauge: KVOObject, @unchecked Sendable {
  private let onSet: @Sendable () -> Void
  @Observed var level = 0 { didSet { onSet() } }
  init(_ onSet: @escaping @Sendable () -> Void) { self.onSet = onSet }
}

private final class SharedGauge: KVOObject, @unchecked Sendable {
  @Observed var level = 0
  @Observed var content: AnyObject?
}

/// Runs a body on another thread, and waits for its end.
private func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
  onThreads(1) { _ in body() }
}

/// Sets the content to an object on another thread, and then to nil several times. Returns whether the object lives.
@MainActor private func passContent(to shared: SharedGauge, thenNil count: Int) -> () -> Bool {
  let content = Screen()
  onAnotherThread {
    shared.content = content
    for _ in 0..<count { shared.content = nil }
  }
  return { [weak content] in content != nil }
}

@MainActor private final class Screen {
  private(set) var levels: [Int] = []
  var onLevel: (() -> Void)?
  var onContent: (() -> Void)?
  private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

  func changed(_ change: KeyValueObservedChange<Int>) { note(change.newValue!) }
  func contentChanged(_ change: KeyValueObservedChange<AnyObject?>) { onContent?() }

  func note(_ level: Int) {
    MainActor.preconditionIsolated()
    levels.append(level)
    onLevel?()
    guard let waiting, levels.count >= waiting.count else { return }
    self.waiting = nil
    waiting.continuation.resume()
  }

  /// Runs a body on another thread, and returns once `count` levels have arrived.
  func waits(for count: Int, _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      waiting = (count, continuation)
      onAnotherThread(body)
    }
  }
}

@MainActor private final class Label: KVOObject {
  let screen: Screen
  @Observed var level = 0 { didSet { screen.note(level) } }
  init(_ screen: Screen) { self.screen = screen }
}

private actor Counter {
  private(set) var levels: [Int] = []
  private var continuation: CheckedContinuation<Void, Never>?
  private lazy var target = CounterTarget { [unowned self] level in
    self.assumeIsolated { $0.note(level) }
  }

  func observe(_ gauge: SharedGauge) -> KeyValueObservation {
    gauge.observe(\.level, options: .new, target: target, action: CounterTarget.changed)
  }

  private var token: KeyValueObservation?
  func keepObserving(_ gauge: SharedGauge) { token = observe(gauge) }

  private func note(_ level: Int) {
    levels.append(level)
    continuation?.resume()
    continuation = nil
  }

  func waits(for count: Int, _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      self.continuation = continuation
      onAnotherThread(body)
    }
  }
}

private final class CounterTarget {
  private let note: (Int) -> Void
  init(_ note: @escaping (Int) -> Void) { self.note = note }
  func changed(_ change: KeyValueObservedChange<Int>) { note(change.newValue!) }
}

private final class PlainTarget {
  private(set) var levels: [Int] = []
  func changed(_ change: KeyValueObservedChange<Int>) { levels.append(change.newValue!) }
}
