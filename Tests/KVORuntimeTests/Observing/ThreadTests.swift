import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// I1, and C4, C5 and C7 between threads: everything at once on the same objects and keys.
@Suite(.leakFree, .serialized) struct ThreadTests {
  /// How a thread sets a property with synchronised storage.
  enum Way: CaseIterable {
    case setter, key, pairByHand, withChange

    func set(_ tally: Tally, _ value: Int) {
      switch self {
      case .setter: tally.count = value
      case .key: try? tally.setValue(value, forKey: "count")
      case .pairByHand:
        tally.willChangeValue(forKey: "count")
        tally.didChangeValue(forKey: "count")
      case .withChange: tally.withChange(forKey: "count") {}
      }
    }
  }

  @Test(
    "I1: n sets on m threads make n times m calls of an observer registered throughout",
    arguments: Way.allCases)
  func exactCount(_ way: Way) throws {
    let tally = Tally()
    let notified = Count()
    let watcher = Counting()
    let token = tally.observe(\.count, options: [.old, .new]) { _, _ in notified.add() }
    try tally.addObserver(watcher, forKeyPath: "count", options: [.prior, .new])
    onThreads(4) { thread in
      for round in 0..<500 { way.set(tally, thread * 1000 + round) }
    }
    expectEqual(notified.value, 2000)
    expectEqual(watcher.count.value, 4000)
    token.invalidate()
    try tally.removeObserver(watcher, forKeyPath: "count")
    expect(!isSwapped(tally))
  }

  @Test("I1: the count is exact while others register and end")
  func exactCountWithChurn() {
    let tally = Tally()
    let notified = Count()
    let passers = Count()
    let token = tally.observe(\.count) { _, _ in notified.add() }
    onThreads(6) { thread in
      for round in 0..<400 {
        switch thread {
        case 0..<3: tally.count = round
        case 3:
          tally.observe(\.count, options: [.initial, .old, .new]) { _, _ in passers.add() }
            .invalidate()
        case 4: passBy(tally, round)
        default:
          _ =
            tally.observationInfo.registrations.count + (tally.isObserved(forKey: "count") ? 1 : 0)
        }
      }
    }
    expectEqual(notified.value, 1200)
    expect(passers.value >= 400)
    token.invalidate()
    expect(!isSwapped(tally))
  }

  @Test("I1: no registration is lost where many are made and ended at once")
  func noneLost() {
    for _ in 0..<30 {
      let tally = Tally()
      let notified = Count()
      let watcher = Counting()
      let tokens = Collected<KeyValueObservation>()
      onThreads(4) { thread in
        for _ in 0..<20 {
          if thread == 0 {
            try? tally.addObserver(watcher, forKeyPath: "count")
          } else {
            tokens.append([tally.observe(\.count) { _, _ in notified.add() }])
          }
        }
      }
      tally.count = 1
      expect(notified.value == 60 && watcher.count.value == 20)
      expectEqual(tally.observationInfo.registrations.count, 80)
      onThreads(4) { thread in
        if thread == 0 {
          for _ in 0..<20 { try? tally.removeObserver(watcher, forKeyPath: "count") }
        }
        for (index, token) in tokens.values.enumerated() where index % 4 == thread {
          token.invalidate()
        }
      }
      expect(!isSwapped(tally))
    }
  }

  @Test("I1: a class may be used for the first time on many threads at once")
  func firstUse() {
    let notified = Count()
    onThreads(8) { _ in
      let fresh = Fresh()
      let tokens = [
        fresh.observe(\.number) { _, _ in notified.add() },
        fresh.observe(\.plain) { _, _ in notified.add() },
      ]
      fresh.number = 1
      try? fresh.setValue(2, forKey: "plain")
      expectEqual(fresh.plain, 2)
      for token in tokens { token.invalidate() }
    }
    expectEqual(notified.value, 16)
  }

  @Test("I1: each thread may observe and set objects of its own, of one class")
  func ownObjects() {
    let notified = Count()
    onThreads(4) { _ in
      for round in 0..<200 {
        let account = Account()
        let token = account.observe(\.balance, options: [.old, .new]) { _, change in
          if change.newValue == Double(round), change.oldValue == 0 { notified.add() }
        }
        account.balance = Double(round)
        withExtendedLifetime(token) {}
      }
    }
    expectEqual(notified.value, 800)
  }

  @Test("I1: many objects may be observed, set by key and dumped on many threads")
  func manyObjects() throws {
    let tallies = (0..<8).map { _ in Tally() }
    let watcher = Counting()
    for tally in tallies { try tally.addObserver(watcher, forKeyPath: "count") }
    onThreads(4) { thread in
      for round in 0..<400 {
        let tally = tallies[(round + thread) % 8]
        try? tally.setValue(round, forKey: "count")
        if round % 50 == 0 { _ = tally.observationInfo.debugDescription.utf8.count }
      }
    }
    expectEqual(watcher.count.value, 1600)
  }

  // MARK: Ends

  @Test("C5: once invalidate has returned, no call of the handler begins")
  func noneAfterInvalidate() {
    let tally = Tally()
    let late = Count()
    onThreads(4) { _ in
      for round in 0..<300 {
        let ended = Count()
        let thread = fixture_thread()
        let token = tally.observe(\.count) { _, _ in
          if ended.value > 0, fixture_thread() == thread { late.add() }
        }
        tally.count = round
        token.invalidate()
        ended.add()
        // Other threads may still be in a delivery that began before the end. This one begins after it.
        tally.count = round
      }
    }
    expectEqual(late.value, 0)
    expect(!isSwapped(tally))
  }

  @Test("C5: tokens end on several threads while others notify, and every handler is released")
  func endedWhileNotifying() {
    let tally = Tally()
    onThreads(4) { thread in
      for round in 0..<300 {
        if thread < 2 {
          tally.count = round
        } else {
          let token = tally.observe(\.count) { [life = Life(of: ThreadTests.self)] _, _ in
            life.goesOn()
          }
          if round % 2 == 0 { token.invalidate() }
          withExtendedLifetime(token) {}
        }
      }
    }
    expect(!isSwapped(tally))
  }

  @Test("C5: all observers may be removed during their calls")
  func removedWhileNotifying() {
    let tally = Tally()
    onThreads(3) { thread in
      for round in 0..<300 {
        switch thread {
        case 0: tally.count = round
        case 1: tally.removeAllObservers()
        default:
          let token = tally.observe(\.count) { [life = Life(of: ThreadTests.self)] _, _ in
            life.goesOn()
          }
          tally.count = round
          withExtendedLifetime(token) {}
        }
      }
    }
    tally.removeAllObservers()
    expect(!isSwapped(tally))
  }

  // MARK: Deaths

  @Test("C4: observers die while other threads notify")
  func observersDie() {
    let tally = Tally()
    let notified = Count()
    let steady = Count()
    let token = tally.observe(\.count) { _, _ in steady.add() }
    onThreads(4) { thread in
      for round in 0..<400 {
        let observer = thread < 2 ? nil : Counting(notified)
        if let observer {
          try? tally.addObserver(observer, forKeyPath: "count", options: [.prior, .old, .new])
        }
        tally.count = round
        withExtendedLifetime(observer) {}
      }
    }
    expectEqual(steady.value, 1600)
    expect(notified.value >= 1600)
    token.invalidate()
    expect(!isSwapped(tally))
  }

  @Test("C4: object, observer and token all end at once, while the object is set")
  func allEnd() throws {
    for _ in 0..<200 {
      let scene = try Scene()
      onThreads(4) { thread in
        switch thread {
        case 0: scene.tally.drop()
        case 1: scene.observer.drop()
        case 2: scene.token.invalidate()
        default: scene.tally.use { $0.count = 1 }
        }
      }
      expect(!scene.token.isValid)
    }
  }

  @Test("C4: two objects that observe each other die at once, on two threads")
  func bothDie() throws {
    for _ in 0..<300 {
      let couple = try mutualObservers()
      onThreads(2) { couple[$0].drop() }
    }
  }

  @Test("C7: an object that observes itself dies while another thread sets it")
  func selfObserver() throws {
    for _ in 0..<200 {
      let slot = try selfObserving()
      onThreads(2) { thread in
        if thread == 0 { slot.use { $0.number += 1 } } else { slot.drop() }
      }
    }
  }
}

/// Observes with an observer that dies at once. In half of the cases it is still registered.
private func passBy(_ tally: Tally, _ round: Int) {
  let passer = Counting()
  try? tally.addObserver(passer, forKeyPath: "count", options: [.prior, .initial])
  if round % 2 == 0 { try? tally.removeObserver(passer, forKeyPath: "count") }
}

/// An object and its observers, with no other references.
private struct Scene {
  let tally: Slot<Tally>
  let observer: Slot<Counting>
  let token: KeyValueObservation

  init() throws {
    let tally = Tally()
    let observer = Counting()
    try tally.addObserver(observer, forKeyPath: "count", options: .prior)
    token = tally.observe(\.count) { [life = Life(of: Scene.self)] _, _ in life.goesOn() }
    self.tally = Slot(tally)
    self.observer = Slot(observer)
  }
}

private func mutualObservers() throws -> [Slot<Counting>] {
  let first = Counting()
  let second = Counting()
  try first.addObserver(second, forKeyPath: "number")
  try second.addObserver(first, forKeyPath: "number")
  return [Slot(first), Slot(second)]
}

private func selfObserving() throws -> Slot<SelfObserving> {
  let object = SelfObserving()
  try object.addObserver(object, forKeyPath: "number", options: [.prior, .new])
  return Slot(object)
}

private final class Fresh: Tracked {
  @Observed var number = 0
  var plain = 0
  override class func registerKeys() { Fresh.declareKeys { $0.stored("plain", \.plain) } }
}

private final class SelfObserving: Tracked {
  @Observed var number = 0
  private var notified = 0

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    notified += 1
  }
}
