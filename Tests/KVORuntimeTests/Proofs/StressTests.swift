import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// I1 to I3, C4 and C5 under stress, through the overlay: four threads do at random what the rules allow, on the same
/// objects and keys, and every call and end is accounted for.
///
/// `Stress` has the environment variables that make it run longer.
@Suite(.leakFree, .serialized) struct StressTests {
  private static let threads = 4

  /// The number of steps of each thread in a round.
  private static let steps = 400

  /// Runs steps on all threads, round after round.
  private func stress(
    _ scenario: String = #function,
    _ step: @escaping @Sendable (_ thread: Int, inout Random) -> Void
  ) {
    for seed in Stress.seed..<Stress.seed + Stress.rounds {
      onThreads(Self.threads) { thread in
        var random = Random(seed: seed &* 31 &+ UInt64(thread))
        for _ in 0..<Self.steps { step(thread, &random) }
      }
    }
    Stress.tell("\(scenario): \(Stress.rounds) rounds on \(Self.threads) threads")
  }

  private static func options(_ random: inout Random) -> KeyValueObservingOptions {
    [[], .new, .old, [.old, .new], .prior, .initial, [.initial, .new], .distinct][random.next(8)]
  }

  @Test("I1: n sets on m threads make n times m calls, whatever else is registered and ended")
  func oneKey() {
    let knot = Knot()
    let sets = Count()
    let notified = Count()
    let token = knot.observe(\.count) { _, _ in notified.add() }
    stress { thread, random in
      switch thread {
      case 0, 1:
        sets.add()
        switch random.next(5) {
        case 0: try? knot.setValue(random.next(3), forKey: "count")
        case 1: knot.withChange(forKey: "count") {}
        case 2:
          knot.coalescingNotifications {
            knot.count = random.next(3)
            knot.count = random.next(3)
          }
        default: knot.count = random.next(3)
        }
      case 2: knot.observe(\.count, options: Self.options(&random)) { _, _ in }.invalidate()
      default: _ = try? knot.observe(keyPath: "total", options: Self.options(&random)) { _, _ in }
      }
    }
    expectEqual(notified.value, sets.value)
    token.invalidate()
    expect(knot.observationInfo.registrations.isEmpty && !isSwapped(knot))
  }

  @Test(
    "I2 I3: each thread is notified of its own sets while its registration lasts, and not after")
  func ownRegistrations() {
    let knot = Knot()
    let wrong = Count()
    stress { thread, random in
      let own = Locked(0)
      let here = fixture_thread()
      let token = knot.observe(\.count, options: random.next(2) == 0 ? [] : [.old, .new]) { _, _ in
        if fixture_thread() == here { own.withLock { $0 += 1 } }
      }
      knot.count = thread
      if own.withLock({ $0 }) != 1 { wrong.add() }
      token.invalidate()
      knot.count = thread
      if own.withLock({ $0 }) != 1 { wrong.add() }
    }
    expectEqual(wrong.value, 0)
    expect(!isSwapped(knot))
  }

  @Test("C4: objects, observers and tokens end in any order while others use them")
  func deaths() {
    let knots = Locked((0..<4).map { _ in Knot() })
    let observers = Locked((0..<4).map { _ in Counting() })
    stress { _, random in
      let place = random.next(4)
      if random.next(16) == 0 { knots.withLock { $0[place] = Knot() } }
      if random.next(16) == 0 { observers.withLock { $0[place] = Counting() } }
      let knot = knots.withLock { $0[place] }
      let observer = observers.withLock { $0[random.next(4)] }
      switch random.next(10) {
      case 0: try? knot.addObserver(observer, forKeyPath: "count", options: Self.options(&random))
      case 1: try? knot.addObserver(observer, forKeyPath: "next.total")
      case 2: try? knot.removeObserver(observer, forKeyPath: "count")
      case 3: knot.removeAllObservers()
      case 4:
        _ = knot.observe([\.count, \.total]) { [life = Life(of: Knot.self)] _, _ in life.goesOn() }
      case 5: knot.next = knots.withLock { $0[random.next(4)] }
      case 6:
        knot.coalescingNotifications {
          knot.next = knots.withLock { $0[random.next(4)] }
          knot.count += 1
        }
      default: knot.count += 1
      }
    }
  }

  @Test("C5: a token that several threads invalidate ends once, and its handler is released")
  func invalidation() {
    let knot = Knot()
    let ended = Count()
    let made = Count()
    let wrong = Count()
    @Sendable func make() -> KeyValueObservation {
      made.add()
      let end = AtEnd { ended.add() }
      return knot.observe(\.count) { _, _ in withExtendedLifetime(end) {} }
    }
    let tokens = Locked((0..<4).map { _ in make() })
    stress { thread, random in
      let place = random.next(4)
      if thread == 0 {
        knot.count = place
      } else if random.next(3) == 0 {
        let fresh = make()
        tokens.withLock { $0[place] = fresh }
      } else {
        let token = tokens.withLock { $0[place] }
        token.invalidate()
        if token.isValid { wrong.add() }
      }
    }
    tokens.withLock { $0 = [] }
    expectEqual(wrong.value, 0)
    expectEqual(ended.value, made.value)
    expect(!isSwapped(knot))
  }

  @Test("I1: paths lead to the right objects after many concurrent relinks")
  func relinking() throws {
    let knots = (0..<4).map { _ in Knot() }
    stress { _, random in
      let knot = knots[random.next(4)]
      switch random.next(6) {
      case 0: knot.next = random.next(5) == 0 ? nil : knots[random.next(4)]
      case 1: knot.observe(\.next?.count, options: Self.options(&random)) { _, _ in }.invalidate()
      case 2:
        let path = ["next.count", "next.next.count", "total", "next.total"][random.next(4)]
        _ = try? knot.observe(keyPath: path, options: Self.options(&random)) { _, _ in }
      default: knot.count += 1
      }
    }
    for knot in knots { knot.next = nil }
    let notified = Count()
    let token = try knots[0].observe(keyPath: "next.next.count") { _, _ in notified.add() }
    knots[0].next = knots[1]
    knots[1].next = knots[2]
    expectEqual(notified.value, 2)
    for knot in knots { knot.count = 1 }
    expectEqual(notified.value, 3)
    token.invalidate()
    for knot in knots {
      knot.next = nil
      expect(knot.observationInfo.registrations.isEmpty && !isSwapped(knot))
    }
  }

  @Test(
    "I1 I3: along three and four keys, a set right after a registration or a link notifies once")
  func longPaths() throws {
    let knots = (0..<4).map { _ in Knot() }
    for index in 0..<3 { knots[index].next = knots[index + 1] }
    let wrong = Locked(Set<String>())
    stress { thread, random in
      let link = random.next(2)
      func lead() { knots[link].next = knots[link + 1] }
      guard thread > 0 else { return lead() }
      let own = Locked(0)
      let here = fixture_thread()
      let leaf = 2 + random.next(2)
      let isTyped = random.next(2) == 0
      func expect(_ calls: Int, of what: String) {
        let notified = own.withLock { own in
          defer { own = 0 }
          return own
        }
        guard notified != calls else { return }
        let path = "\(leaf + 1) keys, \(isTyped ? "typed" : "by string")"
        wrong.withLock { _ = $0.insert("\(what) is notified \(notified) times: \(path)") }
      }
      let token = Self.observe(knots[0], leaf: leaf, isTyped: isTyped) {
        if fixture_thread() == here { own.withLock { $0 += 1 } }
      }
      knots[leaf].count = thread
      expect(1, of: "a set after a registration")
      lead()
      expect(1, of: "a link")
      knots[leaf].count = thread
      expect(1, of: "a set after a link")
      token?.invalidate()
      knots[leaf].count = thread
      expect(0, of: "a set after the end")
    }
    expectEqual(wrong.withLock { $0 }, [])
    for knot in knots {
      knot.next = nil
      expect(knot.observationInfo.registrations.isEmpty && !isSwapped(knot))
    }
  }

  /// By a key path that is evaluated, whose reads are tracked, or by a string.
  private static func observe(
    _ knot: Knot, leaf: Int, isTyped: Bool, _ notified: @escaping @Sendable () -> Void
  ) -> KeyValueObservation? {
    switch (isTyped, leaf) {
    case (true, 2): knot.observe(\.next?.next?.count) { _, _ in notified() }
    case (true, _): knot.observe(\.next?.next?.next?.count) { _, _ in notified() }
    case (false, 2): try? knot.observe(keyPath: "next.next.count") { _, _ in notified() }
    case (false, _): try? knot.observe(keyPath: "next.next.next.count") { _, _ in notified() }
    }
  }

  @Test(
    "C4: a forked child observes, sets and frees its objects",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func fork() {
    let knot = Knot()
    let notified = Count()
    let token = knot.observe(\.count) { _, _ in notified.add() }
    let status = fixture_fork(
      { context in
        let knot = Unmanaged<Knot>.fromOpaque(context!).takeUnretainedValue()
        let other = Knot()
        let notified = Count()
        let token = other.observe(\.count) { _, _ in notified.add() }
        let path = try? other.observe(keyPath: "next.count") { _, _ in notified.add() }
        other.next = knot
        knot.count = 1
        other.count = 1
        withExtendedLifetime((token, path)) {}
        knot.removeAllObservers()
        return notified.value == 3 && knot.observationInfo.registrations.isEmpty
      }, Unmanaged.passUnretained(knot).toOpaque())
    expectEqual(status, 0)
    expectEqual(notified.value, 0)
    knot.count = 2
    expectEqual(notified.value, 1)
    token.invalidate()
  }
}

/// Properties that threads may share: a number, a weak link and a key derived from both.
private final class Knot: Tracked, @unchecked Sendable {
  private struct Storage {
    var count = 0
    weak var next: Knot?
  }

  private let stored = Locked(Storage())

  var count: Int {
    get { stored.withLock { $0.count } }
    set { withChange(of: \.count) { stored.withLock { $0.count = newValue } } }
  }

  var next: Knot? {
    get { stored.withLock { $0.next } }
    set { withChange(of: \.next) { stored.withLock { $0.next = newValue } } }
  }

  var total: Int { count + (next?.count ?? 0) }

  override class func registerKeys() {
    declareKeys {
      $0.accessors(
        "count", \.count, get: { $0.count },
        set: { knot, count in knot.stored.withLock { $0.count = count } })
      $0.accessors(
        "next", \.next, get: { $0.next },
        set: { knot, next in knot.stored.withLock { $0.next = next } })
      $0.computed("total", \.total, affectedBy: ["count", "next.count"])
    }
  }
}

private final class AtEnd: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}
